package archtest

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const root = "../.."

func TestImportsKeepTheLayers(t *testing.T) {
	unknown := map[string]bool{}
	for _, file := range scan(t, root) {
		if _, known := layers[file.pkg]; !known {
			unknown[file.pkg] = true
			continue
		}
		for _, imported := range file.imports() {
			if complaint := forbidden(file.pkg, file.test, imported); complaint != "" {
				t.Errorf("%s: %s", file.path, complaint)
			}
		}
	}
	for pkg := range unknown {
		t.Errorf("package %s is not in the table of layers (internal/archtest/rules_test.go): give it a place, the imports that it needs and the reason", pkg)
	}
}

// forbidden says why a file of pkg may not import a path, or returns "".
func forbidden(pkg string, test bool, imported string) string {
	rule := layers[pkg]
	inside, local := strings.CutPrefix(imported, module+"/")
	imports, thirdParty := rule.imports, rule.thirdParty
	if test {
		extra := testExtra[pkg]
		imports = slices.Concat(imports, testOnly.imports, extra.imports, []string{pkg})
		thirdParty = slices.Concat(thirdParty, testOnly.thirdParty, extra.thirdParty)
	}
	switch {
	case imported == "C":
		return "imports C: notesd is built without cgo, so that it is one static file on every system"
	case local && !test && inside == "internal/notestest":
		return "imports internal/notestest, which is for tests"
	case local && !slices.Contains(imports, "…") && !slices.Contains(imports, inside):
		return fmt.Sprintf("%s must not import %s: %s (it may import %s)", pkg, inside, rule.why, list(imports))
	case !local && isThirdParty(imported) && !covered(imported, free) && !covered(imported, thirdParty):
		return fmt.Sprintf("%s must not import %s: each foreign module has one package that answers for it, and this one is not %s's (it may use %s)", pkg, imported, pkg, list(thirdParty))
	}
	return ""
}

func isThirdParty(imported string) bool {
	host, _, _ := strings.Cut(imported, "/")
	return strings.Contains(host, ".")
}

// covered reports whether the path lies in one of the modules.
func covered(imported string, modules []string) bool {
	return slices.ContainsFunc(modules, func(m string) bool {
		return imported == m || strings.HasPrefix(imported, m+"/")
	})
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func TestForbidden(t *testing.T) {
	cases := []struct {
		pkg, imported string
		test          bool
		want          string // part of the complaint; "" for none
	}{
		{pkg: "notes", imported: "context"},
		{pkg: "notes", imported: "notesd/internal/markdown"},
		{pkg: "notes", imported: "notesd/notes/store", want: "every package may import the domain"},
		{pkg: "notes/store", imported: "notesd/notes/vault", want: "never accesses the vault's files"},
		{pkg: "notes", imported: "golang.org/x/text/unicode/norm"},
		{pkg: "notes", imported: "notesd/search", want: "every package may import the domain"},
		{pkg: "notes", imported: "notesd/search", test: true, want: "every package may import the domain"},
		{pkg: "notes", imported: "modernc.org/sqlite", want: "has one package that answers for it"},
		{pkg: "search", imported: "notesd/vectors", want: "each works without the other"},
		{pkg: "search/index", imported: "github.com/blevesearch/bleve/v2/mapping"},
		{pkg: "search", imported: "github.com/stretchr/testify/assert", want: "must not import"},
		{pkg: "search", imported: "github.com/stretchr/testify/assert", test: true},
		{pkg: "search", imported: "notesd/search", test: true},
		{pkg: "mcp", imported: "notesd/internal/config", want: "without access to storage"},
		{pkg: "mcp", imported: "notesd/internal/notestest", want: "for tests"},
		{pkg: "mcp", imported: "notesd/internal/notestest", test: true},
		{pkg: "watcher", imported: "notesd/notes", want: "it reports paths"},
		{pkg: "cmd/notesd", imported: "notesd/internal/config"},
		{pkg: "cmd/notesd", imported: "notesd/internal/notestest", want: "for tests"},
		{pkg: "cmd/notesd", imported: "modernc.org/sqlite", want: "must not import"},
		{pkg: "migrations", imported: "modernc.org/sqlite", test: true},
		{pkg: "vectors", imported: "C", want: "without cgo"},
	}
	for _, c := range cases {
		got := forbidden(c.pkg, c.test, c.imported)
		if c.want == "" {
			assert.Empty(t, got)
		} else {
			assert.Contains(t, got, c.want)
		}
	}
}

// A package is taught once, in one place.
func TestEveryPackageHasOnePackageComment(t *testing.T) {
	comments := map[string][]string{}
	hasCode := map[string]bool{}
	files := scan(t, root)
	for _, file := range files {
		hasCode[file.pkg] = hasCode[file.pkg] || !file.test
	}
	for _, file := range files {
		if file.test && hasCode[file.pkg] {
			if file.syntax.Doc != nil && strings.HasPrefix(file.syntax.Doc.Text(), "Package ") {
				t.Errorf("%s: the package comment belongs in a file that is not a test", file.path)
			}
			continue
		}
		if _, seen := comments[file.pkg]; !seen {
			comments[file.pkg] = []string{}
		}
		if file.syntax.Doc != nil && strings.TrimSpace(file.syntax.Doc.Text()) != "" {
			comments[file.pkg] = append(comments[file.pkg], file.path)
		}
	}
	for pkg, in := range comments {
		assert.Len(t, in, 1, "package %s has its package comment in %s; it needs exactly one", pkg, list(in))
	}
}

// Code that sleeps guesses how long something takes; code that waits for an
// event, or for a timer that a context can cut short, does not have to. Sleeping
// is free in the bubbles of testing/synctest, and a benchmark may measure what
// a while of idleness costs.
func TestNothingSleeps(t *testing.T) {
	for _, file := range scan(t, root) {
		if file.test && slices.Contains(file.imports(), "testing/synctest") {
			continue
		}
		for _, decl := range file.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && file.test && strings.HasPrefix(fn.Name.Name, "Benchmark") {
				continue
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if isSleep(n) {
					t.Errorf("%s:%d uses time.Sleep: wait on a channel or a timer, and on the context", file.path, file.line(n.Pos()))
				}
				return true
			})
		}
	}
}

func isSleep(n ast.Node) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "time" && sel.Sel.Name == "Sleep"
}

package archtest

import (
	"cmp"
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// warningFuncs lists functions, besides those with "warning" in their names, whose
// texts are warnings of status or reasons for skipping a file.
var warningFuncs = []string{
	"notes NotText", "notes/store StaleLinks", "notes/vault behind", "notes/vault/disk Unavailable", "notes/vault Status", "notes/vault suddenly", "notes/vault readProblem",
}

// TestTroubleshooting finds every warning that the program can print in the page
// that says what to do about it.
func TestTroubleshooting(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "troubleshooting.md"))
	require.NoError(t, err)
	page := wordBreaks.ReplaceAllString(string(data), " ")
	found := 0
	for _, file := range scan(t, root) {
		if file.test || strings.HasPrefix(file.pkg, "mcp") || strings.HasPrefix(file.pkg, "internal/markdown") {
			continue // remarks on a call
		}
		for _, text := range file.warnings() {
			for _, part := range formatVerb.Split(text.text, -1) {
				if part = strings.Trim(wordBreaks.ReplaceAllString(part, " "), " .,;:()"); strings.Count(part, " ") >= 2 && !strings.HasPrefix(part, "SELECT ") {
					found++
					assert.Contains(t, page, part, "%s:%d: docs/troubleshooting.md has no entry for this warning", file.path, file.line(text.pos))
				}
			}
		}
	}
	assert.Greater(t, found, 40)
}

var formatVerb = regexp.MustCompile(`%[+#]?[a-zA-Z]`)

// warnings returns the string literals that status prints as warnings, with which
// it says why a file is skipped, and that doctor prints when something is not
// right.
func (s source) warnings() []textAt {
	var all []textAt
	literals := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value) // the parser has checked it
				all = append(all, textAt{lit.Pos(), text})
			}
			return true
		})
	}
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			name := strings.ToLower(n.Name.Name)
			if n.Body != nil && (strings.Contains(name, "warning") || slices.Contains(warningFuncs, s.pkg+" "+n.Name.Name)) {
				literals(n.Body)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				field, ok := left.(*ast.SelectorExpr)
				if ok && len(n.Rhs) == len(n.Lhs) && slices.Contains([]string{"Warnings", "warnings", "Text", "skip"}, field.Sel.Name) && (field.Sel.Name != "Text" || s.isDoctor()) {
					literals(n.Rhs[i])
				}
				if entry, ok := left.(*ast.IndexExpr); ok && len(n.Rhs) == len(n.Lhs) {
					if name, ok := entry.X.(*ast.Ident); ok && name.Name == "problems" && s.pkg == "prompts" {
						literals(n.Rhs[i])
					}
				}
			}
		case *ast.CompositeLit:
			if name, ok := n.Type.(*ast.Ident); ok && name.Name == "check" && s.isDoctor() {
				literals(textOfCheck(n))
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Reason" {
				literals(n.Value)
			}
		case *ast.CallExpr:
			if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "worse" && s.isDoctor() {
				literals(n.Args[1])
			}
			if method, ok := n.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "skip" && s.pkg == "notes/vault" && len(n.Args) == 3 {
				literals(n.Args[1])
			}
		}
		return true
	})
	return all
}

func (s source) isDoctor() bool { return s.path == "cmd/notesd/doctor.go" }

// textOfCheck returns the text of a check of doctor that is not fine.
func textOfCheck(check *ast.CompositeLit) ast.Node {
	text := ast.Node(&ast.BadExpr{})
	for i, element := range check.Elts {
		value, name := element, []string{"Name", "State", "Text", "Do"}[i]
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			value, name = pair.Value, pair.Key.(*ast.Ident).Name
		}
		if state, ok := value.(*ast.Ident); ok && name == "State" && state.Name == "fine" {
			return &ast.BadExpr{}
		}
		if name == "Text" {
			text = value
		}
	}
	return text
}

// TestEnvironment finds every variable that the program reads in its page.
func TestEnvironment(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "environment.md"))
	require.NoError(t, err)
	found := 0
	for _, file := range scan(t, root) {
		if file.test || file.pkg == "internal/markdown/mdtest" {
			continue // only tests use mdtest
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			var read []ast.Expr
			switch n := n.(type) {
			case *ast.CallExpr:
				if slices.Contains([]string{"Getenv", "LookupEnv", "lookup", "variable", "userDir"}, lastName(n.Fun)) {
					read = n.Args
				}
			case *ast.CompositeLit:
				if n.Type == nil && file.path == "internal/config/paths.go" {
					read = n.Elts
				}
			}
			for _, e := range read {
				if lit, ok := e.(*ast.BasicLit); ok && envName.MatchString(lit.Value) {
					found++
					assert.Contains(t, string(page), "`"+strings.Trim(lit.Value, `"`)+"`", "%s:%d", file.path, file.line(lit.Pos()))
				}
			}
			return true
		})
	}
	assert.Greater(t, found, 10)
}

var envName = regexp.MustCompile(`^"[A-Z][A-Za-z_]{3,}"$`)

// lastName returns the name of a function or method that is called.
func lastName(fun ast.Expr) string {
	switch fun := fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

// TestNamedTests finds every test that a page names as evidence, in the package that the
// page names before it in the line, if any, and every Go file that a page names by its
// path.
func TestNamedTests(t *testing.T) {
	declared := map[string][]string{} // the names, by package
	for _, file := range scan(t, root) {
		for _, decl := range file.syntax.Decls {
			if fun, ok := decl.(*ast.FuncDecl); ok && file.test && fun.Recv == nil {
				declared[file.pkg] = append(declared[file.pkg], fun.Name.Name)
				declared[""] = append(declared[""], fun.Name.Name)
			}
		}
	}
	named := 0
	for name, text := range documentation(t) {
		for line := range strings.SplitSeq(text, "\n") {
			pkg := ""
			for _, m := range testOrPackage.FindAllStringSubmatch(line, -1) {
				if m[3] != "" {
					pkg = m[3]
					continue
				}
				named++
				assert.True(t, slices.ContainsFunc(declared[pkg], func(other string) bool { // `TestUndo…` stands for several
					return other == m[1] || m[2] == "…" && strings.HasPrefix(other, m[1])
				}), "%s: there is no %s in %s", name, m[1], cmp.Or(pkg, "any package"))
				if script, ok := strings.CutPrefix(m[1]+m[2], "TestScripts/"); ok {
					assert.FileExists(t, filepath.Join(root, "cmd", "notesd", "testdata", "script", script+".txtar"), name)
				}
			}
		}
		for _, m := range goFile.FindAllStringSubmatch(text, -1) {
			if path.Base(m[1]) != "NAME.go" {
				assert.FileExists(t, filepath.Join(root, filepath.FromSlash(m[1])), name)
			}
		}
	}
	assert.Greater(t, named, 150)
	data, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	require.NoError(t, err)
	for paragraph := range strings.SplitSeq(string(data), "\n\n") { // a bare name is of a folder that the paragraph names before it
		var folders []string
		for _, m := range anyGoFile.FindAllStringSubmatch(paragraph, -1) {
			if dir := path.Dir(m[1]); dir != "." {
				folders = append(folders, dir)
				continue
			}
			assert.True(t, slices.ContainsFunc(folders, func(dir string) bool {
				_, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir), m[1]))
				return err == nil
			}), "ARCHITECTURE.md names %s", m[1])
		}
	}
}

var (
	testOrPackage = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w*)(…|/\\w+)?`|`([a-z/]+)`: ")
	goFile        = regexp.MustCompile("`((?:\\w+/)+\\w+\\.go)`")
	anyGoFile     = regexp.MustCompile("`((?:\\w+/)*\\w+\\.go)`")
)

// TestNamedCommands checks that each "go test" of a page runs a test: its packages
// exist, and have one that its pattern matches.
func TestNamedCommands(t *testing.T) {
	tests := map[string][]string{}
	for _, file := range scan(t, root) {
		for _, decl := range file.syntax.Decls {
			if fun, ok := decl.(*ast.FuncDecl); ok && file.test && fun.Recv == nil {
				tests[file.pkg] = append(tests[file.pkg], fun.Name.Name)
			}
		}
	}
	commands := 0
	for name, text := range documentation(t) {
		for _, command := range goTest.FindAllString(text, -1) {
			commands++
			var wanted []string
			words := strings.Fields(strings.NewReplacer("'", "", `\|`, "|").Replace(command))
			for i, word := range words[1:] {
				if flag := words[i]; flag == "-run" && word != "^$" || flag == "-bench" || flag == "-fuzz" {
					wanted = append(wanted, strings.Split(word, "/")[0])
				}
			}
			for _, word := range words {
				pkg, ok := strings.CutPrefix(word, "./")
				pkg, all := strings.CutSuffix(pkg, "/...")
				if !ok || pkg == "..." {
					continue
				}
				assert.DirExists(t, filepath.Join(root, filepath.FromSlash(pkg)), "%s: %s", name, command)
				for _, pattern := range wanted {
					runs := regexp.MustCompile(pattern)
					matches := func(in string) bool { return slices.ContainsFunc(tests[in], runs.MatchString) }
					found := matches(pkg)
					for in := range tests {
						found = found || all && strings.HasPrefix(in, pkg) && matches(in)
					}
					wanted = slices.DeleteFunc(slices.Clone(wanted), func(p string) bool { return found && p == pattern })
				}
			}
			assert.Empty(t, wanted, "%s: %s runs nothing", name, command)
		}
	}
	assert.Greater(t, commands, 20)
}

var goTest = regexp.MustCompile("go test [^`\n]*\\./[^`\n;]*")

// documentation returns the pages for users and contributors by name.
func documentation(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		for _, name := range names {
			if filepath.Base(name) != "CHANGELOG.md" {
				text, err := os.ReadFile(name)
				require.NoError(t, err)
				pages[name] = string(text)
			}
		}
	}
	require.Greater(t, len(pages), 20)
	return pages
}

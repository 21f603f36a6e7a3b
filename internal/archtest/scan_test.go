package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// source is one Go file, whatever system or tag it is for.
type source struct {
	path   string // below the module's root, with '/'
	pkg    string // the folder's path: "internal/config"
	test   bool
	syntax *ast.File
	fset   *token.FileSet
}

// imports returns the paths that the file imports.
func (s source) imports() []string {
	var list []string
	for _, spec := range s.syntax.Imports {
		p, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
		list = append(list, p)
	}
	return list
}

func (s source) line(pos token.Pos) int { return s.fset.Position(pos).Line }

// scan parses every Go file of the module.
func scan(t *testing.T, root string) []source {
	t.Helper()
	var files []source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != root && skipped(name) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		files = append(files, source{
			path: rel, pkg: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"), syntax: syntax, fset: fset,
		})
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// skipped reports whether the go command, too, passes over the folder.
func skipped(dir string) bool {
	base := filepath.Base(dir)
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "node_modules" {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil // another module
}

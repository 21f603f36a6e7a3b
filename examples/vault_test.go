// Package examples checks the example vault. It contains only tests.
//
// New users try notesd on the vault and tests read it, so it must keep its
// properties: every link resolves except one, every front matter can be parsed
// except one, and notes are in many languages.
package examples

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"notesd/internal/markdown"
)

// note is one parsed file of the vault.
type note struct {
	path string
	text string
	doc  *markdown.Document
}

// vault returns the notes by path, and the paths of all files.
func vault(t *testing.T) (notes map[string]note, files []string) {
	t.Helper()
	notes = map[string]note{}
	root := os.DirFS("vault")
	require.NoError(t, fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files = append(files, name)
		if path.Ext(name) != ".md" {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		notes[name] = note{path: name, text: string(text), doc: markdown.Parse(text)}
		return err
	}))
	return notes, files
}

// resolve finds the file that a link of the note leads to: a path from the
// note's folder for Markdown links, the end of one file's path for wikilinks.
func resolve(from note, link markdown.Link, files []string) (string, bool) {
	if link.Target == "" {
		return from.path, true
	}
	if relative := path.Join(path.Dir(from.path), link.Target); slices.Contains(files, relative) {
		return relative, true
	}
	var found []string
	for _, file := range files {
		for _, want := range []string{link.Target, link.Target + ".md"} {
			if file == want || strings.HasSuffix(file, "/"+want) {
				found = append(found, file)
			}
		}
	}
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

func TestEveryLinkLeadsSomewhereExceptOne(t *testing.T) {
	notes, files := vault(t)
	var broken []string
	links, anchors := 0, 0
	for _, n := range notes {
		for _, link := range n.doc.Links {
			if link.External {
				continue
			}
			links++
			target, ok := resolve(n, link, files)
			if !ok {
				broken = append(broken, n.path+": "+link.Target)
				continue
			}
			if link.Anchor != "" {
				anchors++
				assert.True(t, hasAnchor(notes[target].doc, link.Anchor), "%s:%d: %s has no %q", n.path, link.Line, target, link.Anchor)
			}
		}
	}
	assert.Equal(t, []string{"Projects/Tide Gauge.md: Winter Storage Plan"}, broken)
	assert.Greater(t, links, 100)
	assert.Greater(t, anchors, 5)
}

func hasAnchor(doc *markdown.Document, anchor string) bool {
	if id, ok := strings.CutPrefix(anchor, "^"); ok {
		return slices.ContainsFunc(doc.Blocks, func(b markdown.Block) bool { return b.ID == id })
	}
	return slices.ContainsFunc(doc.Headings, func(h markdown.Heading) bool { return h.Text == anchor })
}

func TestEveryFrontMatterIsReadExceptOne(t *testing.T) {
	notes, _ := vault(t)
	var broken []string
	formats := map[string]int{}
	for _, n := range notes {
		formats[n.doc.FrontMatter.Format]++
		if n.doc.FrontMatter.Err != nil {
			broken = append(broken, n.path)
		}
	}
	assert.Equal(t, []string{"Lab/Broken Front Matter.md"}, broken)
	assert.NotZero(t, formats["yaml"])
	assert.NotZero(t, formats["toml"])
	assert.NotZero(t, formats[""])
}

func TestEveryNoteIsLinkedOrKnownToBeAlone(t *testing.T) {
	notes, files := vault(t)
	linked := map[string]bool{}
	for _, n := range notes {
		for _, link := range n.doc.Links {
			if target, ok := resolve(n, link, files); ok && target != n.path {
				linked[target] = true
			}
		}
	}
	var alone []string
	for _, file := range files {
		if !linked[file] && !strings.HasPrefix(file, "Prompts/") && !strings.HasPrefix(file, "Daily/") {
			alone = append(alone, file)
		}
	}
	assert.Equal(t, []string{"Home.md"}, alone)
}

func TestManyLanguages(t *testing.T) {
	notes, _ := vault(t)
	languages := map[any]bool{}
	for _, n := range notes {
		if lang, ok := n.doc.FrontMatter.Values["lang"]; ok {
			languages[lang] = true
		}
	}
	for _, lang := range []string{"de", "fr", "es", "ja", "zh", "th", "ar", "ru"} {
		assert.True(t, languages[lang], "nothing in %s", lang)
	}
}

// Names that a checkout changes on some system would make two vaults of one.
func TestNamesAreTheSameOnEverySystem(t *testing.T) {
	_, files := vault(t)
	folded := map[string]bool{}
	for _, file := range files {
		assert.True(t, norm.NFC.IsNormalString(file), "%+q is not NFC", file)
		assert.NotContains(t, file, "\r")
		assert.False(t, strings.ContainsAny(file, `\:*?"<>|`), "%s cannot be a file on Windows", file)
		lower := strings.ToLower(file)
		assert.False(t, folded[lower], "%s differs from another only in case", file)
		folded[lower] = true
	}
}

func TestLineEndsAreKept(t *testing.T) {
	notes, _ := vault(t)
	for _, n := range notes {
		assert.Equal(t, n.path == "Lab/Windows Line Ends.md", strings.Contains(n.text, "\r\n"), n.path)
	}
}

package notestest_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
)

func TestVault_WriteAndRead(t *testing.T) {
	files := map[string]string{"a.md": "one", "Folder/b c.md": "two", "Folder/sub/ü.md": ""}
	dir := notestest.Vault(t, files)
	assert.Equal(t, files, notestest.Read(t, dir))

	before, err := os.Stat(filepath.Join(dir, "a.md"))
	require.NoError(t, err)
	notestest.Write(t, dir, map[string]string{"a.md": "three", "new/d.md": "four"})
	after, err := os.Stat(filepath.Join(dir, "a.md"))
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after), "existing files are written in place")
	files["a.md"], files["new/d.md"] = "three", "four"
	assert.Equal(t, files, notestest.Read(t, dir))
	assert.NotEqual(t, dir, notestest.Vault(t, nil))
}

// A generated vault contains each kind of Markdown that the engines treat differently,
// and its links lead to its notes.
func TestGenerate_Content(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, notestest.Generate(dir, notestest.Spec{Notes: 80, Words: 3000, Folders: 3, Seed: 3}))
	files := notestest.Read(t, dir)
	titles, folders := map[string]bool{}, map[string]bool{}
	var all strings.Builder
	for path, text := range files {
		folder, name, _ := strings.Cut(path, "/")
		folders[folder] = true
		titles[strings.TrimSuffix(name, ".md")] = true
		all.WriteString(text)
	}
	assert.Len(t, folders, 3)
	for _, want := range []string{"---\ndate: 20", "tags: [", "\n## ", "- [ ] ", "- [x] ", "```go\n", " #", "[["} {
		assert.Contains(t, all.String(), want)
	}
	links := 0
	for part := range strings.SplitSeq(all.String(), "[[") {
		if target, _, ok := strings.Cut(part, "]]"); ok && !strings.Contains(target, "\n") {
			links++
			assert.True(t, titles[target], target)
		}
	}
	assert.Greater(t, links, 50)
}

func TestQueries_Words(t *testing.T) {
	spec := notestest.Spec{Notes: 50, Words: 2000, Seed: 5}
	dir := t.TempDir()
	require.NoError(t, notestest.Generate(dir, spec))
	var text strings.Builder
	for _, note := range notestest.Read(t, dir) {
		text.WriteString(strings.ToLower(note))
	}
	queries := notestest.Queries(spec, 200)
	require.Len(t, queries, 200)
	known, words := 0, 0
	for _, q := range queries {
		fields := strings.Fields(q)
		assert.NotEmpty(t, fields)
		assert.LessOrEqual(t, len(fields), 5)
		for _, w := range fields {
			words++
			if strings.Contains(text.String(), w) {
				known++
			}
		}
	}
	assert.Greater(t, known, words*3/4, "most words are in the vault")
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestClustered_Topics(t *testing.T) {
	vs := notestest.Clustered(rand.New(rand.NewPCG(1, 2)), 200, 64, 4)
	require.Len(t, vs, 200)
	near, far := 0, 0
	for i, v := range vs {
		assert.InDelta(t, 1, cosine(v, v), 1e-5)
		for _, w := range vs[:i] {
			if cosine(v, w) > 0.4 {
				near++
			} else {
				far++
			}
		}
	}
	assert.Greater(t, near, 2000, "vectors of one topic")
	assert.Greater(t, far, near, "vectors of different topics")
}

func TestEmbedWords_Similarity(t *testing.T) {
	embed := func(id, text string) []float32 { return notestest.EmbedWords(id, text, 256) }
	boat := embed("m", "keel sail mast")
	assert.Equal(t, boat, embed("m", "KEEL  sail mast"))
	assert.InDelta(t, 2.0/3, cosine(boat, embed("m", "keel sail oar")), 0.15)
	assert.InDelta(t, 0, cosine(boat, embed("m", "flour oven")), 0.2)
	assert.InDelta(t, 0, cosine(boat, embed("other", "keel sail mast")), 0.2)
	for _, x := range embed("m", "") {
		assert.Zero(t, math.Abs(float64(x)))
	}
}

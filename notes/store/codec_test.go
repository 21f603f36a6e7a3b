package store

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

func TestOutlineKeepsEverything(t *testing.T) {
	for name, text := range map[string]string{
		"an empty note":    "",
		"plain":            "just words\n",
		"headings and all": "---\naliases: [Ä, b]\ntags: [x/y, z]\n---\nintro #more\n\n# One\n\ntext\n\n## Two\n\nmore\n\n### Three\n\nend\n\n# Four\n\nlast\n",
		"many chunks":      strings.Repeat("## Part\n\n"+strings.Repeat("words of a passage ", 200)+"\n\n", 300),
	} {
		note := notes.Parse("A.md", []byte(text), time.Time{})
		packed, err := packOutline(note)
		require.NoError(t, err, name)
		got := &notes.Note{}
		require.NoError(t, unpackOutline(packed, got), name)
		want := &notes.Note{Aliases: note.Aliases, Tags: note.Tags, Headings: note.Headings, Chunks: note.Chunks}
		for i := range want.Chunks {
			if len(want.Chunks[i].Path) == 0 {
				want.Chunks[i].Path, got.Chunks[i].Path = nil, nil
			}
		}
		assert.Equal(t, want, got, name)
		for cut := range min(len(packed), 300) {
			require.Error(t, unpackOutline(packed[:cut], &notes.Note{}), "%s, cut at %d", name, cut)
		}
		require.Error(t, unpackOutline(append(packed, 0), &notes.Note{}), name)
	}
}

// Paths of chunks share memory; appending to one must not overwrite another.
func TestOutline_PathsAreIndependent(t *testing.T) {
	hash := strings.Repeat("ab", sha256.Size)
	note := &notes.Note{Chunks: []notes.Chunk{{Path: []string{"a", "b"}, Hash: hash}, {Ordinal: 1, Path: []string{"a"}, Hash: hash}, {Ordinal: 2, Path: []string{"a", "c"}, Hash: hash}}}
	packed, err := packOutline(note)
	require.NoError(t, err)
	got := &notes.Note{}
	require.NoError(t, unpackOutline(packed, got))
	_ = append(got.Chunks[1].Path, "x")
	assert.Equal(t, note.Chunks, got.Chunks)
}

func FuzzOutline(f *testing.F) {
	for _, text := range []string{"", "# A\n\nb\n", "---\naliases: [a]\n---\n#t\n\n# A\n\n## B\n\nc"} {
		packed, err := packOutline(notes.Parse("A.md", []byte(text), time.Time{}))
		require.NoError(f, err)
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		n := &notes.Note{}
		if unpackOutline(packed, n) != nil {
			return
		}
		again, err := packOutline(n)
		require.NoError(t, err)
		m := &notes.Note{}
		require.NoError(t, unpackOutline(again, m))
		require.Equal(t, n, m)
	})
}

package markdown

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vaultNotes calls fn for each note below the folders that NOTESD_VAULTS lists,
// separated as PATH is; it skips the test when the variable is not set.
func vaultNotes(tb testing.TB, fn func(path string, src []byte)) {
	tb.Helper()
	list := os.Getenv("NOTESD_VAULTS")
	if list == "" {
		tb.Skip("NOTESD_VAULTS lists no folders of notes")
	}
	for _, root := range filepath.SplitList(list) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
				return err
			}
			src, err := os.ReadFile(path)
			if err == nil {
				fn(path, src)
			}
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func BenchmarkVault(b *testing.B) {
	var notes [][]byte
	var size int64
	vaultNotes(b, func(_ string, src []byte) {
		notes = append(notes, src)
		size += int64(len(src))
	})
	b.Run("Parse", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			for _, src := range notes {
				Parse(src)
			}
		}
	})
	b.Run("Chunks", func(b *testing.B) {
		docs := make([]*Document, len(notes))
		for i, src := range notes {
			docs[i] = Parse(src)
		}
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			for i, src := range notes {
				Chunks(src, docs[i], ChunkOptions{})
			}
		}
	})
}

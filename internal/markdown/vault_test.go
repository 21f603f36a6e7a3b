package markdown

import (
	"testing"

	"notesd/internal/markdown/mdtest"
)

func BenchmarkVault(b *testing.B) {
	var notes [][]byte
	var size int64
	mdtest.VaultNotes(b, func(_ string, src []byte) {
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
				Chunks(src, docs[i])
			}
		}
	})
}

package store

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// TestAround: of a long line, the 160 characters around the link are shown.
func TestAround(t *testing.T) {
	for _, filler := range []string{"x", "é", "字", "🙂"} {
		for name, line := range map[string]string{
			"start":  "[[To]]" + strings.Repeat(filler, 5000),
			"middle": strings.Repeat(filler, 5000) + "[[To]]" + strings.Repeat(filler, 5000),
			"end":    strings.Repeat(filler, 5000) + "[[To]]",
		} {
			cut := around(line, "To")
			assert.Contains(t, cut, "[[To]]", name)
			assert.Equal(t, name != "start", strings.HasPrefix(cut, "…"), name)
			assert.Equal(t, name != "end", strings.HasSuffix(cut, "…"), name)
			assert.Equal(t, linkContextRunes, utf8.RuneCountInString(strings.Trim(cut, "…")), name)
			assert.True(t, utf8.ValidString(cut), name)
		}
	}
	short := strings.Repeat("字", linkContextRunes-6) + "[[To]]"
	assert.Equal(t, short, around(short, "To"))
}

// BenchmarkAround: a line of 200 000 characters, as a program writes it.
func BenchmarkAround(b *testing.B) {
	line := strings.Repeat("some words ", 9000) + "[[To]]" + strings.Repeat("some words ", 9000)
	for b.Loop() {
		around(line, "To")
	}
}

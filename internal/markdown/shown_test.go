package markdown

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Quotations are located by the lines of what is shown.
func FuzzShown(f *testing.F) {
	for _, text := range []string{"# A\r\n\r\n- [x] b\r\n^id\r\n", "[a\nb](c) [![d](e)](f)\n|-|-|\n```\n", "> [!note]\n> 1. *a*\n<!-- x -->"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, colons := range []bool{false, true} {
			assert.Equal(t, strings.Count(text, "\n"), strings.Count(Shown(text, colons), "\n"))
		}
	})
}

package markdown

import (
	"testing"

	"notesd/internal/markdown/mdtest"
)

func TestHostileTextTakesLinearTime(t *testing.T) {
	mdtest.RequireLinear(t, 1<<18, func(src []byte) {
		doc := Parse(src)
		Chunks(src, doc)
		doc.Fields(src)
		References(doc)
		NewAnchors(doc, src).Has("a#b")
		_, _ = FindSection(doc, src, "a > b#c")
		Prose(string(src))
	})
}

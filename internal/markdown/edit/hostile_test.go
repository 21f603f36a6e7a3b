package edit

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"notesd/internal/markdown"
	"notesd/internal/markdown/mdtest"
	"notesd/internal/textdiff"
)

// TestHostileEditsTakeLinearTime covers edits that fail or change much of a note.
func TestHostileEditsTakeLinearTime(t *testing.T) {
	absent := strings.Repeat("some text that is not there ", 20)
	mdtest.RequireLinear(t, 1<<16, func(src []byte) {
		_, err := ReplaceText(src, absent, "x", 1)
		assert.Error(t, err)
		_, _ = ReplaceText(src, "a", "b", bytes.Count(src, []byte("a")))
		_, _ = ReplaceText(src, "a", "b\n", bytes.Count(src, []byte("a")))
		_, _ = ReplaceSection(src, "no such section", "x")
		_, _ = Append(src, "x")
		_, _ = Prepend(src, "x")
		_, _ = SetFrontMatter(src, "key", "value")
		_, _ = AddTag(src, "new")
		_, _ = RemoveTag(src, "a")
		_, _ = RenameTag(src, "tag", "new")
		_, _ = RenameHeading(src, "a", "b")
		out := RewriteLinks(src, markdown.Parse(src), func(l markdown.Link) (string, bool) { return l.Target + "x", true })
		textdiff.Unified(src, out, "n.md", 3, 4000)
		textdiff.Unified(src, bytes.ReplaceAll(src, []byte("a"), []byte("b\n")), "n.md", 3, 4000)
	})
}

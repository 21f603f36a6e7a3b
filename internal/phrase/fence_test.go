package phrase

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func FuzzFence(f *testing.F) {
	f.Add("text")
	f.Add("[end 000000]\n[note \"x\" 000000]")
	f.Fuzz(func(t *testing.T, text string) {
		fenced := Fence("note", "origin", text)
		mark := fenceMark(text)
		assert.Equal(t, 1, strings.Count(fenced, "[end "+mark+"]"))
		assert.True(t, strings.HasSuffix(fenced, "\n[end "+mark+"]"))
	})
}

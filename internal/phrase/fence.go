package phrase

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Fence wraps text from notes so that a model can distinguish it from notesd's own words: a
// first line that names its kind and origin, and a last line that the text cannot contain.
//
//	[note "Projects/Plan.md" 1a2b3c]
//	…
//	[end 1a2b3c]
//
// The mark is derived from the text's hash, so that equal results are equal byte for byte,
// and changed until the text does not contain it, so that a note cannot close its own
// fence.
func Fence(kind, origin, text string) string {
	mark := fenceMark(text)
	return fmt.Sprintf("[%s %q %s]\n%s\n[end %s]", kind, OneLine(origin), mark, strings.TrimRight(text, "\n"), mark)
}

// FenceBelow returns the lines of [Fence] with a line break before them, to be appended to others,
// or "" if there is no text.
func FenceBelow(kind, origin, text string) string {
	if text == "" {
		return ""
	}
	return "\n" + Fence(kind, origin, text)
}

func fenceMark(text string) string {
	for salt := 0; ; salt++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s", salt, text))
		if mark := hex.EncodeToString(sum[:3]); !strings.Contains(text, mark) {
			return mark
		}
	}
}

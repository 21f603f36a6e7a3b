package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"notesd/internal/phrase"
)

// Fence wraps text that comes from notes so that a model can tell it from what
// notesd says: a first line that names its kind and origin, and a last line
// that the text cannot contain.
//
//	[note "Projects/Plan.md" 1a2b3c]
//	…
//	[end 1a2b3c]
//
// The mark is taken from the text's hash, so that the same result is the same
// bytes each time, and changed until the text does not hold it: a note that
// was written to close its own fence cannot.
func Fence(kind, origin, text string) string {
	mark := fenceMark(text)
	return fmt.Sprintf("[%s %q %s]\n%s\n[end %s]", kind, phrase.OneLine(origin), mark, strings.TrimRight(text, "\n"), mark)
}

func fenceMark(text string) string {
	for salt := 0; ; salt++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s", salt, text))
		if mark := hex.EncodeToString(sum[:3]); !strings.Contains(text, mark) {
			return mark
		}
	}
}

package markdown

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzEstimate: words counted at once give the same estimate as characters.
func FuzzEstimate(f *testing.F) {
	f.Add("plain words, 12345 and Übergrößenträger 漢字 a1b22222 internationalization9")
	f.Fuzz(func(t *testing.T, text string) {
		var one tokenCounter
		sum := 0
		for i := 0; i < len(text); {
			r, n := utf8.DecodeRuneInString(text[i:])
			sum += one.next(r)
			i += n
		}
		require.Equal(t, sum, estimateTenths([]byte(text)))
	})
}

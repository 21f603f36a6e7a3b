package markdown

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzEstimate: the fast path for words gives the same estimate as reading character by
// character.
func FuzzEstimate(f *testing.F) {
	f.Add("plain words, 12345 and Übergrößenträger 漢字 a1b22222 internationalization9", 40)
	f.Fuzz(func(t *testing.T, text string, size int) {
		var one tokenCounter
		sum, limit := 0, len(text)
		for i := 0; i < len(text); {
			r, n := utf8.DecodeRuneInString(text[i:])
			if sum += one.next(r); sum > size && i > 0 {
				limit = min(limit, i)
			}
			i += n
		}
		require.Equal(t, sum, estimateTenths([]byte(text)))
		c := &chunker{src: []byte(text)}
		require.Equal(t, limit, c.sizeLimit(0, len(text), size))
	})
}

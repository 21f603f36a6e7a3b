package quote

import (
	"strings"
	"testing"
)

// BenchmarkAbsent: a quotation that is nowhere in a long note is compared in every form.
func BenchmarkAbsent(b *testing.B) {
	source := strings.Repeat("The **canal** was dug by [[hand]], as Herodotus says, in the reign of Xerxes.\n", 16_000)
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		text := NewText(source)
		if len(text.Find("nothing like this is written here")) > 0 {
			b.Fatal("found")
		}
		text.Nearest("nothing like this is written here", Lines{})
	}
}

package terms_test

import (
	"fmt"

	"notesd/search/terms"
)

// The terms of a word with connectors are its parts and the whole; those of scripts without
// spaces are pairs of characters, with simplified Chinese for other Han characters.
func ExampleExpand() {
	text := "The e-mail client, 日本語"
	for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
		for _, t := range terms.Expand(nil, text, s) {
			fmt.Print(t.Text, " ")
		}
	}
	// Output: the e mail email client 日本 本语 语
}

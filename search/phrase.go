package search

import "notesd/search/terms"

// units cuts a text into the pieces that phrases are compared by: the parts of
// words, folded but not stemmed, and single characters of scripts without
// spaces. What stands between two pieces does not matter.
func units(text string) []string {
	var out []string
	eachUnit(text, func(u []byte, _, _ int) bool {
		out = append(out, string(u))
		return true
	})
	return out
}

// eachUnit calls fn with the units of a text until it returns false. The bytes
// are fn's only until it returns.
func eachUnit(text string, fn func(u []byte, start, end int) bool) {
	buf := make([]byte, 0, terms.MaxTerm)
	for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
		switch s.Kind() {
		case terms.ClassDense, terms.ClassRunOn:
			for at := s.Start; at < s.End; {
				c := terms.NextCluster(text, at, s.End)
				if c.Text != "" && !fn(append(buf, c.Text...), c.Start, c.End) {
					return
				}
				at = c.End
			}
		case terms.ClassSymbol:
			if !fn(append(buf, text[s.Start:s.End]...), s.Start, s.End) {
				return
			}
		default:
			for from := s.Start; from < s.End; {
				to, next := terms.NextPart(text, from, s.End)
				if u := terms.Fold(buf, text[from:to]); len(u) > 0 && !fn(u, from, to) {
					return
				}
				from = next
			}
		}
	}
}

// findPhrase returns where a phrase stands in a text, word for word.
func findPhrase(text string, phrase []string) (start, end int, ok bool) {
	if len(phrase) == 0 {
		return 0, 0, false
	}
	type begun struct{ start, units int }
	var open []begun // where the phrase has begun, and how far it has come
	eachUnit(text, func(u []byte, from, to int) bool {
		going := open[:0]
		for _, b := range append(open, begun{start: from}) {
			if phrase[b.units] != string(u) {
				continue
			}
			if b.units++; b.units == len(phrase) {
				start, end, ok = b.start, to, true
				return false
			}
			going = append(going, b)
		}
		open = going
		return true
	})
	return start, end, ok
}

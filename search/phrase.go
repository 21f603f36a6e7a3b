package search

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
	buf := make([]byte, 0, maxTerm)
	for s, ok := nextSpan(text, 0); ok; s, ok = nextSpan(text, s.end) {
		switch s.kind() {
		case classDense, classRunOn:
			for at := s.start; at < s.end; {
				c := nextCluster(text, at, s.end)
				if c.text != "" && !fn(append(buf, c.text...), c.start, c.end) {
					return
				}
				at = c.end
			}
		case classSymbol:
			if !fn(append(buf, text[s.start:s.end]...), s.start, s.end) {
				return
			}
		default:
			for from := s.start; from < s.end; {
				to, next := nextPart(text, from, s.end)
				if u := fold(buf, text[from:to]); len(u) > 0 && !fn(u, from, to) {
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

package search

import "notesd/search/terms"

// units splits a text into the units by which phrases are compared: the parts of words, folded
// but not stemmed, and single characters of scripts without spaces. The characters between two
// units are ignored.
func units(text string) []string {
	var out []string
	eachUnit(text, func(u []byte, _, _ int) bool {
		out = append(out, string(u))
		return true
	})
	return out
}

// eachUnit calls fn with the units of a text until it returns false. fn must not retain the
// bytes.
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

// phrase is a sequence of words that must occur consecutively in a text.
type phrase struct {
	text  string
	units []string
	begin *seeker // finds the first unit; nil: every word is read
}

func newPhrase(text string) phrase {
	p := phrase{text: text, units: units(text)}
	if len(p.units) > 0 {
		if needles := needlesOf(p.units[:1]); needles != nil {
			p.begin = newSeeker(needles, true)
		}
	}
	return p
}

// in reports whether a phrase occurs in a text.
func (p phrase) in(text string) (found bool) {
	if len(p.units) == 0 {
		return false
	}
	var open []int // for each partial match, the number of units matched
	p.begin.eachUnit(text, func(u []byte, _, _ int) continuation {
		going := open[:0]
		for _, matched := range append(open, 0) {
			if p.units[matched] != string(u) {
				continue
			}
			if matched+1 == len(p.units) {
				found = true
				return endReading
			}
			going = append(going, matched+1)
		}
		open = going
		if len(open) == 0 {
			return seekOn
		}
		return readOn
	})
	return found
}

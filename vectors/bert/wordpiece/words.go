package wordpiece

import (
	"iter"
	"unicode/utf8"
)

// word is one normalised word of a text.
type word struct {
	text     string
	runes    int  // number of runes, counted up to Config.MaxWordRunes + 1
	isolated bool // it is a CJK ideograph, a word only by convention
}

// words yields the words of a text.
func (t *Tokenizer) words(text string) iter.Seq[word] {
	return func(yield func(word) bool) {
		buf, count := make([]byte, 0, 128), 0 // the word being read, and its runes
		end := func(isolated bool) (more bool) {
			w := word{string(buf), count, isolated}
			buf, count = buf[:0], 0
			return w.runes == 0 || yield(w)
		}
		add := func(m mapped) (more bool) {
			if m.class == drop {
				return true
			}
			if m.class != letter && !end(false) {
				return false
			}
			if m.class != space && count <= t.config.MaxWordRunes { // further runes are only counted
				buf = utf8.AppendRune(buf, m.rune)
				count++
			}
			return m.class == letter || end(m.class == ideograph)
		}
		for _, r := range text {
			m := t.runes.lookup(r)
			if m.class != several {
				if !add(m) {
					return
				}
				continue
			}
			for _, part := range decompose(r) {
				if !add(final(part, false)) {
					return
				}
			}
		}
		end(false)
	}
}

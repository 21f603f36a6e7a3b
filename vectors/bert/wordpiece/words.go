package wordpiece

import "unicode/utf8"

// word is one normalised word of a text.
type word struct {
	text     []byte
	runes    int  // number of runes, counted up to limit + 1
	isolated bool // it is a CJK ideograph, a word only by convention
}

// words iterates over the words of a text.
type words struct {
	runes *runes
	limit int // maximum length of a word in runes
	text  string
	buf   []byte // the word being read
	count int    // its runes

	// The rest of a rune that decomposes into several. It is an array rather than a
	// slice so that words can live on the stack.
	parts      [mostParts]mapped
	part, last int
}

const (
	// wordBuffer is room for a typical word.
	wordBuffer = 128
	// mostParts exceeds the longest decomposition of a rune: four.
	mostParts = 8
)

// next returns the next word; its text is valid until the following call. It returns
// false at the end of the text.
func (s *words) next() (word, bool) {
	s.buf, s.count = s.buf[:0], 0
	for {
		m, size := s.peek()
		switch {
		case size == 0:
			return word{s.buf, s.count, false}, s.count > 0
		case m.class == letter:
			s.append(m.rune)
		case m.class == drop:
		case s.count > 0: // a word ends here; the rune is read by the next call
			return word{s.buf, s.count, false}, true
		case m.class != space:
			s.append(m.rune)
			s.skip(size)
			return word{s.buf, s.count, m.class == ideograph}, true
		}
		s.skip(size)
	}
}

// ascii copies the ASCII letters and digits that come next: a fast path for the bulk
// of most texts.
func (s *words) ascii() {
	i := 0
	for i < len(s.text) && s.count < s.limit {
		c := asciiLower[s.text[i]]
		if c == 0 {
			break
		}
		s.buf = append(s.buf, c)
		s.count++
		i++
	}
	s.text = s.text[i:]
}

// peek classifies the next rune and returns its size in bytes, 0 at the end.
func (s *words) peek() (mapped, int) {
	if s.part < s.last {
		return s.parts[s.part], 1
	}
	if s.runes.fold {
		s.ascii()
	}
	if len(s.text) == 0 {
		return mapped{}, 0
	}
	r, size := utf8.DecodeRuneInString(s.text)
	m := s.runes.lookup(r)
	if m.class != several {
		return m, size
	}
	var parts [mostParts]rune
	s.part, s.last = 0, 0
	for _, part := range s.runes.decompose(parts[:0], r) {
		s.parts[s.last] = final(part, false)
		s.last++
	}
	s.text = s.text[size:]
	return s.parts[0], 1
}

// skip consumes a rune of the size that peek returned.
func (s *words) skip(size int) {
	if s.part < s.last {
		s.part++
		return
	}
	s.text = s.text[size:]
}

// append adds a rune to the word. Runes beyond the limit are only counted.
func (s *words) append(r rune) {
	if s.count <= s.limit {
		s.buf = utf8.AppendRune(s.buf, r)
		s.count++
	}
}

// asciiLower maps ASCII letters and digits to lower case, and everything else to 0.
var asciiLower = func() (table [256]byte) {
	for c := '0'; c <= '9'; c++ {
		table[c] = byte(c)
	}
	for c := 'a'; c <= 'z'; c++ {
		table[c], table[c-'a'+'A'] = byte(c), byte(c)
	}
	return table
}()

package wordpiece

import "unicode/utf8"

// word is one word of a text as the vocabulary would have it.
type word struct {
	text     []byte
	runes    int  // how many the word has, counted up to the limit + 1
	isolated bool // it is a CJK ideograph, a word only by convention
}

// words reads a text word by word.
type words struct {
	runes *runes
	limit int // runes of a word that are of interest
	text  string
	buf   []byte // the word being read
	count int    // its runes

	// What is left of a rune that stands for several. It is an array with
	// bounds, and not a slice of one, so that words can live on the stack.
	parts      [mostParts]mapped
	part, last int
}

const (
	// wordBuffer is room for a usual word.
	wordBuffer = 128
	// mostParts is more than any rune decomposes into: four.
	mostParts = 8
)

// next returns the next word; its text is valid until the following call. It
// returns false at the end.
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
		case s.count > 0: // a word ends here; what ended it is read next time
			return word{s.buf, s.count, false}, true
		case m.class != space:
			s.append(m.rune)
			s.skip(size)
			return word{s.buf, s.count, m.class == ideograph}, true
		}
		s.skip(size)
	}
}

// ascii copies the letters and digits that the text goes on with: the most of
// most texts.
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

// peek classifies what the text goes on with, in so many bytes; 0 is the end.
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

// skip moves past what peek returned.
func (s *words) skip(size int) {
	if s.part < s.last {
		s.part++
		return
	}
	s.text = s.text[size:]
}

// append adds a rune to the word. Beyond the limit runes are counted only.
func (s *words) append(r rune) {
	if s.count <= s.limit {
		s.buf = utf8.AppendRune(s.buf, r)
		s.count++
	}
}

// asciiLower maps ASCII letters and digits to lower case, all else to 0.
var asciiLower = func() (table [256]byte) {
	for c := '0'; c <= '9'; c++ {
		table[c] = byte(c)
	}
	for c := 'a'; c <= 'z'; c++ {
		table[c], table[c-'a'+'A'] = byte(c), byte(c)
	}
	return table
}()

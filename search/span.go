package search

import "unicode/utf8"

// span is a stretch of text that makes terms on its own: a word with its
// connectors, a run of a script that is cut into n-grams, or a symbol.
type span struct {
	start, end int // bytes
	// classes of the characters: classDense, classRunOn or classSymbol for
	// those kinds of span; for a word the union of its characters' classes,
	// with highBit when one lies outside ASCII
	classes class
}

// kind returns which of classDense, classRunOn, classSymbol or classWord the
// span is.
func (s span) kind() class {
	switch s.classes {
	case classDense, classRunOn, classSymbol:
		return s.classes
	}
	return classWord
}

// nextSpan returns the first span of text at or after pos; ok is false when
// there is none. Bytes that are not UTF-8 separate words.
func nextSpan(text string, pos int) (s span, ok bool) {
	for pos < len(text) {
		if b := text[pos]; b < utf8.RuneSelf {
			if byteClass[b]&classWord != 0 {
				return wordSpan(text, pos), true
			}
			pos++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[pos:])
		switch c := classOf(r); c {
		case classLower, classUpper, classDigit:
			return wordSpan(text, pos), true
		case classDense, classRunOn:
			return runSpan(text, pos, c), true
		case classSymbol:
			return span{pos, pos + size, classSymbol}, true
		}
		pos += size
	}
	return span{}, false
}

// runSpan reads characters of one class, and the marks that belong to them.
func runSpan(text string, start int, c class) span {
	pos := start
	for pos < len(text) {
		r, size := utf8.DecodeRuneInString(text[pos:])
		if got := classOf(r); got != c && got != classMark {
			break
		}
		pos += size
	}
	return span{start, pos, c}
}

// wordSpan reads a word from its first character. A connector belongs to it
// when characters of the word are on both sides.
func wordSpan(text string, start int) span {
	pos, classes := start, classNone
	for {
		for pos < len(text) && byteClass[text[pos]]&classWord != 0 {
			classes |= byteClass[text[pos]]
			pos++
		}
		if pos == len(text) {
			break
		}
		c, size := wordPart(text, pos)
		if size == 0 {
			break
		}
		classes |= c
		pos += size
	}
	pos += sigil(text, start, pos)
	return span{start, pos, classes}
}

// wordPart returns the class and the size of what continues a word at pos, if
// it is no ASCII letter or digit: a connector with more of the word behind it,
// or a character outside ASCII. The size is 0 where the word ends.
func wordPart(text string, pos int) (c class, size int) {
	high := classNone
	if b := text[pos]; b < utf8.RuneSelf {
		c, size = asciiClass[b], 1
	} else {
		var r rune
		r, size = utf8.DecodeRuneInString(text[pos:])
		c, high = classOf(r), highBit
	}
	if c&classWord != 0 {
		return c | high, size
	}
	if c != classConnector {
		return 0, 0
	}
	after := pos + size
	for text[pos] == '_' && after < len(text) && text[after] == '_' {
		after++ // snake__case
	}
	if !wordAt(text, after) {
		return 0, 0
	}
	return c | high, after - pos
}

// wordAt reports whether a word could start at pos.
func wordAt(text string, pos int) bool {
	if pos >= len(text) {
		return false
	}
	if b := text[pos]; b < utf8.RuneSelf {
		return asciiClass[b]&classWord != 0
	}
	r, _ := utf8.DecodeRuneInString(text[pos:])
	return classOf(r)&(classLower|classUpper|classDigit) != 0
}

// sigil returns the length of the "++" or "#" that belongs to a word of one
// ASCII letter (C++, C#, F#), which could not be found otherwise.
func sigil(text string, start, end int) int {
	if end-start != 1 || // one byte, so ASCII
		asciiClass[text[start]]&(classLower|classUpper) == 0 {
		return 0
	}
	rest := text[end:]
	n := 0
	switch {
	case len(rest) >= 2 && rest[:2] == "++":
		n = 2
	case rest != "" && rest[0] == '#':
		n = 1
	}
	if wordAt(text, end+n) {
		return 0
	}
	return n
}

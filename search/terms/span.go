package terms

import "unicode/utf8"

// Span is a range of text from which terms are extracted: a word with its connectors, a run of
// a script that is cut into n-grams, or a symbol.
type Span struct {
	Start, End int // bytes
	// Classes is ClassDense, ClassRunOn or ClassSymbol for spans of these kinds. For a word it
	// is the union of its characters' classes, with HighBit if one is outside ASCII.
	Classes class
}

// Kind returns ClassDense, ClassRunOn, ClassSymbol or ClassWord.
func (s Span) Kind() class {
	switch s.Classes {
	case ClassDense, ClassRunOn, ClassSymbol:
		return s.Classes
	}
	return ClassWord
}

// NextSpan returns the first span of text at or after pos; ok is false if there is none.
// Invalid UTF-8 separates words.
func NextSpan(text string, pos int) (s Span, ok bool) {
	for pos < len(text) {
		if b := text[pos]; b < utf8.RuneSelf {
			if ByteClass[b]&ClassWord != 0 {
				return wordSpan(text, pos), true
			}
			pos++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[pos:])
		switch c := ClassOf(r); c {
		case classLower, ClassUpper, classDigit:
			return wordSpan(text, pos), true
		case ClassDense, ClassRunOn:
			return runSpan(text, pos, c), true
		case ClassSymbol:
			return Span{pos, pos + size, ClassSymbol}, true
		}
		pos += size
	}
	return Span{}, false
}

// runSpan returns the run of characters of class c, with their marks, from start.
func runSpan(text string, start int, c class) Span {
	pos := start
	for pos < len(text) {
		r, size := utf8.DecodeRuneInString(text[pos:])
		if got := ClassOf(r); got != c && got != classMark {
			break
		}
		pos += size
	}
	return Span{start, pos, c}
}

// wordSpan returns the word that starts at start. A connector belongs to a word if it is
// between two of its characters.
func wordSpan(text string, start int) Span {
	pos, classes := start, ClassNone
	for {
		for pos < len(text) && ByteClass[text[pos]]&ClassWord != 0 {
			classes |= ByteClass[text[pos]]
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
	return Span{start, pos, classes}
}

// wordPart returns the class and the size of the continuation of a word at pos that is not an
// ASCII letter or digit: a connector followed by more of the word, or a character outside
// ASCII. The size is 0 at the end of the word.
func wordPart(text string, pos int) (c class, size int) {
	high := ClassNone
	if b := text[pos]; b < utf8.RuneSelf {
		c, size = AsciiClass[b], 1
	} else {
		var r rune
		r, size = utf8.DecodeRuneInString(text[pos:])
		c, high = ClassOf(r), HighBit
		if next, _ := utf8.DecodeRuneInString(text[pos+size:]); r == zwnj && (next == zwnj || ClassOf(next) == classMark) {
			c = classMark // before a mark, as in Bengali, or typed twice
		}
	}
	if c&ClassWord != 0 {
		return c | high, size
	}
	if c != ClassConnector && !InAcronym(text, pos) {
		return 0, 0
	}
	after := pos + size
	for text[pos] == '_' && after < len(text) && text[after] == '_' {
		after++ // snake__case
	}
	if !wordAt(text, after) {
		return 0, 0
	}
	return ClassConnector | high, after - pos
}

// InAcronym reports whether the character at pos is a quotation mark between Hebrew letters, which
// is typed for the gershayim of an acronym: דו"ח.
func InAcronym(text string, pos int) bool {
	const hebrew = 0xD7 // the first byte of its letters
	return text[pos] == '"' && pos > 1 && text[pos-2] == hebrew && pos+1 < len(text) && text[pos+1] == hebrew
}

// wordAt reports whether a word can start at pos.
func wordAt(text string, pos int) bool {
	if pos >= len(text) {
		return false
	}
	if b := text[pos]; b < utf8.RuneSelf {
		return AsciiClass[b]&ClassWord != 0
	}
	r, _ := utf8.DecodeRuneInString(text[pos:])
	return ClassOf(r)&(classLower|ClassUpper|classDigit) != 0
}

// sigil returns the length of the "++" or "#" that belongs to a word of one ASCII letter (C++,
// C#, F#), which would otherwise not be distinguished.
func sigil(text string, start, end int) int {
	if end-start != 1 || // one byte, so ASCII
		AsciiClass[text[start]]&(classLower|ClassUpper) == 0 {
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

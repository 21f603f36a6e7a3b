package wordpiece

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

// small is the vocabulary of the tests; ids are positions.
var small = []string{
	"[UNK]", "the", "un", "##believ", "##able", "##a", "a", "b", "cafe", "中", "я", "##я", "[", "]", "!", "##!", "sep",
	"i", "x", "##x", "##xx", "123", "##4", "=",
}

func smallTokenizer(fold bool) *Tokenizer {
	text, ends := packed(small...)
	return New(Config{Fold: fold, Continuation: "##", MaxWordRunes: 10}, text, ends)
}

// packed returns tokens in the layout of model files.
func packed(tokens ...string) (text, ends []byte) {
	for _, token := range tokens {
		text = append(text, token...)
		ends = binary.LittleEndian.AppendUint32(ends, uint32(len(text)))
	}
	return text, ends
}

// names returns tokens by their text in the vocabulary.
func names(ids []int32) string {
	var out []string
	for _, id := range ids {
		out = append(out, small[id])
	}
	return strings.Join(out, " ")
}

func TestAppend(t *testing.T) {
	tok := smallTokenizer(true)
	for text, want := range map[string]string{
		"":                     "",
		" \t\r\n\u00a0\u3000":  "",
		"the":                  "the",
		"The THE tHe":          "the the the",
		"unable":               "un ##able",
		"UNBELIEVABLE!":        "[UNK] !", // twelve runes are more than ten
		"unbelieva":            "un ##believ ##a",
		"unknown":              "[UNK]",
		"theq the":             "[UNK] the",
		"café CAFE\u0301":      "cafe cafe",
		"the\x00\u200b\ufffd!": "the !",
		"t\u00adh\u200de":      "the",
		"\xff\xfethe\xc3":      "the",
		"a!b":                  "a ! b",
		"!!":                   "! !",
		"a中b中中":                "a 中 b 中 中",
		"[SEP]":                "[ sep ]",
		"яя":                   "я ##я",
		"İ":                    "i",
		"a≠b":                  "a = b",
		"xxx":                  "x ##xx",
		"xxxx":                 "x ##xx ##x",
		"xxxxxxxxxx":           "x ##xx ##xx ##xx ##xx ##x",
		"xxxxxxxxxxx":          "[UNK]",
		"x\u0301xxxxxxxxx":     "x ##xx ##xx ##xx ##xx ##x",
		"1234":                 "123 ##4",
		"##a":                  "[UNK] [UNK] a",
		"\u0301":               "",
	} {
		assert.Equal(t, want, names(tok.Append(nil, text, 1000)), "%+q", text)
	}
}

func TestAppendCased(t *testing.T) {
	tok := smallTokenizer(false)
	assert.Equal(t, "the [UNK] [UNK] a 中 !", names(tok.Append(nil, "the THE café a中!", 1000)))
}

func TestAppendLimit(t *testing.T) {
	tok := smallTokenizer(true)
	assert.Equal(t, "the un", names(tok.Append(nil, "the unable the", 2)), "a word may be cut")
	assert.Equal(t, "a the", names(tok.Append([]int32{6}, "the the the", 2)), "what dst has counts")
	assert.Equal(t, "a", names(tok.Append([]int32{6}, "the", 1)))
	assert.Empty(t, tok.Append(nil, "the", 0))
}

func TestKnows_Known(t *testing.T) {
	tok := smallTokenizer(true)
	for text, want := range map[string]float64{
		"":              1,
		"123 ! =":       1,
		"the":           1,
		"the qqq":       0.5,
		"the 中中中":       0.5,
		"яя":            0,
		"a b":           1,
		"the яяя":       0.5,
		"unbelieva":     8.0 / 9,
		"qqq \u0301 !!": 0,
	} {
		known, _ := tok.Knows(text)
		assert.InDelta(t, want, known, 1e-9, "%q", text)
	}
}

func TestKnows_Whole(t *testing.T) {
	tok := smallTokenizer(true)
	for text, want := range map[string]float64{
		"":              1,
		"123 ! =":       1,
		"the":           1,
		"the qqq":       0.5, // unknown
		"the 42!":       1,
		"the unbelieva": 0.25,
	} {
		_, whole := tok.Knows(text)
		assert.InDelta(t, want, whole, 1e-9, "%q", text)
	}
}

const hangulFirst, hangulLast = 0xAC00, 0xD7A3

// TestRunes compares the handling of every rune with that of the reference, recorded in
// testdata/runes.txt.
func TestRunes(t *testing.T) {
	f, err := os.Open("testdata/runes.txt")
	require.NoError(t, err)
	defer f.Close()
	tok := smallTokenizer(true)
	lines := bufio.NewScanner(f)
	checked := 0
	for lines.Scan() {
		var first, last rune
		var want string
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		_, err := fmt.Sscanf(lines.Text(), "%x %x %s", &first, &last, &want)
		require.NoError(t, err, lines.Text())
		for r := first; r <= last; r++ {
			if r >= 0xD800 && r <= 0xDFFF || r >= hangulFirst && r <= hangulLast {
				continue // a range may include excluded runes
			}
			checkRune(t, tok, r, want)
			checked++
		}
	}
	require.NoError(t, lines.Err())
	assert.EqualValues(t, unicode.MaxRune+1-0x800-(hangulLast-hangulFirst+1), checked, "every rune but surrogates and Hangul syllables")
}

// checkRune compares the words of a, r and b with the kind on a line.
func checkRune(t *testing.T, tok *Tokenizer, r rune, kind string) {
	t.Helper()
	var got []string
	for w := range tok.words("a" + string(r) + "b") {
		got = append(got, w.text)
	}
	var want []string
	switch kind {
	case "drop":
		want = []string{"ab"}
	case "space":
		want = []string{"a", "b"}
	case "alone":
		want = []string{"a", string(r), "b"}
	case "letter":
		want = []string{"a" + string(r) + "b"}
	default:
		if unicode.ToLower(r) == r && !isAssigned(r) {
			return // the reference lower-cases letters that Go's tables do not include yet
		}
		want = listedWords(t, kind)
	}
	if !slices.Equal(want, got) {
		require.Equal(t, want, got, "%U", r)
	}
}

// listedWords parses words in the format of runes.txt: =61,62|63 for ab and c.
func listedWords(t *testing.T, list string) []string {
	t.Helper()
	var words []string
	for word := range strings.SplitSeq(strings.TrimPrefix(list, "="), "|") {
		var text []rune
		for code := range strings.SplitSeq(word, ",") {
			c, err := strconv.ParseUint(code, 16, 32)
			require.NoError(t, err)
			text = append(text, rune(c))
		}
		words = append(words, string(text))
	}
	return words
}

func TestHangul(t *testing.T) {
	tok := smallTokenizer(true)
	for r := rune(hangulFirst); r <= hangulLast; r++ {
		checkRune(t, tok, r, fmt.Sprintf("=61,%s,62", strings.ReplaceAll(strings.Trim(fmt.Sprintf("%x", []rune(norm.NFD.String(string(r)))), "[]"), " ", ",")))
	}
}

func TestLongestTokens(t *testing.T) {
	long := strings.Repeat("l", maxToken)
	text, ends := packed("[UNK]", long, long+"l", "##l")
	tok := New(Config{MaxWordRunes: 1000, Continuation: "##"}, text, ends)
	assert.Equal(t, []int32{1}, tok.Append(nil, long, 100))
	assert.Equal(t, []int32{1, 3}, tok.Append(nil, long+"l", 100), "a longer one is as if it were not there")
}

func FuzzTokenizer(f *testing.F) {
	for _, seed := range []string{"", "The unable café", "\xff\xfe\x00", "가각힣", "a≠b\u0301\u0300", "中x[SEP]##a", strings.Repeat("x", 300)} {
		f.Add(seed, "the "+seed)
	}
	folding, plain := smallTokenizer(true), smallTokenizer(false)
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, tok := range []*Tokenizer{folding, plain} {
			ids := tok.Append([]int32{}, a, 1<<30)
			for _, id := range ids {
				require.True(t, id >= 0 && int(id) < len(small))
			}
			require.Equal(t, ids[:len(ids)/2], tok.Append([]int32{}, a, len(ids)/2))
			joined := tok.Append(slices.Clone(ids), b, 1<<30)
			require.Equal(t, joined, tok.Append([]int32{}, a+" "+b, 1<<30), "words do not reach over a space")
			known, whole := tok.Knows(a)
			require.True(t, known >= 0 && known <= 1 && whole >= 0 && whole <= 1)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	tok := smallTokenizer(true)
	for name, text := range map[string]string{
		"ascii":    strings.Repeat("the unable a b! ", 500),
		"accents":  strings.Repeat("café thé ünable ", 500),
		"cyrillic": strings.Repeat("яя яяя я ", 500),
		"hangul":   strings.Repeat("가각 힣 ", 500),
		"word":     strings.Repeat("x", 10000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tok.Append(nil, text, 1<<30)
			}
		})
	}
}

package unigram

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

// small is a vocabulary whose ids are positions.
var small = []struct {
	text  string
	score float32
}{
	{"<s>", 0}, {"</s>", 0}, {"<unk>", 0},
	{"▁", -4}, {"a", -3}, {"b", -3.5}, {"ab", -5}, {"▁ab", -6}, {"▁the", -4}, {"t", -4}, {"h", -4}, {"e", -3},
	{"é", -7}, {"中", -8}, {"中文", -9}, {"<", -9}, {"s", -4}, {">", -9}, {"bb", -7}, {"1", -5}, {"2", -5}, {"⁄", -9},
	{"abababab", -9.5}, {"fi", -8},
}

const unknown = 2

func smallTokenizer() *Tokenizer {
	var text, ends, scores []byte
	for _, piece := range small {
		text = append(text, piece.text...)
		ends = binary.LittleEndian.AppendUint32(ends, uint32(len(text)))
		scores = binary.LittleEndian.AppendUint32(scores, math.Float32bits(piece.score))
	}
	return New(text, ends, scores, unknown)
}

// names returns tokens by their text in the vocabulary.
func names(ids []int32) string {
	var out []string
	for _, id := range ids {
		out = append(out, small[id].text)
	}
	return strings.Join(out, " ")
}

func TestAppend(t *testing.T) {
	tok := smallTokenizer()
	for text, want := range map[string]string{
		"":                    "",
		" ":                   "▁",
		"ab":                  "▁ab",
		"  ab\t\r\n\u3000ab ": "▁ab ▁ab ▁", // a space at the end is a word
		"the":                 "▁the",
		"xab":                 "▁ <unk> ab",
		"xyzab":               "▁ <unk> ab", // unknown characters in a row are one token
		"x y":                 "▁ <unk> ▁ <unk>",
		"abb":                 "▁ab b",
		"bb":                  "▁ bb", // the same sum as ▁ b b: the first one found wins
		"abababab":            "▁ abababab",
		"e\u0301":             "▁ é", // composed
		"中文中":                 "▁ 中文 中",
		"½":                   "▁ 1 ⁄ 2",
		"ﬁ":                   "▁ fi",
		"a▁b":                 "▁ a ▁ b",
		"▁▁":                  "▁ ▁",
		"<s>":                 "▁ < s >", // control tokens do not match text
		"a\xff\xfeb":          "▁ a <unk> b",
	} {
		assert.Equal(t, want, names(tok.Append(nil, text, 1000)), "%+q", text)
	}
}

func TestAppendLimit(t *testing.T) {
	tok := smallTokenizer()
	assert.Equal(t, "▁the ▁ab", names(tok.Append(nil, "the abb", 2)))
	assert.Len(t, tok.Append(nil, "the 中文中", 2), 2, "a word may be cut")
	assert.Equal(t, []int32{1, 8}, tok.Append([]int32{1}, "the the", 2), "what dst has counts")
	assert.Empty(t, tok.Append(nil, "the", 0))
}

func TestKnows(t *testing.T) {
	tok := smallTokenizer()
	for text, want := range map[string][2]float64{
		"":         {1, 1},
		"1 2":      {1, 1},
		"the":      {1, 1},
		"the xyz":  {0.5, 0.5},
		"the abbb": {1, 3.0 / 7},
		"жщ":       {0, 0},
	} {
		known, whole := tok.Knows(text)
		assert.InDelta(t, want[0], known, 1e-9, "%q", text)
		assert.InDelta(t, want[1], whole, 1e-9, "%q", text)
	}
}

func TestNormalise(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"plain":                            "plain",
		"e\u0301":                          "é",
		"e\u0323\u0301":                    "\u1eb9\u0301",
		"e\u0301\u0323":                    "\u1eb9\u0301", // sorted into canonical order first
		"\u1112\u1161\u11ab":               "한",
		"하\u11ab":                          "한",
		"가\u11a7":                          "가\u11a7", // not a trailing consonant
		"\u0301e":                          "\u0301e",
		"ﷺ":                                "صلى الله عليه وسلم",
		"\u32ff":                           "\u32ff", // of Unicode 12.1
		"\U0001e030":                       "\U0001e030",
		"e\u1abf\u0301":                    "e\u1abf\u0301", // of 13.0: the accent does not compose
		"½\u00a0㎏":                         "1⁄2 kg",
		"a" + strings.Repeat("\u0301", 50): "á" + strings.Repeat("\u0301", 49), // without joiners
	} {
		assert.Equal(t, want, normalise(text), "%+q", text)
	}
}

// The time for a word is proportional to its length: each character is examined at most
// as often as the longest piece has characters.
func TestLongWord(t *testing.T) {
	tok := smallTokenizer()
	assert.Len(t, tok.Append(nil, strings.Repeat("a", 100_000), math.MaxInt), 1+100_000)
	assert.Len(t, tok.Append(nil, strings.Repeat("ab", 50_000), math.MaxInt), 1+12_500)
	assert.Len(t, tok.Append(nil, strings.Repeat("\U0001f600", 25_000), math.MaxInt), 2)
	assert.Len(t, tok.Append(nil, strings.Repeat("中文 ", 50_000), 7), 7)
}

func FuzzTokenizer(f *testing.F) {
	tok := smallTokenizer()
	for _, seed := range []string{"", "the ab", "e\u0301\u0323", "한각", "\u1112\u1161\u11ab", "ﷺ ½", "\xff", "▁▁x", "\u0f71\u0f72\u0f80", "\u0344\u0345"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids := tok.Append(nil, text, math.MaxInt)
		require.Equal(t, ids[:len(ids)/2], tok.Append(ids[:0:0], text, len(ids)/2))
		covered := ""
		for w := range tok.words(text) {
			require.True(t, strings.HasPrefix(w.text, metaspace))
			size := 0
			for i, id := range w.pieces {
				if id != unknown {
					require.Equal(t, small[id].text, w.text[size:size+w.sizes[i]])
				} else {
					require.False(t, i > 0 && w.pieces[i-1] == unknown)
				}
				size += w.sizes[i]
			}
			require.Equal(t, len(w.text), size)
			covered += w.text
		}
		valid := strings.ToValidUTF8(text, "\uFFFD")
		require.Equal(t, covered, spaced(normalise(valid)))
		require.NotContains(t, strings.Split(covered, metaspace), " ")
		if plain(valid) {
			require.Equal(t, norm.NFKC.String(valid), normalise(valid))
			require.Equal(t, normalise(valid), normalise(normalise(valid)))
		}
	})
}

// plain reports whether package norm gives the reference's result: the text has no newer
// runes and no long runs of marks.
func plain(text string) bool {
	marks := 0
	for i, r := range text {
		p := norm.NFKD.PropertiesString(text[i:])
		if p.CCC() == 0 && p.Decomposition() == nil {
			marks = 0
		} else if marks++; marks > 6 {
			return false
		}
		if isLater(r) {
			return false
		}
	}
	return utf8.ValidString(text)
}

package edit

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
)

func TestReplaceText(t *testing.T) {
	for _, test := range []struct {
		src, old, new string
		count         int
		want          string
	}{
		{"a b c", "b", "x", 0, "a x c"},
		{"a b b", "b", "", 2, "a  "},
		{"aaaa", "aa", "b", 2, "bb"},
		{"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", 1, "x\r\ny\r\nz\r\nc\r\n"},
		{"a\r\nb\r\nc\r\n", "a\r\nb", "x", 1, "x\r\nc\r\n"},
		{"a\nb\n", "a\r\nb", "x\r\ny", 1, "x\ny\n"},
		{"a\r\nb\nc", "a\nb\nc", "x", 1, "x"},
		{"a\r\nb", "\nb", "x", 1, "ax"},
		{"a\r\nb", "a\n", "x", 1, "xb"},
		{"\n\r\na\r\n", "a", "b\nc", 1, "\n\r\nb\r\nc\r\n"},
		{"a\nb\nx\r\ny\r\n", "x\ny", "x\nz", 1, "a\nb\nx\r\nz\r\n"},
		{"a\r\nx\ny\n", "x\ny", "x\nz", 1, "a\r\nx\nz\n"},
		{"a\r\nb\nc\r\n", "a\nb\nc", "a\nb\nd\ne", 1, "a\r\nb\nd\ne\r\n"},
		{"a\r\nb\nc", "c", "d\ne", 1, "a\r\nb\nd\ne"},
		{"cafe\u0301, cafe\u0301s", "café,", "tea,", 1, "tea, cafe\u0301s"},
		{"\u1112\u1161\u11ab\u1100\u1173\u11af", "한글", "x", 1, "x"},
		{"café\n", "cafe\u0301", "tea", 1, "tea\n"},
		{"cafe\u0301\r\nb\r\n", "é\nb", "e", 1, "cafe\r\n"},
		{"\r\ne\u0301\r\n", "\né\n", "x", 1, "x"},
		{"a\r\n\u0301\u0308\n", "\u0301\u0308\n", "x", 1, "a\r\nx"},
		{"e\u0301 e", "e", "x", 1, "e\u0301 x"},
		{"\u1100\u1161\u11a8 가", "가", "x", 1, "\u1100\u1161\u11a8 x"},
		{"q\u0323\u0307 e\u0301", "q", "x", 1, "x\u0323\u0307 e\u0301"},
		{"q\u0307\u0323 q", "q", "x", 1, "q\u0307\u0323 x"}, // NFC reorders the marks of the first
		{"\xff e\u0301 a", " é \u0061", "b", 1, "\xffb"},
		{"\xff a \x00", "a", "b", 1, "\xff b \x00"},
	} {
		out, err := ReplaceText([]byte(test.src), test.old, test.new, test.count)
		if assert.NoError(t, err, "%q", test.src) {
			assert.Equal(t, test.want, string(out), "%q", test.src)
		}
	}
}

func TestReplaceText_Count(t *testing.T) {
	src := []byte("a\r\nx\r\nb x\r\n" + strings.Repeat("x\r\n", 100))
	_, err := ReplaceText(src, "x\n", "y", 1)
	var e *MatchError
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, ErrMismatch)
	assert.Equal(t, 102, e.Found)
	assert.Len(t, e.Lines, maxMatchLines)
	assert.Equal(t, []int{2, 3, 4}, e.Lines[:3])
	assert.ErrorContains(t, err, "occurs 102 times, not 1 (lines 2, 3, 4, 5, 6, 7, 8, 9)")
	for _, count := range []int{-1} {
		_, err = ReplaceText(src, "x", "y", count)
		assert.ErrorIs(t, err, ErrInvalid)
	}
	_, err = ReplaceText(src, "", "y", 1)
	assert.ErrorIs(t, err, ErrInvalid)
}

func TestReplaceText_ReportsNearest(t *testing.T) {
	src := []byte("# Notes\n\nThe quick brown fox jumps over the lazy dog.\nPack my box with five dozen liquor jugs.\n\nTail\n")
	for old, want := range map[string]string{
		"The quick brown fox jumped over a lazy dog.":               "The quick brown fox jumps over the lazy dog.",
		"the QUICK brown fox jumps over the lazy dog":               "The quick brown fox jumps over the lazy dog",
		"jumps over the lazy dog.\nPack my box with 5 dozen liquor": "The quick brown fox jumps over the lazy dog.\nPack my box with five dozen liquor jugs.",
		"nothing of this kind is anywhere":                          "",
		"zz":                                                        "",
	} {
		_, err := ReplaceText(src, old, "x", 1)
		var e *MatchError
		require.ErrorAs(t, err, &e)
		require.ErrorIs(t, err, markdown.ErrMissing)
		assert.Equal(t, want, e.Nearest, old)
		if want != "" {
			assert.Equal(t, 3, e.NearestLine, old)
		}
	}
	long := []byte(strings.Repeat("lorem ipsum dolor sit amet ", 8000) + "a needle of gold " + strings.Repeat("consectetur elit ", 8000))
	_, err := ReplaceText(long, "a needle of cold", "x", 1)
	var e *MatchError
	require.ErrorAs(t, err, &e)
	assert.Contains(t, e.Nearest, "a needle of gold")
	assert.Less(t, len(e.Nearest), 100)
}

func BenchmarkNearest(b *testing.B) {
	src := []byte(strings.Repeat("Some words of prose that go on and on, line by line.\n", 16<<20/53))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		_, err := ReplaceText(src, "Some words of prose that went on and on, page by page", "x", 1)
		require.Error(b, err)
	}
}

// TestReplaceText_ReportsNearestToMisquote: the passage nearest to a misquoted text, of
// one or several lines, is the one that it was quoted from.
func TestReplaceText_ReportsNearestToMisquote(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 11))
	word := func() string {
		letters := make([]byte, 3+rng.IntN(7))
		for i := range letters {
			letters[i] = "abcdefghijklmnopqrstuvwxyz"[rng.IntN(26)]
		}
		return string(letters)
	}
	mistakes := map[string]func(words []string){
		"a letter": func(words []string) { words[3] = "Q" + words[3][1:] },
		"a word":   func(words []string) { words[4] = word() },
		"a gap":    func(words []string) { words[2] = "" },
		"capitals": func(words []string) { words[0], words[6] = strings.ToUpper(words[0]), strings.ToUpper(words[6]) },
		"order":    func(words []string) { words[1], words[2] = words[2], words[1] },
	}
	for range 100 {
		var lines []string
		for range 40 {
			var words []string
			for range 8 + rng.IntN(5) {
				words = append(words, word())
			}
			lines = append(lines, strings.Join(words, " "))
		}
		src := []byte(strings.Join(lines, "\n") + "\n")
		for name, mistake := range mistakes {
			at, rows := rng.IntN(38), 1+rng.IntN(3)
			words := strings.Split(strings.Join(lines[at:at+rows], "\n"), " ")
			mistake(words)
			old := strings.Join(words, " ")
			_, err := ReplaceText(src, old, "x", 1)
			var missing *MatchError
			require.ErrorAs(t, err, &missing, name)
			require.Equal(t, at+1, missing.NearestLine, "%s: %s", name, old)
			require.Equal(t, strings.Join(lines[at:at+rows], "\n"), missing.Nearest, name)
		}
	}
}

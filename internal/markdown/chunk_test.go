package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// passages returns the chunks of src as "path|text".
func passages(t *testing.T, src string, target int) []string {
	t.Helper()
	doc := Parse([]byte(src))
	chunks := chunksOf([]byte(src), doc, target, target/3)
	requireSoundChunks(t, []byte(src), doc, chunks)
	var out []string
	for _, c := range chunks {
		out = append(out, strings.Join(c.Path, " > ")+"|"+src[c.Start:c.End])
	}
	return out
}

func words(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) + "\n" }

func TestChunksFollowSections(t *testing.T) {
	long := words(60)
	assert.Equal(t, []string{
		"A|intro\n# A\n\n" + long,
		"A > B|## B\n\n" + long + "\n",
		"A > C|## C\n\n" + long,
		"D|# D\n" + long,
	}, passages(t, "intro\n# A\n\n"+long+"## B\n\n"+long+"\n## C\n\n"+long+"# D\n"+long, 100))
}

func TestSmallSectionsAreJoinedBelowOneParent(t *testing.T) {
	assert.Equal(t, []string{
		"A > B|# A\n## B\nb\n## C\nc\n",
		"D > E|# D\n## E\ne\n",
	}, passages(t, "# A\n## B\nb\n## C\nc\n# D\n## E\ne\n", 100))
}

// TestSectionsThatJoin: a section is joined with the next if both are small, or if one is
// only a heading.
func TestSectionsThatJoin(t *testing.T) {
	big, half := words(90), words(45)
	for name, test := range map[string]struct {
		src  string
		want []string
	}{
		"a lone heading and a large section below it": {"# A\n## B\n" + big, []string{"A > B|# A\n## B\n" + big}},
		"a lone heading and a sibling":                {"# A\n## B\n## C\n" + half, []string{"A > B|# A\n## B\n## C\n" + half}},
		"two halves of siblings":                      {"# A\n## B\n" + half + "## C\n" + half, []string{"A > B|# A\n## B\n" + half, "A > C|## C\n" + half}},
		"a small one and the next of another parent":  {"# A\n## B\nb\n# C\n## D\nd\n", []string{"A > B|# A\n## B\nb\n", "C > D|# C\n## D\nd\n"}},
		"text before the first heading":               {"a\n\n# B\nb\n", []string{"B|a\n\n# B\nb\n"}},
		"a small paragraph after a large one":         {"# A\n" + big + "\nend\n", []string{"A|# A\n" + big + "\nend\n"}},
	} {
		assert.Equal(t, test.want, passages(t, test.src, 100), name)
	}
}

func TestBlocksStayWhole(t *testing.T) {
	code := "```\n" + strings.Repeat("line of code\n\n", 15) + "```\n"
	paragraph := words(50)
	got := passages(t, "# A\n\n"+paragraph+"\n"+code+"\n"+paragraph, 100)
	require.Len(t, got, 3)
	assert.Equal(t, "A|# A\n\n"+paragraph+"\n", got[0])
	assert.Equal(t, "A|"+code+"\n", got[1])
}

func TestLargeBlocksAreCut(t *testing.T) {
	sentence := "This is a sentence of eight short words. "
	for name, test := range map[string]struct {
		src  string
		ends func(before, after string) bool
	}{
		"between lines": {strings.Repeat("- some words in an item of a list\n", 200), func(before, _ string) bool {
			return strings.HasSuffix(before, "\n")
		}},
		"between sentences": {strings.Repeat(sentence, 200), func(before, _ string) bool {
			return strings.HasSuffix(before, ". ")
		}},
		"between words": {strings.Repeat("word ", 40_000), func(before, _ string) bool {
			return strings.HasSuffix(before, " ")
		}},
		"between Chinese sentences": {strings.Repeat("这是一个有十二个字的句子呀。", 100), func(before, _ string) bool {
			return strings.HasSuffix(before, "。")
		}},
		"between bytes that are no UTF-8": {strings.Repeat("\xbf", 2000), func(_, after string) bool {
			return strings.HasPrefix(after, "\xbf")
		}},
		"between characters": {strings.Repeat("é👩‍👧", 2000), func(_, after string) bool {
			return strings.HasPrefix(after, "é") || strings.HasPrefix(after, "👩")
		}},
	} {
		got := passages(t, test.src, 100)
		require.Greater(t, len(got), 3, name)
		for i := range got[1:] {
			assert.True(t, test.ends(got[i], got[i+1][1:]), "%s: %q then %q", name, got[i], got[i+1])
			assert.LessOrEqual(t, estimateTokens([]byte(got[i][1:])), 110, name)
		}
	}
}

func TestChunkSizes(t *testing.T) {
	src := "# A\n\n" + strings.Repeat(words(30)+"\n", 100)
	doc := Parse([]byte(src))
	chunks := Chunks([]byte(src), doc)
	for _, c := range chunks[:len(chunks)-1] {
		tokens := estimateTokens([]byte(src[c.Start:c.End]))
		assert.True(t, 150 < tokens && tokens <= 220, "%d tokens", tokens)
	}
}

// TestHeadingStaysWithItsText: a heading is never separated from text that nearly fills a
// passage, and a small rest of a section is joined with the passage before it.
func TestHeadingStaysWithItsText(t *testing.T) {
	words := func(tokens int) string { return strings.TrimSpace(strings.Repeat("some ", tokens)) }
	for _, size := range []int{targetTokens - 40, targetTokens - 4, targetTokens, targetTokens + minTokens/2} {
		src := []byte("# Note\n\n## Part\n\n" + words(size) + "\n\n## Next\n\n" + words(size) + "\n")
		for _, c := range Chunks(src, Parse(src)) {
			text := strings.TrimSpace(string(src[c.Start:c.End]))
			last := text[strings.LastIndexByte(text, '\n')+1:]
			assert.False(t, strings.HasPrefix(last, "#"), "%d: %q ends a passage", size, last)
		}
	}
	src := []byte("# A\n\n" + words(minTokens+10) + "\n\n## B\n\n" + words(minTokens/2) + "\n\n# C\n\n" + words(minTokens/2) + "\n")
	chunks := Chunks(src, Parse(src))
	require.Len(t, chunks, 2, "B joins A, of which it is a part; C is another chapter")
	assert.Equal(t, []string{"C"}, chunks[1].Path)
}

func TestNoChunksInAnEmptyBody(t *testing.T) {
	for _, src := range []string{"", " \n\t\n", "---\na: 1\n---\n\n"} {
		assert.Empty(t, passages(t, src, 100), "%q", src)
	}
}

func TestEstimateTokens(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "word": 1, "ten words of text are eleven tokens, with a comma": 11, "日本語のテキスト": 8, "สวัสดี": 2,
		"internationalization": 5, "2024-01-02": 6, "안녕하세요": 10, "Привет": 6, "a1b2c3": 6,
	} {
		assert.Equal(t, want, estimateTokens([]byte(text)), text)
	}
}

// TestSizeLimit_ReadsOnlyWhatFits: a word can be as long as the note and is cut into many
// passages, so that reading to its end for each would take quadratic time. Here, the text
// ends soon after the limit: reading beyond its end would panic.
func TestSizeLimit_ReadsOnlyWhatFits(t *testing.T) {
	const size = 10 * targetTokens
	for name, unit := range map[string]string{"letters": "x", "DNA": "GATTACA", "a digit first": "1x", "accents": "é", "lines of DNA": strings.Repeat("GATTACA", 10) + "\n"} {
		src := []byte(strings.Repeat(unit, 1<<13/len(unit)))
		limit := (&chunker{src: src}).sizeLimit(0, len(src), size)
		require.Less(t, limit+size, len(src), name)
		short := &chunker{src: slices.Clip(src[:limit+size])}
		require.NotPanics(t, func() { assert.Equal(t, limit, short.sizeLimit(0, 1<<20, size), name) }, name)
	}
}

// TestChunksOfALongWord: each part of a word that is cut is estimated separately.
func TestChunksOfALongWord(t *testing.T) {
	src := []byte(strings.Repeat("x", 100_000))
	for _, c := range chunksOf(src, Parse(src), 100, 1) {
		assert.LessOrEqual(t, estimateTokens(src[c.Start:c.End]), 111, "a passage has at most its target, and a scrap of a tenth")
	}
}

func BenchmarkChunks(b *testing.B) {
	for _, unit := range []string{"x", "A sentence of some words. "} {
		for size := 1 << 16; size <= 16<<20; size *= 16 {
			b.Run(fmt.Sprintf("%.1s/%dKiB", unit, size>>10), func(b *testing.B) {
				src := []byte(strings.Repeat(unit, size/len(unit)))
				doc := Parse(src)
				b.SetBytes(int64(size))
				for b.Loop() {
					Chunks(src, doc)
				}
			})
		}
	}
}

// estimateTokens estimates the number of tokens in b.
func estimateTokens(b []byte) int { return (estimateTenths(b) + 9) / 10 }

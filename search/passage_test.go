package search

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"# Title\n\nText":                                    "Title: Text",
		"- [ ] **do** it\n- [x] done":                        "do it · done",
		"- ## Logseq\n\t- nested *item*":                     "Logseq · nested item",
		"1. one\n2) two":                                     "one · two",
		"> quoted\n> > twice":                                "quoted twice",
		"see [[Note|the note]] and [[Other#A]], ![[x.png]]":  "see the note and Other#A, x.png",
		"a [link](https://example.org/a?b=c) b ![i](x.png)":  "a link b i",
		"a [Trip (2026)](T%20(2026)%20a.md) b ([c](d(e)))":   "a Trip (2026) b (c)",
		"<p>as&nbsp;<o:p>&nbsp;</o:p>in <i>Word</i></p>":     "as in Word",
		"at <https://example.org> by <ann@example.org>":      "at https://example.org by ann@example.org",
		"<b>bold</b> <!-- hidden --> 1 < 2":                  "bold 1 < 2",
		"| a | b |\n|---|:-:|\n| c | d |":                    "a | b || c | d",
		"```go\nfmt.Println()\n```\nafter":                   "fmt.Println() after",
		"Buy:\n\n* milk\n* oats\n\nthen\n+ rest\n- ":         "Buy: milk · oats then · rest",
		"born in\n1911. He\n\n10. [/] ten\n11. [x] last":     "born in 1911. He · ten · last",
		"a\n\n> b\n> ^quote-b\n\nc\n\n^feeding\n^ x\n":       "a b c ^ x",
		"# A\n## B\n\n[![a badge](b.svg)](c) [over\ntwo](d)": "A: B: a badge over two",
		"## Why?\n\nSo":                                      "Why? So",
		"# only\n":                                           "only",
		"see ![[Starter#^feeding]]":                          "see Starter",
		"cut [[Winter Sto":                                   "cut Winter Sto",
		"a\x00b\x1b[31mc\u2028d\u00A0e":                      "a b [31mc d e",
		"bad \xff\xfe bytes":                                 "bad bytes",
		"|a|b|\n|-|-|\n|c|`d||e`|":                           "a | b || c | d || e",
		"`cat x | wc`\n\n| a |\n|---|\n| b |\n\nAfter":       "cat x | wc a || b After",
		"| a | b | c |\r\n|---|---|---|\r\n| d | | e |\r\n":  "a | b | c || d | | e",
		"The code is 4711. ^code-1\nx ^2 > y\nE = mc ^2":     "The code is 4711. x ^2 > y E = mc ^2",
		"> [!info]- Vet clinic\n> Phone 030":                 "Vet clinic Phone 030",
		"snake_case, 2*3, *.md, SELECT * FROM *a* *b c*":     "snake_case, 2*3, *.md, SELECT * FROM a b c",
		"\r\nwindows\r\nlines\r\n":                           "windows lines",
		"":                                                   "",
	} {
		t.Run(in, func(t *testing.T) { assert.Equal(t, want, plain(in)) })
	}
}

func TestHeadingEnd(t *testing.T) {
	for in, want := range map[string]string{
		"# A\n\n## B\n\ntext": "text",
		"text\n# A":           "text\n# A",
		"# only":              "# only",
		"# A\n#tag text":      "#tag text",
	} {
		assert.Equal(t, want, in[headingEnd(in):])
	}
}

// A snippet is not cut within a link and has no markup left at its end.
func TestSnippetKeepsLinksWhole(t *testing.T) {
	text := "Take it from [[Sourdough Starter#Feeding|the jar]] that is [ripe](https://example.org/ripe) and bake.\n\n## Then\n\nmore of it."
	markup := regexp.MustCompile(`[\[\]#|()]|jar[a-z]|https`)
	for from := 1; from < len(text)-1; from++ {
		for to := from + 1; to < len(text); to++ {
			got := snippet(text, 0, len(text), excerpt{from, to, from, to}, 200)
			require.NotRegexp(t, markup, got, "%d %d", from, to)
		}
	}
}

func TestSnippetCuts(t *testing.T) {
	text := "First sentence here. " + strings.Repeat("größer und länger ", 20) + "the end"
	for size := 10; size < 120; size += 7 {
		for from := 0; from < 100; from += 9 {
			got := snippet(text, 0, len(text), excerpt{from, from + size, from + size/3, from + size/2}, size)
			assert.LessOrEqual(t, len(got), size+2*len("…"))
			assert.NotContains(t, got, "\uFFFD")
		}
	}
	long := "Die Donaudampfschifffahrtsgesellschaft betreibt Raddampfer."
	assert.Equal(t, "…Donaudampfschifffahrtsgesellschaft betreibt…", snippet(long, 0, len(long), excerpt{6, len(long), 39, 47}, 50), "a long word is not cut")
	assert.Equal(t, "First sentence…", snippet(text, 0, len(text), excerpt{0, 16, 0, 0}, 16))
	assert.Equal(t, "…the end", snippet(text, 0, len(text), excerpt{len(text) - 8, len(text), len(text) - 3, len(text)}, 20))
	whole := "猫が好きです。犬も好きです。"
	assert.Equal(t, whole, snippet(whole, 0, len(whole), excerpt{0, len(whole), 0, 0}, 100))
	assert.Equal(t, "…犬も 好きです。", snippet("猫が好きです。犬も 好きです。", 0, 43, excerpt{21, 43, 28, 34}, 100), "a sentence after another without a space")
	assert.Equal(t, "猫が好…", snippet(whole, 0, len(whole), excerpt{0, 10, 0, 0}, 10))
	tasks := "- [ ] Käse kaufen\n- [x] 写需求文档和测试报告"
	assert.Equal(t, "Käse kaufen…", snippet(tasks, 0, len(tasks), excerpt{0, 26, 0, 0}, 100), "the box of a task is not shown without its text")
}

// An excerpt begins with a sentence, in any script, also if its passage ends soon after the words.
func TestExcerptBeginsWithSentence(t *testing.T) {
	for _, sentences := range [][]string{
		{"The beds are dug in March. ", "May compost be added? ", "In April! "},
		{"Компост готов через восемь месяцев. ", "Ёлочные иголки в него не кладут. ", "Листья можно. "},
		{"番茄苗要在霜冻结束之后才能移栽到室外！", "每天早上浇水，不要在晚上浇吗？", "堆肥需要八个月才能腐熟。"},
		{"هل يجب سقيها في الصباح؟ ", "تُزرع شتلات الطماطم بعد انتهاء الصقيع. ", "نعم. "},
		{"खाद आठ महीने में तैयार होती है। ", "सुबह पानी दें। ", "शाम को नहीं। "},
	} {
		text := strings.Repeat(strings.Join(sentences, ""), 9)
		for at := range len(text) {
			if splits(text, at) {
				continue
			}
			from, to := around(text, 0, len(text), excerpt{first: at, last: at}, 200)
			begins := slices.ContainsFunc(sentences, func(s string) bool { return strings.HasPrefix(text[from:]+text, s) })
			assert.True(t, begins && from <= at && at <= to, "%d: %q", at, text[from:to])
		}
	}
}

// A clipped text is within its bounds and at its position, and is not cut within a character.
func TestAround(t *testing.T) {
	for _, text := range []string{
		"First sentence here. " + strings.Repeat("größer und länger ", 20) + "the end",
		strings.Repeat("数字花园的笔记。", 40), strings.Repeat("x", 500), "Die Donaudampfschifffahrtsgesellschaft betreibt Raddampfer.", "a", "",
	} {
		for at := range len(text) {
			for _, size := range []int{60, 200, 1000} {
				from, to := Around(text, at, size)
				require.True(t, 0 <= from && from <= to && to <= len(text) && to-from <= size, "%d %d: %d-%d", at, size, from, to)
				require.True(t, from <= at && at <= to, "%d %d: %d-%d", at, size, from, to)
			}
		}
	}
	text := strings.Repeat("数字花园", 40)
	from, to := Around(text, 120, 100)
	assert.True(t, utf8.ValidString(text[from:to]) && from > 0 && to < len(text), "%q", text[from:to])
}

// TestCutsBetweenCharacters: a letter keeps its marks, and joined emoji stay whole.
func TestCutsBetweenCharacters(t *testing.T) {
	for _, unit := range []string{"कि", "นี้", "e\u0301", "👩\u200D👧", "字", "x", "น้ำ", "👍🏽", "🇩🇪", "🏴\U000E0067\U000E0062\U000E007F", "\u1112\u1161\u11ab", "ﾊﾞ"} {
		text := strings.Repeat(unit, 100)
		for at := 1; at < 60; at++ {
			assert.Zero(t, wordStart(text, at, 200)%len(unit), "%q from %d", unit, at)
			assert.Zero(t, wordEnd(text, 0, at)%len(unit), "%q to %d", unit, at)
			assert.Zero(t, len(clipWords(text, at))%len(unit), "%q in %d bytes", unit, at)
		}
	}
}

// A longer tag that begins like the sought one is not marked, a nested one is.
func TestAppendTag(t *testing.T) {
	const text = "#work-log #works #work_x #workß # #work/sub x#WORK, #work"
	var found []string
	for _, m := range (&rescorer{}).appendTag(nil, text, "#work") {
		found = append(found, text[m.start:])
	}
	assert.Equal(t, []string{"#work/sub x#WORK, #work", "#WORK, #work", "#work"}, found)
}

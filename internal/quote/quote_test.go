package quote

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/text/unicode/norm"
)

const note = "\ufeff# Plan\r\n\r\nGrow  tomatoes\tin the\r\nshade of Äpfel trees.\r\n\r\nWater them daily. Water them well.\r\n"

func TestFind(t *testing.T) {
	text := NewText(note)
	for quotation, want := range map[string][]Lines{
		"Grow tomatoes":                         {{3, 3}},
		"  tomatoes in the\nshade ":             {{3, 4}},
		norm.NFD.String("of Äpfel trees."):      {{4, 4}},
		"…the shade of Äpfel…":                  {{3, 4}},
		"...the shade of Äpfel...":              {{3, 4}},
		"... the shade of Äpfel trees....":      {{3, 4}},
		"...":                                   nil,
		"Water them":                            {{6, 6}, {6, 6}},
		"# Plan":                                {{1, 1}},
		strings.ToUpper("grow"):                 nil,
		"":                                      nil,
		" \n ":                                  nil,
		"…":                                     nil,
		"Grow tomatoes in the sun":              nil,
		"trees. Water them daily. Water them w": {{4, 6}},
	} {
		assert.Equal(t, want, text.Find(quotation), quotation)
	}
	assert.Equal(t, []Lines{{1, 1}}, NewText(norm.NFD.String("Äpfel")).Find("Äpfel"))
	assert.Equal(t, []Lines{{1, 1}}, NewText("Wait... for it").Find("Wait..."))
	assert.Empty(t, NewText("").Find("x"))
	hidden := NewText("Die Fuß\u00adboden\u00adheizung ist warm \u26a0\ufe0f. می\u200cخواهم.\n")
	for _, quotation := range []string{"Fußbodenheizung ist warm \u26a0.", "Fuß\u00adbodenheizung", "میخواهم"} {
		assert.Equal(t, []Lines{{1, 1}}, hidden.Find(quotation), quotation)
	}
}

// Of the format characters, those that one sees count: the tags of flags, and Arabic signs.
func TestFind_VisibleFormats(t *testing.T) {
	england, scotland := "\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F"
	for quoted, source := range map[string]string{england: scotland, "see 123": "see \u0600123", "one two": "one \u06ddtwo"} {
		assert.Empty(t, NewText(source).Find(quoted), "%+q", quoted)
	}
}

// TestFindAcrossHeadings finds quotations of headings as shown in search snippets.
func TestFindAcrossHeadings(t *testing.T) {
	text := NewText("Grow tomatoes.\n\n## Tasks\n\n- [ ] Water them\n\n## When?\n\nDaily.\n")
	for quotation, want := range map[string][]Lines{
		"tomatoes. Tasks: Water them":        {{1, 5}},
		"tomatoes. Tasks Water them":         {{1, 5}},
		"Tasks: Water them When? Daily":      {{3, 9}},
		"tomatoes. Tasks: Water them: When?": nil,
		"Grow: tomatoes. Tasks: Water them":  nil,
	} {
		assert.Equal(t, want, text.Find(quotation), quotation)
	}
}

// TestFindWithoutMarks finds quotations of rendered Markdown.
func TestFindWithoutMarks(t *testing.T) {
	text := NewText("# Plan\n\n> See [[Almanac|the *book*]] and [a site](https://example.com/a_b).\n\n3. Buy **red** tomatoes\n4. [ ] Water `them`\n- [x] done <b>now</b>\n\n| a | b |\n")
	for quotation, want := range map[string][]Lines{
		"See the book and a site.":           {{3, 3}},
		"Buy red tomatoes":                   {{5, 5}},
		"Buy red tomatoes Water them":        {{5, 6}},
		"Plan See the **book**":              {{1, 3}},
		"done now":                           {{7, 7}},
		"done now a b":                       {{7, 9}},
		"3. Buy **red** tomatoes":            {{5, 5}},
		"5. Buy red tomatoes":                nil,
		"See the Almanac":                    nil,
		"…and a site.…":                      {{3, 3}},
		"Buy **red** tomatoes\n4. [ ] Water": {{5, 6}},
	} {
		assert.Equal(t, want, text.Find(quotation), quotation)
	}
}

func TestPassage(t *testing.T) {
	text := NewText("a\r\nb\nc")
	assert.Equal(t, "a\r\nb", text.Passage(Lines{1, 2}))
	assert.Equal(t, "c", text.Passage(Lines{3, 9}))
	assert.Empty(t, text.Passage(Lines{4, 9}))
	assert.Empty(t, NewText("").Passage(Lines{1, 1}))
}

func TestNearest(t *testing.T) {
	text := NewText("# Plan\n\nWe plant the tomatoes in May, behind the house.\nThe snails eat them at night.\n\n植物は五月に庭へ植える。\n")
	for quotation, want := range map[string]Lines{
		"We plant the potatoes in May, behind the house.": {3, 3},
		"behind the house. The snails ate them at night.": {3, 4},
		"植物は六月に庭へ植える。":                                    {6, 6},
	} {
		got, ok := text.Nearest(quotation, Lines{1, 1})
		assert.True(t, ok, quotation)
		assert.Equal(t, want, got, quotation)
	}
	for source, quotations := range map[string][]string{ // without accents, and beside other punctuation
		"Он сказал: «Всё будет готово к Новому году», и ушёл.": {"Все будет готово к Новому году", "все готово к новому году"},
		"Архитектор, живёт в Санкт-Петербурге. Любит чай.":     {"Архитектор, живет в Санкт-Петербурге"},
		"قال: «كلّ شيءٍ سيكون على ما يُرام». إلغاء الإنترنت.":  {"كل شيء سيكون على ما يرام", "الغاء الانترنت"},
		"Kỹ sư phần mềm ở Hà Nội. Thích phở bò.":               {"Ky su phan mem o Ha Noi"},
		"She wrote: “Never again!” (twice).":                   {"never again, twice"},
		"민수와 밥을 먹었다, 그리고 잤다.":                                  {"밥을 먹었다"},
	} {
		for _, quotation := range quotations {
			_, ok := NewText(source).Nearest(quotation, Lines{1, 1})
			assert.True(t, ok, quotation)
		}
	}
	for _, invented := range []string{"The moon is made of green cheese", "the house the night the", "May plant tomatoes house behind we the", "x"} {
		_, ok := text.Nearest(invented, Lines{1, 1})
		assert.False(t, ok, invented)
	}
	ten := NewText("one two three four five six seven eight nine ten\n")
	_, ok := ten.Nearest("one A three B five C seven eight nine ten", Lines{1, 1})
	assert.True(t, ok, "seven words in ten")
	_, ok = ten.Nearest("one A three B five C seven D nine ten", Lines{1, 1})
	assert.False(t, ok, "six words in ten")
	long := NewText(strings.Repeat("word after word\n", 20_000) + "the needle in the long haystack\n")
	got, ok := long.Nearest("the needle in a long haystack", Lines{20_000, 20_000})
	assert.True(t, ok)
	assert.Equal(t, Lines{20_001, 20_001}, got)
}

// The nearest passage is shown as it is written, with what the quotation lacks.
func TestNearestPassage(t *testing.T) {
	text := NewText("# Plan\n\nDie Fuß\u00adboden\u00adheizung. Der \ufb01nale E\ufb00ekt. １２３ＡＢＣ。 ﾊﾝｶｸのメモ שָׁלוֹם עֲלֵיכֶם مُحَمَّد… \n")
	for quotation, want := range map[string]string{
		"Fußbodenheizung": "Fuß\u00adboden\u00adheizung", "der finale Effekt": "Der \ufb01nale E\ufb00ekt", "123ABC": "１２３ＡＢＣ",
		"ハンカクのメモ": "ﾊﾝｶｸのメモ", "שלום עליכם": "שָׁלוֹם עֲלֵיכֶם", "محمد": "مُحَمَّد",
	} {
		got, line := text.NearestPassage(quotation, 10)
		assert.Equal(t, want, got)
		assert.Equal(t, 3, line, quotation)
	}
	got, _ := NewText("\ufb01 x").NearestPassage("f", 10)
	assert.Equal(t, "\ufb01", got, "a ligature is not cut")
}

func FuzzFind(f *testing.F) {
	f.Add(note, 3, 20)
	f.Fuzz(func(t *testing.T, source string, from, to int) {
		text := NewText(source)
		text.Nearest(source, Lines{from, to})
		if from < 0 || to > len(source) || from >= to || !norm.NFC.IsNormalString(source) {
			return
		}
		quotation := strings.ToValidUTF8(source[from:to], "")
		if clean(quotation, false) == "" || !strings.Contains(source, quotation) {
			return
		}
		assert.NotEmpty(t, text.Find(quotation))
	})
}

// Snippets are found as search shows them: tables, lists, callouts, code, and lines with ids.
func TestFind_Snippets(t *testing.T) {
	text := NewText("| Device | Address |\n|---|:-:|\n| printer | 10.0.0.7 |\n| router | 10.0.0.1 |\n\nThe code is 4711. ^code-1\n\n> [!info]- Vet clinic\n> Phone 030\n")
	for quotation, want := range map[string][]Lines{
		"Device | Address || printer | 10.0.0.7 || router": {{1, 4}},
		"router | 10.0.0.1 The code is 4711. Vet clinic":   {{4, 8}},
		"Vet clinic Phone 030":                             {{8, 9}},
		"The code is 4711. ^code-1":                        {{6, 6}},
		"printer | 10.0.0.1":                               nil,
	} {
		assert.Equal(t, want, text.Find(quotation), quotation)
	}
	text = NewText("# Start\n## Links\n\n- [/] ask <ann@example.org>\n- see [over\n  two](x.md) and [[Starter#^feeding]] now <!-- or later -->\n\n^links\n\n1. run\n\n```sh\nls {{[-a|--all]}}\n```\n\n#### It is \"so\"\nmy&nbsp;end [![a badge](b.svg)](c) here\n")
	for quotation, want := range map[string][]Lines{
		"Start: Links: ask ann@example.org · see over two": {{1, 6}},
		"over two and Starter now · run":                   {{5, 10}},
		"run ls {{[-a | --all]}} It is \"so\" my end":      {{10, 17}},
		"my end a badge here":                              {{17, 17}},
	} {
		assert.Equal(t, want, text.Find(quotation), quotation)
	}
}

// Snippets of front matter, and a passage with the fields that a query asks for, are found.
func TestFind_Fields(t *testing.T) {
	text := NewText("---\ncategories:\n  - \"[[Podcast episodes]]\"\n  - Apps\nrating: 5\nurl: \"https://example.org\"\nvia:\n---\n# Walks\n\nPaths are habits … of a\nlandscape. They go.\n\n" + strings.Repeat("Filler. ", 600) + "End.\n")
	for quotation, want := range map[string][]Lines{
		"categories: Podcast episodes, Apps; rating: 5;…":       {{2, 5}},
		"url: https://example.org; via:":                        {{6, 7}},
		"categories: Podcast …url: https://example.org …Paths":  {{2, 11}},
		"rating: 5 …Walks: Paths are habits … of a landscape.…": {{5, 12}},
		"rating: 5 ...Walks":                                    nil,
		"Paths … landscape":                                     nil,
		"landscape …Paths":                                      nil,
		"rating: 5 …Paths …are forever":                         nil,
		"Paths …End":                                            nil,
		"categories: Podcast episodes; Apps":                    nil,
	} {
		assert.Equal(t, want, text.Find(quotation), quotation)
	}
	prose := NewText("---\n\nThe **walk** was\n*cold*. Rate 3·4.\n\n---\n\nIt is not safe.\n")
	assert.Equal(t, []Lines{{3, 4}}, prose.Find("The walk was cold."), "no front matter")
	assert.Nil(t, prose.Find("It is …safe."))
	assert.Nil(t, prose.Find("Rate 3 4."))
	assert.Equal(t, []Lines{{2, 3}}, NewText("---\nurl: \"\"\ncreated: now\n---\n").Find("url:; created: now"))
	fields := NewText("---\n" + strings.Repeat("a: b\n", 20_000) + "---\n" + strings.Repeat("word ", 400_000)) // likewise
	assert.Nil(t, fields.Find("a …absent"))
	unclosed := NewText(strings.Repeat("<!-- <b> ", 20_000)) // quadratic time would be minutes
	assert.Nil(t, unclosed.Find("absent"))
}

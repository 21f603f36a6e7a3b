package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

var parseTime = time.Date(2026, 3, 10, 15, 4, 5, 0, time.UTC)

// show formats a query's clauses on one line.
func show(nodes []node) string {
	names := map[kind]string{kindWord: "word", kindPhrase: "phrase", kindTitle: "title", kindTag: "tag", kindPath: "path",
		kindFolder: "folder", kindHas: "has", kindAfter: "after", kindBefore: "before"}
	var out []string
	for _, n := range nodes {
		text := n.text
		if !n.time.IsZero() {
			text = n.time.Format("2006-01-02T15:04")
		}
		s := names[n.kind] + "(" + text + ")"
		if n.not {
			s = "-" + s
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestParseQuery(t *testing.T) {
	for query, want := range map[string]string{
		`one two`:                    `word(one) word(two)`,
		`"one two" three`:            `phrase(one two) word(three)`,
		`one"two three"four`:         `word(one) phrase(two three) word(four)`,
		`"one two`:                   `word(one) word(two)`,
		`-one -"two three" --four`:   `-word(one) -phrase(two three) word(--four)`,
		`- one`:                      `word(one)`,
		`-`:                          ``,
		`-!!`:                        ``,
		`well-known`:                 `word(well-known)`,
		`tag:x -tag:#y/z`:            `tag(x) -tag(y/z)`,
		`tag:"two words"`:            `tag(two words)`,
		`TAG:x Path:"A b/"`:          `tag(x) path(A b/)`,
		`tag: x`:                     `word(tag:) word(x)`,
		`tag:# x`:                    `word(tag:#) word(x)`,
		`path:/a folder:/b/`:         `path(a) folder(b)`,
		`title:word title:"a b"`:     `title(word) title(a b)`,
		`title:!`:                    `word(title:!)`,
		`has:todo has:Tasks has:x`:   `has(todo) word(has:x)`,
		`-has:todo`:                  `-word(has:todo)`,
		`after:2026-01-31`:           `after(2026-01-31T00:00)`,
		`before:2026-02 after:2025`:  `before(2026-02-01T00:00) after(2025-01-01T00:00)`,
		`-after:2026-01-31`:          `before(2026-01-31T00:00)`,
		`after:today`:                `after(2026-03-10T00:00)`,
		`after:yesterday`:            `after(2026-03-09T00:00)`,
		`after:2w before:1y`:         `after(2026-02-24T00:00) before(2025-03-10T00:00)`,
		`after:3m before:"a year"`:   `after(2025-12-10T00:00) before(2025-03-10T00:00)`,
		`after:am before:m`:          `word(after:am) word(before:m)`,
		`after:Friday before:2026`:   `after(2026-03-06T00:00) before(2026-01-01T00:00)`,
		`after:"last week"`:          `after(2026-03-02T00:00)`,
		`after:2026年1月3日`:            `after(2026-01-03T00:00)`,
		`before:2026/1/31`:           `before(2026-01-31T00:00)`,
		`after:2026-01-31T10:00:00Z`: `after(2026-01-31T10:00)`,
		`after:2026-13-01`:           `word(after:2026-13-01)`,
		`after:"the flood" x`:        `word(after:the flood) word(x)`,
		`tag：家族 -path："A b/"`:        `tag(家族) -path(A b/)`,
		`before：昨日 tag：`:             `before(2026-03-09T00:00) word(tag：)`,
		`after:99999999999d`:         `word(after:99999999999d)`,
		`after:d before:-3d`:         `word(after:d) word(before:-3d)`,
		`foo:bar https://a.b/c:d`:    `word(foo:bar) word(https://a.b/c:d)`,
		`a:b:tag:c`:                  `word(a:b:tag:c)`,
		"one\x00two\ttag:x\x00":      `word(one) word(two) tag(x)`,
		`"" "" ""`:                   ``,
		`tag:"unclosed x`:            `word(tag:) word(unclosed) word(x)`,
		`“one two” three`:            `phrase(one two) word(three)`,
		`”東京 タワー” －大阪`:               `phrase(東京 タワー) -word(大阪)`,
		`「深層学習」 tag：『家 族』`:           `phrase(深層学習) tag(家 族)`,
		`-„zwei Wörter“ «три слова»`: `-phrase(zwei Wörter) phrase(три слова)`,
		`什么是“机器学习”？`:                 `word(什么是“机器学习”？)`,
		`“双减”政策 the “a`:              `word(“双减”政策) word(the) word(“a)`,
		"家族　tag:旅行\u00a0one":         `word(家族) tag(旅行) word(one)`,
		"path:\"メモ　2024/\" x":        "path(メモ　2024/) word(x)",
		`1－2 −3`:                     `word(1－2) -word(3)`,
		``:                           ``,
	} {
		t.Run(query, func(t *testing.T) {
			assert.Equal(t, want, show(parseQuery(query, parseTime)))
		})
	}
	assert.LessOrEqual(t, len(parseQuery(strings.Repeat("ab ", 10_000), parseTime)), maxQuery/3+1)
}

func TestRequest(t *testing.T) {
	terms := func(query string) string {
		var out []string
		for _, p := range newRequest(parseQuery(query, parseTime), notes.Filter{}).plan.Terms {
			s := p.Text
			if p.Prefix {
				s += "*"
			}
			if p.Weight != 1 {
				s += fmt.Sprintf("^%v", p.Weight)
			}
			out = append(out, s)
		}
		return strings.Join(out, " ")
	}
	for query, want := range map[string]string{
		`the quick foxes`:       `quick fox`,
		`the of and`:            `the of and`,
		`Hội An so với Số đỏ`:   `hoi an so voi do`,
		`the hotel in Hội An`:   `hotel hoi`,
		`her* *the* foxes and*`: `her* fox and*`,
		`**the** *fox*`:         `fox*`,
		`running run runs`:      `run`,
		`state-of-the-art`:      `state^0.7 art^0.7 stateoftheart`,
		`node.js js`:            `node^0.7 js nodej`,
		`机器学习`:                  `机器 器学 学习`,
		`猫`:                     `猫*`,
		`ไทย`:                   `ไทย*`,
		`"to be or not to be"`:  `to be or not`,
		`title:Harbour -boat`:   `harbour`,
		`tag:x`:                 ``,
	} {
		t.Run(query, func(t *testing.T) { assert.Equal(t, want, terms(query)) })
	}
	r := newRequest(parseQuery(strings.Repeat("word", 3)+" "+numbered(500), parseTime), notes.Filter{})
	assert.Len(t, r.plan.Terms, maxTerms)
	given := notes.Filter{Tags: make([]string, 0, 8), Folder: "A"}
	r = newRequest(parseQuery("tag:x folder:B", parseTime), given)
	assert.Equal(t, notes.Filter{Tags: []string{"x"}, Folder: "A", Paths: []string{"B/"}}, r.filter)
	assert.Empty(t, given.Tags[:1][0], "the caller's filter is left alone")
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%d ", i)
	}
	return b.String()
}

// Words that belong to a day are not also read as a month.
func TestAddDays(t *testing.T) {
	dates := map[string]string{}
	for _, term := range newRequest(parseQuery("from January 6 2026 to March 3 1999", parseTime), notes.Filter{}).plan.Terms {
		dates[term.Text] = term.Date
	}
	assert.Equal(t, map[string]string{"januari": "20260106", "6": "20260106", "2026": "20260106", "march": "19990303", "3": "19990303", "1999": "19990303"}, dates)
}

func TestFindPhrase(t *testing.T) {
	text := "The well-known e-mail client, node.js; 我们用机器学习来翻译。Über den FLUSS. a a b"
	for words, want := range map[string]bool{
		"well known":         true,
		"E MAIL":             true,
		"e-mail client node": true,
		"js 我们":              true,
		"机器学习":               true,
		"uber den":           true,
		"den fluß":           true,
		"a b":                true,
		"a a b":              true,
		"client":             true,
		"mail node":          false,
		"器机":                 false,
		"":                   false,
	} {
		assert.Equal(t, want, newPhrase(words).in(text), words)
	}
}

// Searching for the first word of a phrase only where it may begin finds the same as reading
// every word.
func TestFindPhrase_AsIfAllWereRead(t *testing.T) {
	pieces := []string{"cafe", "Café", "ca", "fe", "node", ".", "-", "_", "'", " ", " ", "\n", "3", ".14", "µ", "猫", "が", "ไทย", "a", "A", "B", "fluß", "FLUSS", "\u00ad", "\u0301", "“", "\xff", "camelCase", "x2", "🙂"}
	random := rand.New(rand.NewPCG(1, 2))
	some := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	found := 0
	for range 20_000 {
		text, p := some(1+random.IntN(40)), newPhrase(some(1+random.IntN(4)))
		in := phrase{units: p.units}.in(text)
		require.Equal(t, in, p.in(text), "%q in %q", p.units, text)
		if in {
			found++
		}
	}
	assert.Greater(t, found, 1000)
}

// The time for a text without ASCII spaces grows in proportion to its length.
func TestFindPhrase_NoSpaces(t *testing.T) {
	const attempts, parts, factor = 20, 16, 5
	p := newPhrase("gpt model")
	for name, unit := range map[string]string{"Han": "汉字，", "accents": "été，"} {
		text := func(units int) string { return strings.Repeat(unit, units) + "gpt model" }
		find := func(text string, times int) float64 {
			start := time.Now()
			for range times {
				require.True(t, p.in(text))
			}
			return float64(time.Since(start))
		}
		least := math.Inf(1)
		for n := 0; n < attempts && least >= factor; n++ {
			least = min(least, find(text(parts*500), 1)/find(text(500), parts))
		}
		assert.Less(t, least, float64(factor), "%s: %d times as much takes %.0f times as long", name, parts, parts*least)
	}
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{`a "b c" -d tag:x after:2026`, `"`, `-`, `title:"`, "猫 ไทย", "\xff\"\x00", `-"-"-`, `path:: tag:#"`, "l'été's"} {
		f.Add(s, "Some text about été, C++ and 猫が好き.\n\n# Heading\nไทย more text")
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		r := newRequest(parseQuery(query, parseTime), notes.Filter{})
		for i := range r.plan.Terms {
			r.plan.Terms[i].Others = []string{"other"}
		}
		if len(r.plan.Terms) > maxTerms || !utf8.ValidString(query) {
			return
		}
		n := &notes.Note{ID: 1, Path: "a.md", Title: "Title", Content: text, Chunks: []notes.Chunk{
			{Start: 0, End: len(text) / 2, LineStart: 1, LineEnd: 2}, {Ordinal: 1, Start: len(text) / 2, End: len(text), LineStart: 3, LineEnd: 4}}}
		s := newRescorer(r, 10, make([]int, len(r.plan.Terms)))
		c := candidate{terms: ^uint64(0)}
		matches := s.score(n, &c)
		if c.bonus < 0 || c.togetherShare < 0 {
			t.Fatalf("bonus %v, met %v", c.bonus, c.togetherShare)
		}
		for _, m := range matches {
			if m.start < 0 || m.end > len(text) || m.start >= m.end || m.term >= len(r.plan.Terms) {
				t.Fatalf("match %+v of %d bytes", m, len(text))
			}
		}
		h := s.show(n, matches, -1, 80)
		if !utf8.ValidString(h.Snippet) || strings.ContainsAny(h.Snippet, "\n\r\x00") || len(h.Snippet) > 80+2*len("…") {
			t.Fatalf("snippet %q", h.Snippet)
		}
		r.verify(n)
	})
}

// Where clocks are set forward at midnight, the day begins at one o'clock.
func TestDayWithoutMidnight(t *testing.T) {
	in, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		t.Skip("no time zones are installed: ", err)
	}
	for days, words := range map[int][]string{0: {"today", "0d"}, 1: {"yesterday", "1d"}, 7: {"7d", "1w"}} {
		for _, s := range append(words, "2026-04-24") {
			day, ok := parseDay(s, time.Date(2026, 4, 24+days, 12, 0, 0, 0, in))
			assert.True(t, ok, s)
			assert.Equal(t, "2026-04-24 01:00", day.Format("2006-01-02 15:04"), s)
		}
	}
}

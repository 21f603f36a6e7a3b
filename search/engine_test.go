package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/search"
)

// languages are notes that each have a word that no other has.
var languages = map[string]string{
	"german.md":    "Der Fluß fließt über die Straße nach München.",
	"french.md":    "L’été dernier, j'ai mangé une crème brûlée à l'hôtel.",
	"turkish.md":   "İstanbul'da ılık bir akşam.",
	"greek.md":     "Ο Ὀδυσσεύς γύρισε στην Ἰθάκη.",
	"russian.md":   "Ёлка стоит у дома, ещё зелёная.",
	"arabic.md":    "اللُّغَةُ العَرَبِيَّةُ جميلة",
	"hebrew.md":    "שָׁלוֹם עוֹלָם",
	"hindi.md":     "हिन्दी भाषा में क़लम",
	"chinese.md":   "我们用机器学习来翻译古代诗歌。猫在睡觉。",
	"japanese.md":  "ガラスのコップで冷たいお茶を飲む。",
	"halfwidth.md": "ﾊﾝｶｸのﾒﾓ",
	"korean.md":    "한국어 문서를 검색합니다",
	"thai.md":      "ประเทศไทยมีอาหารอร่อยมากมาย",
	"english.md":   "The runners were running quickly through the organisation's offices.",
	"fullwidth.md": "ＦＵＬＬ　ＷＩＤＴＨ ｔｅｘｔ",
	"emoji.md":     "Launch 🚀 day",
}

func TestSearch_Languages(t *testing.T) {
	f := newFixture(t, languages)
	for query, want := range map[string]string{
		"fluss":         "german",
		"FLUß":          "german",
		"uber strasse":  "german",
		"Über":          "german",
		"Mu\u0308nchen": "german",
		"munchen":       "german",
		"ete":           "french",
		"été":           "french",
		"l'été":         "french",
		"creme brulee":  "french",
		"hotel":         "french",
		"istanbul":      "turkish",
		"İSTANBUL":      "turkish",
		"ilik":          "turkish",
		"οδυσσευς":      "greek",
		"ΟΔΥΣΣΕΥΣ":      "greek",
		"ιθακη":         "greek",
		"елка":          "russian",
		"Ёлка":          "russian",
		"еще":           "russian",
		"اللغة":         "arabic",
		"العربيه":       "arabic",
		"שלום":          "hebrew",
		"कलम":           "hindi",
		"हिन्दी":        "hindi",
		"机器学习":          "chinese",
		"诗歌":            "chinese",
		"猫":             "chinese",
		"诗":             "chinese",
		"ガラス":           "japanese",
		"カ\u3099ラス":     "japanese",
		"お茶":            "japanese",
		"茶":             "japanese",
		"ハンカク":          "halfwidth",
		"한국":            "korean",
		"검색":            "korean",
		"อาหาร":         "thai",
		"ไทย":           "thai",
		"run":           "english",
		"running":       "english",
		"organisation":  "english",
		"full width":    "fullwidth",
		"🚀":             "emoji",
	} {
		t.Run(query, func(t *testing.T) {
			assert.Equal(t, []string{want}, f.paths(query))
		})
	}
}

func TestSearch_CodeIdentifiers(t *testing.T) {
	f := newFixture(t, map[string]string{
		"camel.md":   "Call parseHTTPRequest before anything.",
		"snake.md":   "The max_retry_count setting.",
		"dotted.md":  "Written in node.js, see app.config.ts.",
		"kebab.md":   "A well-known e-mail client.",
		"cpp.md":     "Templates in C++ are Turing complete.",
		"csharp.md":  "Written in C# mostly.",
		"version.md": "Since v1.2.3 the default is 3.14.",
		"mail.md":    "Ask ann@example.org about it.",
		"hex.md":     "The magic number is 0xDEADBEEF.",
		"path.md":    "It is in src/internal/walker.go somewhere.",
		"tagged.md":  "About #project/alpha-one today.",
		"long.md":    "key " + strings.Repeat("A1b2", 5000) + " end",
	})
	for query, want := range map[string]string{
		"parseHTTPRequest": "camel", "parsehttprequest": "camel", "http": "camel",
		"max_retry_count": "snake", "maxRetryCount": "snake", "retry": "snake",
		"node.js": "dotted", "nodejs": "dotted", "app.config.ts": "dotted",
		"well-known": "kebab", "email": "kebab", "e-mail": "kebab",
		"C++": "cpp", "c++": "cpp", "c#": "csharp",
		"v1.2.3": "version", "3.14": "version",
		"ann@example.org": "mail", "0xdeadbeef": "hex",
		"src/internal/walker.go": "path", "walker": "path",
		"alpha-one": "tagged", "#project/alpha-one": "tagged",
		strings.Repeat("a1B2", 20): "long",
	} {
		t.Run(query, func(t *testing.T) {
			got := f.paths(query)
			require.NotEmpty(t, got)
			assert.Equal(t, want, got[0])
		})
	}
	assert.Equal(t, []string{"cpp", "csharp"}, f.paths("c++"), "the letter alone is found, after the whole")
}

var projects = map[string]string{
	"Projects/Apollo.md":     "---\ntags: [space, project/active]\ndate: 2026-01-15\naliases: [Moon landing]\n---\n# Apollo\n\nThe lunar module landed in the sea of tranquility.\n\n## Open\n\n- [ ] file the report\n",
	"Projects/Old/Gemini.md": "---\ntags: [space]\ndate: 2024-06-01\n---\n# Gemini\n\nTwo astronauts docked; the module was small. Sea trials before.\n",
	"Journal/2026-03-09.md":  "---\ndate: 2026-03-09\n---\nRead about the lunar module. #space\n",
	"Journal/Cooking.md":     "---\ndate: 2026-02-01\n---\n# Cooking\n\nTranquility of the kitchen, module by module.\n",
}

func TestQuerySyntax(t *testing.T) {
	f := newFixture(t, projects)
	apollo, gemini, day, cooking := "Projects/Apollo", "Projects/Old/Gemini", "Journal/2026-03-09", "Journal/Cooking"
	for query, want := range map[string][]string{
		`module`:                            {apollo, gemini, day, cooking},
		`module tag:space`:                  {apollo, gemini, day},
		`module -tag:space`:                 {cooking},
		`module tag:#project`:               {apollo},
		`module path:Projects/`:             {apollo, gemini},
		`module -path:Projects/Old`:         {apollo, day, cooking},
		`module folder:Projects/Old`:        {gemini},
		`module folder:"Projects/Old"`:      {gemini},
		`"lunar module"`:                    {apollo, day},
		`"module lunar"`:                    {},
		`"LUNAR   Module!"`:                 {apollo, day},
		`module -"lunar module"`:            {gemini, cooking},
		`module -lunar`:                     {gemini, cooking},
		`module after:2026-01-01`:           {apollo, day, cooking},
		`module before:2026-01-01`:          {gemini},
		`module -before:2026-01-01`:         {apollo, day, cooking},
		`module after:7d`:                   {day},
		`module before:01.01.2026`:          {gemini},
		`module after:yesterday`:            {day},
		`module after:2026-02 before:today`: {day, cooking},
		`module after:2026-02 before:heute`: {day, cooking},
		`module has:todo`:                   {apollo},
		`title:gemini`:                      {gemini},
		`module title:gemini`:               {gemini},
		`module -title:gemini`:              {apollo, day, cooking},
		`title:"moon landing"`:              {apollo},
		`title:apollo.md`:                   {apollo},
		`title:Apollo.markdown`:             {apollo},
		`module -title:apollo.md`:           {gemini, day, cooking},
		`MODULE TAG:Space Path:projects/`:   {apollo, gemini},
		`tag:space -module tag:space`:       {},
		`"sea of tranquility" title:apollo`: {apollo},
		`"moon landing"`:                    {apollo},
		`"Apollo.md"`:                       {apollo},
		`"old/gemini.md"`:                   {gemini},
		`"sea trials.md"`:                   {},
		`module -"Apollo.md"`:               {gemini, day, cooking},
		`module -apollo.md`:                 {gemini, day, cooking},
		`-module`:                           {},
		`-lunar`:                            {gemini, cooking},
		`-gemini.md`:                        {apollo, day, cooking},
		`tag:space`:                         {apollo, gemini, day},
		`-"lunar module"`:                   {gemini, cooking},
		`has:todo`:                          {apollo},
		`tag:nothing`:                       {},
	} {
		t.Run(query, func(t *testing.T) {
			assert.ElementsMatch(t, want, f.paths(query))
		})
	}
}

// The name of a note in quotes finds the note, and the notes whose text has it.
func TestQuery_QuotedName(t *testing.T) {
	f := newFixture(t, map[string]string{"Project Plan.md": "Of the house.", "log.md": "Moved to project plan.md today.", "other.md": "The project plan, in Markdown."})
	for _, query := range []string{`"Project Plan.md"`, `"plan.MD"`, `plan "project plan.md"`} {
		assert.ElementsMatch(t, []string{"Project Plan", "log"}, f.paths(query), query)
	}
	assert.Equal(t, []string{"log"}, f.paths(`"project plan.md today"`))
	assert.Equal(t, []string{"other"}, f.paths(`plan -"project plan.md"`))
}

// An excluded word of a script without spaces is indexed as several terms, which a note may have
// in other words.
func TestQuery_ExcludedRun(t *testing.T) {
	f := newFixture(t, map[string]string{"trip.md": "東京から京都へ行った。", "budget.md": "東京都の予算。", "paths.md": "src/lib and lib/test", "other.md": "src, test, lib"})
	assert.Equal(t, []string{"trip"}, f.paths("東京 -東京都"))
	assert.Empty(t, f.paths("東京 -東京"))
	assert.Equal(t, []string{"other"}, f.paths("lib -lib/test"))
	assert.ElementsMatch(t, []string{"trip", "budget", "other"}, f.paths("-src/lib"))
}

// Malformed filters are searched as words.
func TestSearch_AcceptsAnyText(t *testing.T) {
	f := newFixture(t, projects)
	many := strings.Repeat("lunar word ", 5000)
	for _, query := range []string{
		`"`, `"lunar`, `lunar"`, `"" ""`, `-`, `--`, `- lunar`, `-- lunar`, `:`, `tag:`, `tag:"`, `after:soon lunar`, `before:99999999999d`, `after:-1d`,
		`has:nothing lunar`, `-has:todo lunar`, `title:`, `title:!!!`, `path:`, `folder:/`, `lunar\`, `lunar AND (module OR`, `lunar~2^5`, `/lunar/`, `*`, `?`, `lunar*`,
		"lunar\x00module", "\x00", "\xff\xfe lunar", "lunar\u2028module", `!!! ... ???`, `the of and`, "🚀🚀", many, strings.Repeat(`"`, 999), strings.Repeat("-", 999),
		strings.Repeat("x", 100_000), `note:///Projects/Apollo.md`, `https://example.org/?q=lunar`, `tag:a:b:c`, `after:`, `after:d`,
	} {
		t.Run(fmt.Sprintf("%.30q", query), func(t *testing.T) {
			for _, mode := range []search.Mode{search.ModeText, search.ModeHybrid, search.ModeSemantic} {
				_, err := f.engine.Search(context.Background(), search.Query{Text: query, Mode: mode})
				assert.NoError(t, err)
			}
		})
	}
	assert.ElementsMatch(t, []string{"Projects/Apollo", "Journal/2026-03-09"}, f.paths(`"lunar`))
	assert.ElementsMatch(t, []string{"Projects/Apollo", "Journal/2026-03-09"}, f.paths("after:soon lunar"))
	assert.NotEmpty(t, f.paths("the of and"), "stop words, when there is nothing else")
	assert.Equal(t, f.paths("lunar"), f.paths("the lunar"))
}

func TestSearch_ReportsUnreadFilters(t *testing.T) {
	f := newFixture(t, projects)
	for query, want := range map[string]string{
		"module after:01/04/2025":  `"after:01/04/2025" is not a filter and was read as a word; after: takes 2026-01-31, yesterday or 7d`,
		"module -Before:somewhen":  `"Before:somewhen" is not`,
		`module after:"the flood"`: `"after:the flood" is not a filter and was read as a word; after: takes 2026-01-31, yesterday or 7d`,
		"module has:attachment":    `"has:attachment" is not a filter and was read as a word; has: takes todo`,
		"module after: lunch":      "",
		"module after:2026-01-01":  "",
		"module https://x.org/y:z": "",
	} {
		remarks := strings.Join(f.search(search.Query{Text: query, Mode: search.ModeText}).Notes, "\n")
		if want == "" {
			assert.NotContains(t, remarks, "is not a filter", query)
			continue
		}
		assert.Contains(t, remarks, want, query)
	}
}

func TestSearch_InvalidQueries(t *testing.T) {
	f := newFixture(t, projects)
	for name, q := range map[string]search.Query{
		"empty":  {},
		"blank":  {Text: " \t\n"},
		"mode":   {Text: "x", Mode: "fuzzy"},
		"limit":  {Text: "x", Limit: 51},
		"below":  {Text: "x", Limit: -1},
		"cursor": {Text: "x", Cursor: "nonsense!"},
		"short":  {Text: "x", Cursor: "AAAA"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.engine.Search(context.Background(), q)
			require.ErrorIs(t, err, notes.ErrInvalid)
			var e *notes.Error
			require.ErrorAs(t, err, &e)
			assert.NotEmpty(t, e.Detail)
			assert.NotEmpty(t, e.Hint)
		})
	}
	r := f.search(search.Query{Text: "!!!"})
	assert.Empty(t, r.Hits)
	assert.NotNil(t, r.Hits)
	assert.Len(t, r.Notes, 1)
}

func TestSearch_FilterWithoutWords(t *testing.T) {
	f := newFixture(t, projects)
	for i, name := range []string{"Projects/Old/Gemini.md", "Journal/2026-03-09.md", "Projects/Apollo.md"} {
		at := today.Add(time.Duration(i-10) * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(f.root, filepath.FromSlash(name)), at, at))
	}
	f.write(nil)
	assert.Equal(t, []string{"Projects/Apollo", "Journal/2026-03-09", "Projects/Old/Gemini"}, f.paths("tag:space"))
	r := f.search(search.Query{Filter: notes.Filter{Folder: "Projects"}})
	assert.Equal(t, []string{"Projects/Apollo", "Projects/Old/Gemini"}, pathsOf(r))
	assert.Equal(t, 2, r.Total)
	assert.NotEmpty(t, r.Hits[0].Snippet)
	assert.Zero(t, r.Hits[0].Why.TextRank)
}

// An excluded phrase removes only the notes that contain it, however many notes match.
func TestSearch_ExcludedPhraseAmongManyNotes(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("%d.md", i)] = []string{"An apple.", "Green is the apple.", "A green apple, ripe."}[i%3]
	}
	f := newFixture(t, files)
	for _, query := range []string{`apple -"green apple"`, `-"green apple"`} {
		found := map[string]int{}
		for q := (search.Query{Text: query, Mode: search.ModeText, Limit: 50}); ; {
			r := f.search(q)
			assert.Equal(t, 134, r.Total, query)
			assert.Empty(t, r.Notes, query)
			for _, p := range pathsOf(r) {
				found[p]++
				i, err := strconv.Atoi(p)
				assert.True(t, err == nil && i%3 != 2 && found[p] == 1, "%s finds %s", query, p)
			}
			if q.Cursor = r.Next; q.Cursor == "" {
				break
			}
		}
		assert.Len(t, found, 134, query)
	}
	assert.Equal(t, 67, f.search(search.Query{Text: "-green", Mode: search.ModeText}).Total)
	r := f.search(search.Query{Text: `"apple"`, Mode: search.ModeText})
	assert.Equal(t, 128, r.Total, "enough for every page that is read")
	assert.Equal(t, []string{"the phrase was checked in only 128 of 200 notes that have the words"}, r.Notes)
}

func TestSearch_CallersFilter(t *testing.T) {
	f := newFixture(t, projects)
	find := func(filter notes.Filter) []string {
		return pathsOf(f.search(search.Query{Text: "module", Mode: search.ModeText, Filter: filter}))
	}
	assert.ElementsMatch(t, []string{"Journal/2026-03-09", "Journal/Cooking"}, find(notes.Filter{Scope: []string{"Journal"}}))
	assert.ElementsMatch(t, []string{"Projects/Apollo"}, find(notes.Filter{Tags: []string{"project"}}))
	assert.Empty(t, find(notes.Filter{Scope: []string{}}))
	assert.Empty(t, pathsOf(f.search(search.Query{Text: "module path:Projects", Filter: notes.Filter{Scope: []string{"Journal"}}})),
		"a query never widens the caller's scope")
}

func TestSearch_ReportsTypos(t *testing.T) {
	f := newFixture(t, projects)
	for query, like := range map[string]string{"tranqility": "tranquil", "astronaut": "", "astronuats": "astronaut", "tranq": "tranquil", "modlue": "modul"} {
		r := f.search(search.Query{Text: query})
		require.NotEmpty(t, r.Hits, query)
		if like == "" {
			assert.Empty(t, r.Notes, query)
			continue
		}
		require.Len(t, r.Notes, 1, query)
		assert.Contains(t, r.Notes[0], like)
		assert.Contains(t, r.Notes[0], query)
	}
	assert.Empty(t, f.search(search.Query{Text: "zzzzqqqq"}).Hits)
}

// Of notes with the same text, one that is no copy by its path comes first, also if the index found it last.
func TestSearch_OriginalBeforeCopies(t *testing.T) {
	const text = "# Heat pump\n\nThe heat pump needs glycol.\n"
	for _, copied := range []string{"Archive/Heat pump.md", "Projects/Heat pump (conflicted copy 2024-01-02).md", "Projects/Heat pump.sync-conflict-20230301-101112-ABCDEFG.md", "a/Archiv 2021/Heat pump.md"} {
		for _, paths := range [][]string{{copied, "Projects/Heat pump.md"}, {"Projects/Heat pump.md", copied}} {
			f := newFixture(t, map[string]string{paths[0]: text})
			f.write(map[string]string{paths[1]: text, "Glycol.md": "Glycol for the pump."})
			for _, name := range paths {
				require.NoError(t, os.Chtimes(filepath.Join(f.root, name), today, today))
			}
			f.write(nil)
			assert.Equal(t, []string{"Projects/Heat pump", strings.TrimSuffix(copied, ".md")}, f.paths("heat pump glycol")[:2])
		}
	}
	f := newFixture(t, map[string]string{"Copy to Ann.md": "Person to call.", "Bob.md": "Person to call.", "Dog.md": "A dog."})
	assert.Equal(t, []string{"Copy to Ann", "Bob"}, f.paths("Ann person"), "the query names it")
	f = newFixture(t, map[string]string{"2024-03-19.md": "# Gratitude"})
	f.write(map[string]string{"2024-03-20.md": "# Gratitude"})
	assert.Equal(t, []string{"2024-03-20", "2024-03-19"}, f.paths("gratitude"), "the newest of equal ones")
}

// A code finds notes that have it without the space.
func TestSearch_CodeWithSpace(t *testing.T) {
	f := newFixture(t, map[string]string{"Lisbon.md": "Flight LH1790, back LH1793.", "Flights.md": "LH and TP fly daily, 90 seats.", "Oslo.md": "In 1790 a fire."})
	for query, want := range map[string][]string{"LH 1790": {"Lisbon", "Flights", "Oslo"}, "flight lh 1793": {"Lisbon", "Flights"}, "LH, 1793": {"Flights"}} {
		assert.ElementsMatch(t, want, f.paths(query), query)
		assert.Equal(t, want[0], f.paths(query)[0], query)
	}
	hit := f.search(search.Query{Text: "LH 1793", Mode: search.ModeText}).Hits[0]
	assert.Equal(t, "Flight LH1790, back LH1793.", hit.Snippet)
	assert.False(t, hit.Weak)
}

func TestSearch_PrefixesPathsAndCompounds(t *testing.T) {
	f := newFixture(t, map[string]string{
		"Guide/graph-view.md": "# Graph Visualization\n\nNotes as a network, whose links are edges.",
		"Guide/links.md":      "# Linking\n\nSee [the graph](graph-view.md), graph-view.md again, and [graph-view.md].",
		"Notizen.md":          "Eine Notiz hat Verknüpfungen; jede Verknüpfung führt weiter.",
		"Telegraphie.md":      "Telegraphen und Telegramme.",
		"loader.md":           "Use fs.OpenFile with care; it opens files.",
	})
	for query, want := range map[string]string{
		"telegr*":             "Telegraphie",
		"TÉLÉGRAM*":           "Telegraphie",
		"graph-view.md":       "Guide/graph-view",
		"Guide/graph-view.md": "Guide/graph-view",
		"GRAPH-VIEW.MD":       "Guide/graph-view",
		"Notizverknüpfung":    "Notizen",
		"os.OpenFile":         "loader",
	} {
		t.Run(query, func(t *testing.T) {
			got := f.paths(query)
			require.NotEmpty(t, got)
			assert.Equal(t, want, got[0])
		})
	}
	assert.NotContains(t, f.paths("telegr"), "Guide/links")
	assert.Equal(t, []string{"openfile"}, f.search(search.Query{Text: "os.OpenFile"}).Hits[0].Why.Terms, "the part that it was found by")
	assert.Equal(t, []string{"telegr*"}, f.search(search.Query{Text: "telegr*"}).Hits[0].Why.Terms)
	assert.Empty(t, f.search(search.Query{Text: "telegr*"}).Notes)
	for _, query := range []string{"opens*", "edges*", "carefully*", "networking*"} { // indexed by their stems
		assert.NotEmpty(t, f.paths(query), query)
		assert.Empty(t, f.search(search.Query{Text: query}).Notes, query)
	}
	r := f.search(search.Query{Text: "graph tag:nowhere"})
	assert.Empty(t, r.Hits)
	require.Len(t, r.Notes, 1)
	assert.Contains(t, r.Notes[0], `no note has the tag "nowhere"`)
	assert.Equal(t, r.Notes, f.search(search.Query{Text: "grpah tag:nowhere"}).Notes, "the filter is the cause, whatever the words")
}

func TestSearch_NumbersInGroups(t *testing.T) {
	filler := strings.Repeat("The sweep looks after the stove and the chimney of every house in the lane. ", 600)
	f := newFixture(t, map[string]string{
		"sweep.md":   filler + "To shift the date call 0171 / 555 0142 before noon. " + filler,
		"account.md": "DE89 3704 0044 0532 0130 00",
		"dues.md":    "Send 12 to DE12700519950000441127.",
		"office.md":  "Office: +49 30 555 0177",
		"venue.md":   "Venue (555) 123-4567",
		"roof.md":    "Total: 2.190,00 €, due in 2024.",
		"tiles.md":   "Total: 3190.50, for 2025 and 2026.",
		"years.md":   "20242025",
	})
	for query, want := range map[string]string{
		"01715550142":                 "sweep",
		"+491715550142":               "sweep",
		"0305550177":                  "office",
		"5551234567":                  "venue",
		"+1 (555) 123-4567":           "venue",
		"DE89370400440532013000":      "account",
		"DE12 7005 1995 0000 4411 27": "dues",
		"2190":                        "roof",
		"2,190.00":                    "roof",
		"3.190,50":                    "tiles",
		"2 190":                       "roof",
		"-2190 total":                 "tiles",
		"0171 555 0143":               "sweep", // has two of the groups
		"01715550143":                 "",
	} {
		assert.Equal(t, want, append(f.paths(query), "")[0], query)
	}
	assert.ElementsMatch(t, []string{"roof", "tiles", "years"}, f.paths("2024 2025"))
	hit := f.search(search.Query{Text: "01715550142", Mode: search.ModeText}).Hits[0]
	assert.Contains(t, hit.Snippet, "0171 / 555 0142")
	assert.False(t, hit.Weak)
}

// A word may begin with a stop word. Emphasis around a stop word makes no prefix of it.
func TestSearch_PrefixIsStopWord(t *testing.T) {
	f := newFixture(t, map[string]string{"Garden.md": "Herbs and canaries.", "Other.md": "Bread with theatre."})
	for _, query := range []string{"her*", "can*", "garden her*", "HER* -bread"} {
		assert.Equal(t, []string{"Garden"}, f.paths(query), query)
	}
	assert.Equal(t, []string{"Garden"}, f.paths("*the* **the** herbs"))
}

func TestRanking(t *testing.T) {
	f := newFixture(t, map[string]string{
		"Harbour.md":          "# Harbour\n\nBoats and ropes.",
		"mention.md":          "We once saw the harbour, and " + strings.Repeat("other words in between ", 30),
		"heading.md":          "# Trip\n\n## Harbour\n\nWords about " + strings.Repeat("walking home at night ", 20),
		"apart.md":            "The cable was old. Nobody knew who made the first telegraph. It was of copper and lay in the sea.",
		"together.md":         "Nobody knew who made it first. The telegraph cable was old, of copper, and it lay in the sea there.",
		"exact.md":            "Organizing the shelves took all day in the house.",
		"stemmed.md":          "Organization of the shelves took all day in the house.",
		"folder/sub/paths.md": "Nothing to see.",
		"aliased.md":          "---\naliases: [Quay]\n---\nWhere ships are moored.",
		"tagged.md":           "Something. #zebra",
		"Log.md":              "# Log\n\nShip's notes.",
		"Protocol.md":         "---\naliases: [log]\n---\n# Protocol\n\nThe log of a meeting.",
		"untagged.md":         "Something zebra. Something longer than the other note, with more words in it.",
	})
	assert.Equal(t, []string{"Harbour", "heading", "mention"}, f.paths("harbour"))
	assert.Equal(t, "together", f.paths("telegraph cable")[0])
	assert.Equal(t, []string{"exact", "stemmed"}, f.paths("organizing"))
	assert.Equal(t, []string{"stemmed", "exact"}, f.paths("organization"))
	assert.Equal(t, []string{"aliased"}, f.paths("quay"))
	assert.Equal(t, []string{"Log", "Protocol"}, f.paths("log"), "a title before the alias of another note")
	assert.Equal(t, "tagged", f.paths("zebra")[0])
	assert.Equal(t, []string{"folder/sub/paths"}, f.paths("sub"))
}

// A query may name a note by its title and by what the note is filed under.
func TestRanking_TitleAndLabel(t *testing.T) {
	f := newFixture(t, map[string]string{
		"Projects/Atlas/Roadmap.md": "# Roadmap\n\nWhat we want to have done before the summer, by quarter.",
		"Projects/Boat/Roadmap.md":  "# Roadmap\n\nThe hull first, then the sails. The atlas is on board.",
		"Retro.md":                  "---\ntype: meeting\nproject: Harbour\n---\nToo many open ends, and too few hands.",
		"Cranes.md":                 "The harbour retro took long. In the harbour, the retro found the cranes late.",
		"Cakes.md":                  "Flour, oil and sugar, baked for an hour. #vegan",
		"Gizmo.md":                  "---\nstatus: dormant\n---\n",
		"Sleep.md":                  "The gizmo is dormant. A dormant gizmo, the gizmo.",
		"Meeting Notes/2024.md":     "Budget. The notes and the meeting.",
		"Guide.md":                  "Meeting notes should be short. Good meeting notes name who does what.",
		"Guests.md":                 "The vegan cake is for Ann. She asked for a vegan one, a cake without eggs.",
	})
	for query, want := range map[string]string{
		"atlas roadmap": "Projects/Atlas/Roadmap",
		"harbour retro": "Retro",
		"vegan cake":    "Cakes",
		"gizmo dormant": "Gizmo",
		"meeting notes": "Guide", // the folder alone does not name a note
	} {
		assert.Equal(t, want, f.paths(query)[0], query)
	}
}

// A note that folder and name identify is found among many that repeat the words.
func TestNameAndLabelAmongMany(t *testing.T) {
	files := map[string]string{
		"Projects/Customer Portal/Customer Portal.md": "A portal for customers. See [[Status]].",
		"Projects/Customer Portal/Status.md":          "Two days late.",
		"Projects/Atlas/Status.md":                    "Waiting for the vendor.",
	}
	for i := range 30 {
		files[fmt.Sprintf("Daily/2026-01-%02d.md", i+1)] = "Customers asked for the status of the portal. Status of the customer portal: late."
	}
	assert.Equal(t, "Projects/Customer Portal/Status", newFixture(t, files).paths("customer portal status")[0])
}

func TestPassages(t *testing.T) {
	f := newFixture(t, map[string]string{
		"long.md": "---\ntags: [a]\n---\n# Long note\n\n" + strings.Repeat("Filler about nothing in particular.\n", 40) +
			"\n## The **boiler** room\n\n" + strings.Repeat("More filler, and the [[engine|machine]] hums.\n", 20) +
			"\nThe *pressure* valve of the boiler was last checked by `Ann` in [May](https://example.org/very/long/link).\n" + strings.Repeat("Again filler.\n", 30),
		"table.md": "| tool | use |\n|------|-----|\n| awl | to pierce |\n",
		"crlf.md":  "# Windows\r\n\r\nA line with\r\nquokka inside.\r\n",
	})
	r := f.search(search.Query{Text: "pressure valve"})
	require.Len(t, r.Hits, 1)
	h := r.Hits[0]
	assert.Equal(t, "long.md", h.Path)
	assert.Equal(t, "Long note", h.Title)
	assert.Contains(t, h.Heading, "boiler")
	assert.Contains(t, h.Snippet, "pressure valve of the boiler was last checked by Ann in May.")
	assert.LessOrEqual(t, len(h.Snippet), 160+2*len("…"))
	text, err := os.ReadFile(filepath.Join(f.root, "long.md"))
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	assert.Contains(t, strings.Join(lines[h.LineStart-1:h.LineEnd], "\n"), "*pressure* valve")
	assert.Equal(t, []string{"pressure", "valve"}, h.Why.Terms)
	assert.Equal(t, 1, h.Why.TextRank)
	assert.Positive(t, h.Why.TextScore)
	assert.Equal(t, "tool | use || awl | to pierce", f.search(search.Query{Text: "awl"}).Hits[0].Snippet)
	assert.Contains(t, f.search(search.Query{Text: "quokka"}).Hits[0].Snippet, "A line with quokka inside.")
}

// The passage under a heading with a word of the query is shown rather than a later one with the
// word as it was asked for.
func TestPassage_Heading(t *testing.T) {
	f := newFixture(t, map[string]string{"Starter.md": "# Starter\n\nFlour and water.\n\n## From nothing\n\n" + strings.Repeat("Patience. ", 60) +
		"\n\n## Feeding\n\nOne part to five.\n\n## Trouble\n\nPour off and feed twice. " + strings.Repeat("Wait. ", 200)})
	h := f.search(search.Query{Text: "how do I feed the starter"}).Hits[0]
	assert.Equal(t, "Feeding", h.Heading)
	assert.Contains(t, h.Snippet, "One part to five")
}

func TestSearch_ResultSize(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("Folder/Note %d.md", i)] = fmt.Sprintf("# Note %d\n\n%s", i, strings.Repeat("Some sentence about the harbour — größer und länger. ", 200))
	}
	f := newFixture(t, files)
	r := f.search(search.Query{Text: "harbour", Mode: search.ModeText})
	require.Len(t, r.Hits, 10)
	assert.Equal(t, 30, r.Total)
	assert.True(t, r.Truncated)
	r = f.search(search.Query{Text: "harbour", MaxBytes: 800})
	sum := 0
	for _, h := range r.Hits {
		sum += len(h.Snippet)
		assert.True(t, utf8.ValidString(h.Snippet))
		assert.NotContains(t, h.Snippet, "\n")
	}
	assert.LessOrEqual(t, sum, 800+len(r.Hits)*2*len("…"))
	f.write(map[string]string{"huge.md": "# " + strings.Repeat("endless title ", 20_000) + "\n\nquagga\n"})
	text, err := json.Marshal(f.search(search.Query{Text: "quagga " + strings.Repeat("endless", 1000) + " title endless"}).Hits[0])
	require.NoError(t, err)
	assert.Less(t, len(text), 1200)
	f.write(map[string]string{"abstract.md": "---\nabstract: " + strings.Repeat("okapis and zebras ", 50) + "\n---\n"})
	assert.LessOrEqual(t, len(f.search(search.Query{Text: "okapis"}).Hits[0].Snippet), 160+len("…"), "without text")
}

// A hit shows the passage that matches its query or filter.
func TestHitsShowWhatAnswers(t *testing.T) {
	filler := strings.Repeat("Nothing of note happened on this day. ", 30)
	f := newFixture(t, map[string]string{
		"plan.md":     "# Plan\n\nMet Ann.\n\n" + filler + "\n\n## Bills\n\n" + filler + "\n\n- [x] Paid\n- [ ] Send [[Invoices|invoice]] to Bob #urgent/now\n",
		"bread.md":    "# Bread\n\n## From nothing\n\nMix flour and water.\n\n## Feeding\n\nDiscard half of it at the weekend.\n\n## Baking\n\nHot.\n",
		"meta.md":     "---\nstatus: open\ntags: [x]\n---\n",
		"app.md":      "---\ncategories:\n  - \"[[Companies|Firms]]\"\n  - 'Apps'\n\nurl: https://example.org/\n---\n",
		"template.md": "# Template\n\n## Steps\n\n1. \n",
		"sage.md":     "# Sage\n\n" + filler + "It tastes bitter. Dry sage keeps a year in a jar. " + filler,
	})
	first := func(query string) search.Hit {
		r := f.search(search.Query{Text: query, Mode: search.ModeText})
		require.NotEmpty(t, r.Hits, query)
		return r.Hits[0]
	}
	for _, query := range []string{"has:todo", "tag:urgent", "tag:urgent Bob", "has:todo day"} {
		h := first(query)
		assert.Contains(t, h.Snippet, "Send invoice to Bob", query)
		assert.Equal(t, "Bills", h.Heading, query)
	}
	h := first("weekend")
	assert.Equal(t, "Feeding", h.Heading)
	assert.Equal(t, "Feeding", first("discard half").Heading)
	assert.Equal(t, "From nothing", first("flour").Heading)
	h = first("path:meta")
	assert.Equal(t, "status: open; tags: [x]", h.Snippet)
	assert.Equal(t, [2]int{1, 4}, [2]int{h.LineStart, h.LineEnd}, "a note that has only front matter")
	assert.Equal(t, "categories: Firms, Apps; url: https://example.org/", first("path:app").Snippet)
	assert.Equal(t, "Template: Steps:", first("path:template").Snippet)
	h = first("dry sage jar")
	assert.Regexp(t, "^…Dry sage keeps a year in a jar\\. ", h.Snippet)
}

func TestManyConditions(t *testing.T) {
	f := newFixture(t, seaside)
	for _, clause := range []string{`-"a b%d"`, `"a b%d"`, "tag:x%d", "-path:x%d", "-word%d", "title:w%d"} {
		var b strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&b, clause+" ", i)
		}
		_, err := f.engine.Search(context.Background(), search.Query{Text: b.String(), Mode: search.ModeText})
		require.ErrorIs(t, err, notes.ErrInvalid, clause)
		assert.ErrorContains(t, err, "filters, phrases and exclusions")
	}
	assert.Equal(t, []string{"cooking"}, f.paths("salt "+strings.Repeat("-harbour ", 1000)), "the same again is one")
}

// Quotations in running text are not conditions.
func TestSearch_QuotesInRunningText(t *testing.T) {
	f := newFixture(t, seaside)
	assert.Empty(t, f.paths(`harbour "moored boats"`))
	assert.Contains(t, f.paths(`Somebody wrote yesterday about "moored boats" near another town, where fishermen sell fresh crabs every morning before school begins`), "boats")
}

// Hits list the matched content words, the rarest first.
func TestWhyTerms(t *testing.T) {
	f := newFixture(t, map[string]string{
		"a.md": "All of the boats may be moored near the quay, and every other vessel also.",
		"b.md": "All other boats.",
		"c.md": "After all, it is only one of many.",
	})
	terms := func(query string) map[string][]string {
		out := map[string][]string{}
		for _, h := range f.search(search.Query{Text: query}).Hits {
			out[h.Path] = h.Why.Terms
		}
		return out
	}
	assert.Equal(t, map[string][]string{"a.md": {"quay", "boats"}, "b.md": {"boats"}, "c.md": {}}, terms("all other boats near the quay"))
	assert.Equal(t, []string{"many"}, terms("many")["c.md"], "the query has no other word")
}

// section returns the text of one passage.
func section(head, text string) string {
	return "## " + head + "\n\n" + text + strings.Repeat(" and so on", 150) + "\n\n"
}

// aboutStarters is a note whose title and two of whose passages have its topic.
var aboutStarters = "# Sourdough starter\n\nHow to keep it.\n\n" + section("Feeding", "Feed the sourdough starter daily with rye.") + section("Rest", "Nothing here.") + section("Drying", "A dried sourdough starter lasts a year.")

// A note whose topic is the query is shown with two passages, one that only mentions it with
// one.
func TestSecondPassage(t *testing.T) {
	f := newFixture(t, map[string]string{
		"starter.md": aboutStarters,
		"another.md": aboutStarters + section("More", "More of it."),
		"diary.md":   "# March\n\n" + section("0", "Rain.") + section("1", "Bought a lemon tree.") + section("2", "Fed the lemon tree."),
	})
	r := f.search(search.Query{Text: "sourdough starter"})
	require.NotNil(t, r.Second)
	assert.Equal(t, r.Hits[0].Path, r.Second.Path)
	assert.NotEqual(t, r.Hits[0].LineStart, r.Second.LineStart)
	assert.Contains(t, r.Second.Snippet, "rye")
	r = f.search(search.Query{Text: "lemon tree"})
	require.NotEmpty(t, r.Hits)
	assert.Nil(t, r.Second, "the diary is about March")
	assert.Nil(t, f.search(search.Query{Text: "sourdough starter rye daily feed"}).Second, "one passage has it all")
}

// The matching passage is found at any depth of a long note, even if accents hide the word.
func TestSearch_FarDownALongNote(t *testing.T) {
	const filler = "The valley was described at length by everybody who had seen it.\n\n"
	far := strings.Repeat(filler, 3000)
	f := newFixture(t, map[string]string{
		"plain.md":  "# Plain\n\n" + far + "## Winds\n\nThe zephyr of the valley blows at noon.\n\n" + far,
		"accent.md": "# Accent\n\n" + far[:len(far)/2] + "## Vents\n\nThe Mistrál of the valley blows at night.\n\n" + far,
	})
	for query, want := range map[string]search.Hit{
		"zephyr valley":  {Path: "plain.md", Heading: "Winds", Snippet: "The zephyr of the valley blows at noon."},
		"valley mistral": {Path: "accent.md", Heading: "Vents", Snippet: "The Mistrál of the valley blows at night."},
	} {
		h := f.search(search.Query{Text: query, Mode: search.ModeText}).Hits[0]
		assert.Equal(t, want.Path, h.Path, query)
		assert.Equal(t, want.Heading, h.Heading, query)
		assert.Contains(t, h.Snippet, want.Snippet, query)
	}
}

// A hit shows the fields of the front matter that the query asks for, by their key or by a word
// that is only there, before its text.
func TestSnippet_AskedFields(t *testing.T) {
	f := newFixture(t, map[string]string{
		"Ann.md": "---\naliases: [Annie]\ntags: [phone]\nphone: \"+49 171 2345678\"\nbirthday: 1984-03-12\nwork:\n  - Library of Ulm\n---\n# Ann\n\nMy sister, whose garden we watered, had a birthday party.\n\n## Met\n\nIn Ulm.\n",
		"Bob.md": "---\nphone: 12\nnotes: " + strings.Repeat("x ", 600) + "\n---\n# Bob\n\nPlays chess.\n",
		"Eve.md": "# Eve\n\nHas a phone.\n",
	})
	for query, want := range map[string]string{
		"phone of Ann":     "phone: +49 171 2345678 …My sister, whose garden we watered, had a birthday party. Met: In Ulm.",
		"birthday of Ann":  "birthday: 1984-03-12 …My sister, whose garden we watered, had a birthday party. Met: In Ulm.",
		"Ann 171 library":  "phone: +49 171 2345678 …work: Library of Ulm …My sister, whose garden we watered, had a birthday party. Met: In Ulm.",
		"Ann's garden Ulm": "My sister, whose garden we watered, had a birthday party. Met: In Ulm.",
		"phone of Bob":     "Plays chess.",
	} {
		h := f.search(search.Query{Text: query}).Hits[0]
		assert.Equal(t, want, h.Snippet, query)
		assert.Equal(t, strings.Contains(want, " …"), h.LineStart == 1, query)
	}
	for size := 32; size < 200; size++ {
		h := f.search(search.Query{Text: "garden of Ann with phone", Limit: 1, MaxBytes: size}).Hits[0]
		assert.LessOrEqual(t, len(h.Snippet), size+3*len("…"))
		assert.Regexp(t, "phone: |garden", h.Snippet)
	}
}

// A snippet that ends with a match ends with the whole word.
func TestSnippet_EndsWithWord(t *testing.T) {
	files := map[string]string{}
	for pad := range 50 {
		files[fmt.Sprintf("%d.md", pad)] = "Connections were refused " + strings.Repeat("x", pad) + " by the second PostgreSQL cluster, which was not started after the reboot of the host in August.\n"
	}
	for _, size := range []int{60, 100} {
		for _, h := range newFixture(t, files).search(search.Query{Text: "refused connections postgres", Limit: 50, MaxBytes: 50 * size}).Hits {
			assert.NotRegexp(t, `P\pL*…$`, strings.ReplaceAll(h.Snippet, "PostgreSQL", ""), h.Snippet)
		}
	}
}

// Suggestions for a word that no note has are shown as notes spell them, not as stems.
func TestSuggestionsAreWords(t *testing.T) {
	f := newFixture(t, map[string]string{"a.md": "The Ponies of Iceland.", "b.md": "In Norway many poniards.", "c.md": "Notiz und Verknüpfung."})
	for query, want := range map[string]string{
		"ponyes":           `no note has "ponyes"; searched for ponies instead`,
		"Notizverknüpfung": `no note has "Notizverknüpfung"; searched for notiz, verknüpfung instead`,
		"poniardss norway": `no note has "poniardss"; searched for poniards instead`,
	} {
		for _, mode := range []search.Mode{search.ModeText, search.ModeHybrid} {
			assert.Contains(t, f.search(search.Query{Text: query, Mode: mode}).Notes, want)
		}
	}
}

// Notes that the caller may not read affect no score, order or remark, whatever their words.
func TestScoresWithinScope(t *testing.T) {
	mine := map[string]string{
		"Mine/a.md": "The harbour at night, with boats.", "Mine/b.md": "A boat and a harbour; the harbour master. " + strings.Repeat("More of it. ", 30),
		"Mine/c.md": "Recipes for bread and jam.", "Mine/d.md": "The night train to Ostend.",
	}
	answers := func(others ...string) (all []search.Result) {
		f := newFixture(t, mine)
		for i, text := range others {
			f.write(map[string]string{fmt.Sprintf("Theirs/%d.md", i): text})
		}
		for _, query := range []string{"harbour night", "boat -path:Mine/c", "boat", "harbuor", "zeppelin night", "harb*", "breadjam", "Häfen der Nacht"} {
			r := f.search(search.Query{Text: query, Filter: notes.Filter{Scope: []string{"Mine"}}})
			for i := range r.Hits {
				r.Hits[i].NoteID = 0
			}
			all = append(all, r)
		}
		return all
	}
	want := answers()
	assert.Equal(t, want, answers("zeppelin", "zeppelins over the harbuor", "breadjam", strings.Repeat("night and boats ", 100)))
	assert.Contains(t, want[3].Notes, `no note has "harbuor"; searched for harbour instead`)
}

// Suggestions contain no word of notes that the caller may not read.
func TestSuggestionsWithinScope(t *testing.T) {
	f := newFixture(t, map[string]string{"Mine/a.md": "Tulips and roses.", "Other/b.md": "The zanzibarian treaty on tulipwood."})
	for query, want := range map[string]string{"zanzibaran": "", "zanzi": "", "tulps": "tulips"} {
		for _, mode := range []search.Mode{search.ModeText, search.ModeHybrid} {
			remarks := strings.Join(f.search(search.Query{Text: query, Mode: mode, Filter: notes.Filter{Scope: []string{"Mine"}}}).Notes, "\n")
			assert.NotContains(t, remarks, "zanzibari", query)
			assert.Equal(t, want != "", strings.Contains(remarks, "searched for "+want+" instead"), remarks)
		}
	}
}

// A word that only deleted notes have is not suggested, neither for itself or another word nor
// as a part of a compound or an expansion of a prefix.
func TestDeletedNotesSuggestNothing(t *testing.T) {
	f := newFixture(t, map[string]string{"a.md": "The quagga runs.", "b.md": "Something else and a bridge.", "c.md": "The quagga grazes by the bridge."})
	f.write(map[string]string{"a.md": "", "c.md": ""})
	for _, query := range []string{"quagga", "quaga", "quaggabridge", "quag*", "grazes"} {
		r := f.search(search.Query{Text: query, Mode: search.ModeText})
		assert.Empty(t, r.Hits, query)
		for _, remark := range r.Notes {
			assert.NotContains(t, remark, "instead", query)
		}
	}
}

// A word with an attached article or preposition matches the bare word. The form in the query
// ranks first.
func TestArticlesWrittenToWords(t *testing.T) {
	f := newFixture(t, map[string]string{
		"bare.md": "زراعة طماطم", "article.md": "زراعة الطماطم", "preposition.md": "ماء للطماطم", "other.md": "زراعة الخيار",
		"book.md": "ספר על ים", "the-book.md": "הספר על ים", "books.md": "ספרים על ים", "bread.md": "לחם",
	})
	assert.ElementsMatch(t, []string{"bare", "article", "preposition"}, f.paths("طماطم"))
	assert.Equal(t, "bare", f.paths("طماطم")[0])
	assert.ElementsMatch(t, []string{"bare", "article", "preposition"}, f.paths("الطماطم"))
	assert.Equal(t, "article", f.paths("الطماطم")[0])
	assert.ElementsMatch(t, []string{"book", "the-book", "books"}, f.paths("הספרים"))
	assert.ElementsMatch(t, []string{"bare", "article", "preposition"}, f.paths("ما هي الطماطم"), "function words find nothing")
}

// A hit whose title is named in the passage of another hit, but not in the query, scores
// higher.
func TestNamed(t *testing.T) {
	for title, want := range map[string]bool{
		"Ada Lovelace":         true,
		"Lovelace":             true,
		"Next steps":           false, // not a name
		"Programmer":           false, // it is in the query
		"Ada Byron":            false, // the passage has only the first word
		"The":                  false,
		"Ada, the programmer,": false,
	} {
		t.Run(title, func(t *testing.T) {
			scores := func(about string) float64 {
				f := newFixture(t, map[string]string{
					"named.md": "# " + title + "\n\nWho wrote the first of them.",
					"other.md": "# Engines\n\n" + about + ", who wrote the first. Take the next steps. " + strings.Repeat("Wheels and cards. ", 20),
				})
				for _, h := range f.search(search.Query{Text: "programmer who wrote first"}).Hits {
					if h.Path == "named.md" {
						return h.Score
					}
				}
				return 0
			}
			assert.Equal(t, want, scores("Ada Lovelace, the programmer") > scores("The programmer")+.01)
		})
	}
}

// The passage that names another note is the one that has the words of the query.
func TestNamed_InAnyPassage(t *testing.T) {
	score := func(who string) float64 {
		f := newFixture(t, map[string]string{
			"named.md": "# Ada Lovelace\n\nWho wrote the first of them.",
			"other.md": "# Engines\n\n" + section("Wheels", "Wheels and cards.") + section("Programs", who+", the programmer, who wrote the first."),
		})
		for _, h := range f.search(search.Query{Text: "programmer who wrote first"}).Hits {
			if h.Path == "named.md" {
				return h.Score
			}
		}
		return 0
	}
	assert.Greater(t, score("Ada Lovelace"), score("She")+.01)
}

// A phrase that no note has is a condition in a query of few words. In a sentence, or if its
// marks are those of running text, its words are searched instead.
func TestPhrase_NoNoteHas(t *testing.T) {
	f := newFixture(t, map[string]string{"a.md": "A text formatting system: what you see is printed.", "b.md": "Painting."})
	sentence := `articles on text formatting systems and printers, such as "what you see is what you get"`
	assert.Equal(t, []string{"a"}, f.paths(sentence))
	r := f.search(search.Query{Text: sentence})
	assert.Equal(t, `no note has "what you see is what you get"; searched for the words instead`, r.Notes[0])
	assert.Empty(t, f.paths(`formatting "what you see is what you get"`))
	assert.Equal(t, []string{"a"}, f.paths(`formatting “what you see is what you get”`), "may be a title")
	assert.Empty(t, f.paths(sentence+` title:printers`), "other conditions hold")
	assert.Empty(t, f.paths(`"no such phrase" “what you see is what you get”`), "plain quotes are conditions")
	f.write(map[string]string{"d/d.md": "The plan."})
	assert.Contains(t, f.search(search.Query{Text: "“the plan” path:a"}).Notes, `no note that meets the other conditions has "the plan"; searched for the words instead`)
	f.write(map[string]string{"c.md": "Printers: what you see is what you get."})
	assert.Equal(t, []string{"c"}, f.paths(sentence), "a condition if a note has it")
	assert.Equal(t, []string{"c"}, f.paths(`formatting “what you see is what you get”`))
}

// Only some of the notes that have the words of a phrase are read.
func TestPhrase_NoNoteReadHas(t *testing.T) {
	files := map[string]string{"last.md": "A green apple."}
	for i := range 599 {
		files[fmt.Sprintf("%d.md", i)] = "Valves, pumps, lamps, ladders and hinges. Green is the apple."
	}
	f := newFixture(t, files)
	r := f.search(search.Query{Text: `valves pumps lamps ladders hinges "green apple"`, Mode: search.ModeText})
	assert.Equal(t, []string{
		`no note that was read has "green apple"; searched for the words instead`,
		"the phrase was checked in only 512 of 600 notes that have the words",
	}, r.Notes)
}

// If a phrase is why a search finds nothing, the answer says so.
func TestPhrase_NoNoteHasReported(t *testing.T) {
	f := newFixture(t, map[string]string{"a.md": "Red apples are sweet.", "b.md": "Green pears."})
	for query, want := range map[string]string{
		`sweet "pears green"`:        `found no note with "pears green" that fits the rest of the query; without quotation marks, its words are searched`,
		`"red apples" "pears green"`: `found no note with "red apples" and "pears green" that fits the rest of the query; without quotation marks, its words are searched`,
		`"red apples" title:b`:       `found no note with "red apples" that fits the rest of the query; without quotation marks, its words are searched`,
	} {
		r := f.search(search.Query{Text: query})
		assert.Empty(t, r.Hits)
		assert.Equal(t, []string{want}, r.Notes, query)
	}
}

// If the words of a phrase are searched, a word that no note has is still reported.
func TestPhrase_NoNoteHasAndMisspelling(t *testing.T) {
	f := newFixture(t, map[string]string{"a.md": "The boiler pressure valve was checked."})
	r := f.search(search.Query{Text: `the boiler presure valve was checked by the engineer "annual safety round"`})
	require.Len(t, r.Hits, 1)
	assert.Contains(t, r.Notes, `no note has "annual safety round"; searched for the words instead`)
	assert.Contains(t, r.Notes, `no note has "presure"; searched for pressure instead`)
}

// Hits list the matched words, not their n-grams.
func TestWhy_RunsAreWhole(t *testing.T) {
	f := newFixture(t, map[string]string{"a.md": "机器学习的笔记", "b.md": "ใส่ตะไคร้และข่า", "c.md": "学习"})
	hit := func(query, path string) []string {
		for _, h := range f.search(search.Query{Text: query}).Hits {
			if h.Path == path {
				return h.Why.Terms
			}
		}
		return nil
	}
	assert.Equal(t, []string{"机器学习"}, hit("机器学习 机器学习", "a.md"))
	assert.ElementsMatch(t, []string{"机器学习", "笔记"}, hit("机器学习笔记", "a.md"))
	assert.Equal(t, []string{"学习"}, hit("机器学习笔记", "c.md"))
	assert.Equal(t, []string{"ตะไคร้"}, hit("ตะไคร้", "b.md"))
}

package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/search"
)

// The data of a drawing is neither found nor shown in the default mode, even if its passage is
// the nearest.
func TestDrawingsHaveNoWords(t *testing.T) {
	data := strings.Repeat("N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATLZMzYBXUtiRo\n\n", 30)
	m := &fakeSemantic{weight: .5, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}, cosines: map[string]float64{"Map.excalidraw": .9}}
	f := newFixtureWith(t, map[string]string{
		"Map.excalidraw.md": "---\nexcalidraw-plugin: parsed\n---\n# Text Elements\nPelican crossing ^Ab3d\n\n%%\n## Drawing\n```compressed-json\n" + data + "```\n%%",
		"Other.md":          "A pelican.",
	}, m)
	m.store = f.store
	for _, text := range []string{"pelican", "bird", `"pelican crossing"`} {
		r := f.search(search.Query{Text: text})
		require.NotEmpty(t, r.Hits, text)
		for _, h := range r.Hits {
			assert.NotContains(t, h.Snippet, "N4KAk")
		}
	}
	assert.Equal(t, []string{"Map.excalidraw"}, pathsOf(f.search(search.Query{Text: `"pelican crossing"`})), "its texts are searched")
	m.cosines = map[string]float64{}
	for _, text := range []string{"N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATLZMzYBXUtiRo", `"` + data[:76] + `"`} {
		assert.Empty(t, f.search(search.Query{Text: text}).Hits, text)
	}
}

// Foam writes a link reference definition for each wikilink. Its words describe the linked note.
func TestSearch_LinkReferenceDefinitions(t *testing.T) {
	f := newFixture(t, map[string]string{
		"graph.md":     "# Graph\n\nColors of nodes, see [[templates]].\n\n[templates]: templates.md 'Note Templates'\n[daily]: daily.md 'Daily Notes'\n",
		"templates.md": "# Note Templates\n\nA daily note can begin with one.\n",
		"paper.md":     "# Paper\n\nRead [the first][1].\n\n[1]: https://example.com/templates 'Daily note templates'\n",
	})
	assert.ElementsMatch(t, []string{"templates", "paper"}, pathsOf(f.search(search.Query{Text: "daily note"})))
	assert.Equal(t, []string{"graph"}, pathsOf(f.search(search.Query{Text: "nodes templates"}))[:1])
}

// A word of a row counts with the column names above it, also where the table has been cut, and
// is shown rather than those.
func TestSearch_TableRows(t *testing.T) {
	rows := ""
	for i := range 90 {
		rows += fmt.Sprintf("| 2024-%02d-%02d | ferritin | %d | Dr Roth |\n", i/28+1, i%28+1, i+20)
	}
	f := newFixture(t, map[string]string{
		"Lab.md":   "# Lab\n\n| Date | Test | Value | Ordered by |\n|---|---|---:|---|\n" + rows + "| 2025-01-07 | homocysteine | 14 | Dr Klee |\n" + rows + "\n| a | b |\n",
		"Terms.md": "# Terms\n\n| Claim | Period | From |\n|:--|--|--|\n| contract | 6 years | breach |\n| tort | 6 years | damage |\n| defamation | 1 year | publication |\n" + strings.Repeat("| deed | 12 years | breach |\n", 6),
	})
	for query, want := range map[string]string{
		"who ordered the homocysteine test": "…2025-01-07 | homocysteine | 14 | Dr Klee || ",
		"period for defamation":             "…defamation | 1 year | publication || ",
		"period from":                       "Claim | Period | From || ",
		"ferritin test":                     "2024-01-01 | ferritin | 20 | Dr Roth || ",
	} {
		h := f.search(search.Query{Text: query, Limit: 10, MaxBytes: 700}).Hits[0]
		assert.Contains(t, h.Snippet, want, query)
	}
}

func TestTableHead(t *testing.T) {
	const text = "A | word.\n\n> | Claim | Period |\r\n> |:--|--:|\r\n> | tort | 6 years |\r\n> | deed | 12 years |\n\nAfter\n| x | y |\n"
	for at := 0; at < len(text); at++ {
		from, to := search.TableHead(text, at)
		if strings.HasPrefix(text[at:], "> | tort") || strings.HasPrefix(text[at:], "> | deed") {
			assert.Equal(t, "> | Claim | Period |\r\n", text[from:to])
		} else if at == 0 || text[at-1] == '\n' {
			assert.Zero(t, to-from, "%q", text[at:])
		}
	}
}

// Only a row of dashes with a cell for each name is below column names, and the topmost is.
func TestTableHead_Delimiter(t *testing.T) {
	for text, want := range map[string]string{
		"|  | Food | Drink |\n|--|:-:|--|\n| 1 | rye | tea |\n| - | - | - |\n": "|  | Food | Drink |\n",
		"- | a\\|b | c |\n  |---|---|\n  | 1 | 2 |\n":                          "- | a\\|b | c |\n",
		"a | b\n-|-\n1 | 2\n":                                                      "a | b\n",
		"- choose a | b\n- | -\n- c | d\n":                                         "",
		"| a | b |\n|---|\n| 1 | 2 |\n":                                            "",
		"| a | b |\n| 1 | - |\n| 2 | - |\n":                                        "",
		"| a | b |\n|---|---|\n" + strings.Repeat("| - | - |\n| 1 | 2 |\n", 9_000): "", // far below
	} {
		from, to := search.TableHead(text+"| rye | bread |", len(text))
		assert.Equal(t, want, text[from:to], "%.60q", text)
	}
}

// The words of a query that only the column names have are shown if they are close to the others, above.
func TestSearch_WordsAboveTable(t *testing.T) {
	f := newFixture(t, map[string]string{"A.md": "# A\n\nMy blood results. " + strings.Repeat("Some words stand here. ", 30) + "\n\n| Date | Homocysteine | Ferritin |\n|---|---|---|\n| 2024-01-01 | 12 | 30 |\n| - | - | - |\n| 2025-01-01 | 14 | 40 |\n"})
	assert.Contains(t, f.search(search.Query{Text: "blood homocysteine ferritin", MaxBytes: 300}).Hits[0].Snippet, "here. Date | Homocysteine | Ferritin || ")
}

// A passage counts with the headings above it, which only the first passage of a note or section
// contains: the passage with the other words is shown.
func TestSearch_PassageBelowHeadings(t *testing.T) {
	filler := strings.Repeat("Oak worktops need some oil in spring and in autumn. ", 40)
	f := newFixture(t, map[string]string{
		"Kitchen.md": "# Kitchen renovation\n\n" + filler + "\n\nThe tiles come from Porto.\n\n" + filler,
		"House.md":   "# House\n\n" + filler + "\n\n## Boiler maintenance\n\n" + filler + "\n\nThe pressure must be 1.5 bar.\n\n" + filler + "\n\n## Pressure of the tyres\n\n" + filler,
	})
	for query, want := range map[string]string{
		"kitchen renovation tiles":    "The tiles come from Porto.",
		"boiler maintenance pressure": "The pressure must be 1.5 bar.",
		"kitchen renovation":          "Oak worktops",
	} {
		assert.Contains(t, f.search(search.Query{Text: query}).Hits[0].Snippet, want, query)
	}
}

// The words of a title count as close to every passage of its note: a note that has all words of
// the query is not weak because the title's are at its beginning.
func TestWeak_TitleFarFromPassage(t *testing.T) {
	filler := strings.Repeat("Oak worktops need some oil in spring and in autumn. ", 40)
	m := &fakeSemantic{weight: .55, coverage: notes.Coverage{State: search.StateReady, Coverage: 1}, cosines: map[string]float64{"Kitchen": .15}}
	f := newFixtureWith(t, map[string]string{"Kitchen.md": "# Kitchen renovation\n\n" + filler + "\n\nThe tiles come from Porto.\n"}, m)
	m.store = f.store
	assert.False(t, f.search(search.Query{Text: "kitchen renovation tiles"}).Hits[0].Weak)
	assert.True(t, f.search(search.Query{Text: "kitchen taxes tide moon"}).Hits[0].Weak)
}

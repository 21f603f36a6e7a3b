package prompts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// texts joins the resources of a rendering.
func texts(r Rendered) string {
	var all []string
	for _, m := range r.Messages {
		if m.Resource != nil {
			all = append(all, m.Resource.Text)
		}
	}
	return strings.Join(all, "|")
}

func TestBudget(t *testing.T) {
	s := newShelf("old.md|0123456789", "long.md|"+strings.Repeat("x", 100), "new.md|abcde")
	for _, c := range []struct {
		name   string
		budget int
		want   string
		remark string
	}{
		{"everything fits", 115, "abcde|" + strings.Repeat("x", 100) + "|0123456789", ""},
		{"a long note is skipped for the next", 50, "abcde|0123456789", "2 of 3 notes are here, the newest"},
		{"one note fits exactly", 5, "abcde", "1 of 3 notes are here"},
		{"no note fits", 3, "abc", `only the beginning of "new.md" is here`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := render(t, s, Options{Budget: c.budget}, "summarize_notes", nil)
			assert.Equal(t, c.want, texts(r))
			if c.remark == "" {
				assert.NotContains(t, words(r), "Note that")
				return
			}
			assert.Contains(t, words(r), c.remark)
		})
	}
}

// Thousands of notes of a few words fit in the budget, but not the messages that embed them.
func TestBudget_ManyShortNotes(t *testing.T) {
	var files []string
	for i := range 2 * maxNotes {
		files = append(files, fmt.Sprintf("%d.md|x", i))
	}
	r := render(t, newShelf(files...), Options{}, "summarize_notes", nil)
	assert.Equal(t, maxNotes, strings.Count(texts(r), "x"))
	assert.Contains(t, words(r), fmt.Sprintf("%d of %d notes are here, the newest", maxNotes, 2*maxNotes))
}

// The number of notes of lists and searches is bounded, but not that of notes named in a template.
func TestBudget_NamedAfterManyNotes(t *testing.T) {
	files := []string{"Goals.md|win", "Plan.md|mow", "Late.md|late"}
	var template strings.Builder
	for i := range maxNotes {
		files = append(files, fmt.Sprintf("%d.md|k%d-", i, i/10))
		if i%10 == 0 {
			fmt.Fprintf(&template, `{{search "k%d-"}}`, i/10)
		}
	}
	template.WriteString(`{{search topic}} {{note "Goals"}} {{note "Plan"}}`)
	s := newShelf(append(files, "Prompts/p.md|"+template.String())...)
	s[len(s)-1].FrontMatter = map[string]any{"arguments": []any{"topic"}}
	r := render(t, s, Options{Folder: "Prompts"}, "p", map[string]string{"topic": "late"})
	assert.Len(t, embedded(r), maxNotes+2)
	assert.True(t, strings.HasSuffix(texts(r), "|win|mow"))
	assert.Contains(t, words(r), "no room was left for 1 note.")
	assert.NotContains(t, words(r), "only the beginning")
}

// A note is truncated between characters.
func TestBudget_MultibyteText(t *testing.T) {
	s := newShelf("a.md|ééééé")
	for budget, want := range map[int]string{1: "", 2: "é", 3: "é", 4: "éé", 9: "éééé", 10: "ééééé"} {
		r := render(t, s, Options{Budget: budget}, "summarize_note", map[string]string{"note": "a.md"})
		assert.Equal(t, want, texts(r), "budget %d", budget)
	}
}

func TestDailyReview_Dates(t *testing.T) {
	c := New(Options{Notes: newShelf("a.md|x")})
	for _, date := range []string{"soon", "2026-13-01", "9"} {
		_, err := c.Render(t.Context(), named(t, c, "daily_review"), map[string]string{"date": date}, notes.Scope{})
		require.ErrorIs(t, err, notes.ErrInvalid, date)
		require.ErrorContains(t, err, date)
	}
	for date, want := range map[string]string{
		"": "since yesterday", "today": "on 2026-01-31", "Yesterday": "on 2026-01-30", "TOMORROW": "on 2026-02-01", "2025-12-24": "on 2025-12-24",
	} {
		assert.Contains(t, words(render(t, newShelf("a.md|x"), Options{}, "daily_review", map[string]string{"date": date})), want)
	}
}

// Notes that state the day are counted, although the first page of the list has none of them.
func TestDailyReview_Full(t *testing.T) {
	var s shelf
	for i := range maxNotes + 130 {
		at := noon
		if i < maxNotes+10 {
			at = time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
		}
		s = append(s, &notes.Note{ID: int64(i + 1), Path: fmt.Sprintf("%d.md", i), Content: "x", Size: 1, Date: at, Modified: at})
	}
	r := render(t, s, Options{}, "daily_review", map[string]string{"date": "today"})
	assert.Len(t, embedded(r), maxNotes)
	assert.Contains(t, words(r), "300 of 430 notes are here")
}

// A note in two placeholders is embedded once.
func TestTemplate_NoteOnce(t *testing.T) {
	s := newShelf("Plan.md|mow", `Prompts/p.md|{{note "Plan.md"}} and {{note "Plan.md"}}`)
	r := render(t, s, Options{Folder: "Prompts"}, "p", nil)
	assert.Equal(t, []string{"note:///Plan.md"}, embedded(r))

	// Clients reject messages without text.
	r = render(t, newShelf("a.md|x", "b.md|y", "Prompts/p.md|{{note \"a.md\"}} \n{{note \"b.md\"}}"), Options{Folder: "Prompts"}, "p", nil)
	require.Len(t, r.Messages, 3)
	assert.Equal(t, dataNotice, r.Messages[2].Text)
	r = render(t, newShelf("Prompts/p.md|Hello"), Options{Folder: "Prompts"}, "p", nil)
	assert.Equal(t, "Hello", words(r))
}

func TestTemplate_MissingNote(t *testing.T) {
	s := newShelf(`Prompts/p.md|Look: {{note "Gone.md"}}`, "Prompts/q.md|{{note which}}")
	s[1].FrontMatter = map[string]any{"arguments": []any{"which"}}
	c := New(Options{Notes: s, Folder: "Prompts"})
	_, err := c.Render(t.Context(), named(t, c, "p"), nil, notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)
	assert.Regexp(t, `^prompt "p": the note "Gone.md" of its placeholder \{\{note "Gone.md"\}\} cannot be read: \S`, err.Error())
	_, err = c.Render(t.Context(), named(t, c, "q"), map[string]string{"which": "Away"}, notes.Scope{})
	require.ErrorContains(t, err, `the note "Away" of its placeholder {{note which}} cannot be read`)
	var e *notes.Error
	require.ErrorAs(t, err, &e)
	assert.NotEmpty(t, e.Hint)
}

// A template says in the place of notes why they are not there.
func TestTemplate_SaysWhatIsMissing(t *testing.T) {
	long := strings.Repeat("boat ", 100)
	s := newShelf("2026-01-30.md|slept", "a.md|"+long, "b.md|"+long, `Prompts/long.md|{{note "a.md"}}`,
		`Prompts/p.md|Today: {{note "today#Log"}}`+"\n"+`Yesterday: {{note "2026-01-30.md"}}`+"\nBoats: {{search topic}} End.")
	s[4].FrontMatter = map[string]any{"arguments": []any{"topic"}}
	r := render(t, s, Options{Folder: "Prompts", Budget: 600}, "p", map[string]string{"topic": "plane"})
	assert.Equal(t, []string{"note:///2026-01-30.md"}, embedded(r))
	assert.Contains(t, words(r), "Today: (There is no note of today yet.)\nYesterday:")
	assert.Contains(t, words(r), "(No note matches plane.) End.")

	r = render(t, s, Options{Folder: "Prompts", Budget: 600}, "p", map[string]string{"topic": "boat"})
	assert.Contains(t, words(r), "1 of 2 notes are here, the best matches; the rest did not fit")
	r = render(t, s, Options{Folder: "Prompts", Budget: 100}, "long", nil)
	assert.Contains(t, words(r), `only the beginning of "a.md" is here`)
}

func TestSummarizeNotes_ChosenNotes(t *testing.T) {
	s := newShelf("a.md|boat", "b.md|car", "c.md|boat and car")
	r := render(t, s, Options{}, "summarize_notes", map[string]string{"query": " boat ", "style": "brief"})
	assert.Equal(t, []string{"note:///a.md", "note:///c.md"}, embedded(r))
	assert.Contains(t, words(r), `they match "boat"`)
	assert.Contains(t, words(r), "Style: brief.")
	r = render(t, s, Options{}, "summarize_notes", map[string]string{"query": "plane"})
	assert.Empty(t, embedded(r))
	assert.Contains(t, words(r), "There are no notes with text that match.")
}

func TestList_TooManyTemplates(t *testing.T) {
	var all []string
	for i := range maxTemplates + 3 {
		all = append(all, "Prompts/p"+string(rune('a'+i/26))+string(rune('a'+i%26))+".md|text")
	}
	c := New(Options{Notes: newShelf(all...), Folder: "Prompts"})
	list, err := c.List(t.Context())
	require.NoError(t, err)
	assert.Len(t, list, maxTemplates+len(builtins))
	warnings, err := c.Warnings(t.Context())
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0], "only the first 100 of its 103 notes are prompts")
}

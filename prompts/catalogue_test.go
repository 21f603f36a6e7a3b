package prompts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// shelf is a few notes in memory, each an hour newer than the previous one.
type shelf []*notes.Note

func newShelf(texts ...string) shelf {
	var s shelf
	for i, text := range texts {
		path, content, _ := strings.Cut(text, "|")
		at := noon.Add(time.Duration(i-len(texts)) * time.Hour)
		s = append(s, &notes.Note{
			ID: int64(i + 1), Path: path, Title: strings.TrimSuffix(path, ".md"), Content: content, Hash: "0123456789abcdef", Size: int64(len(content)),
			Modified: at, Date: at, Chunks: []notes.Chunk{{End: len(content)}},
		})
	}
	return s
}

func (s shelf) List(_ context.Context, q notes.ListQuery) (notes.ListPage, error) {
	var page notes.ListPage
	for _, n := range s {
		f := q.Filter
		if strings.HasPrefix(n.Path, f.Folder) && !n.Date.Before(f.After) && (f.Before.IsZero() || n.Date.Before(f.Before)) && visible(n.Path, f.Scope) && (n.Size > 0 || !f.NotEmpty) {
			page.Notes = append(page.Notes, notes.Meta{ID: n.ID, Path: n.Path, Title: n.Title, Size: n.Size, Modified: n.Modified})
		}
	}
	slices.SortFunc(page.Notes, func(a, b notes.Meta) int {
		if q.Sort == "path" {
			return strings.Compare(a.Path, b.Path)
		}
		return cmp.Compare(b.ID, a.ID)
	})
	page.Total = len(page.Notes)
	var skip int
	_, _ = fmt.Sscan(q.Cursor, &skip)
	page.Notes = page.Notes[skip:]
	if len(page.Notes) > q.Limit {
		page.Notes, page.Next = page.Notes[:q.Limit], fmt.Sprint(skip+q.Limit)
	}
	return page, nil
}

func (shelf) Refresh(context.Context, string) error { return nil }

func (shelf) Period(words string, now time.Time) (notes.Period, bool) {
	return (&notes.Periodic{}).Parse(words, now)
}

func visible(path string, folders []string) bool {
	return folders == nil || slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(path, f+"/") })
}

func (s shelf) Read(_ context.Context, ref string, scope notes.Scope) (*notes.Note, error) {
	base, part := notes.SplitAnchor(ref)
	for i, name := range []string{ref, base} {
		if notes.IsURI(name) {
			name, _ = notes.ParseURI(name)
		}
		for _, n := range s {
			if (n.Path == name || n.Title == name) && visible(n.Path, scope.Read) {
				found := *n
				if i > 0 {
					found.Part = part
				}
				return &found, nil
			}
		}
	}
	return nil, &notes.Error{Op: "read", Path: ref, Err: notes.ErrNotFound}
}

// Find finds the notes that contain the text, in place of a search engine.
func (s shelf) Find(_ context.Context, q Query, f notes.Filter, limit int) ([]string, error) {
	var found []string
	for _, n := range s {
		if strings.Contains(n.Content, q.Text) && n.Path != q.Of && visible(n.Path, f.Scope) && len(found) < limit {
			found = append(found, n.Path)
		}
	}
	return found, nil
}

func render(t *testing.T, s shelf, o Options, name string, args map[string]string) Rendered {
	o.Notes, o.Search, o.Now = s, s, func() time.Time { return noon }
	r, err := New(o).Render(t.Context(), named(t, New(o), name), args, notes.Scope{})
	require.NoError(t, err)
	return r
}

// named returns the prompt with a name.
func named(t *testing.T, c *Catalogue, name string) Prompt {
	list, err := c.List(t.Context())
	require.NoError(t, err)
	i := slices.IndexFunc(list, func(p Prompt) bool { return p.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return list[i]
}

// embedded returns the URIs of the embedded notes, without the revision and lines
// of a whole note.
func embedded(r Rendered) []string {
	var uris []string
	for _, m := range r.Messages {
		if m.Resource != nil {
			uri, _, _ := strings.Cut(m.Resource.URI, "?")
			uris = append(uris, uri)
		}
	}
	return uris
}

func words(r Rendered) string {
	var all []string
	for _, m := range r.Messages {
		all = append(all, m.Text)
	}
	return strings.Join(all, "\n")
}

// Each prompt starts with text by notesd, and works without arguments, with and without
// notes.
func TestBuiltinsNeedNoArguments(t *testing.T) {
	for _, p := range builtins {
		for name, s := range map[string]shelf{"some notes": newShelf("a.md|alpha", "b.md|beta"), "none": nil} {
			t.Run(p.Name+" with "+name, func(t *testing.T) {
				r := render(t, s, Options{}, p.Name, nil)
				require.NotEmpty(t, r.Messages)
				assert.NotEmpty(t, r.Messages[0].Text)
				assert.NotEmpty(t, r.Messages[len(r.Messages)-1].Text, "notes do not have the last word")
			})
		}
	}
}

func TestSummarizeNotes(t *testing.T) {
	s := newShelf("a.md|apples and pears", "b.md|pears", "c.md|cherries")
	t.Run("all of them", func(t *testing.T) {
		r := render(t, s, Options{}, "summarize_notes", nil)
		assert.Contains(t, r.Messages[0].Text, "summarize")
		assert.Equal(t, []string{"note:///c.md", "note:///b.md", "note:///a.md"}, embedded(r))
		assert.NotContains(t, words(r), "did not fit")
		assert.NotContains(t, words(r), "does not cover everything")
	})
	t.Run("the newest that fit", func(t *testing.T) {
		r := render(t, s, Options{Budget: 14}, "summarize_notes", nil)
		assert.Equal(t, []string{"note:///c.md", "note:///b.md"}, embedded(r))
		assert.Contains(t, words(r), "2 of 3 notes are here, the newest; the rest did not fit")
	})
	t.Run("the beginning of one", func(t *testing.T) {
		r := render(t, newShelf("a.md|äpfel"), Options{Budget: 1}, "summarize_notes", nil)
		assert.Equal(t, []string{"note:///a.md"}, embedded(r))
		assert.Contains(t, words(r), `only the beginning of "a.md" is here`)
	})
	t.Run("matching ones", func(t *testing.T) {
		r := render(t, s, Options{}, "summarize_notes", map[string]string{"query": "pears"})
		assert.Equal(t, []string{"note:///a.md", "note:///b.md"}, embedded(r))
	})
	t.Run("none", func(t *testing.T) {
		r := render(t, s, Options{}, "summarize_notes", map[string]string{"query": "plums"})
		assert.Empty(t, embedded(r))
		assert.Contains(t, words(r), "no notes with text that match")
	})
}

// A thousand notes cost no more than the part that is embedded.
func TestSummarizeManyNotes(t *testing.T) {
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = fmt.Sprintf("n%03d.md|%s", i, strings.Repeat("x", 100))
	}
	r := render(t, newShelf(texts...), Options{Budget: 10_050}, "summarize_notes", nil)
	assert.Len(t, embedded(r), 100)
	assert.Equal(t, "note:///n999.md", embedded(r)[0])
	assert.Contains(t, words(r), "100 of 1000 notes")

	for i := range texts {
		texts[i] = fmt.Sprintf("n%03d.md|", i)
	}
	texts[500] += strings.Repeat("x", 100)
	r = render(t, newShelf(texts...), Options{Budget: 100}, "summarize_notes", nil)
	assert.Equal(t, []string{"note:///n500.md"}, embedded(r), "empty notes say nothing")
	assert.NotContains(t, words(r), "notes are here")
}

func TestDailyReview(t *testing.T) {
	s := newShelf("old.md|x", "new.md|y")
	s[0].Date = noon.AddDate(0, 0, -3)
	assert.Equal(t, []string{"note:///new.md"}, embedded(render(t, s, Options{}, "daily_review", nil)))
	planned := append(slices.Clone(s), &notes.Note{ID: 8, Path: "planned.md", Content: "x", Size: 1, Date: noon.AddDate(0, 0, 2)})
	assert.Equal(t, []string{"note:///new.md"}, embedded(render(t, planned, Options{}, "daily_review", nil)))
	assert.Contains(t, words(render(t, s, Options{}, "daily_review", nil)), `done "yesterday", done "today", due "today" and due "overdue"`)
	s = append(s, &notes.Note{ID: 9, Path: "yesterday.md", Content: "x", Size: 1, Date: time.Date(2026, 1, 30, 0, 0, 0, 0, time.UTC)})
	assert.Equal(t, []string{"note:///yesterday.md", "note:///new.md"}, embedded(render(t, s, Options{}, "daily_review", nil)))
	for date, want := range map[string][]string{
		"2026-01-28": {"note:///old.md"}, "2026-01-28T20:00": {"note:///old.md"}, "Yesterday": {"note:///yesterday.md"},
		"today": {"note:///new.md"}, "tomorrow": nil,
	} {
		r := render(t, s, Options{}, "daily_review", map[string]string{"date": date})
		assert.Equal(t, want, embedded(r), date)
		assert.Contains(t, words(r), " on 2026-0")
	}
	week := render(t, s, Options{}, "daily_review", map[string]string{"date": "This week"})
	assert.Len(t, embedded(week), 3)
	assert.Contains(t, words(week), " from 2026-01-26 to 2026-02-01")
	assert.Contains(t, words(week), `done "this week", due "this week"`)
	assert.Contains(t, words(render(t, s, Options{}, "daily_review", map[string]string{"date": "Q1 2026"})), `from 2026-01-01 to 2026-03-31`)
	s = append(s, &notes.Note{ID: 10, Path: "unpacked.md", Content: "z", Size: 1, Date: noon})
	r := render(t, s, Options{Budget: 2}, "daily_review", map[string]string{"date": "this week"})
	assert.Equal(t, []string{"note:///yesterday.md", "note:///unpacked.md"}, embedded(r), "a note that states its day comes first")
	assert.Contains(t, words(r), "2 of 4 notes are here, those that state their day, then the newest;")
	_, err := New(Options{Notes: s}).Render(t.Context(), named(t, New(Options{}), "daily_review"), map[string]string{"date": "someday"}, notes.Scope{})
	require.ErrorContains(t, err, "today, yesterday, this week")
}

func TestFindConnections(t *testing.T) {
	const alone = "No other note matches"
	s := newShelf("bread.md|the bread rises", "oven.md|hot enough for bread", "tax.md|due in May")
	r := render(t, s, Options{}, "find_connections", map[string]string{"note": "bread.md"})
	assert.Equal(t, []string{"note:///bread.md", "note:///oven.md"}, embedded(r))
	assert.NotContains(t, words(r), alone)
	r = render(t, s, Options{}, "find_connections", map[string]string{"note": "tax.md"})
	assert.Equal(t, []string{"note:///tax.md"}, embedded(r))
	assert.Contains(t, words(r), alone)
}

func TestScopeHolds(t *testing.T) {
	s := newShelf("Work/a.md|x", "Home/b.md|x")
	c := New(Options{Notes: s, Search: s})
	scope := notes.Scope{Read: []string{"Work"}}
	for _, name := range []string{"summarize_notes", "summarize_note", "find_connections"} {
		r, err := c.Render(t.Context(), named(t, c, name), nil, scope)
		require.NoError(t, err)
		assert.Equal(t, []string{"note:///Work/a.md"}, embedded(r), name)
	}
	_, err := c.Render(t.Context(), named(t, c, "summarize_note"), map[string]string{"note": "Home/b.md"}, scope)
	require.ErrorIs(t, err, notes.ErrNotFound)

	r, err := c.Render(t.Context(), named(t, c, "summarize_notes"), nil, scope)
	require.NoError(t, err)
	assert.NotContains(t, words(r), "notes are here", "other notes are not counted")
	r, err = c.Render(t.Context(), named(t, c, "daily_review"), nil, notes.Scope{Read: []string{"Away"}})
	require.NoError(t, err)
	assert.Contains(t, words(r), "There are no notes with text dated since yesterday.")
}

// filters is a shelf that records the filters of its lists and searches.
type filters struct {
	shelf
	seen []notes.Filter
}

func (f *filters) List(ctx context.Context, q notes.ListQuery) (notes.ListPage, error) {
	f.seen = append(f.seen, q.Filter)
	return f.shelf.List(ctx, q)
}

func (f *filters) Find(ctx context.Context, q Query, filter notes.Filter, limit int) ([]string, error) {
	f.seen = append(f.seen, filter)
	return f.shelf.Find(ctx, q, filter, limit)
}

// Templates are not material, unless their folder is named.
func TestFilters(t *testing.T) {
	for _, args := range []map[string]string{{}, {"query": "x"}} {
		f := &filters{shelf: newShelf("Work/a.md|x")}
		c := New(Options{Notes: f, Search: f, Folder: "Prompts"})
		p, listed := builtins[0], args["query"] == ""
		for _, more := range []map[string]string{{"tag": "#bread"}, {"folder": "/prompts/"}} {
			maps.Copy(more, args)
			_, err := c.Render(t.Context(), p, more, notes.Scope{})
			require.NoError(t, err)
		}
		assert.Equal(t, []notes.Filter{{Tags: []string{"bread"}, NotPaths: []string{"Prompts/"}, NotEmpty: listed}, {Folder: "prompts", NotEmpty: listed}}, f.seen)
	}
}

// A note may be deleted between the search and the embedding.
func TestDeletedNotes(t *testing.T) {
	s := newShelf("a.md|x", "b.md|xx", "c.md|xxx")
	for _, args := range []map[string]string{{}, {"query": "x"}} {
		c := New(Options{Notes: deleted{s, "note:///b.md"}, Search: s, Budget: 5})
		r, err := c.Render(t.Context(), builtins[0], args, notes.Scope{})
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{"note:///a.md", "note:///c.md"}, embedded(r))
		if args["query"] != "" {
			assert.NotContains(t, words(r), "notes are here")
		}
	}
}

type deleted struct {
	shelf
	uri string
}

func (d deleted) Read(ctx context.Context, ref string, scope notes.Scope) (*notes.Note, error) {
	if ref == d.uri {
		return nil, notes.ErrNotFound
	}
	return d.shelf.Read(ctx, ref, scope)
}

// What no longer fits in the budget is embedded up to there, and the prompt says so.
func TestLongNotes(t *testing.T) {
	s := newShelf("a.md|aaaa bread", "b.md|bbbb bread", `Prompts/p.md|{{note "a.md"}}`)
	for name, args := range map[string]map[string]string{"find_connections": {"note": "a.md"}, "ask_notes": {"question": "bread"}, "summarize_notes": {"query": "bread"}, "p": nil} {
		r := render(t, s, Options{Budget: 4, Folder: "Prompts"}, name, args)
		assert.Equal(t, "note:///a.md", embedded(r)[0], name)
		assert.Equal(t, "aaaa", texts(r), name)
		assert.Contains(t, words(r), `only the beginning of "a.md" is here`, name)
	}
	r := render(t, s, Options{Budget: 4}, "find_connections", map[string]string{"note": "a.md"})
	assert.Contains(t, words(r), "no room was left for 2 notes; only the beginning")
	r = render(t, s, Options{Budget: 10}, "ask_notes", map[string]string{"question": "bread"})
	assert.Contains(t, words(r), "1 of 2 notes are here; the rest did not fit")
	r = render(t, newShelf("a.md|éé", "b.md|b", `Prompts/p.md|{{note "a.md"}} {{note "b.md"}}`), Options{Budget: 3, Folder: "Prompts"}, "p", nil)
	assert.Equal(t, "é", texts(r), "the rest of the budget, which is less than a character, is not used")
	assert.Contains(t, words(r), "no room was left for 1 note.")
	r = render(t, s, Options{Budget: 10}, "daily_review", nil)
	assert.Contains(t, words(r), "1 of 3 notes are here, those that state their day, then the newest; the rest did not fit")
	for question, want := range map[string]string{"": "I want to ask my notes something", "plum": "No note matches the question's words", "bread": "Answer from these notes and cite each"} {
		assert.Contains(t, words(render(t, s, Options{}, "ask_notes", map[string]string{"question": question})), want)
	}
	assert.Contains(t, words(render(t, s, Options{}, "find_connections", nil)), "Say which notes belong together")
}

func TestTemplateWithNestedPlaceholders(t *testing.T) {
	s := newShelf("Prompts/plan.md|Plan it.\n{{search \"{{topic}}\"}}")
	s[0].FrontMatter = map[string]any{"arguments": []any{"topic"}}
	c := New(Options{Notes: s, Search: s, Folder: "Prompts"})
	_, err := c.Render(t.Context(), named(t, c, "plan"), map[string]string{"topic": "bread"}, notes.Scope{})
	var refused *notes.Error
	require.ErrorAs(t, err, &refused)
	assert.Contains(t, refused.Hint, "{{search topic}}")
}

func TestTemplates(t *testing.T) {
	s := newShelf("Recipes/bread.md|sourdough and patience", "Prompts/weekly.md|Look at {{topic}}.\n{{search topic}}\nAnd at {{note \"Recipes/bread.md\"}} too: {{style}}!",
		"Prompts/ask_notes.md|Mine now.", "Prompts/broken.md|{{nobody}}", "Prompts/open.md|brace {{topic", "Prompts/empty.md|")
	s[1].FrontMatter = map[string]any{
		"description": "The week.",
		"arguments":   []any{"topic", map[string]any{"name": "style", "description": "How.", "required": true}, 7.0},
	}
	c := New(Options{Notes: s, Search: s, Folder: "Prompts/"})
	list, err := c.List(t.Context())
	require.NoError(t, err)
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.Name
	}
	assert.Equal(t, []string{"ask_notes", "broken", "open", "weekly", "summarize_notes", "summarize_note", "daily_review", "find_connections"}, names)
	weekly := list[3]
	assert.Equal(t, "The week.", weekly.Description)
	assert.Equal(t, list[0].Title, list[0].Description, "a prompt that says nothing of itself")
	assert.NotEmpty(t, list[0].Description)
	assert.Equal(t, []Argument{{Name: "topic"}, {Name: "style", Description: "How.", Required: true}}, weekly.Arguments)

	r, err := c.Render(t.Context(), named(t, c, "weekly"), map[string]string{"topic": "sourdough", "style": "short"}, notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "Look at sourdough.", r.Messages[0].Text)
	assert.Equal(t, "note:///Recipes/bread.md?rev=0123456789ab#L1-L1", r.Messages[1].Resource.URI)
	assert.Equal(t, "And at", r.Messages[2].Text)
	assert.Equal(t, "too: short!", r.Messages[3].Text, "the note is there already")

	r, err = c.Render(t.Context(), named(t, c, "weekly"), map[string]string{"style": "short"}, notes.Scope{Read: []string{"Recipes"}})
	require.NoError(t, err)
	assert.Equal(t, "Look at .\n\nAnd at", r.Messages[0].Text, "an argument left out is nothing, and searches for nothing")

	_, err = c.Render(t.Context(), named(t, c, "weekly"), nil, notes.Scope{})
	require.ErrorContains(t, err, `"style" is required`)
	_, err = c.Render(t.Context(), named(t, c, "summarize_note"), map[string]string{"file": "bread"}, notes.Scope{})
	require.ErrorContains(t, err, `there is no argument "file"`, "the newest note is not the one that is meant")
	_, err = c.Render(t.Context(), named(t, c, "weekly"), map[string]string{"style": "x"}, notes.Scope{Read: []string{"Prompts"}})
	require.ErrorIs(t, err, notes.ErrNotFound, "a template reads with its caller's eyes")
	_, err = c.Render(t.Context(), named(t, c, "broken"), nil, notes.Scope{})
	require.ErrorContains(t, err, "no argument of that name")
	r, err = c.Render(t.Context(), named(t, c, "open"), nil, notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "brace {{topic", r.Messages[0].Text)
	r, err = c.Render(t.Context(), named(t, c, "ask_notes"), nil, notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "Mine now.", r.Messages[0].Text)
}

// TestNewestNote checks that neither tomorrow's note nor an empty one is taken for the newest.
func TestNewestNote(t *testing.T) {
	s := newShelf("a.md|x", "2026-02-01.md|y", "Untitled.md|")
	s[1].Date = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	assert.Equal(t, []string{"note:///a.md"}, embedded(render(t, s, Options{}, "summarize_note", nil)))
}

// TestEmbeddedLines checks that the URI of an embedded note is the anchor of the embedded
// lines, and that drawings are omitted.
func TestEmbeddedLines(t *testing.T) {
	for content, want := range map[string]Resource{
		"one\ntwo\n":                  {URI: "#L1-L2", Text: "one\ntwo\n"},
		"one\r\ntwo":                  {URI: "#L1-L2", Text: "one\r\ntwo"},
		"":                            {URI: "#L1-L1"},
		strings.Repeat("a line\n", 9): {URI: "#L1-L6", Text: strings.Repeat("a line\n", 5) + "a lin"},
	} {
		r := render(t, newShelf("a.md|"+content), Options{Budget: 40}, "summarize_note", map[string]string{"note": "a.md"})
		want.URI = "note:///a.md?rev=0123456789ab" + want.URI
		assert.Equal(t, &want, r.Messages[1].Resource)
	}
	drawing := "---\nexcalidraw-plugin: parsed\n---\nBoat\n\n%%\n# Drawing\n```json\n{" + strings.Repeat("0", 99) + "}\n```\n%%\n"
	r := render(t, newShelf("a.md|"+drawing), Options{Budget: 100}, "summarize_note", nil)
	assert.Equal(t, "note:///a.md?rev=0123456789ab#L1-L11", r.Messages[1].Resource.URI)
	assert.Contains(t, r.Messages[1].Resource.Text, "Boat")
	assert.NotContains(t, r.Messages[1].Resource.Text, "000")
}

// A section is embedded alone, with its lines in the URI. For a missing section, the
// error lists the existing ones.
func TestSummarizeSection(t *testing.T) {
	s := newShelf("plan.md|# Plan\nintro\n## Goals\nwin\n## Risks\nlose\n")
	r := render(t, s, Options{}, "summarize_note", map[string]string{"note": "plan.md", "heading": "goals"})
	require.Equal(t, &Resource{URI: "note:///plan.md?rev=0123456789ab#L3-L4", Text: "## Goals\nwin\n"}, r.Messages[1].Resource)

	r = render(t, s, Options{Budget: 10}, "summarize_note", map[string]string{"note": "plan.md", "heading": "Goals"})
	assert.Equal(t, &Resource{URI: "note:///plan.md?rev=0123456789ab#L3-L4", Text: "## Goals\nw"}, r.Messages[1].Resource)
	assert.Contains(t, words(r), `only the beginning of "plan.md" is here`)

	_, err := New(Options{Notes: s}).Render(t.Context(), named(t, New(Options{}), "summarize_note"), map[string]string{"note": "plan.md", "heading": "Golas"}, notes.Scope{})
	var e *notes.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, []string{"Plan (line 1)", "Plan > Goals (line 3)", "Plan > Risks (line 5)"}, e.Candidates)
}

// A reference may name a part of a note, except if it is the name of a note.
func TestPartsOfNotes(t *testing.T) {
	const plan = "note:///plan.md?rev=0123456789ab"
	s := newShelf("plan.md|# Plan\nintro\n## Goals\nwin\n## Risks\nlose\n", "C# basics.md|sharp", "C.md|flat", "Prompts/part.md|{{note which}}", `Prompts/more.md|{{note "plan.md#Risks"}} {{note "plan.md:3-4"}} {{note "plan.md"}}`)
	s[3].FrontMatter = map[string]any{"arguments": []any{"which"}}
	for ref, want := range map[string]Resource{
		"plan.md#Risks":                          {URI: plan + "#L5-L6", Text: "## Risks\nlose\n"},
		"[[plan#goals]]":                         {URI: plan + "#L3-L4", Text: "## Goals\nwin\n"},
		"plan.md:2":                              {URI: plan + "#L2-L2", Text: "intro\n"},
		"plan.md:5-14":                           {URI: plan + "#L5-L6", Text: "## Risks\nlose\n"},
		"note:///plan.md?rev=ba9876543210#L1-L2": {URI: plan + "#L1-L6", Text: s[0].Content}, // the lines of an older version
		plan + "#L1-L2":                          {URI: plan + "#L1-L2", Text: "# Plan\nintro\n"},
		"plan.md":                                {URI: plan + "#L1-L6", Text: s[0].Content},
		"C# basics":                              {URI: "note:///C%23%20basics.md?rev=0123456789ab#L1-L1", Text: "sharp"},
	} {
		for name, argument := range map[string]string{"part": "which", "summarize_note": "note", "find_connections": "note"} {
			r := render(t, s, Options{Folder: "Prompts"}, name, map[string]string{argument: ref})
			i := slices.IndexFunc(r.Messages, func(m Message) bool { return m.Resource != nil })
			require.GreaterOrEqual(t, i, 0)
			assert.Equal(t, &want, r.Messages[i].Resource, "%s %s", name, ref)
			assert.NotContains(t, words(r), "only the beginning")
		}
	}
	r := render(t, s, Options{Folder: "Prompts"}, "more", nil)
	assert.Equal(t, "## Risks\nlose\n|## Goals\nwin\n|"+s[0].Content, texts(r))
	assert.Equal(t, map[string]string{"plan.md": "0123456789abcdef"}, r.Versions)
	r = render(t, s, Options{Folder: "Prompts", Budget: 10}, "more", nil)
	assert.Equal(t, "## Risks\nl", texts(r))
	assert.Contains(t, words(r), "only the beginning of \"plan.md\" is here, which is too long to embed.\nNote that no room was left for 1 note.")
	assert.Contains(t, words(render(t, s, Options{}, "summarize_note", map[string]string{"note": "plan.md:3-4"})), `summarize lines 3-4 of the note "plan.md".`)
	for ref, want := range map[string]string{"plan.md#Golas": "no heading", "plan.md:7": "has 6 lines", "plan.md:4-3": "has 6 lines"} {
		_, err := New(Options{Notes: s}).Render(t.Context(), named(t, New(Options{}), "summarize_note"), map[string]string{"note": ref}, notes.Scope{})
		require.ErrorContains(t, err, want, ref)
	}
}

// Claude Code splits arguments at every space, even within quotes, and drops words beyond
// the last argument.
func TestArgumentsThatWereSplit(t *testing.T) {
	list := []Argument{{Name: "note", Completes: NoteRef}, {Name: "query"}, {Name: "style"}}
	for _, c := range []struct{ given, want [3]string }{
		{[3]string{`"Buy`, `wisely"`, "brief"}, [3]string{"Buy wisely", "brief"}},
		{[3]string{`Plan`, `'cost`, `per-use'`}, [3]string{"Plan", "cost per-use"}},
		{[3]string{`"A`, `very`, `long"`}, [3]string{"A very long"}},
		{[3]string{`"A`, `very`, `long`}, [3]string{"A very long"}},
		{[3]string{`"Buy wisely"`, `"exact phrase" more`, " x "}, [3]string{"Buy wisely", `"exact phrase" more`, "x"}},
		{[3]string{"", `"exact phrase"`, ""}, [3]string{"", `"exact phrase"`, ""}},
		{[3]string{"'90s music", "Music", "rock"}, [3]string{"'90s music", "Music", "rock"}},
		{[3]string{"'Tis Ann's", `"`, "'s"}, [3]string{"'Tis Ann's", `"`, "s"}},
		{[3]string{"", "", `"Buy`}, [3]string{"", "", "Buy"}},
	} {
		got := regroup(list, map[string]string{"note": c.given[0], "query": c.given[1], "style": c.given[2]})
		assert.Equal(t, c.want, [3]string{got["note"], got["query"], got["style"]}, "%q", c.given)
	}

	s := newShelf("Buy wisely.md|# Buy\n## Tips\nwin\n## More\n")
	r := render(t, s, Options{}, "summarize_note", map[string]string{"note": `"Buy`, "heading": `wisely"`})
	assert.Equal(t, "note:///Buy%20wisely.md?rev=0123456789ab#L1-L4", r.Messages[1].Resource.URI)
	assert.Contains(t, words(render(t, s, Options{}, "ask_notes", map[string]string{"question": "what"})), "ask me for the rest")
	for _, whole := range []string{"what is it", "why?", "清水寺へはいつ行きましたか"} {
		assert.NotContains(t, words(render(t, s, Options{}, "ask_notes", map[string]string{"question": whole})), "ask me for the rest")
	}
}

// recorder records searches.
type recorder struct {
	shelf
	queries   []Query
	filters   []notes.Filter
	refreshed []string
}

func (r *recorder) Find(_ context.Context, q Query, f notes.Filter, _ int) ([]string, error) {
	r.queries, r.filters = append(r.queries, q), append(r.filters, f)
	return nil, nil
}

func (r *recorder) Refresh(_ context.Context, folder string) error {
	r.refreshed = append(r.refreshed, folder)
	return errors.New("the vault is busy")
}

// A search by the author of a template may use operators, an argument may not, and
// neither finds the prompts.
func TestTemplateSearches(t *testing.T) {
	r := &recorder{shelf: newShelf(`Prompts/week.md|{{search "tag:boat after:7d"}} {{search topic}}`)}
	r.shelf[0].FrontMatter = map[string]any{"arguments": []any{"topic"}}
	c := New(Options{Notes: r, Search: r, Folder: "Prompts"})
	_, err := c.Render(t.Context(), named(t, c, "week"), map[string]string{"topic": "tag:secret"}, notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, []Query{{Text: "tag:boat after:7d", Operators: true}, {Text: "tag:secret"}}, r.queries)
	for _, f := range r.filters {
		assert.Equal(t, []string{"Prompts/"}, f.NotPaths)
	}
	assert.Equal(t, []string{"Prompts"}, r.refreshed)
}

// A folder without prompts is probably misspelled, or not the one the user means.
func TestMissingFolder(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "Prompts")
	for folder, want := range map[string]string{"Promts": `folder "Promts" does not exist or has no notes`, outside: fmt.Sprintf("folder %q is not in the vault", outside)} {
		c := New(Options{Notes: newShelf("Prompts/a.md|Do it."), Folder: folder})
		warnings, err := c.Warnings(t.Context())
		require.NoError(t, err)
		require.Len(t, warnings, 1)
		assert.Contains(t, warnings[0], want)
	}
}

// A template's problem is reported until it is fixed; the usable parts of the template
// are used.
func TestBrokenTemplates(t *testing.T) {
	s := newShelf("Prompts/a.md|Do it.", "Prompts/b/a.md|Do it again.")
	s[0].FrontMatterError = "line 2: a tab"
	c := New(Options{Notes: s, Folder: "Prompts"})
	for range 2 {
		list, err := c.List(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "a", list[0].Name)
		warnings, err := c.Warnings(t.Context())
		require.NoError(t, err)
		require.Len(t, warnings, 2)
		assert.Contains(t, warnings[0], `"Prompts/a.md": its front matter is broken`)
		assert.Contains(t, warnings[0], "line 2: a tab")
		assert.Contains(t, warnings[1], `"Prompts/b/a.md": it is skipped`)
	}
	s[0].FrontMatterError = ""
	warnings, err := c.Warnings(t.Context())
	require.NoError(t, err)
	assert.Len(t, warnings, 1)
}

// absent is a shelf whose note b.md is on a disk that is not mounted.
type absent struct{ shelf }

func (a absent) Read(ctx context.Context, ref string, scope notes.Scope) (*notes.Note, error) {
	if strings.HasSuffix(ref, "b.md") {
		return nil, &notes.Error{Op: "read", Path: ref, Err: notes.ErrUnavailable}
	}
	return a.shelf.Read(ctx, ref, scope)
}

func TestSummarizeNotes_UnreadableNote(t *testing.T) {
	c := New(Options{Notes: absent{newShelf("a.md|boat", "b.md|car")}})
	r, err := c.Render(t.Context(), named(t, c, "summarize_notes"), nil, notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, []string{"note:///a.md"}, embedded(r))
	assert.Contains(t, words(r), "Note that 1 more cannot be read at the moment.")
}

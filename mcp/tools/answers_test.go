package tools_test

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/mcp/tools"
	"notesd/notes"
)

// library contains enough notes, tags, folders, tasks and links for several pages of each.
func library() map[string]string {
	files := map[string]string{"Hub.md": "---\nstatus: open\n---\n# Hub\n\nAll about soup.\n"}
	for i := range 60 {
		files[fmt.Sprintf("Shelf %02d/Book %02d.md", i%20, i)] = fmt.Sprintf(
			"# Book %02d\n\nSoup number %d, see [[Hub]] and [[Book %02d]]. #soup #tag%02d\n\n- [ ] cook soup %02d 📅 2026-02-%02d\n- [x] buy pots %02d\n",
			i, i, (i+1)%60, i, i, 1+i%28, i)
		files["Hub.md"] += fmt.Sprintf("\n[[Book %02d]], [[Book %02d]]\n\n[[Book %02d]]\n", i, i, i)
	}
	return files
}

// warned is a vault with warnings.
type warned struct{ tools.Vault }

func (w warned) Status(ctx context.Context) (notes.Status, error) {
	st, err := w.Vault.Status(ctx)
	st.Warnings, st.SkippedTotal = []string{`the folder "Private" is not there`}, 3
	return st, err
}

// The overview omits warnings about folders that the session may not read.
func TestOverview_Scope(t *testing.T) {
	w := newWorld(t, map[string]string{"Garden/Bed.md": "# Bed\n\n#bed\n"})
	w.env.Vault = warned{w.vault}
	all, err := tools.NewOverview(t.Context(), w.env)
	require.NoError(t, err)
	assert.Contains(t, all.Text(), "Private")
	assert.Equal(t, 3, all.Skipped)
	assert.Contains(t, all.Text(), "\n3 files were skipped")
	assert.Contains(t, all.Text(), "\ntags: #bed (1)\n")
	w.env.Scope.Read = []string{"Garden"}
	some, err := tools.NewOverview(t.Context(), w.env)
	require.NoError(t, err)
	assert.NotContains(t, some.Text(), "Private")
	assert.Zero(t, some.Skipped)
	assert.NotContains(t, all.Text(), "this client sees only")
	assert.Contains(t, some.Text(), `this client sees only the notes in Garden: its settings or the folder of its workspace exclude the others`)
}

// The newest notes of the overview are those until the end of today.
func TestOverview_Tomorrow(t *testing.T) {
	w := newWorld(t, map[string]string{"2026-02-04.md": "today\n", "2026-02-05.md": "tomorrow\n"})
	out, _ := w.call(t, "vault_overview", args{})
	require.Len(t, out["recent"], 1)
	assert.Equal(t, "2026-02-04.md", out["recent"].([]any)[0].(args)["path"])
}

// The overview names the copies that sync programs make of a note changed in two places.
func TestOverview_ConflictCopies(t *testing.T) {
	files := map[string]string{"Plan.md": "# Plan\n", "Conflict.md": "", "Peace (conflict resolution).md": "", "Sync/conflicted copy.md": ""}
	overview := func() string {
		out, err := tools.NewOverview(t.Context(), newWorld(t, files).env)
		require.NoError(t, err)
		return out.Text()
	}
	assert.NotContains(t, overview(), "conflict copies")
	for _, name := range []string{"Plan.sync-conflict-20260216-101112-ABCDEFG", "Plan (conflicted copy 2026-02-16 101112)", "Plan (Ann's conflicted copy 2026-02-16)",
		"Plan (Conflicted copy phone 202602161011)", "Plan (conflict_on_2026-02-16)", "Plan (conflict #2_on_2026-02-16)", "Plan.conflict1", "Plan (conflict 2026-02-16 101112 ann@desk)"} {
		files["Work/"+name+".md"] = "# Plan\n"
	}
	assert.Contains(t, overview(), `changed in two places: 8, for example "Work/Plan (Ann's conflicted copy 2026-02-16).md". They`)
}

// Every list can be read to its end by its cursor, whatever the page size: each item
// appears once, in the order of one large page. A search of the present initially ranks
// only as many hits as its page has.
func TestCursorsReachEverything(t *testing.T) {
	files := library()
	files["Topic.md"] = "About everything.\n"
	for i := range 120 { // more than fit in one result
		files["Hub.md"] += fmt.Sprintf("\n%d [[Topic]]\n", i)
	}
	w := newWorld(t, files)
	w.call(t, "edit_note", args{"note": "Hub", "edits": []args{{"op": "append", "content": "More."}}})
	for _, c := range []struct {
		tool, list string
		args       args
		key        []string
		items      int
	}{
		{"list_notes", "notes", args{}, []string{"path"}, 62},
		{"list_notes", "notes", args{"sort": "path", "tags": []string{"soup"}}, []string{"path"}, 60},
		{"list_notes", "notes", args{"as_of": "today", "sort": "title"}, []string{"path"}, 62},
		{"list_tasks", "tasks", args{}, []string{"path", "line"}, 60},
		{"list_tasks", "tasks", args{"status": "all", "sort": "path"}, []string{"path", "line"}, 120},
		{"search_notes", "results", args{"query": "soup"}, []string{"path"}, 61},
		{"search_notes", "results", args{"query": "soup", "as_of": "today"}, []string{"path"}, 61},
		{"vault_overview", "tags", args{"list": "tags"}, []string{"tag"}, 61},
		{"vault_overview", "folders", args{"list": "folders"}, []string{"folder"}, 21},
		{"note_history", "revisions", args{}, []string{"path", "revision"}, 63},
		{"note_links", "backlinks", args{"note": "Topic", "direction": "in"}, []string{"path", "line"}, 120},
	} {
		t.Run(fmt.Sprint(c.tool, c.args), func(t *testing.T) {
			pages := func(bytes, limit int) (keys []string) {
				w.env.Limits.ResultBytes = bytes
				a := args{}
				for k, v := range c.args {
					a[k] = v
				}
				if c.list != "tags" && c.list != "folders" && c.list != "backlinks" {
					a["limit"] = limit
				}
				for {
					page, text := w.call(t, c.tool, a)
					items := page[c.list].([]any)
					require.NotEmpty(t, items)
					for _, item := range items {
						var key []string
						for _, field := range c.key {
							key = append(key, fmt.Sprint(item.(args)[field]))
						}
						keys = append(keys, strings.Join(key, ":"))
					}
					next, _ := page["next_cursor"].(string)
					assert.Equal(t, next != "", strings.Contains(text, "\nMore with cursor "))
					if next == "" {
						return keys
					}
					require.LessOrEqual(t, len(keys), 500, "the pages do not end")
					a["cursor"] = next
				}
			}
			all := pages(1<<20, 50)
			assert.Len(t, all, c.items)
			sorted := slices.Sorted(slices.Values(all))
			assert.Len(t, slices.Compact(sorted), len(all), "an item that came twice")
			for cut, some := range map[string][]string{"bytes": pages(2_000, 50), "limit": pages(1<<20, 7)} {
				if c.tool == "search_notes" && c.args["as_of"] == nil {
					assert.ElementsMatch(t, all, some, "cut by %s", cut)
				} else {
					assert.Equal(t, all, some, "cut by %s", cut)
				}
			}
		})
	}
}

// A cursor passed without the arguments of its list, as models do, would silently continue a
// list of other notes.
func TestCursorOfAnotherList(t *testing.T) {
	w := newWorld(t, library())
	for tool, list := range map[string]args{
		"list_notes": {"tags": []string{"soup"}, "limit": 7},
		"list_tasks": {"status": "all", "text": "soup", "limit": 7},
	} {
		page, _ := w.call(t, tool, list)
		next := page["next_cursor"]
		require.NotEmpty(t, next)
		assert.Contains(t, w.fails(t, tool, args{"cursor": next}), "Pass it with the arguments of the call that returned it")
		assert.Contains(t, w.fails(t, tool, args{"cursor": "x"}), "cursor")
		list["cursor"], list["limit"] = next, 3
		w.call(t, tool, list)
	}
	page, _ := w.call(t, "list_notes", args{"as_of": "today", "folder": "Shelf 00", "limit": 1})
	assert.Contains(t, w.fails(t, "list_notes", args{"as_of": "today", "cursor": page["next_cursor"]}), "Pass it with the arguments")
	assert.Contains(t, w.fails(t, "vault_overview", args{"cursor": "soup"}), "pass list with it", "instead of the overview, which has no pages")
}

// For a note with very many links, those of both directions are shown, and a repeated link
// is one entry with its lines.
func TestLinksOfAHub(t *testing.T) {
	w := newWorld(t, library())
	for depth := 1; depth <= 3; depth++ {
		links, text := w.call(t, "note_links", args{"note": "Hub", "depth": depth})
		out, in := links["outgoing"].([]any), links["backlinks"].([]any)
		require.NotEmpty(t, in, "at depth %d", depth)
		require.NotEmpty(t, out, "at depth %d", depth)
		assert.Equal(t, true, links["truncated"])
		assert.Contains(t, text, "ask for one direction")
		assert.True(t, strings.HasPrefix(text, "the first "), "these are not all")
		first := out[0].(args)
		assert.Equal(t, args{"path": "Shelf 00/Book 00.md", "kind": "wikilink", "line": 8.0, "lines": []any{8.0, 10.0}, "depth": 1.0}, first)
		assert.Contains(t, text, "-> Shelf 00/Book 00.md, line 8, 10\n")
		for _, l := range in {
			assert.Contains(t, l.(args)["anchor"], "?rev=")
			assert.NotEmpty(t, l.(args)["context"])
		}
	}
	w.env.Limits.ResultBytes = 5_000
	page, text := w.call(t, "note_links", args{"note": "Hub", "direction": "in"})
	assert.NotContains(t, text, "outgoing", "what was not asked for is not counted")
	assert.Contains(t, text, "\nMore with cursor "+page["next_cursor"].(string))
	assert.NotContains(t, text, "the first")
	for _, wrong := range []args{{"note": "Hub", "cursor": "p10"}, {"note": "Hub", "direction": "in", "cursor": "ten"}, {"note": "Hub", "direction": "in", "cursor": "-1"}} {
		assert.Contains(t, w.fails(t, "note_links", wrong), "cursor")
	}
	links, text := w.call(t, "note_links", args{"note": "Book 05", "depth": 2, "direction": "out"})
	assert.NotContains(t, text, "backlink", "what was not asked for is not counted")
	far := links["outgoing"].([]any)[2].(args)
	assert.Equal(t, 2.0, far["depth"])
	assert.Equal(t, "Hub.md", far["from"])
	assert.NotContains(t, far, "target")
	assert.NotContains(t, far, "kind")
}

// Where file names are numbers, the texts name notes by their titles too.
func TestTitlesBesidePaths(t *testing.T) {
	w := newWorld(t, map[string]string{
		"202601010001.md": "# Spaced repetition\n\nReviewing at growing intervals, see [[202601010002]].\n",
		"202601010002.md": "# Forgetting curve\n\nEbbinghaus. [[Almanac]]\n",
		"Almanac.md":      "Of intervals: [[202601010001]]\n",
	})
	_, text := w.call(t, "note_links", args{"note": "Spaced repetition"})
	assert.Contains(t, text, "\n-> 202601010002.md Forgetting curve, line 3\n<- Almanac.md:1  Of intervals")
	links, text := w.call(t, "note_links", args{"note": "Almanac"})
	assert.Contains(t, text, "\n-> 202601010001.md Spaced repetition, line 1\n<- 202601010002.md:3 Forgetting curve  Ebbinghaus.")
	assert.Equal(t, "Forgetting curve", links["backlinks"].([]any)[0].(args)["title"])
	_, text = w.call(t, "related_notes", args{"note": "Almanac"})
	assert.Contains(t, text, "\n202601010001.md Spaced repetition (")
	_, text = w.call(t, "search_notes", args{"query": "ebbinghaus"})
	assert.Contains(t, text, "202601010002.md:1-3 Forgetting curve\n")
}

// Each line of the text stands for all links to one note, or all links of one line; the
// counts say so.
func TestLinksOnOneLine(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "[[B#One]] and [[B#Two]], [[C]]\n", "B.md": "# One\n\n# Two\n", "C.md": "c\n"})
	links, text := w.call(t, "note_links", args{"note": "A"})
	assert.Len(t, links["outgoing"], 3)
	assert.Contains(t, text, "3 outgoing to 2 files, 0 backlinks, 0 unresolved\n")
	assert.Contains(t, text, "-> B.md One, line 1\n-> C.md, line 1\n")
	links, text = w.call(t, "note_links", args{"note": "B"})
	assert.Len(t, links["backlinks"], 2)
	assert.Contains(t, text, "0 outgoing, 2 backlinks in 1 line, 0 unresolved\n")
	assert.Equal(t, 1, strings.Count(text, "<- A.md:1"))
	_, text = w.call(t, "note_links", args{"note": "C"})
	assert.Contains(t, text, "0 outgoing, 1 backlink, 0 unresolved\n")
}

// A broken link that is another note's alias leads to that note.
func TestLinksByAlias(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "[[Ann]] [[Bo]]\n", "Ann Lee.md": "---\naliases: [Ann]\n---\n"})
	links, text := w.call(t, "note_links", args{"note": "A"})
	assert.Equal(t, []any{args{"target": "Ann", "line": 1.0, "missing": "note", "near": []any{"Ann Lee.md"}}, args{"target": "Bo", "line": 1.0, "missing": "note"}}, links["unresolved"])
	assert.Contains(t, text, "?? Ann, line 1 (title or alias of Ann Lee.md; link by file name)\n?? Bo, line 1\n")
}

// A list of related notes that is cut to fit says so.
func TestRelatedNotes_Fit(t *testing.T) {
	w := newWorld(t, library())
	all, text := w.call(t, "related_notes", args{"note": "Hub", "limit": 40})
	assert.Len(t, all["related"], 40)
	assert.NotContains(t, text, "do not fit")
	first := all["related"].([]any)[0].(args)
	assert.Equal(t, strings.TrimSuffix(path.Base(first["path"].(string)), ".md"), first["title"])
	w.env.Limits.ResultBytes = 2_000
	some, text := w.call(t, "related_notes", args{"note": "Hub", "limit": 40})
	related := some["related"].([]any)
	assert.Less(t, len(related), 40)
	assert.Equal(t, all["related"].([]any)[:len(related)], related)
	assert.Contains(t, text, fmt.Sprintf("%d more do not fit", 40-len(related)))
}

// A vault that is being read for the first time.
type reading struct{ tools.Vault }

func (reading) Ready() bool { return false }

func (reading) Status(context.Context) (notes.Status, error) {
	return notes.Status{Scanned: 3, ToScan: 70}, nil
}

// A vault whose scan at a later start has not ended, of which only changes are read.
type rescanning struct{ reading }

func (rescanning) Status(context.Context) (notes.Status, error) { return notes.Status{}, nil }

// Lists say that they may lack notes, and a session that sees only some folders does not
// learn how many notes there are.
func TestLists_WhileReading(t *testing.T) {
	w := newWorld(t, map[string]string{"In/A.md": "a\n"})
	w.env.Vault = reading{w.vault}
	for _, tool := range []string{"list_notes", "list_tasks"} {
		w.env.Scope = notes.Scope{}
		_, text := w.call(t, tool, args{})
		assert.Contains(t, text, "3 of 70 files so far")
		w.env.Scope = notes.Scope{Read: []string{"In"}}
		_, text = w.call(t, tool, args{})
		assert.Contains(t, text, "more notes may come")
		assert.NotContains(t, text, "70")
	}
	w.env.Vault, w.env.Scope = rescanning{reading{w.vault}}, notes.Scope{}
	_, text := w.call(t, "list_notes", args{})
	assert.Contains(t, text, "still being scanned: notes may have changed")
}

// A list shows a title only where the file name does not say it. An overview begins with
// the folders and tags that most notes have.
func TestLists_TitlesAndOrder(t *testing.T) {
	w := newWorld(t, map[string]string{"A/One.md": "# Other title\n\n#x #y\n", "B/two-words.md": "# Two words\n\n#y\n", "B/Three.md": "three\n"})
	_, text := w.call(t, "list_notes", args{"sort": "path"})
	assert.Contains(t, text, "\nA/One.md | Other title | ")
	assert.Regexp(t, `\nB/two-words\.md \| \d{4}-`, text)
	overview, text := w.call(t, "vault_overview", args{})
	assert.Equal(t, []any{args{"folder": "B", "notes": 2.0}, args{"folder": "A", "notes": 1.0}}, overview["folders"])
	assert.Contains(t, text, "folders: B (2); A (1)\ntags: #y (2) #x (1)\n")
	assert.Equal(t, []any{2.0, 2.0}, []any{overview["folders_total"], overview["tags_total"]})
	assert.NotContains(t, text, "skipped")
}

// Undoing a move says where the note is again, and what it was called meanwhile.
func TestRestoreNote_UndoesMove(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "a\n", "Box/B.md": "[[A]]\n"})
	for from, to := range map[string]string{"A.md": "C.md", "Box": "Case"} {
		moved, _ := w.call(t, "move_note", args{"note": from, "to": to})
		assert.Equal(t, from == "A.md", moved["uri"] != nil, "only notes have a URI")
		would, text := w.call(t, "restore_note", args{"change": moved["change"], "dry_run": true})
		assert.Contains(t, text, fmt.Sprintf("Nothing was written: %q would be %q again", to, from))
		assert.Equal(t, to, would["old_path"])
		restored, text := w.call(t, "restore_note", args{"change": moved["change"]})
		assert.Contains(t, text, fmt.Sprintf("%q is %q again", to, from))
		assert.Equal(t, from == "A.md", restored["uri"] != nil)
	}
	edited, text := w.call(t, "edit_note", args{"note": "A", "edits": []args{{"op": "append", "content": "x"}}})
	assert.NotContains(t, edited, "old_path")
	assert.NotContains(t, text, "again")
}

// The text of a result has the facts that its structure has: broken links, what a move
// would change, and how many results there are.
func TestTexts(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "# A\n\nsoup\n", "B.md": "[[A#Gone]] soup\n", "C.md": "See [[D]].\n", "Box/D.md": "[[A]] " + strings.Repeat("soup and bread ", 400) + "\n"})
	_, text := w.call(t, "note_links", args{"note": "A", "direction": "in"})
	assert.Contains(t, text, "<- B.md:1 (broken: no #Gone)  [[A#Gone]] soup")
	_, text = w.call(t, "move_note", args{"note": "Box/D", "to": "Box/Soup.md", "dry_run": true})
	assert.Contains(t, text, "would move \"Box/D.md\" to \"Box/Soup.md\"\nlinks changed in (1):\n- C.md")
	_, text = w.call(t, "list_notes", args{"limit": 2})
	assert.True(t, strings.HasPrefix(text, "2 of 4 notes\n"), text)
	_, text = w.call(t, "gather_context", args{"query": "soup", "max_bytes": 1500})
	assert.Regexp(t, `^\d passages from 3 matching notes\n`, text)
	assert.Equal(t, 1, strings.Count(text, "(the passage of Box/D.md is cut to fit: raise max_bytes, or read_note shows all of it)"), text)
	_, text = w.call(t, "check_quotes", args{"quotes": []args{{"anchor": "A", "quote": "soup"}, {"anchor": "A", "quote": "nothing of the kind"}}})
	assert.Regexp(t, `^1\. exact note:///A\.md\?rev=\w+#L3-L3\n2\. absent$`, text)
}

// Dates of tasks are words, days, weeks or months; the narrower of two bounds applies.
func TestTaskDates(t *testing.T) {
	w := newWorld(t, map[string]string{"T.md": strings.Join([]string{
		"- [ ] late 📅 2026-02-01", "- [ ] now 📅 2026-02-04", "- [ ] next 📅 2026-02-06 ⏳ 2026-02-05", "- [ ] far 📅 2026-03-10", "- [ ] never", "- [x] gone ✅ 2026-02-03", "",
	}, "\n")})
	for _, c := range []struct {
		args args
		want string
	}{
		{args{}, "late now next far never"},
		{args{"due": "overdue"}, "late"},
		{args{"status": "overdue"}, "late"},
		{args{"status": "incomplete", "due": "today"}, "now"},
		{args{"due": "today"}, "now"},
		{args{"due": "this week"}, "now next"},
		{args{"due": "2026-W06"}, "now next"},
		{args{"due": "2026-02"}, "late now next"},
		{args{"due": "2026-02-06"}, "next"},
		{args{"due": "none"}, "never"},
		{args{"due_before": "2026-02-06"}, "late now"},
		{args{"due_after": "today"}, "now next far"},
		{args{"due": "2026-02", "due_after": "2026-02-04", "due_before": "2026-02-05"}, "now"},
		{args{"due": "this week", "due_after": "2026-01-01"}, "now next"},
		{args{"scheduled": "2026-02-05"}, "next"},
		{args{"done": "yesterday"}, "gone"},
		{args{"due": "friday"}, "next"}, // today is Wednesday
		{args{"due_before": "in 2 days"}, "late now"},
		{args{"due_after": "last monday", "due_before": "2026-02-06T00:00:00Z"}, "now"},
		{args{"done": "tuesday"}, "gone"},
		{args{"status": "all", "text": "o"}, "now gone"},
		{args{"sort": "path"}, "late now next far never"},
	} {
		list, text := w.call(t, "list_tasks", c.args)
		var got []string
		for _, task := range list["tasks"].([]any) {
			words := strings.Fields(task.(args)["text"].(string))
			got = append(got, words[0])
			assert.Contains(t, text, words[0])
		}
		assert.Equal(t, c.want, strings.Join(got, " "), "%v", c.args)
	}
	_, text := w.call(t, "list_tasks", args{"status": "cancelled"})
	assert.Contains(t, text, "6 tasks with another status; status all lists them")
	for field, a := range map[string]args{"due": {"due": "soon"}, "scheduled": {"scheduled": "soon"}, "done": {"done": "soon"}, "due_after": {"due_after": "soon"}, "due_before": {"due_before": "soon"}} {
		assert.Regexp(t, "^"+field+" must be .*2026-01-31.*not \"soon\"$", w.fails(t, "list_tasks", a))
	}
}

// The text of a task has its dates, also those that Logseq writes below the task's first line.
func TestTaskDatesInText(t *testing.T) {
	w := newWorld(t, map[string]string{"T.md": "# Home\n- TODO [#A] Buy milk\n  DEADLINE: <2026-02-06 Fri>\n  SCHEDULED: <2026-02-05 Thu>\n- [ ] Bake 📅 2026-02-07 ⏳ 2026-02-07\n"})
	list, text := w.call(t, "list_tasks", args{})
	first := list["tasks"].([]any)[0].(args)
	assert.Equal(t, []any{"open", "high", "2026-02-06", "2026-02-05"}, []any{first["status"], first["priority"], first["due"], first["scheduled"]})
	assert.Contains(t, text, "\nT.md:2 [TODO] [#A] Buy milk, due 2026-02-06, scheduled 2026-02-05 (Home)\nT.md:5 [ ] Bake 📅 2026-02-07 ⏳ 2026-02-07 (Home)\n")
}

// A reference to a part of a note means the tasks in it.
func TestTasksOfAPart(t *testing.T) {
	w := newWorld(t, map[string]string{
		"Plan.md":      "# Plan\n- [ ] one #x\n## Risks\n- [ ] two #x\n- [x] three\n### Rain\n- [ ] four\n## Costs\n- [ ] five #x\n",
		"C# basics.md": "# Risks\n- [ ] six\n",
	})
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"note": "Plan"}, "one two four five"},
		{args{"note": "Plan#Risks"}, "two four"},
		{args{"note": "Plan#Risks", "status": "all", "limit": 1}, "two three four"},
		{args{"note": "[[Plan#Risks > Rain]]"}, "four"},
		{args{"note": "Plan.md:4-8", "sort": "path"}, "two four"},
		{args{"note": "Plan#Risks", "tags": []string{"x"}}, "two"},
		{args{"note": "Plan#Risks", "text": "o"}, "two four"},
		{args{"note": "C# basics"}, "six"},
	} {
		var got []string
		for more := true; more; {
			list, _ := w.call(t, "list_tasks", c.args)
			for _, task := range list["tasks"].([]any) {
				got = append(got, strings.Fields(task.(args)["text"].(string))[0])
			}
			assert.EqualValues(t, len(strings.Fields(c.want)), list["total"], "%v", c.args)
			c.args["cursor"], more = list["next_cursor"]
		}
		assert.Equal(t, c.want, strings.Join(got, " "), "%v", c.args)
	}
	_, text := w.call(t, "list_tasks", args{"note": "Plan#Costs", "status": "done"})
	assert.Contains(t, text, "1 task with another status")
	_, text = w.call(t, "list_tasks", args{"text": "plan"})
	assert.Contains(t, text, `text is compared with each task; pass the name of a note as note: "Plan.md"`)
	assert.Contains(t, w.fails(t, "list_tasks", args{"note": "Plan#Gains"}), `there is no heading "Gains"`)
}

// The anchor of an older version names a passage, wherever it is now.
func TestListTasks_AnchorOfAnOlderVersion(t *testing.T) {
	w := newWorld(t, map[string]string{"X.md": "# X\n- [ ] sow\n- [ ] reap\n"})
	passage, _ := w.call(t, "read_note", args{"note": "X", "lines": "3"})
	w.call(t, "edit_note", args{"note": "X", "edits": []args{{"op": "prepend", "content": "- [ ] plough"}}})
	got, text := w.call(t, "list_tasks", args{"note": passage["anchor"]})
	require.Len(t, got["tasks"], 1)
	assert.Equal(t, "reap", got["tasks"].([]any)[0].(args)["text"])
	assert.Contains(t, text, "(the passage of lines 3-3 is in lines 4-4 now)")
}

// Models write arguments in many ways, each with only one possible meaning.
func TestArgumentsAsModelsWriteThem(t *testing.T) {
	files := library()
	files["Old.md/A.md"] = "- [ ] cook\n"
	w := newWorld(t, files)
	for _, c := range []struct {
		tool  string
		means args
		other []args
	}{
		{"read_note", args{"note": "Hub", "lines": "5-6"}, []args{
			{"path": "Hub.md", "line_range": "L5-L6"}, {"File": "Hub", "range": "5:6"}, {"note": "note:///Hub.md", "lines": " 5 – 6 "}, {"note": "Hub.md:5-6"}, {"note": "Hub", "line_start": 5, "line_end": "6"}, {"note": "Hub", "start_line": 5, "end_line": 6}, {"file_path": "Hub.md", "offset": 5, "limit": 2}, {"note": "`Hub.md`", "lines": "5-6"}, {"note": "%48ub.md", "lines": "5-6"}, {"note": "Hub", "lines": []int{5, 6}}, {"note": "Hub", "view_range": []int{5, 6}}, {"note": "Hub", "lines": "5-6", "heading": nil},
		}},
		{"read_note", args{"note": "Hub", "lines": "5-"}, []args{{"note": "Hub", "offset": 5}, {"note": "Hub", "start_line": "5"}, {"note": "Hub", "offset": 5, "limit": 0}}},
		{"read_note", args{"note": "Hub", "lines": "1-3"}, []args{{"note": "Hub", "limit": 3}, {"note": "Hub", "offset": 0, "limit": 3}, {"note": "Hub", "end_line": 3}}},
		{"list_notes", args{"tags": []string{"soup"}, "limit": 3}, []args{
			{"tags": "soup", "limit": "3"}, {"tag": "#soup", "max_results": 3.0}, {"tags": `["soup"]`, "n": "3"},
		}},
		{"search_notes", args{"query": "soup", "limit": 2, "explain": true}, []args{
			{"q": "soup", "top_k": 2, "explain": "true", "mode": "", "folder": "", "tags": nil, "cursor": ""}, {"search_query": "soup", "maxResults": "2", "explain": "True"},
		}},
		{"read_note", args{"notes": []string{"Hub", "A"}}, []args{{"note": []string{"Hub", "A"}, "max_bytes": 0}}},
		{"list_notes", args{"where": args{"status": "open"}}, []args{{"where": `{"status": "open"}`}}},
		{"note_links", args{"note": "Hub", "direction": "in"}, []args{{"note": "Hub", "direction": "IN"}, {"file_path": "Hub.md", "direction": "in"}}},
		{"list_tasks", args{"note": "Shelf 00/Book 00.md"}, []args{{"path": "Shelf 00/Book 00.md"}, {"folder": "Book 00.md"}}},
		{"list_tasks", args{"folder": "Old.md"}, []args{{"path": "Old.md"}, {"note": "Old.md/A"}}},
		{"vault_overview", args{}, []args{nil}},
	} {
		want, _ := w.call(t, c.tool, c.means)
		for _, other := range c.other {
			got, _ := w.call(t, c.tool, other)
			delete(got, "next_cursor") // a search's differs each time
			delete(want, "next_cursor")
			assert.Equal(t, want, got, "%s %v", c.tool, other)
		}
	}
}

// Invalid arguments are rejected by name, with what to pass; all mistakes are reported at
// once.
func TestArguments_RejectsInvalidValues(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "# A\n\n#a\n"})
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"search_notes", args{}, "query is required: pass a string"},
		{"search_notes", args{"query": []int{1}}, "query must be a string (words or a question), not [1]"},
		{"search_notes", args{"query": "x", "limit": "many"}, `limit must be a number from 1 to 50, not "many"`},
		{"search_notes", args{"query": "x", "limit": -1}, "limit must be a number from 1 to 50"},
		{"search_notes", args{"query": "x", "mode": "psychic"}, "mode must be one of hybrid, text, semantic"},
		{"search_notes", args{"query": "x", "explain": "maybe"}, "explain must be true or false"},
		{"search_notes", args{"query": "x", "limt": 3}, `there is no argument "limt": did you mean "limit"?`},
		{"search_notes", args{"limit": "x", "mode": "y"}, "limit must be a number from 1 to 50, not \"x\"; mode must be one of hybrid, text, semantic, not \"y\"; query is required: pass a string"},
		{"list_notes", args{"where": 7}, "where must be"},
		{"edit_note", args{"note": "A", "edits": []args{{"op": "append", "content": "x"}}, "colour": "red"}, `there is no argument "colour": the arguments are dry_run, edits, expected_hash, note`},
		{"edit_note", args{"note": "A", "edits": []args{{"op": "append", "content": "x"}, {"op": "fly"}}}, "edits[1]: op must be one of"},
		{"note_history", args{"note": "A", "diff": []any{1, "x"}}, "diff"},
		{"vault_overview", args{"list": "colours"}, "list must be one of tags, folders"},
		{"note_links", args{"note": "A", "depth": "deep"}, "depth must be a number from 1 to 3"},
		{"check_quotes", args{"quotes": []args{{"quote": "x"}}}, "anchor is required"},
		{"create_note", args{"content": "x"}, "title is required: pass the note's title, or a path instead"},
		{"create_note", args{"title": "B"}, "content is required"},
		{"create_note", args{"path": "B.md", "folder": "Work", "content": "x"}, "path and folder name two places"},
		{"create_note", args{"path": "Works/B.md", "folder": "Work", "content": "x"}, "path and folder name two places"},
		{"rename_tag", args{"tag": "a", "to": "#a"}, "the tag has this name already"},
		{"rename_tag", args{"tag": "a", "to": "#"}, "edit_note with op remove_tag"},
		{"rename_tag", args{"tag": "b", "to": "#b"}, `no note has the tag "b"`},
	} {
		assert.Contains(t, w.fails(t, c.tool, c.args), c.want, "%s %v", c.tool, c.args)
	}
	made, _ := w.call(t, "create_note", args{"path": "Work/Deep/B.md", "folder": "/work/", "content": "x"})
	assert.Equal(t, "Work/Deep/B.md", made["path"])
	made, _ = w.call(t, "create_note", args{"title": "Work/Deep/D.md", "content": "x"})
	assert.Equal(t, "Work/Deep/D.md", made["path"])
	w.call(t, "create_note", args{"path": "C.md", "folder": "./", "content": "x"})
	_, err := tools.Find("list_notes").Call(t.Context(), w.env, []byte(`[1]`))
	require.EqualError(t, err, "arguments must be a JSON object")
	_, text := w.call(t, "list_notes", args{"session": 4})
	assert.Contains(t, text, `(ignored the unknown argument "session")`, "hosts add arguments of their own to reads")
}

// The result of a change says in both forms what was done, and the history records it.
func TestChangesAreInTheHistory(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "# A\n\nold words #red\n", "B.md": "See [[A]].\n"})
	for _, c := range []struct {
		tool string
		args args
		says []string
	}{
		{"create_note", args{"title": "New", "content": "text", "folder": "Box", "tags": []string{"blue"}}, []string{`Created "Box/New.md", revision`}},
		{"edit_note", args{"note": "A", "edits": []args{{"op": "replace_text", "old": "old", "new": "new"}}, "dry_run": true}, []string{"Nothing was written", "-old words", "+new words"}},
		{"edit_note", args{"note": "A", "edits": []args{{"op": "replace_text", "old": "old", "new": "new"}}}, []string{`Edited "A.md"`, "+new words"}},
		{"edit_note", args{"note": "A", "edits": []args{{"op": "replace_text", "old": "new", "new": "new"}}}, []string{"unchanged"}},
		{"rename_tag", args{"tag": "red", "to": "green"}, []string{"A.md", "green"}},
		{"move_note", args{"note": "A", "to": "Box/C.md"}, []string{"Box/C.md", "B.md"}},
		{"delete_note", args{"note": "Box/New"}, []string{"Box/New.md", "revision"}},
		{"delete_note", args{"note": "C", "redirect": "B"}, []string{`Deleted "Box/C.md"`, "links changed in (1):\n- B.md"}},
	} {
		_, text := w.call(t, c.tool, c.args)
		for _, said := range c.says {
			assert.Contains(t, text, said, "%s %v", c.tool, c.args)
		}
	}
	history, text := w.call(t, "note_history", args{})
	var did []string
	for _, r := range slices.Backward(history["revisions"].([]any)) {
		if r.(args)["author"] == "tester" {
			did = append(did, r.(args)["operation"].(string)+" "+r.(args)["path"].(string))
		}
	}
	assert.Equal(t, []string{"create Box/New.md", "edit A.md", "rename_tag A.md", "move Box/C.md", "relink B.md", "delete Box/New.md", "delete Box/C.md", "relink B.md"}, did)
	assert.Contains(t, text, "B.md links changed by tester")
	assert.Contains(t, text, "Box/New.md deleted by tester")

	restored, text := w.call(t, "restore_note", args{"note": "Box/New.md", "revision": 1})
	assert.Equal(t, "Box/New.md", restored["path"])
	assert.Contains(t, text, "Restored")
	read, _ := w.call(t, "read_note", args{"note": "Box/New"})
	assert.Contains(t, read["content"], "text")
}

// The name of a note with joiners, as Persian and emoji have, can be copied from each answer.
func TestNamesWithJoiners(t *testing.T) {
	w := newWorld(t, nil)
	const persian, emoji = "می\u200cخواهم", "👩\u200d💻 Ideas"
	for _, c := range []struct {
		tool string
		args args
		says string
	}{
		{"create_note", args{"title": persian, "content": "text"}, `Created "` + persian + `.md"`},
		{"edit_note", args{"note": persian, "edits": []args{{"op": "append", "content": "more"}}}, `Edited "` + persian + `.md"`},
		{"move_note", args{"note": persian, "to": emoji}, `Moved "` + persian + `.md" to "` + emoji + `.md"`},
		{"delete_note", args{"note": emoji}, `Deleted "` + emoji + `.md"`},
	} {
		_, text := w.call(t, c.tool, c.args)
		assert.Contains(t, text, c.says)
	}
}

// A folder has the changes of the notes in it and below, and of those that left it.
func TestHistoryOfAFolder(t *testing.T) {
	w := newWorld(t, map[string]string{"Work/A.md": "a", "Work/Deep/B.md": "b", "Workshop/C.md": "c", "Workshop/Work.md": "note", "D.md": "d"})
	changed := func(a args) (paths []string) {
		page, _ := w.call(t, "note_history", a)
		for _, r := range page["revisions"].([]any) {
			paths = append(paths, r.(args)["path"].(string))
		}
		return paths
	}
	assert.ElementsMatch(t, []string{"Work/A.md", "Work/Deep/B.md"}, changed(args{"note": "work/"}))
	assert.Equal(t, []string{"Workshop/Work.md"}, changed(args{"note": "work"}))
	assert.Contains(t, w.fails(t, "note_history", args{"folder": "Work"}), "pass the folder as note, with a slash")
	w.call(t, "move_note", args{"note": "D", "to": "Work/"})
	w.call(t, "move_note", args{"note": "A", "to": "Workshop/"})
	w.call(t, "delete_note", args{"note": "B"})
	all := changed(args{"note": "Work/"})
	assert.Subset(t, all, []string{"Work/Deep/B.md", "Workshop/A.md", "Work/D.md"})
	assert.NotContains(t, all, "Workshop/C.md")
	assert.Equal(t, []string{"Work/Deep/B.md"}, slices.Compact(changed(args{"note": "Work/Deep/"})), "all of whose notes are deleted")
	assert.Equal(t, []string{"Work/Deep/B.md"}, slices.Compact(changed(args{"note": "Work/Deep"})))
	assert.Empty(t, changed(args{"note": "Work/Deep", "since": "tomorrow"}))
	assert.Contains(t, w.fails(t, "note_history", args{"note": "Wor"}), "no such note")
	w.env.Scope = notes.Scope{Read: []string{"Workshop"}}
	assert.Equal(t, strings.ReplaceAll(w.fails(t, "note_history", args{"note": "None/Deep"}), "None", "Work"), w.fails(t, "note_history", args{"note": "Work/Deep"}))
}

// That nothing has changed since a time does not mean that there is no history.
func TestHistorySinceALaterTime(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "a"})
	w.call(t, "edit_note", args{"note": "A", "edits": []args{{"op": "append", "content": "b"}}})
	w.env.Now = func() time.Time { return time.Date(2026, 2, 6, 9, 0, 0, 0, time.UTC) }
	for _, a := range []args{{"since": "today"}, {"since": "today", "note": "A"}} {
		got, text := w.call(t, "note_history", a)
		assert.Empty(t, got["revisions"])
		assert.Equal(t, "Nothing has changed since 2026-02-06 00:00; without since, earlier changes are listed", text)
	}
}

// If the user declines, nothing changes.
func TestARefusalChangesNothing(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "# A\n"})
	w.call(t, "create_table", args{"table_name": "t", "dimension": 2})
	w.call(t, "add_vector", args{"table_name": "t", "rows": []args{{"vector": []int{1, 0}, "id": "a", "metadata": args{"k": 1}}, {"vector": []int{0, 1}, "id": "b"}}})
	var asked []string
	w.env.Confirm = refuse(&asked)
	for tool, a := range map[string]args{
		"delete_note":    {"note": "A"},
		"drop_table":     {"table_name": "t"},
		"delete_vectors": {"table_name": "t", "filter": args{"k": 1}},
	} {
		assert.Contains(t, w.fails(t, tool, a), "no", tool)
	}
	require.Len(t, asked, 3)
	list, _ := w.call(t, "list_notes", args{})
	assert.Len(t, list["notes"], 1)
	found, text := w.call(t, "search_vectors", args{"table_name": "t", "query_vector": []int{1, 0}})
	assert.Len(t, found["results"], 2)
	assert.Contains(t, text, "a")
	gone, _ := w.call(t, "delete_vectors", args{"table_name": "t", "ids": []string{"b"}})
	assert.Equal(t, 1.0, gone["deleted"], "rows that are named are deleted without a question")
	require.Len(t, asked, 3)
}

// Results that name very many notes keep the limit in both forms, and give the total
// number.
func TestChangesOfManyNotes(t *testing.T) {
	notestest.SkipInShort(t)
	files := map[string]string{"Hub.md": "# Hub\n\n## Part\n", "New.md": "# New\n"}
	for i := range 300 {
		files[fmt.Sprintf("Notes of a long year/Day %03d with a long name.md", i)] = "[[Hub#Part]] #x\n"
	}
	w := newWorld(t, files)
	for _, c := range []struct {
		tool        string
		args        args
		list, total string
	}{
		{"delete_note", args{"note": "Hub", "dry_run": true}, "linked_from", "linked_from_total"},
		{"delete_note", args{"note": "Hub", "redirect": "New", "dry_run": true}, "relinked", "relinked_total"},
		{"move_note", args{"note": "Hub", "to": "Centre.md", "dry_run": true}, "relinked", "relinked_total"},
		{"move_note", args{"note": "Notes of a long year", "to": "Another year with an even longer name", "dry_run": true}, "moved", "moved_total"},
		{"edit_note", args{"note": "Hub", "edits": []args{{"op": "rename_heading", "heading": "Part", "new": "Piece"}}, "dry_run": true}, "relinked", "relinked_total"},
		{"edit_note", args{"note": "Hub", "edits": []args{{"op": "rename_heading", "heading": "Part", "new": "Piece"}}}, "relinked", "relinked_total"},
		{"restore_note", args{"change": 1, "dry_run": true}, "relinked", "relinked_total"},
		{"rename_tag", args{"tag": "x", "to": "y", "dry_run": true}, "changed", "total"},
	} {
		w.env.Limits.ResultBytes = 4_000
		got, text := w.call(t, c.tool, c.args)
		assert.Less(t, len(got[c.list].([]any)), 300, "%v", c)
		assert.GreaterOrEqual(t, got[c.total], 300.0, "%v", c)
		if c.tool != "edit_note" && c.tool != "restore_note" { // their text has the first names
			assert.Contains(t, text, fmt.Sprint(got[c.total]), "%v", c)
			assert.Regexp(t, `\n… and 2\d\d more`, text, "%v", c)
		}
	}
}

// The result of a renamed tag names some of the notes, as that of a moved folder does: a client
// pays for each, and list_notes has them all.
func TestRenameTag_ManyNotes(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("Box/N%02d.md", i)] = "#old\n"
	}
	w := newWorld(t, files)
	for _, a := range []args{{"tag": "old", "to": "new", "dry_run": true}, {"tag": "old", "to": "new"}} {
		got, text := w.call(t, "rename_tag", a)
		assert.Len(t, got["changed"], 20)
		assert.Equal(t, 30.0, got["total"])
		assert.Contains(t, text, "30 notes")
		assert.Equal(t, 20, strings.Count(text, "\n- Box/N"), text)
		assert.Contains(t, text, "\n… and 10 more")
	}
	got, _ := w.call(t, "move_note", args{"note": "Box", "to": "Chest", "dry_run": true})
	assert.Len(t, got["moved"], 20)
	assert.Equal(t, 30.0, got["moved_total"])
}

// Renaming a tag to one that exists makes one tag of the two, which the result says.
func TestRenameTag_Existing(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "#old #work\n", "B.md": "#New #work/x\n", "C.md": "#work/x\n"})
	for _, a := range []args{{"tag": "old", "to": "fresh", "dry_run": true}, {"tag": "work", "to": "Work", "dry_run": true}, {"tag": "work", "to": "work/x", "dry_run": true}} {
		got, text := w.call(t, "rename_tag", a)
		assert.NotContains(t, got, "notes")
		assert.NotContains(t, text, "already")
	}
	_, text := w.call(t, "rename_tag", args{"tag": "work/x", "to": "work", "dry_run": true})
	assert.Contains(t, text, "(#work is already in 1 note: the two would become one tag)")
	_, text = w.call(t, "rename_tag", args{"tag": "#old", "to": "#new", "dry_run": true})
	assert.Contains(t, text, "(#New is already in 1 note: the two would become one tag)")

	nested := newWorld(t, map[string]string{"A.md": "#projects/a #old/a\n", "B.md": "#project/A #new\n", "C.md": "#up/x/y #upper\n", "D.md": "#sub/b #sub/b/b\n"})
	_, text = nested.call(t, "rename_tag", args{"tag": "projects", "to": "project", "dry_run": true})
	assert.Contains(t, text, "(#project/A is already in 1 note: the two would become one tag)")
	for _, a := range []args{{"tag": "old", "to": "new", "dry_run": true}, {"tag": "up/x", "to": "upper", "dry_run": true}, {"tag": "sub/b", "to": "sub", "dry_run": true}} {
		_, text = nested.call(t, "rename_tag", a)
		assert.NotContains(t, text, "already")
	}

	w.env.RequestKey = "key"
	got, text := w.call(t, "rename_tag", args{"tag": "#old", "to": "#new"})
	assert.Equal(t, []any{"#New was already in 1 note: the two are one tag now"}, got["notes"])
	assert.Contains(t, text, "(#New was already in 1 note: the two are one tag now)")
	again, _ := w.call(t, "rename_tag", args{"tag": "#old", "to": "#new"})
	assert.Equal(t, got["change"], again["change"])
	assert.NotContains(t, again, "notes", "it cannot be known any more")
}

// A note that shares only parts of a date is not related.
func TestRelatedNotes_Dates(t *testing.T) {
	w := newWorld(t, map[string]string{"Holidays 2026.md": "Easter: 3 April, Monday 6 to Friday 10, summer: 27 July.", "Invoice.md": "Monday 6 April 2026, total 10.", "Lake.md": "Swim in summer, from 6 July."})
	_, text := w.call(t, "related_notes", args{"note": "Holidays 2026"})
	assert.Contains(t, text, "Lake.md")
	assert.NotContains(t, text, "Invoice.md")
}

// If both a note and a text are passed, the note is used, and the result says so.
func TestRelatedToANoteOrAText(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "# A\n\nrye bread\n", "B.md": "# B\n\nrye flour\n", "C.md": "# C\n\n[[A]] soup\n"})
	both, text := w.call(t, "related_notes", args{"note": "A", "text": "soup"})
	assert.Contains(t, text, "ignored text")
	alone, _ := w.call(t, "related_notes", args{"note": "A"})
	assert.Equal(t, alone["related"], both["related"])
	assert.Equal(t, []any{"it links here"}, both["related"].([]any)[1].(args)["reasons"])
	of, _ := w.call(t, "related_notes", args{"text": "soup [[A]]"})
	assert.Equal(t, "C.md", of["related"].([]any)[0].(args)["path"])
	assert.Contains(t, w.fails(t, "related_notes", args{"text": " "}), "pass a note, or a text")
	assert.Contains(t, w.fails(t, "related_notes", args{"note": "Nowhere"}), "no such note")
}

// An explained search is for people, who see the snippet of each hit once and at full length.
func TestSearch_ExplainedSnippets(t *testing.T) {
	files := map[string]string{}
	for i := range 10 {
		files[fmt.Sprintf("A folder with a long name for the notes of a long year/Note %d about soup, stew and broth.md", i)] = strings.Repeat("The soup takes an hour and then some more. ", 10)
	}
	w := newWorld(t, files)
	least := func(a args) int {
		found, _ := w.call(t, "search_notes", a)
		least := 1000
		for _, hit := range found["results"].([]any) {
			least = min(least, len(hit.(args)["snippet"].(string)))
		}
		return least
	}
	assert.Less(t, least(args{"query": "soup"}), 50)
	assert.Greater(t, least(args{"query": "soup", "explain": true}), 140)
}

// A new name without a folder is a path in the root, which the result says.
func TestMoveByName(t *testing.T) {
	w := newWorld(t, map[string]string{"A/Plan.md": "x\n", "A/B/Cost.md": "x\n", "Top.md": "x\n"})
	_, text := w.call(t, "move_note", args{"note": "Plan", "to": "Scheme"})
	assert.Contains(t, text, `(this is in the root of the vault; to rename it in its folder, pass to "A/Scheme.md")`)
	_, text = w.call(t, "move_note", args{"note": "A/B", "to": "C"})
	assert.Contains(t, text, `pass to "A/C"`)
	for _, move := range []args{{"note": "Scheme", "to": "A/Plan"}, {"note": "Top", "to": "Bottom"}, {"note": "Cost", "to": "Cost.md"}, {"note": "Plan", "to": "/"}} {
		_, text = w.call(t, "move_note", move)
		assert.NotContains(t, text, "root of the vault", "%v", move)
	}
}

// A list of the notes with broken links names the links.
func TestListNotes_BrokenLinks(t *testing.T) {
	w := newWorld(t, map[string]string{
		"A.md": "[[B]] [[None]] [[None|x]] [y](gone.md) [[B#Nowhere]]\n", "B.md": "# B\n", "C.md": "[[1]] [[2]] [[3]] [[4]] [[5]] [[6]]\n",
	})
	got, text := w.call(t, "list_notes", args{"broken_links": true, "sort": "path"})
	assert.Equal(t, []any{"None", "gone.md", "B#Nowhere"}, got["notes"].([]any)[0].(args)["broken_links"])
	assert.Contains(t, text, " | broken: 1, 2, 3, 4, 5, …")
	_, text = w.call(t, "list_notes", args{})
	assert.NotContains(t, text, "broken")
}

// The lines of the links to a note are in order, whatever the links' anchors.
func TestLinksOfANoteInOrder(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "[[B]] [[B#Two]]\n[[B#One]]\n[[B]]\n[[B#Two]]\n", "B.md": "## One\n\n## Two\n"})
	_, text := w.call(t, "note_links", args{"note": "A", "direction": "out"})
	assert.Contains(t, text, "5 outgoing to 1 file")
	assert.Contains(t, text, "-> B.md, line 1, 2, 3, 4\n")
}

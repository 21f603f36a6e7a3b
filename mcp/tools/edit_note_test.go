package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
	"notesd/notes"
)

func (w *world) disk(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.root, name))
	require.NoError(t, err)
	return string(data)
}

func TestEditNote_SeveralNotes(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "a\n", "B.md": "b #plan\n", "C.md": "c\n"})
	tag := []args{{"op": "add_tag", "tag": "plan"}}
	names := []string{"C", "B", "None", "A"}

	out, text := w.call(t, "edit_note", args{"notes": names, "edits": tag, "dry_run": true})
	assert.Equal(t, "a\n", w.disk(t, "A.md"))
	assert.Contains(t, out["results"].([]any)[3].(args)["diff"], "+  - plan")
	assert.Contains(t, text, "Nothing was written: would edit 2 notes; 1 unchanged, 1 failed\n- Nothing was written: \"C.md\" would become")

	out, text = w.call(t, "edit_note", args{"notes": names, "edits": tag})
	results := out["results"].([]any)
	require.Len(t, results, 4)
	hash := func(name string) string { return notes.ShortHash(notes.Hash([]byte(w.disk(t, name)))) }
	assert.Equal(t, args{"path": "C.md", "hash": hash("C.md"), "revision": 2.0, "change": 1.0}, results[0])
	assert.Equal(t, args{"path": "B.md", "hash": hash("B.md"), "revision": 0.0, "unchanged": true}, results[1])
	assert.Equal(t, "None", results[2].(args)["note"])
	assert.Contains(t, results[2].(args)["error"], "None")
	assert.Equal(t, "A.md", results[3].(args)["path"])
	assert.Equal(t, []any{2.0, 1.0, 1.0}, []any{out["changed"], out["unchanged"], out["failed"]})
	assert.Contains(t, text, "Edited 2 notes as change 1; 1 unchanged, 1 failed\n- Edited \"C.md\", revision 2, hash "+hash("C.md"))
	assert.Contains(t, text, "\n- \"B.md\" is unchanged")
	assert.NotContains(t, text, "```")
	assert.Contains(t, w.disk(t, "A.md"), "plan")
	assert.Equal(t, []any{1.0, 1.0}, []any{out["change"], results[3].(args)["change"]})

	_, text = w.call(t, "restore_note", args{"change": 1})
	assert.Equal(t, []string{"a\n", "b #plan\n", "c\n"}, []string{w.disk(t, "A.md"), w.disk(t, "B.md"), w.disk(t, "C.md")})
	assert.Contains(t, text, "also changed (1):\n- A.md")

	assert.Contains(t, w.fails(t, "edit_note", args{"notes": []string{"None", "Nil"}, "edits": tag}), "no note was edited:\n- None: ")
	assert.Contains(t, w.fails(t, "edit_note", args{"notes": []string{"A"}, "edits": tag, "expected_hash": hash("A.md")}), "expected_hash is the hash of one note")
	assert.Contains(t, w.fails(t, "edit_note", args{"edits": tag}), "pass a note, or several as notes")
}

// Some clients encode a list or object in a string, as the schema allows several types.
func TestEditNote_EncodedValue(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "a\n"})
	set := func(key, value string) args { return args{"op": "set_front_matter", "key": key, "value": value} }
	w.call(t, "edit_note", args{"note": "A", "edits": []args{
		set("people", `["Ann", "Bob"]`), set("place", `{"lat": 1.5}`), set("year", "[[2026]]"), set("mark", "[x]"), set("none", ""),
	}})
	assert.Equal(t, "---\npeople:\n  - Ann\n  - Bob\nplace:\n  lat: 1.5\nyear: \"[[2026]]\"\nmark: \"[x]\"\nnone: \"\"\n---\na\n", w.disk(t, "A.md"))
}

// Whole numbers are kept exactly, although a float64 has none between 2^53 and 2^53+2.
func TestFrontMatter_LargeNumbers(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "a\n"})
	set := func(key string, value any) args { return args{"op": "set_front_matter", "key": key, "value": value} }
	id := json.Number("20260213104500123")
	w.call(t, "edit_note", args{"note": "A", "edits": []args{set("id", id), set("ids", "["+id.String()+"]"), set("low", json.Number("1e-2")), set("count", 5.0)}})
	assert.Equal(t, "---\nid: 20260213104500123\nids:\n  - 20260213104500123\nlow: 0.01\ncount: 5\n---\na\n", w.disk(t, "A.md"))

	w.call(t, "create_note", args{"path": "B.md", "content": "b\n", "front_matter": args{"id": id, "more": args{"count": 5.5}, "tags": []any{2026}}})
	assert.Equal(t, "---\nid: 20260213104500123\nmore:\n  count: 5.5\ntags:\n  - \"2026\"\n---\nb\n", w.disk(t, "B.md"))

	w.call(t, "edit_note", args{"note": "A", "edits": []args{set("id", "20260213104500125")}})
	assert.Contains(t, w.disk(t, "A.md"), "id: 20260213104500125\n", "text in place of a number")
	w.call(t, "edit_note", args{"note": "A", "edits": []args{set("parcel", json.Number("9400111899223197428490"))}})
	assert.Contains(t, w.disk(t, "A.md"), "parcel: \"9400111899223197428490\"\n")

	out := w.fails(t, "edit_note", args{"note": "A", "edits": []args{set("id", json.Number("1e999"))}})
	assert.Contains(t, out, "1e999 is no JSON number")
}

func TestEditNote_NoteNamedTwice(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "a\n"})
	out, _ := w.call(t, "edit_note", args{"notes": []string{"A", "A.md", "note:///A.md"}, "edits": []args{{"op": "append", "content": "more"}}})
	assert.Len(t, out["results"], 1)
	assert.Equal(t, "a\n\nmore\n", w.disk(t, "A.md"))
	out, _ = w.call(t, "edit_note", args{"notes": []string{"today", "today"}, "edits": []args{{"op": "append", "content": "more"}}})
	assert.Len(t, out["results"], 1, "also one that the edit creates")
}

// Each note is compared with the version that the session last saw of it.
func TestEditNote_SeveralNotesSeen(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "a\n", "B.md": "b\n"})
	w.call(t, "read_note", args{"notes": []string{"A", "B"}})
	require.NoError(t, os.WriteFile(filepath.Join(w.root, "B.md"), []byte("theirs\n"), 0o600))
	w.vault.Changed([]string{"B.md"})

	out, _ := w.call(t, "edit_note", args{"notes": []string{"A", "B"}, "edits": []args{{"op": "replace_all", "content": "mine\n"}}})
	assert.Equal(t, []string{"mine\n", "theirs\n"}, []string{w.disk(t, "A.md"), w.disk(t, "B.md")})
	assert.Contains(t, out["results"].([]any)[1].(args)["error"], "changed since this session last saw it")
}

// A dry run shows a version, but is no reading of it.
func TestSeen_DryRun(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "# A\n\nmine\n"})
	w.call(t, "read_note", args{"note": "A"})
	require.NoError(t, os.WriteFile(filepath.Join(w.root, "A.md"), []byte("# A\n\nmine\n\ntheirs\n"), 0o600))
	require.NoError(t, w.vault.Reconcile(t.Context()))
	w.call(t, "edit_note", args{"note": "A", "dry_run": true, "edits": []args{{"op": "append", "content": "x"}}})
	replace := args{"note": "A", "edits": []args{{"op": "replace_section", "heading": "A", "content": "mine"}}}
	assert.Contains(t, w.fails(t, "edit_note", replace), "changed since this session last saw it")
}

// Tasks that are listed again, after others have changed the note, are changed by their new lines,
// while the other text of the note is still that which the session has not seen.
func TestSeen_ListedAgain(t *testing.T) {
	for _, first := range []string{"list_tasks", "read_note"} {
		w := newWorld(t, map[string]string{"List.md": "- [ ] one\n- [ ] two\n"})
		toggle := func(line int) args {
			return args{"note": "List", "edits": []args{{"op": "toggle_task", "line": line}}}
		}
		w.call(t, first, args{"note": "List"})
		require.NoError(t, os.WriteFile(filepath.Join(w.root, "List.md"), []byte("theirs\n\n- [ ] one\n- [ ] two\n"), 0o600))
		require.NoError(t, w.vault.Reconcile(t.Context()))
		assert.Contains(t, w.fails(t, "edit_note", toggle(1)), "changed since this session last saw it", first)

		w.call(t, "list_tasks", args{"text": "one"})
		w.call(t, "edit_note", toggle(3))
		assert.Contains(t, w.fails(t, "edit_note", toggle(4)), "changed since this session last saw it", "a line that was not listed")
		w.call(t, "list_tasks", args{"text": "two"})
		w.call(t, "edit_note", toggle(4))
		assert.Equal(t, "theirs\n\n- [x] one\n- [x] two\n", w.disk(t, "List.md"), first)
		mine := args{"note": "List", "edits": []args{{"op": "replace_all", "content": "mine\n"}}}
		assert.Contains(t, w.fails(t, "edit_note", mine), "changed since this session last saw it", first)
	}
}

// After own changes, the lines that were seen before them are not those of a list of one task.
func TestSeen_ListedAfterOwnChange(t *testing.T) {
	w := newWorld(t, map[string]string{"List.md": "- [ ] one\n- [ ] two\n- [ ] three\n- [ ] four\n"})
	w.call(t, "list_tasks", args{"note": "List"})
	w.call(t, "edit_note", args{"note": "List", "edits": []args{{"op": "prepend", "content": "intro"}}})
	w.call(t, "list_tasks", args{"text": "four"})
	toggle := func(line int) args {
		return args{"note": "List", "edits": []args{{"op": "toggle_task", "line": line}}}
	}
	w.fails(t, "edit_note", toggle(3)) // was three
	w.call(t, "edit_note", toggle(6))
	assert.Contains(t, w.disk(t, "List.md"), "- [ ] one\n- [ ] two\n- [ ] three\n- [x] four\n")
}

// A model that has the passages of gather_context often edits without reading the note: what
// another program adds in between may not be replaced.
func TestSeen_GatheredPassage(t *testing.T) {
	w := newWorld(t, map[string]string{"Rye.md": "# Rye\n\n## Log\n\nrye bread\n"})
	w.call(t, "gather_context", args{"query": "rye bread"})
	theirs := "# Rye\n\n## Log\n\nrye bread\n\ntheirs\n"
	require.NoError(t, os.WriteFile(filepath.Join(w.root, "Rye.md"), []byte(theirs), 0o600))
	w.vault.Changed([]string{"Rye.md"})

	mine := args{"note": "Rye", "edits": []args{{"op": "replace_section", "heading": "Log", "content": "mine"}}}
	assert.Contains(t, w.fails(t, "edit_note", mine), "changed since this session last saw it")
	assert.Equal(t, theirs, w.disk(t, "Rye.md"))
	w.call(t, "gather_context", args{"query": "rye bread"})
	would := maps.Clone(mine)
	would["dry_run"] = true
	w.call(t, "edit_note", would)
	w.call(t, "edit_note", mine) // of the version gathered last, which the dry run did not replace
}

func TestEditNote_SeveralNotesFitTheLimit(t *testing.T) {
	files := map[string]string{}
	var names []string
	for i := range 50 {
		name := fmt.Sprintf("%s %02d", strings.Repeat("long name ", 5), i)
		files[name+".md"], names = "text\n", append(names, name)
	}
	w := newWorld(t, files)
	w.env.Limits.ResultBytes = 4 << 10
	out, text := w.call(t, "edit_note", args{"notes": names, "edits": []args{{"op": "append", "content": "more"}}})
	assert.Equal(t, []any{50.0, true}, []any{out["changed"], out["truncated"]})
	assert.Contains(t, text, "\n… and ")
	assert.Contains(t, w.disk(t, names[49]+".md"), "more")
	missing := make([]string, 12)
	for i := range missing {
		missing[i] = fmt.Sprintf("Missing %02d", i)
	}
	failed := w.fails(t, "edit_note", args{"notes": missing, "edits": []args{{"op": "append", "content": "more"}}})
	assert.Equal(t, 10, strings.Count(failed, "no such note"))
	assert.True(t, strings.HasSuffix(failed, "\n… and 2 more"), failed)
	assert.Contains(t, w.fails(t, "edit_note", args{"notes": append(names, "A"), "edits": []args{}}), "51 notes are too many")
}

// A change that removes a heading or a block names the notes that link to it; links that
// were broken before, or that follow a renamed heading, are not its doing.
func TestEditNote_RemovedAnchors(t *testing.T) {
	w := newWorld(t, map[string]string{
		"Plan.md": "# Plan\n\n## Risks\n\n- late ^late\n\n## Costs\n\n#tag\n",
		"A.md":    "[[Plan#Risks]], [[Plan#Plan#Risks]] and [[Plan#Costs]]\n",
		"B.md":    "[[Plan#^late]] and [[Plan#Nowhere]] and [[Plan]]\n",
	})
	edit := func(a args) (args, string) {
		a["note"] = "Plan"
		return w.call(t, "edit_note", a)
	}
	gone := []args{{"op": "replace_text", "old": "## Risks\n\n- late ^late\n", "new": ""}}
	out, text := edit(args{"edits": gone})
	assert.Equal(t, 3.0, out["broken_links"])
	assert.ElementsMatch(t, []any{"A.md", "B.md"}, out["broken_in"])
	assert.Regexp(t, fmt.Sprintf("3 links to a heading or block that is gone, in [AB].md, [AB].md; restore_note change=%v undoes this", out["change"]), text)

	out, text = edit(args{"edits": []args{{"op": "replace_text", "old": "#tag\n", "new": ""}}})
	assert.NotContains(t, out, "broken_links", "they were broken before")
	assert.NotContains(t, text, "gone")
	out, _ = edit(args{"edits": []args{{"op": "rename_heading", "heading": "Costs", "new": "Money"}}})
	assert.NotContains(t, out, "broken_links")
	assert.Equal(t, []any{"A.md"}, out["relinked"])

	out, _ = w.call(t, "edit_note", args{"notes": []string{"Plan", "B"}, "edits": []args{{"op": "replace_all", "content": "x\n"}}})
	assert.Equal(t, 1.0, out["results"].([]any)[0].(args)["broken_links"])
	assert.NotContains(t, out["results"].([]any)[0], "diff")
	out, _ = w.call(t, "restore_note", args{"note": "Plan", "revision": 1})
	assert.NotContains(t, out, "broken_links")
	out, text = w.call(t, "restore_note", args{"note": "Plan", "revision": 3})
	assert.Equal(t, 2.0, out["broken_links"])
	assert.Contains(t, text, "2 links to a heading or block that is gone, in A.md;")
}

// Links that are redirected to a note without their heading or block are reported, before and
// after.
func TestDeleteNote_MissingAnchors(t *testing.T) {
	w := newWorld(t, map[string]string{
		"Old.md": "# Old\n## Gone for good\nx ^bb\n## Kept\n", "New.md": "# New\n## Kept\n[[Old#Gone for good]]\n",
		"Ln.md": "[[Old#Gone for good]] [[Old#^bb]] [q](Old.md#gone-for-good) [[Old#Kept]] [k](Old.md#kept) [[Old]] [[Old#Nope]]\n",
	})
	for _, dry := range []bool{true, false} {
		out, text := w.call(t, "delete_note", args{"note": "Old", "redirect": "New", "dry_run": dry})
		assert.Equal(t, 4.0, out["broken_links"], "dry run: %v", dry)
		assert.ElementsMatch(t, []any{"Ln.md", "New.md"}, out["broken_in"])
		assert.Regexp(t, `4 links to a heading or block that the other note lacks, in \w+.md, \w+.md$`, text)
	}
	links, _ := w.call(t, "note_links", args{"note": "Ln"})
	assert.Len(t, links["unresolved"], 4, "one was broken before")
}

// An edit that makes the daily note says so.
func TestEditNote_CreatesPeriodicNote(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "a\n"})
	_, text := w.call(t, "edit_note", args{"note": "today", "edits": []args{{"op": "append", "content": "first"}}})
	assert.Contains(t, text, `Created "2026-02-04.md", revision`)
	_, text = w.call(t, "edit_note", args{"note": "today", "edits": []args{{"op": "append", "content": "second"}}})
	assert.Contains(t, text, `Edited "2026-02-04.md"`)
}

// A change of a whole note rejects a reference to a part of it.
func TestChanges_RejectPartOfNote(t *testing.T) {
	w := newWorld(t, map[string]string{"Plan.md": "# Plan\n\n## Risks\n\nlate\n", "B.md": "[[Plan]]\n", "C# basics.md": "c\n"})
	for _, ref := range []string{"Plan#Risks", "Plan.md:3-5", "note:///Plan.md#Risks"} {
		w.call(t, "edit_note", args{"note": "Plan", "edits": []args{{"op": "append", "content": ref}}})
		var asked []string
		w.env.Confirm = refuse(&asked)
		assert.Contains(t, w.fails(t, "delete_note", args{"note": ref}), `this names part of the note "Plan.md"`)
		assert.Contains(t, w.fails(t, "restore_note", args{"note": ref, "revision": 1}), `this names part of the note "Plan.md"`)
		redirect := w.fails(t, "delete_note", args{"note": "B", "redirect": ref})
		assert.Contains(t, redirect, "redirect links to "+notes.Quote(ref)+": this names part")
		assert.Empty(t, asked, "the user is not asked about a call that fails")
	}
	assert.Contains(t, w.disk(t, "Plan.md"), "late")
	w.env.Confirm = func(context.Context, string) error { return nil }
	gone, _ := w.call(t, "delete_note", args{"note": "C# basics"})
	assert.Equal(t, "C# basics.md", gone["path"])
	back, _ := w.call(t, "restore_note", args{"change": gone["change"]})
	w.call(t, "edit_note", args{"note": "C# basics", "edits": []args{{"op": "append", "content": "x"}}})
	w.call(t, "restore_note", args{"note": "C# basics", "revision": back["revision"]})
}

// The version that a restore is conditional on is that of the restored note, and not that of
// another note with its name.
func TestRestoreNote_Namesake(t *testing.T) {
	w := newWorld(t, map[string]string{"Plan.md": "gone\n", "Archive/Plan.md": "other\n"})
	w.call(t, "delete_note", args{"note": "Plan.md"})
	w.call(t, "read_note", args{"note": "Archive/Plan.md"})
	w.call(t, "restore_note", args{"note": "Plan.md", "revision": 1})
	assert.Equal(t, "gone\n", w.disk(t, "Plan.md"))

	require.NoError(t, os.WriteFile(filepath.Join(w.root, "Plan.md"), []byte("by another program\n"), 0o600))
	assert.Contains(t, w.fails(t, "restore_note", args{"note": "Plan.md", "revision": 1}), "changed since this session last saw it")
}

// Tasks are changed by their lines as long as the session's own changes have not moved these since it
// read them.
func TestSeen_LinesMovedByOwnChange(t *testing.T) {
	const text = "- [ ] one\n- [ ] water 🔁 every day 📅 2026-02-04\n- [ ] two\n- [ ] three\n"
	w := newWorld(t, map[string]string{"List.md": text})
	toggle := func(line int, more args) args {
		a := args{"note": "List", "edits": []args{{"op": "toggle_task", "line": line}}}
		maps.Copy(a, more)
		return a
	}
	w.call(t, "list_tasks", nil)
	w.call(t, "edit_note", toggle(1, nil))
	w.call(t, "edit_note", toggle(1, nil))
	done, _ := w.call(t, "edit_note", toggle(2, nil))
	for _, given := range []args{nil, {"expected_hash": done["hash"]}, {"expected_hash": done["hash"].(string)[:12]}, {"dry_run": true}} {
		for line := 2; line <= 4; line++ {
			assert.Contains(t, w.fails(t, "edit_note", toggle(line, given)), fmt.Sprintf("line %d may be another one since this session's last change", line))
		}
	}
	w.call(t, "edit_note", toggle(1, nil))
	w.call(t, "edit_note", args{"note": "List", "edits": []args{{"op": "toggle_task", "line": 4, "text": "three"}}})
	w.call(t, "list_tasks", nil)
	w.call(t, "edit_note", toggle(4, nil))
	assert.Equal(t, "- [x] one ✅ 2026-02-04\n- [ ] water 🔁 every day 📅 2026-02-05\n- [x] water 🔁 every day 📅 2026-02-04 ✅ 2026-02-04\n"+
		"- [x] two ✅ 2026-02-04\n- [x] three ✅ 2026-02-04\n", w.disk(t, "List.md"))

	files := args{"notes": []string{"A", "B"}, "edits": []args{{"op": "toggle_task", "text": "water"}}}
	others := newWorld(t, map[string]string{"A.md": text, "B.md": text})
	done, _ = others.call(t, "edit_note", files)
	others.call(t, "list_tasks", nil)
	others.call(t, "restore_note", args{"change": done["change"]})
	for _, note := range []string{"A", "B"} {
		assert.Contains(t, others.fails(t, "edit_note", toggle(4, args{"note": note})), "line 4 may be another one")
	}

	again := *w
	again.env.RequestKey = "again"
	again.call(t, "read_note", args{"note": "List"})
	again.call(t, "edit_note", toggle(3, nil))
	again.call(t, "edit_note", toggle(3, nil)) // repeated, not made twice
	assert.Equal(t, 4, strings.Count(w.disk(t, "List.md"), "\n"))
}

// A move that rewrites a link in another note counts as seen by the session only if it had
// seen the version that was rewritten.
func TestSeen_RelinkedNotes(t *testing.T) {
	for _, theirs := range []bool{false, true} {
		w := newWorld(t, map[string]string{"A.md": "a\n", "B.md": "[[A]]\n"})
		w.call(t, "read_note", args{"note": "B"})
		if theirs {
			other := *w
			other.env.Seen = new(tools.Seen)
			other.call(t, "edit_note", args{"note": "B", "edits": []args{{"op": "append", "content": "theirs"}}})
		}
		moved, _ := w.call(t, "move_note", args{"note": "A", "to": "C.md"})
		require.Equal(t, []any{"B.md"}, moved["relinked"])
		mine := args{"note": "B", "edits": []args{{"op": "replace_all", "content": "mine\n"}}}
		if theirs {
			assert.Contains(t, w.fails(t, "edit_note", mine), "since this session last saw it")
			continue
		}
		w.call(t, "edit_note", mine)
		assert.Equal(t, "mine\n", w.disk(t, "B.md"))
	}
}

// The list of notes whose links an edit has changed is cut to the limit in both forms, which
// call checks.
func TestEditNote_ManyRelinked(t *testing.T) {
	files := map[string]string{"Hub.md": "# Hub\n\n## Part\n"}
	for i := range 40 {
		files[fmt.Sprintf("Projects/%s/Day %03d.md", strings.Repeat("a", 80), i)] = "[[Hub#Part]]\n"
	}
	w := newWorld(t, files)
	w.env.Limits.ResultBytes = 2048
	got, text := w.call(t, "edit_note", args{"note": "Hub", "edits": []args{{"op": "rename_heading", "heading": "Part", "new": "Piece"}}})
	assert.EqualValues(t, 40, got["relinked_total"])
	assert.Contains(t, text, "also changed (40):")
	assert.LessOrEqual(t, len(text), 2048)
}

// A change that writes a link to an alias, or to a heading that the other note lacks, says so. Links
// to notes that do not exist yet, and those that were broken before, get no remark.
func TestWrites_MistakenLinks(t *testing.T) {
	w := newWorld(t, map[string]string{
		"People/Jonas Weber.md": "---\naliases: [Jonas]\n---\n# Jonas Weber\n\n## Notes\n\n## Notes\n",
		"Day.md":                "# Day\n\n[[Jonas Weber#Old]] and [[#Gone]]\n",
		"Hub.md":                strings.Repeat("[[Nobody]]\n\n", 300) + "- [ ] ask [[Jonas]]\n\n",
	})
	alias := "Jonas, line 5 (title or alias of People/Jonas Weber.md; link by file name)"
	heading := "Jonas Weber#Note, line 5 (People/Jonas Weber.md has no #Note; near: Notes)"
	edits := []args{{"op": "append", "content": "With [[Jonas]], [[Jonas Weber#Note]], [[Jonas Weber]] and [[Later]]."}}
	out, text := w.call(t, "edit_note", args{"note": "Day", "edits": edits, "dry_run": true})
	assert.NotContains(t, out, "notes")
	assert.NotContains(t, text, "broken links")
	out, text = w.call(t, "edit_note", args{"note": "Day", "edits": edits})
	assert.Equal(t, []any{"broken links: ?? " + alias + "; ?? " + heading}, out["notes"])
	assert.Contains(t, text, "\n(broken links: ?? "+alias+"; ?? "+heading+")\n[diff ")
	out, _ = w.call(t, "edit_note", args{"note": "Day", "edits": []args{{"op": "prepend", "content": "[[Later]] and [[Jonas Weber]]"}}})
	assert.NotContains(t, out, "notes")

	// A line that had the link keeps it, many links before do not hide it, and the remark is short.
	out, _ = w.call(t, "edit_note", args{"note": "Hub", "edits": []args{{"op": "toggle_task", "text": "ask"}}})
	assert.NotContains(t, out, "notes")
	out, _ = w.call(t, "edit_note", args{"note": "Hub", "edits": []args{{"op": "append", "content": strings.Repeat("[[Jonas]] ", 7) + "\n\n[[Jonas Weber#" + strings.Repeat("x", 30_000) + "]]"}}})
	remark := out["notes"].([]any)[0].(string)
	assert.Equal(t, 5, strings.Count(remark, "?? Jonas, line 603 "), remark)
	assert.Contains(t, remark, "; and 3 more")

	out, text = w.call(t, "create_note", args{"title": "Meeting", "content": "[[Later]]", "front_matter": args{"attendees": []string{"[[Jonas]]"}}})
	assert.Equal(t, []any{"broken links: ?? Jonas, line 3 (title or alias of People/Jonas Weber.md; link by file name)"}, out["notes"])
	assert.Contains(t, text, "broken links: ?? Jonas, line 3")
}

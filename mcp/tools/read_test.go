package tools_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/phrase"
	"notesd/mcp/tools"
	"notesd/notes"
	"notesd/search"
)

// A note that is too long for one result can be read to its end by next_lines, byte for
// byte, whatever its lines contain, and so can its outline.
func TestReadingOn(t *testing.T) {
	var long strings.Builder
	long.WriteString("---\ntags: [a]\n---\n# Träume 🎉\n")
	for i := range 200 {
		fmt.Fprintf(&long, "\n## Abschnitt %d\n\n%s\t\"quoted\" <b>\\ \r\n", i, strings.Repeat("schöne 日本 ", i%40))
	}
	w := newWorld(t, map[string]string{"Lang ß.md": long.String(), "Empty.md": ""})
	for _, most := range []int{2_000, 5_000, 30_000, 200_000} {
		var text strings.Builder
		a := args{"note": "Lang ß", "max_bytes": most}
		for next, pages := 1, 0; ; pages++ {
			require.Less(t, pages, 100)
			page, said := w.call(t, "read_note", a)
			assert.InDelta(t, next, page["line_start"], 0)
			text.WriteString(page["content"].(string))
			lines, more := page["next_lines"].(string)
			assert.Equal(t, more, page["truncated"])
			if !more {
				break
			}
			assert.Contains(t, said, "read on with lines \""+lines+"\"")
			next = int(page["line_end"].(float64)) + 1
			a["lines"] = lines
		}
		assert.Equal(t, long.String(), text.String(), "in pages of %d bytes", most)
	}
	headings := 0
	w.env.Limits.ResultBytes = 3_000
	for a := (args{"note": "Lang ß", "outline": true}); ; {
		page, said := w.call(t, "read_note", a)
		headings += len(page["outline"].([]any))
		lines, more := page["next_lines"].(string)
		if !more {
			break
		}
		assert.Contains(t, said, lines)
		a["lines"] = lines
	}
	assert.Equal(t, 201, headings)
	empty, _ := w.call(t, "read_note", args{"note": "Empty"})
	assert.Equal(t, []any{1.0, 1.0, 1.0, ""}, []any{empty["line_start"], empty["line_end"], empty["total_lines"], empty["content"]})
}

// A part can be selected by heading, by lines or by both, in arguments or in the reference.
func TestReadParts(t *testing.T) {
	w := newWorld(t, map[string]string{"Plan.md": "# Plan\n\n## Risks\n\nsnails\nslugs\n\n### Rain\n\nwet\n\n## Costs\n\nten\n", "C# 5.md": "sharp\n"})
	for _, c := range []struct {
		args  args
		first float64
		want  string
	}{
		{args{"note": "Plan", "heading": "Costs"}, 12, "## Costs\n\nten\n"},
		{args{"note": "Plan#Costs"}, 12, "## Costs\n\nten\n"},
		{args{"note": "[[Plan#Risks > Rain]]"}, 8, "### Rain\n\nwet\n\n"},
		{args{"note": "Plan", "heading": "Risks > Rain"}, 8, "### Rain\n\nwet\n\n"},
		{args{"note": "Plan", "lines": "5-6"}, 5, "snails\nslugs\n"},
		{args{"note": "Plan.md:5-6"}, 5, "snails\nslugs\n"},
		{args{"note": "Plan", "lines": "13-"}, 13, "\nten\n"},
		{args{"note": "Plan", "lines": "-1"}, 1, "# Plan\n"},
		{args{"note": "Plan", "lines": "14-99"}, 14, "ten\n"},
		{args{"note": "Plan", "heading": "Risks", "lines": "1-5"}, 3, "## Risks\n\nsnails\n"},
		{args{"note": "Plan#Costs", "lines": "1"}, 0, "lie outside of the section \"Costs\""},
		{args{"note": "C# 5"}, 1, "sharp\n"},
		{args{"note": "Plan", "lines": "99"}, 0, "pass lines from 1 to 14"},
		{args{"note": "Plan", "lines": "6-5"}, 0, "lines must be a range like 10-40"},
		{args{"note": "Plan", "lines": "a-b"}, 0, "lines must be a range like 10-40"},
		{args{"note": "Plan", "lines": "0"}, 0, "lines must be a range like 10-40"},
		{args{"note": "Plan", "heading": "Gains"}, 0, `there is no heading "Gains"`},
		{args{"note": "Plan#^gains"}, 0, `there is no block "^gains"`},
		{args{}, 0, "pass a note, or several as notes"},
		{args{"note": "Plan", "revision": 1, "as_of": "today"}, 0, "pass revision or as_of, not both"},
		{args{"note": "Plan", "as_of": "soon"}, 0, "as_of must be a time like 2026-01-31"},
	} {
		if c.first == 0 {
			assert.Contains(t, w.fails(t, "read_note", c.args), c.want, "%v", c.args)
			continue
		}
		got, _ := w.call(t, "read_note", c.args)
		assert.Equal(t, []any{c.first, c.want}, []any{got["line_start"], got["content"]}, "%v", c.args)
		assert.Regexp(t, fmt.Sprintf("#L%v-L%v$", got["line_start"], got["line_end"]), got["anchor"])
	}
	one, err := tools.Part("# A\nx\n# B\ny\n", notes.Anchor{Heading: "B"})
	require.NoError(t, err)
	assert.Equal(t, "# B\ny\n", one)
}

// Several notes share the space of one result. An error in one does not prevent the others
// from being read, and notes that did not fit are named.
func TestReadSeveral(t *testing.T) {
	files := map[string]string{"Long.md": strings.Repeat("a long line of text\n", 2_000)}
	var refs []string
	for i := range 40 {
		refs = append(refs, fmt.Sprintf("N%02d", i))
		files[refs[i]+".md"] = fmt.Sprintf("text %02d\n", i)
	}
	w := newWorld(t, files)
	got, text := w.call(t, "read_note", args{"notes": []string{"Long", "N01", "Nowhere", "N02"}, "hint": "x"})
	assert.Len(t, got["results"], 3)
	assert.Equal(t, true, got["truncated"])
	assert.Equal(t, true, got["results"].([]any)[0].(args)["truncated"])
	assert.Contains(t, text, "text 01")
	assert.Contains(t, text, "text 02")
	assert.Contains(t, text, "Nowhere: ")
	assert.Equal(t, 1, strings.Count(text, "ignored the unknown argument"))

	w.env.Limits.ResultBytes = 6_000
	got, text = w.call(t, "read_note", args{"notes": refs})
	read := len(got["results"].([]any))
	assert.Less(t, read, 40)
	assert.Contains(t, text, "omitted to save space: "+refs[read])
	assert.Contains(t, w.fails(t, "read_note", args{"notes": make([]string, 51)}), "pass 50 at most")
	assert.Equal(t, 2, strings.Count(w.fails(t, "read_note", args{"notes": []string{"Nope", "Neither"}}), "no such note"), "each is named")
	both, _ := w.call(t, "read_note", args{"note": "N01", "notes": []string{"N02"}})
	assert.Len(t, both["results"], 2)
}

// Notes that do not all fit into one result are shown whole, as far as there is room, rather
// than the beginning of each, which would take a call for the rest of each.
func TestReadSeveral_Whole(t *testing.T) {
	files := map[string]string{}
	var refs []string
	for day := range 30 {
		refs = append(refs, fmt.Sprintf("Daily/2026-11-%02d.md", day+1))
		files[refs[day]] = fmt.Sprintf("---\ntags: [daily]\n---\n## Log\n\n%s\n## Tasks\n\n- [ ] task %d\n", strings.Repeat("- called Anna about the boat\n", 10), day)
	}
	w := newWorld(t, files)
	for _, a := range []args{{"notes": refs}, {"notes": refs, "max_bytes": 7_500}} {
		got, text := w.call(t, "read_note", a)
		read := len(got["results"].([]any))
		require.Less(t, read, len(refs), "%v", a["max_bytes"])
		assert.Greater(t, read, 15, "%v", a["max_bytes"])
		assert.LessOrEqual(t, strings.Count(text, "There is more"), 1, "of the last note")
		assert.Contains(t, text, "omitted to save space: "+refs[read])
		assert.LessOrEqual(t, len(text), w.env.Limits.ResultBytes)
	}
}

// A note that does not fit is shown without the drawing at its end, which can be read by its
// lines.
func TestReadDrawing(t *testing.T) {
	words := "---\nexcalidraw-plugin: parsed\n---\n# Text Elements\nPelican ^a1b2c3d4\n\n%%\n# Drawing\n"
	drawing := "```compressed-json\n" + strings.Repeat(strings.Repeat("N4KAkARALgng", 20)+"\n\n", 100) + "```\n%%\n"
	w := newWorld(t, map[string]string{"Big.md": words + drawing, "Small.md": words + drawing[:300] + "\n```\n%%\n"})
	got, text := w.call(t, "read_note", args{"note": "Big"})
	assert.Equal(t, words, got["content"])
	assert.Equal(t, "9-211", got["next_lines"])
	assert.Contains(t, text, "(lines 9-211 are data for programs, such as a drawing)")
	got, _ = w.call(t, "read_note", args{"note": "Big", "lines": "9-211"})
	assert.True(t, strings.HasPrefix(drawing, got["content"].(string)))
	assert.Greater(t, len(got["content"].(string)), 10_000)
	got, text = w.call(t, "read_note", args{"note": "Small"})
	assert.Equal(t, false, got["truncated"])
	assert.NotContains(t, text, "drawing)")
}

// A past version of a note is marked as such, and for an attachment the error names its
// resource.
func TestReadThePastAndAttachments(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "old ![[p.png]]\n", "p.png": "x"})
	now, text := w.call(t, "read_note", args{"note": "A"})
	assert.Equal(t, []any{args{"uri": "note:///p.png", "type": "image/png", "size": 1.0}}, now["attachments"])
	assert.Contains(t, text, "note:///p.png (image/png, 1 bytes)")
	w.call(t, "edit_note", args{"note": "A", "edits": []args{{"op": "replace_all", "content": "new\n"}}})
	history, _ := w.call(t, "note_history", args{"note": "A"})
	revisions := history["revisions"].([]any)
	require.Len(t, revisions, 2)
	newest, first := revisions[0].(args)["revision"], revisions[1].(args)["revision"]
	hash := revisions[0].(args)["hash"]
	assert.Equal(t, notes.ShortHash(notes.Hash([]byte("new\n"))), hash)
	w.call(t, "restore_note", args{"note": "A", "revision": first, "expected_hash": hash, "dry_run": true})
	was, text := w.call(t, "read_note", args{"note": "A", "revision": first})
	assert.Equal(t, "old ![[p.png]]\n", was["content"])
	assert.Contains(t, text, "may not be what the note says now")
	diff, text := w.call(t, "note_history", args{"note": "A", "diff": []any{newest, first}})
	assert.Contains(t, diff["diff"], "-old")
	assert.Contains(t, diff["diff"], "+new")
	assert.Contains(t, text, fmt.Sprintf("From revision %v to %v", first, newest))
	_, text = w.call(t, "note_history", args{"note": "A", "diff": []any{first, first}})
	assert.Contains(t, text, "nothing changed")
	for want, a := range map[string]args{
		"a note and two of its revisions": {"note": "A", "diff": []any{first}},
		"no revision 99":                  {"note": "A", "diff": []any{first, 99}},
		"since must be a time":            {"since": "soon"},
	} {
		assert.Contains(t, w.fails(t, "note_history", a), want)
	}
	w.call(t, "edit_note", args{"note": "A", "edits": []args{{"op": "append", "content": "![[p.png]]"}}})
	assert.Contains(t, w.fails(t, "read_note", args{"note": "p.png"}), "this is an attachment (image/png, 1 bytes), not a note")
}

// A passage is found again by whole lines, blank ones included.
func TestReadNote_AnchorOfWholeLines(t *testing.T) {
	w := newWorld(t, map[string]string{"X.md": "# A\na\n\n# B\nb\n\n- [ ] Call Bob\n"})
	section, _ := w.call(t, "read_note", args{"note": "X#A"})
	task, _ := w.call(t, "read_note", args{"note": "X", "lines": "7"})
	w.call(t, "edit_note", args{"note": "X", "edits": []args{{"op": "append", "content": "more"}}})
	got, _ := w.call(t, "read_note", args{"note": section["anchor"]})
	assert.Empty(t, got["notes"], "the section is where it was")
	w.call(t, "edit_note", args{"note": "X", "edits": []args{{"op": "replace_text", "old": "Bob", "new": "Bob's sister"}}})
	_, text := w.call(t, "read_note", args{"note": task["anchor"]})
	assert.Contains(t, text, "may be another passage")

	for line, want := range map[string]string{"1": "2-2", "2": "3-3", "4": "5-5", "5": "6-6"} { // the nearest
		w := newWorld(t, map[string]string{"Y.md": "same\n# Y\nx\nsame\nend\n"})
		was, _ := w.call(t, "read_note", args{"note": "Y", "lines": line})
		w.call(t, "edit_note", args{"note": "Y", "edits": []args{{"op": "replace_text", "old": "same\n# Y\nx", "new": "new\nsame\n# Y\nx"}}})
		got, _ := w.call(t, "read_note", args{"note": was["anchor"]})
		assert.Contains(t, got["anchor"], "#L"+strings.Replace(want, "-", "-L", 1), line)
	}
}

// The anchor of an older version shows its passage where that is now, or says that it may not.
func TestReadNote_AnchorOfAnOlderVersion(t *testing.T) {
	w := newWorld(t, map[string]string{"X.md": "## X\nalpha line ![[p.png]]\nbeta line\n", "p.png": "x"})
	passage, _ := w.call(t, "read_note", args{"note": "X", "lines": "2"})
	end, _ := w.call(t, "read_note", args{"note": "X", "lines": "3"})
	w.call(t, "edit_note", args{"note": "X", "edits": []args{{"op": "prepend", "content": "one\ntwo\nthree"}}})
	read := func(anchor any) (args, string) {
		t.Helper()
		got, text := w.call(t, "read_note", args{"note": anchor})
		return got, text
	}
	got, text := read(passage["anchor"])
	assert.Equal(t, "alpha line ![[p.png]]\n", got["content"])
	assert.NotEmpty(t, got["attachments"])
	assert.Contains(t, text, "(the passage of lines 2-2 is in lines 6-6 now)")
	got, _ = read(got["anchor"])
	assert.Empty(t, got["notes"])

	w.call(t, "edit_note", args{"note": "X", "edits": []args{{"op": "replace_text", "old": "beta line", "new": "gamma"}}})
	got, text = read(end["anchor"])
	assert.Equal(t, "three\n", got["content"])
	assert.Contains(t, text, "(the note has changed since this anchor: these lines may be another passage; note_history lists the versions)")
	got, _ = read("note:///X.md?rev=000000000000#L6-L6")
	assert.Len(t, got["notes"], 1, "history does not have this version")
	got, _ = w.call(t, "read_note", args{"note": end["anchor"], "lines": "1"})
	assert.Empty(t, got["notes"], "these lines are not those of the anchor")
	w.call(t, "edit_note", args{"note": "X", "edits": []args{{"op": "append", "content": "more"}}})
	got, _ = read(strings.ReplaceAll(passage["anchor"].(string), "#L2-L2", "#L1-L1"))
	assert.Equal(t, "## X\n", got["content"])
}

// The index does not have canvases: a search without good hits names those with its words.
func TestSearchNotes_Canvases(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "# A\nalpaca\n", "Boards/Launch.canvas": `{"nodes":[{"id":"a","type":"text","text":"The Zebra rollout, alpaca"}]}`, "B.canvas": "{", "Views.base": "zebra rollout"})
	const remark = `most of the words are on these canvases, which are not searched; read_note shows them: "Boards/Launch.canvas"`
	for query, want := range map[string]bool{"zebra rollout": true, "zebra parade": false, "alpaca": false, "zebra tag:x": false,
		"zebra -alpaca": false, `zebra "no phrase"`: false, "zebra rollout?": true,
		"zebra rollout alpaca": true, "when does the zebra roll out": false, "what are the zebras for at the launch": true, "zebra rollout parade of alpacas": true, "alpaca launch in March": true, "rollout": true, "roll": false} {
		_, text := w.call(t, "search_notes", args{"query": query})
		assert.Equal(t, want, strings.Contains(text, remark), "%s: %s", query, text)
	}
	_, text := w.call(t, "search_notes", args{"query": "zebra", "folder": "Other"})
	assert.NotContains(t, text, "canvases")
	w.env.Scope = notes.Scope{Read: []string{"Private"}}
	_, text = w.call(t, "search_notes", args{"query": "zebra"})
	assert.NotContains(t, text, "canvases")
}

// An attachment may be named without its folder, like a note. Several with one name are
// listed.
func TestReadNote_AttachmentByName(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "![[Media/p.svg]] ![[Media/q.svg]] ![[Old/q.svg]]\n", "Media/p.svg": "x", "Media/q.svg": "x", "Old/q.svg": "x", "Media/free.svg": "x"})
	fails := func(ref string) string { return w.fails(t, "read_note", args{"note": ref}) }
	assert.Contains(t, fails("p.svg"), "attachment (image/svg+xml, 1 bytes), not a note. search_notes with its name finds the notes that show it. Read it as the resource note:///Media/p.svg")
	assert.Contains(t, fails("q.svg"), "Did you mean one of these?")
	for _, none := range []string{"free.svg", "none.svg", "note:///p.svg"} {
		assert.Contains(t, fails(none), "there is no such note", none)
	}
}

// gather_context shows the text of copies once.
func TestGatherContext_Copies(t *testing.T) {
	w := newWorld(t, map[string]string{"Bread.md": "# Rye\n\nProof the rye loaf overnight.\n", "Old/Bread copy.md": "# Rye\n\nProof the rye loaf overnight.\n", "Cake.md": "No rye in a cake.\n"})
	got, text := w.call(t, "gather_context", args{"query": "rye"})
	assert.Len(t, got["passages"], 2)
	assert.Equal(t, 1, strings.Count(text, "overnight"))
	assert.Regexp(t, `omitted, with the same text as a passage above: (Old/Bread copy|Bread)\.md`, text)
}

// The same rows below other column names are no copy.
func TestGatherContext_RowsUnderOtherColumns(t *testing.T) {
	table := func(head string) string {
		return "# T\n\n| Name | " + head + " |\n|---|---|\n" + strings.Repeat("| plain | 1 |\n", 400) + "| zebra | 4711 |\n" + strings.Repeat("| plain | 1 |\n", 90)
	}
	w := newWorld(t, map[string]string{"Costs.md": table("Costs"), "Sales.md": table("Sales")})
	got, _ := w.call(t, "gather_context", args{"query": "zebra"})
	require.Len(t, got["passages"], 2)
	a, b := got["passages"].([]any)[0].(args), got["passages"].([]any)[1].(args)
	assert.Equal(t, a["text"], b["text"])
	assert.NotEqual(t, a["columns"], b["columns"])
}

// The part of a long passage that is shown has the words of the query, wherever the passage is in its note.
func TestGatherContext_PartOfLongLine(t *testing.T) {
	line := strings.Repeat("flour and water, ", 80) + "the zebra code is 4711, " + strings.Repeat("salt and oil, ", 200)
	w := newWorld(t, map[string]string{"Long.md": "# Long\n\n" + strings.Repeat("Other words here.\n", 150) + "\n## Line\n\n" + line + "\n"})
	got, _ := w.call(t, "gather_context", args{"query": "zebra code", "max_bytes": 2_000})
	require.Len(t, got["passages"], 1)
	assert.Contains(t, got["passages"].([]any)[0].(args)["text"], "the zebra code is 4711")
}

// A note without text, or whose file has just been deleted, is no passage that did not fit.
func TestGatherContext_NothingToShow(t *testing.T) {
	w := newWorld(t, map[string]string{"Garden plan.md": "", "Gone.md": "Garden plan of the school\n"})
	require.NoError(t, os.Remove(filepath.Join(w.root, "Gone.md"))) // the watcher, which this world lacks, has not noticed
	got, text := w.call(t, "gather_context", args{"query": "garden plan"})
	assert.EqualValues(t, 2, got["total"])
	assert.EqualValues(t, 0, got["left_out"])
	assert.Empty(t, got["passages"])
	assert.Contains(t, text, "No passages for")
}

// A passage that begins within a table is shown with its column names, and both can be quoted.
func TestGatherContext_TableRows(t *testing.T) {
	rows := strings.Repeat("| 2024-01-02 | ferritin | 20 |\n", 90)
	w := newWorld(t, map[string]string{"Lab.md": "# Lab\n\n| Date | Test | Value |\n|---|---|---|\n" + rows + "| 2025-01-07 | homocysteine | 14 |\n" + rows})
	got, text := w.call(t, "gather_context", args{"query": "value of homocysteine"})
	assert.Equal(t, "| Date | Test | Value |", got["passages"].([]any)[0].(args)["columns"])
	quotes := []args{}
	for _, m := range regexp.MustCompile(`(?s)\[\w+ "(\S+)" (\w+)\]\n(.*?)\n\[end`).FindAllStringSubmatch(text, -1) {
		quotes = append(quotes, args{"anchor": m[1], "quote": m[3]})
	}
	require.NotEmpty(t, quotes)
	assert.Contains(t, quotes[0]["anchor"], "#L3-L3")
	checked, _ := w.call(t, "check_quotes", args{"quotes": quotes})
	for _, r := range checked["results"].([]any) {
		assert.Equal(t, "exact", r.(args)["verdict"])
	}
}

// Column names take no room from the passage, have a limit, and are without data in base64.
func TestGatherContext_LongColumns(t *testing.T) {
	table := func(names string) string {
		return "# Lab\n\n| Test | " + names + " |\n|--|--|\n" + strings.Repeat("| ferritin | 20 |\n", 120) + "| homocysteine | 14 |\n"
	}
	for _, c := range []struct {
		names    string
		maxBytes int
		want     any
	}{
		{"Value", 12_000, "| Test | Value |"},
		{"Value " + strings.Repeat("x", 500), 500, nil},
		{strings.Repeat("é", 40_000), 100_000, nil},
		{"![](data:image/png;base64," + strings.Repeat("iVBORw0KGgo", 60) + ")", 12_000, "| Test | ![]( … ) |"},
	} {
		w := newWorld(t, map[string]string{"Lab.md": table(c.names)})
		got, _ := w.call(t, "gather_context", args{"query": "homocysteine", "max_bytes": c.maxBytes})
		require.Len(t, got["passages"], 1, "%.20s", c.names)
		assert.Equal(t, c.want, got["passages"].([]any)[0].(args)["columns"], "%.20s", c.names)
	}
}

// gather_context keeps its budget and reports what it cut or omitted; each passage is in
// its note at the lines of its anchor.
func TestGatherContext(t *testing.T) {
	files := map[string]string{"One line.md": "# One line\n\n" + strings.Repeat("rye bread and butter, ", 400) + "\n"}
	for i := range 30 {
		files[fmt.Sprintf("Brot/Tag %02d ß.md", i)] = fmt.Sprintf("# Day %d\n\nRye bread number %d, baked for the day.\n", i, i)
	}
	w := newWorld(t, files)
	for _, budget := range []int{500, 1_000, 4_000, 50_000} {
		got, text := w.call(t, "gather_context", args{"query": "rye bread", "max_bytes": budget})
		passages := got["passages"].([]any)
		require.NotEmpty(t, passages, budget)
		size := 0
		var quotes []args
		for _, p := range passages {
			p := p.(args)
			size += len(phrase.Fence("passage", p["anchor"].(string), p["text"].(string)))
			assert.Contains(t, text, p["text"])
			quotes = append(quotes, args{"anchor": p["anchor"], "quote": p["text"]})
		}
		assert.LessOrEqual(t, size, budget)
		if got["left_out"] != 0.0 {
			assert.Contains(t, text, fmt.Sprintf("%v more did not fit", got["left_out"]))
		}
		w.env.Limits.ResultBytes = 100_000
		checked, _ := w.call(t, "check_quotes", args{"quotes": quotes})
		w.env.Limits.ResultBytes = 20_000
		for i, r := range checked["results"].([]any) {
			assert.Equal(t, "exact", r.(args)["verdict"], "%v", quotes[i])
		}
	}
	none, text := w.call(t, "gather_context", args{"query": "zebra"})
	assert.Empty(t, none["passages"])
	assert.Contains(t, text, "the notes do not have the answer")
	only, _ := w.call(t, "gather_context", args{"query": "rye bread", "folder": "/Brot/", "max_bytes": 900})
	later, text := w.call(t, "gather_context", args{"query": "rye bread", "after": "2100-01-01"})
	assert.Empty(t, later["passages"])
	assert.Contains(t, text, "no note is dated on or after 2100-01-01")
	assert.NotContains(t, text, "list_notes")
	later, text = w.call(t, "gather_context", args{"query": "rye zebra quagga xylophone marmalade telescope", "after": "1990-01-01"})
	assert.Contains(t, text, "omitted as weak matches")
	assert.Contains(t, later["notes"], "list_notes with the same after and before lists the notes of that time")
	later, text = w.call(t, "gather_context", args{"query": "zebra", "after": "1990-01-01"})
	assert.Contains(t, text, "list_notes with the same after and before lists the notes of that time")
	assert.Contains(t, later["notes"], "list_notes with the same after and before lists the notes of that time")
	for _, p := range only["passages"].([]any) {
		assert.Contains(t, p.(args)["path"], "Brot/")
	}
	assert.Contains(t, w.fails(t, "gather_context", args{"query": " "}), "query is empty")
}

// A passage has the note's own text, with the spaces of a table, but not the link reference
// definitions that Foam writes below it.
func TestGatherContext_Text(t *testing.T) {
	const table = "| Bread" + "                                             " + "| Hours |\n|---|---|\n| rye                                               | 12 |"
	w := newWorld(t, map[string]string{
		"Baking.md": "# Baking\n\n" + table + "\n\nSee [[rye]].\n\n[rye]: ../Flour/rye.md 'Rye and other flours of the mill'\n",
	})
	got, _ := w.call(t, "gather_context", args{"query": "rye bread"})
	assert.Equal(t, "# Baking\n\n"+table+"\n\nSee [[rye]].", got["passages"].([]any)[0].(args)["text"])
	read, _ := w.call(t, "read_note", args{"note": "Baking"})
	assert.Contains(t, read["content"], "[rye]: ../Flour/rye.md")
}

// A quote is compared with the current note and with the version of its anchor.
func TestCheckQuotes(t *testing.T) {
	w := newWorld(t, map[string]string{"A ß.md": "# A\n\nThe cat sat on the mat and purred loudly today.\n\nAnother line entirely.\n", "B.md": "b\n", "Owl.md": "The owl hoots.\n\n\n\nThe owl hoots.\n\n\n\n\n\nThe owl hoots.\n"})
	search, _ := w.call(t, "read_note", args{"note": "A ß", "lines": "3"})
	anchor := search["anchor"]
	said := "The cat sat on the mat and purred loudly today."
	check := func(anchor any, quote string) (args, string) {
		got, text := w.call(t, "check_quotes", args{"quotes": []args{{"anchor": anchor, "quote": quote}}})
		result := got["results"].([]any)[0].(args)
		assert.True(t, strings.HasPrefix(text, "1. "+result["verdict"].(string)), text)
		return result, text
	}
	got, _ := check(anchor, said)
	assert.Equal(t, "exact", got["verdict"])
	got, _ = check("A ß.md:5", said)
	assert.Equal(t, "moved", got["verdict"])
	got, _ = check(anchor, "zebras in the snow eat nothing at all")
	assert.Equal(t, args{"verdict": "absent"}, got)
	for line, nearest := range map[int]int{2: 1, 4: 5, 7: 5, 9: 11, 11: 11} {
		got, _ = check(fmt.Sprintf("Owl.md:%d", line), "The owl hoots.")
		assert.Contains(t, got["anchor"], fmt.Sprintf("#L%d", nearest), line)
	}
	got, _ = check("Nowhere.md:1", said)
	assert.Equal(t, args{"verdict": "absent", "detail": "there is no such note"}, got)
	got, _ = check("note:///A%20%C3%9F.md?rev=123456789abc#L3-L3", said)
	assert.Equal(t, "exact", got["verdict"], "a version that history does not have")

	w.call(t, "edit_note", args{"note": "A ß", "edits": []args{{"op": "replace_text", "old": "cat sat", "new": "dog sat"}, {"op": "prepend", "content": "First."}}})
	got, text := check(anchor, said)
	assert.Equal(t, "changed", got["verdict"])
	assert.Equal(t, "-The cat sat on the mat and purred loudly today.\n+The dog sat on the mat and purred loudly today.\n", got["diff"])
	assert.Contains(t, text, "+The dog sat")
	w.env.Limits.ResultBytes = 200
	got, text = check(anchor, said)
	assert.NotContains(t, got, "diff")
	assert.Contains(t, text, "the diffs are omitted to save space")
	w.env.Limits.ResultBytes = 20_000
	w.call(t, "move_note", args{"note": "A ß", "to": "C.md"})
	got, text = check(anchor, "Another line entirely.")
	assert.Equal(t, []any{"moved", "the note was moved"}, []any{got["verdict"], got["detail"]})
	assert.Contains(t, text, " (the note was moved)")
	w.call(t, "delete_note", args{"note": "C"})
	got, _ = check(anchor, said)
	assert.Equal(t, []any{"changed", "the note was deleted"}, []any{got["verdict"], got["detail"]})

	var many []args
	for range 100 {
		many = append(many, args{"anchor": "B.md:1", "quote": strings.Repeat("b nothing like it ", 20)})
	}
	w.call(t, "check_quotes", args{"quotes": many})
	for want, quotes := range map[string][]args{
		"quotes is empty":   {},
		"quote 1 of 1":      {{"anchor": "B", "quote": " "}},
		"pass 100 at most":  append(many, many[0]),
		"quote is required": {{"anchor": "B"}},
	} {
		assert.Contains(t, w.fails(t, "check_quotes", args{"quotes": quotes}), want)
	}
}

// A session that may not read a folder learns nothing about it from any tool.
func TestNothingOfAnotherFolder(t *testing.T) {
	w := newWorld(t, map[string]string{
		"In/A.md":          "# A\n\n[[Hidden]] [[Out/Hidden]] soup #in\n\n- [ ] cook soup\n",
		"Out/Hidden.md":    "---\naliases: [Soupname]\n---\n# Hiddentitle\n\n[[A]] soup #outtag\n\n- [ ] buy hiddensoup\n",
		"Out/Deep/More.md": "# More hiddensoup\n\nsoup [[In/A]] #outtag\n",
	})
	w.call(t, "edit_note", args{"note": "Hidden", "edits": []args{{"op": "append", "content": "hiddensoup again"}}})
	w.env.Scope = notes.Scope{Read: []string{"In"}}
	w.env.Seen = new(tools.Seen)
	for _, c := range []struct {
		tool string
		args args
	}{
		{"search_notes", args{"query": "soup", "explain": true}}, {"search_notes", args{"query": "soup", "as_of": "today"}}, {"search_notes", args{"query": "hiddensoup"}},
		{"read_note", args{"note": "A"}}, {"list_notes", args{}}, {"list_notes", args{"as_of": "today"}}, {"list_notes", args{"folder": "Other"}},
		{"list_tasks", args{}}, {"list_tasks", args{"tags": []string{"outta"}}}, {"related_notes", args{"note": "A"}}, {"gather_context", args{"query": "soup"}},
		{"vault_overview", args{}}, {"vault_overview", args{"list": "tags"}}, {"vault_overview", args{"list": "folders"}}, {"note_history", args{}},
		{"move_note", args{"note": "A", "to": "In/B.md", "update_links": false, "dry_run": true}}, {"delete_note", args{"note": "A", "dry_run": true}},
		{"check_quotes", args{"quotes": []args{{"anchor": "Out/Hidden.md:1", "quote": "soup"}}}},
	} {
		structured, text := w.call(t, c.tool, c.args)
		for _, secret := range []string{"Hiddentitle", "buy hidden", "outtag", "Out/Deep", "More.md", "Soupname"} {
			assert.NotContains(t, strings.ToLower(text+fmt.Sprint(structured)), strings.ToLower(secret), "%s %v", c.tool, c.args)
		}
	}
	for tool, a := range map[string]args{
		"read_note": {"note": "Out/Hidden"}, "note_links": {"note": "Soupname"}, "related_notes": {"note": "Hiddentitle"},
		"edit_note":   {"note": "Out/Hidden.md", "edits": []args{{"op": "append", "content": "x"}}},
		"delete_note": {"note": "A", "redirect": "Hidden"},
	} {
		assert.Contains(t, w.fails(t, tool, a), "no such note", tool)
	}
	assert.NotContains(t, w.fails(t, "create_note", args{"title": "Hidden", "folder": "Out", "content": "x"}), "exists")
}

// A change without a hash is rejected if others have changed the note since the session saw
// it; the error says to read it again.
func TestChanges_OfUnseenVersions(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "# A\n\none\n"})
	other := *w
	other.env.Seen = new(tools.Seen)
	for i, c := range []struct {
		tool string
		args args
	}{
		{"edit_note", args{"note": "A", "edits": []args{{"op": "replace_all", "content": "mine\n"}}}},
		{"edit_note", args{"note": "A", "edits": []args{{"op": "replace_section", "heading": "A", "content": "mine\n"}}}},
		{"restore_note", args{"note": "A", "revision": 1}},
		{"delete_note", args{"note": "A"}},
	} {
		w.call(t, "read_note", args{"note": "A"})
		other.call(t, "edit_note", args{"note": "A", "edits": []args{{"op": "append", "content": fmt.Sprint("theirs ", i)}}})
		assert.Contains(t, w.fails(t, c.tool, c.args), "since this session last saw it; nothing was written. Read it again", "%v", c)
		c.args["expected_hash"] = "0000"
		assert.NotContains(t, w.fails(t, c.tool, c.args), "this session last saw", "%v", c)
		assert.Contains(t, w.fails(t, c.tool, c.args), "expected_hash", "%v", c)
	}
	w.call(t, "edit_note", args{"note": "A", "edits": []args{{"op": "append", "content": "mine"}}})
	read, _ := w.call(t, "read_note", args{"note": "A"})
	assert.Contains(t, read["content"], "theirs 3")
	w.call(t, "delete_note", args{"note": "A", "expected_hash": read["hash"]})
}

// A result about the past says so, and shows the passage with the most words of the query.
func TestSearchNotes_AsOf(t *testing.T) {
	filler := strings.Repeat("more words about nothing\n", 80)
	text := "# Bread\n\nrye flour\n\n" + filler + "\n## Oven\n\nrye at 250 degrees\n\n" + filler
	w := newWorld(t, map[string]string{"Bread.md": text})
	lines := strings.Split(text, "\n")
	const remark = "as it was at 2026-02-04 "
	for query, want := range map[string]string{"rye degrees": "rye at 250 degrees", "rye flour": "rye flour"} {
		found, text := w.call(t, "search_notes", args{"query": query, "as_of": "today"})
		hit := found["results"].([]any)[0].(args)
		assert.Equal(t, want, hit["snippet"])
		assert.Contains(t, lines[int(hit["line_start"].(float64))-1:int(hit["line_end"].(float64))], want)
		assert.NotEqual(t, "Bread", hit["heading"], "a heading that is the title is omitted")
		assert.Contains(t, text, "("+remark)
		assert.Contains(t, fmt.Sprint(found["notes"]), remark)
	}
	now, _ := w.call(t, "search_notes", args{"query": "flour"})
	assert.NotContains(t, now["results"].([]any)[0], "heading")
	_, text = w.call(t, "list_notes", args{"as_of": "today"})
	assert.Contains(t, text, remark)
}

// The notes of the past are sorted by when they were created, rather than by their date.
func TestListNotes_AsOfCreated(t *testing.T) {
	w := newWorld(t, map[string]string{"Old.md": "---\ncreated: 2020-01-01\ndate: 2026-01-02\n---\n", "New.md": "---\ncreated: 2025-01-01\ndate: 2026-01-01\n---\n"})
	for _, when := range []string{"", "today"} {
		_, text := w.call(t, "list_notes", args{"sort": "created", "as_of": when})
		assert.Less(t, strings.Index(text, "New"), strings.Index(text, "Old"), "%q", when)
	}
}

// Both forms of a result have the date that a note states in its front matter, unless the path
// says it: it shows what is out of date.
func TestHits_Dates(t *testing.T) {
	w := newWorld(t, map[string]string{"Old.md": "---\ndate: 2026-01-02\n---\nheat pump one\n", "Log/2026-02-03.md": "heat pump two\n", "Plain.md": "heat pump three\n"})
	dates := func(results any) (all []any) {
		for _, r := range results.([]any) {
			if date, ok := r.(args)["date"]; ok {
				all = append(all, []any{r.(args)["path"], date})
			}
		}
		return all
	}
	found, text := w.call(t, "search_notes", args{"query": "heat pump"})
	assert.Equal(t, []any{[]any{"Old.md", "2026-01-02"}}, dates(found["results"]))
	assert.Contains(t, text, "Old.md:4-4 (2026-01-02)\n")
	assert.Contains(t, text, "Log/2026-02-03.md:1-1\n")
	assert.Contains(t, text, "Plain.md:1-1\n")
	found, text = w.call(t, "gather_context", args{"query": "heat pump"})
	assert.Equal(t, []any{[]any{"Old.md", "2026-01-02"}}, dates(found["passages"]))
	assert.Contains(t, text, "[passage (2026-01-02) \"note:///Old.md")
	assert.NotContains(t, text, "(2026-02-03)")
	assert.Equal(t, 1, strings.Count(text, "[passage ("))
}

// Only a line that is cut in its middle is reported as cut; after whole lines, the note can
// be read on.
func TestReadNote_CutLine(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": strings.Repeat("long ", 100) + "\nshort\n", "B.md": "short\n" + strings.Repeat("long ", 100) + "\n"})
	cut, text := w.call(t, "read_note", args{"note": "A", "max_bytes": 50})
	assert.Contains(t, text, "line 1 is cut: raise max_bytes to see all of it")
	assert.Equal(t, "2-2", cut["next_lines"])
	cut, text = w.call(t, "read_note", args{"note": "B", "max_bytes": 50})
	assert.NotContains(t, text, "is cut")
	assert.Equal(t, []any{"short\n", "2-2"}, []any{cut["content"], cut["next_lines"]})
}

// Of two notes of the past, the one with more of the words comes first.
func TestSearchNotes_AsOfOrder(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "rye\n", "B.md": "rye rye rye\n", "C.md": "rye rye\n"})
	found, _ := w.call(t, "search_notes", args{"query": "rye", "as_of": "today"})
	var paths []any
	for _, hit := range found["results"].([]any) {
		paths = append(paths, hit.(args)["path"])
	}
	assert.Equal(t, []any{"B.md", "C.md", "A.md"}, paths)
}

// A search of the past finds words beside any punctuation and in scripts without spaces, as one
// of the present does.
func TestSearchNotes_AsOfEveryScript(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "我们的项目计划\n", "B.md": "He said “rye”—bread—oats\n", "C.md": "drye\n", "D.md": "a\u00a0«_plan_» for Ünal’s été\n", "E.md": "C# of the ประเทศไทย\n"})
	for query, want := range map[string][]any{
		"计划": {"A.md"}, "计划？": {"A.md"}, "“计划”": {"A.md"}, "划 -项目": nil, "rye": {"B.md"}, "oats": {"B.md"}, "bread -oats": nil,
		"plan": {"D.md"}, "«plan*»…": {"D.md"}, "nal": nil, "Ünal’s": {"D.md"}, "t": {"E.md"}, "ไทย": {"E.md"}, "(C#)": {"E.md"}, "F#": nil,
	} {
		found, _ := w.call(t, "search_notes", args{"query": query, "as_of": "today"})
		var paths []any
		for _, hit := range found["results"].([]any) {
			paths = append(paths, hit.(args)["path"])
		}
		assert.Equal(t, want, paths, query)
	}
}

// While embeddings are being made, a tool that found nothing says that it may be incomplete.
func TestNothingFoundYet(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "rye bread\n"})
	w.env.Search = found{Semantic: notes.Coverage{State: search.StateBuilding, Coverage: 0.25}}
	for name, a := range map[string]args{"search_notes": {"query": "x"}, "gather_context": {"query": "x"}, "related_notes": {"text": "x"}} {
		_, text := w.call(t, name, a)
		assert.Contains(t, text, "(25% of the passages are embedded so far", name)
	}
}

// found is a Searcher with one answer.
type found search.Result

func (f found) Search(context.Context, search.Query) (search.Result, error) {
	return search.Result(f), nil
}

// A title that contains '#' is read whole, also if its beginning names no note, or several.
func TestRead_TitleWithNumberSign(t *testing.T) {
	w := newWorld(t, map[string]string{"1.md": "# Q: C# or Go\n\none\n", "C# basics.md": "two\n", "a/C.md": "a\n", "b/C.md": "b\n"})
	for ref, want := range map[string]string{"Q: C# or Go": "one", "C# basics": "two"} {
		out, _ := w.call(t, "read_note", args{"note": ref})
		assert.Contains(t, out["content"], want)
	}
}

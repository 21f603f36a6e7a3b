package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/hosts"
	"notesd/internal/service"
	"notesd/mcp/tools"
	"notesd/notes"
	"notesd/vectors"
	"notesd/watcher"
)

// printedBy calls do with an output and returns what it prints, with remarks after "# ".
func printedBy(do func(o *output)) string {
	var out, err strings.Builder
	do(&output{out: &screen{Writer: &out}, err: &screen{Writer: &err}})
	text := out.String()
	for line := range strings.Lines(err.String()) {
		text += "# " + line
	}
	return text
}

// resultOf decodes a tool's result in its wire format.
func resultOf[R any](t *testing.T, text string) (r R) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&r))
	return r
}

func TestPrintLinks(t *testing.T) {
	res := resultOf[tools.LinksResult](t, `{"path": "A.md",
		"outgoing": [{"path": "B.md", "line": 3}, {"path": "C.md", "line": 4, "from": "B.md", "depth": 2}],
		"backlinks": [{"path": "D.md", "line": 5, "context": "\tsee [[A]]\nand more"}, {"path": "E.md", "line": 6}],
		"unresolved": [{"target": "F", "line": 7}, {"target": "G", "line": 8, "ambiguous": true}, {"target": "B", "path": "B.md", "anchor": "Plan", "line": 9, "missing": "anchor"}],
		"notes": ["depth 2 of 3"]}`)
	assert.Equal(t, `-> B.md  line 3
-> C.md  line 4 of B.md
<- D.md:5  see [[A]] and more
<- E.md:6
?? F  line 7, there is no such note
?? G  line 8, several files have this name
?? B#Plan  line 9, B.md has no such heading or block
# depth 2 of 3
# 2 out, 2 in, 3 broken
`, printedBy(func(o *output) { o.printLinks(res) }))
}

func TestPrintMove(t *testing.T) {
	for text, want := range map[string]string{
		`{"old_path": "A.md", "path": "B.md", "change": 7, "relinked": ["C.md"], "conflicts": ["D.md"], "left": ["E.md"]}`: `A.md -> B.md
  links changed in C.md
  changed or in use, links not updated in D.md
  not readable or writable, links not updated in E.md
# notesd undo 7 moves it back
`,
		`{"old_path": "P", "path": "Q", "change": 8, "moved_total": 12000}`:         "P -> Q\n# 12 000 notes moved; notesd undo 8 moves them back\n",
		`{"old_path": "A.md", "path": "B.md", "diff": "-a\n+b\n", "dry_run": true}`: "A.md -> B.md\n-a\n+b\n# Nothing was changed.\n",
	} {
		assert.Equal(t, want, printedBy(func(o *output) { o.printMove(resultOf[tools.MoveResult](t, text)) }))
	}
	renamed := resultOf[tools.RenameTagResult](t, `{"changed": ["A.md"], "conflicts": ["B.md"], "total": 1, "change": 9, "notes": ["#b was there"]}`)
	assert.Equal(t, "A.md\n  changed or in use, tag not renamed in B.md\n# #b was there\n# 1 note changed; notesd undo 9 reverts it\n",
		printedBy(func(o *output) { o.printRenameTag(renamed) }))
}

func TestPrintDelete(t *testing.T) {
	for text, want := range map[string]string{
		`{"path": "A.md", "change": 7, "linked_from": ["B.md"]}`: "deleted: A.md\n  linked from B.md\n# notesd undo 7 brings it back\n",
		`{"path": "A.md", "change": 7, "relinked": ["B.md"]}`:    "deleted: A.md\n  links changed in B.md\n# notesd undo 7 brings it back, and the links to it\n",
		`{"path": "A.md", "dry_run": true}`:                      "would delete: A.md\n# Nothing was changed.\n",
	} {
		assert.Equal(t, want, printedBy(func(o *output) { o.printDelete(resultOf[tools.DeleteResult](t, text)) }))
	}
}

func TestPrintHits(t *testing.T) {
	res := resultOf[tools.SearchResult](t, `{"results": [
		{"path": "A.md", "title": "A", "heading": "Plan", "line_start": 3, "line_end": 9, "snippet": "…the plan…", "score": 1.5, "why": {"text_rank": 1, "text_score": 2, "terms": ["plan"]}},
		{"path": "B.md", "title": "B", "heading": "B", "line_start": 1, "line_end": 2, "snippet": "x", "score": 0.25, "why": {"vector_rank": 2, "vector_score": 0.5}}],
		"total": 10000, "notes": ["a remark about search_notes"]}`)
	const short = " 1  A › Plan\n    A.md:3-9\n    …the plan…\n\n 2  B\n    B.md:1-2\n    x\n# 2 of 10 000 notes\n# a remark about notesd search\n"
	assert.Equal(t, short, printedBy(func(o *output) { o.printHits(res, false) }))
	explained := strings.Replace(short, "…the plan…\n", "…the plan…\n    score 1.500 · text #1 (2.000) · matched plan\n", 1)
	explained = strings.Replace(explained, "    x\n", "    x\n    score 0.250 · meaning #2 (0.500)\n", 1)
	assert.Equal(t, explained, printedBy(func(o *output) { o.printHits(res, true) }))
	assert.Equal(t, "No notes match.", searchSummary(tools.SearchResult{}))
	assert.Equal(t, "1 note", searchSummary(tools.SearchResult{Results: res.Results[:1], Total: 1}))
}

// A terminal shows colours, and notes cannot move its cursor.
func TestScreen_Terminal(t *testing.T) {
	s := &screen{terminal: true, colour: true, width: 200}
	assert.Equal(t, "\x1b[1;33mPlanning\x1b[0m a \x1b[1;33mplan\x1b[0m", highlight(s, "Planning a plan", []string{"plan", "pla"}))
	assert.Equal(t, "1+1", highlight(s, "1+1", []string{"("}), "a term is no pattern")
	assert.Equal(t, "plain", highlight(&screen{}, "plain", []string{"plain"}))
	assert.Equal(t, "a\ufffd[2Jb\n\tc\ufffd", s.plain("a\x1b[2Jb\n\tc\u202e"))
	assert.Equal(t, "Chat - \u200eDana.md", s.plain("Chat - \u200eDana.md"))
	assert.Equal(t, "a\nb\ufffdc", s.plain("a\r\nb\rc"))
	assert.Equal(t, "a\x1b[2Jb", (&screen{}).plain("a\x1b[2Jb"), "a file gets what the note has")
	assert.Equal(t, 120, s.columns())
	assert.Equal(t, 100, (&screen{}).columns())
	assert.Equal(t, []string{"one two", "threefourfive", "six"}, wrap(" one  two threefourfive\nsix", 7))
	assert.Equal(t, []string{"\u4f1a\u8bae\u8bb0", "\u5f55 ab", "e\u0301e\u0301e\u0301 e\u0301e\u0301e\u0301"}, wrap("\u4f1a\u8bae\u8bb0\u5f55 ab e\u0301e\u0301e\u0301 e\u0301e\u0301e\u0301", 7))
	assert.Empty(t, wrap(" ", 7))
	for n, want := range map[int]string{0: "0 notes", 1: "1 note", 9999: "9999 notes", 10000: "10 000 notes", 1234567: "1 234 567 notes"} {
		assert.Equal(t, want, strings.ReplaceAll(count(n, "note"), "\u202f", " "))
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 10 << 10: "10 KiB", 5 << 40: "5.0 TiB", 9999 << 40: "9.8 PiB"} {
		assert.Equal(t, want, size(n))
	}
}

func TestMeter(t *testing.T) {
	var b strings.Builder
	m := &meter{screen: &screen{Writer: &b}, label: "Indexing"}
	m.set(1, 10)
	m.show()
	m.clear()
	assert.Empty(t, b.String(), "no bar in a file")
	m.screen.terminal = true
	m.set(0, 0)
	m.show()
	assert.Empty(t, b.String(), "nothing to do")
	m.set(20, 10) // more than expected
	m.show()
	m.clear()
	assert.Contains(t, b.String(), "Indexing")
	assert.True(t, strings.HasSuffix(b.String(), "\r\x1b[K"), "the line is empty again")
}

// A line of the bar that is wider than the terminal would remain there.
func TestMeter_FitsTheTerminal(t *testing.T) {
	for _, width := range []int{40, 50, 59, 60, 80, 200} {
		var b strings.Builder
		m := &meter{screen: &screen{Writer: &b, terminal: true, width: width}, label: "Embedding"}
		m.set(12_345, 100_000)
		m.show()
		m.clear()
		for line := range strings.SplitSeq(b.String(), "\r") {
			assert.Less(t, utf8.RuneCountInString(line), width-6, "%d: %q, and the times may be longer", width, line)
		}
		assert.Equal(t, width >= 60, strings.Contains(b.String(), "/100000"), "%d", width)
	}
}

// What is printed of a path names the file, for a script and when copied.
func TestPrintPaths_KeepWhiteSpace(t *testing.T) {
	const name = "Two  spaces/no\u00a0break.md"
	terminal := &screen{terminal: true}
	assert.Equal(t, name, terminal.line(name))
	assert.Equal(t, "a b c d e\ufffd", terminal.line("a\nb\r\nc\td\re\v"))
	assert.Equal(t, name+"\n", printedBy(func(o *output) { o.printCreated(tools.CreateResult{Path: name}) }))
	assert.Contains(t, printedBy(func(o *output) { o.printList([]tools.ListedNote{{Path: name}}) }), name)
}

func TestPrintHistory_Columns(t *testing.T) {
	text := printedBy(func(o *output) {
		o.printHistory([]tools.Revision{{Path: "A.md", Revision: 10, Author: "Zoë", Operation: "rename_tag"}, {Path: "A.md", Revision: 9, Author: "Ann", Operation: "edit"}})
	})
	var columns []int
	for line := range strings.Lines(text) {
		before, _, _ := strings.Cut(line, "A.md")
		columns = append(columns, utf8.RuneCountInString(before))
	}
	assert.Equal(t, []int{columns[0], columns[0]}, columns)
	assert.Contains(t, text, "Ann  A.md", "no wider than the longest name")
}

func TestIndexText_Unavailable(t *testing.T) {
	assert.Equal(t, "2 notes, as of the last scan", indexText(service.Report{Notes: 2, Unavailable: "it is not there", Index: service.IndexStatus{Notes: 2, Ready: true}}))
}

// Each state that status can report has a check with a remedy.
func TestCheckReport(t *testing.T) {
	states := func(change func(*service.Report), daemon bool) map[string]check {
		r := service.Report{Version: service.Version(), Notes: 3, Index: service.IndexStatus{Notes: 3, Ready: true},
			Semantic: vectors.Status{State: "ready", Model: "m", Chunks: 9, Embedded: 9}, Watcher: watcher.Status{State: "watching", Directories: 2}}
		change(&r)
		found := map[string]check{}
		for _, c := range checkReport(r, daemon) {
			found[c.Name] = c
		}
		return found
	}
	for name, c := range states(func(*service.Report) {}, true) {
		assert.Equal(t, fine, c.State, name)
		assert.Empty(t, c.Do, name)
	}
	for _, c := range []struct {
		change            func(*service.Report)
		name, state, text string
	}{
		{func(r *service.Report) { r.Version = "0.1" }, "daemon", remark, "version 0.1, while this is "},
		{func(r *service.Report) { r.Unavailable = "it is not there" }, "index", problem, "the vault cannot be used: it is not there"},
		{func(r *service.Report) { r.Trouble = "the disk is full" }, "index", problem, "changes on disk cannot be indexed: the disk is full"},
		{func(r *service.Report) { r.Index = service.IndexStatus{Scanned: 1, ToScan: 3} }, "index", remark, "building: 1 of 3 files read"},
		{func(r *service.Report) { r.Watcher.State = watcher.StateDegraded }, "watcher", remark, "degraded, 2 folders"},
		{func(r *service.Report) { r.Skipped.Total = 2 }, "skipped", remark, "2 files cannot be read as a note"},
		{func(r *service.Report) {
			r.Skipped.Files = []notes.Skipped{}
			r.Warnings = []string{"a clock is wrong"}
		}, "warning", remark, "a clock is wrong"},
		{func(r *service.Report) {
			r.Semantic.Trouble, r.Warnings = "waiting for ollama", []string{"semantic search: waiting for ollama; words"}
		}, "meaning", problem, "waiting for ollama"},
	} {
		found := states(c.change, true)
		assert.Equal(t, c.state, found[c.name].State, c.text)
		assert.Contains(t, found[c.name].Text, c.text)
		if c.name != "warning" {
			assert.NotContains(t, found, "warning", "what a check says is not said twice")
		}
	}
	gone := states(func(r *service.Report) { r.Unavailable, r.Remedy = "it is empty", "Restore the notes." }, true)
	assert.Equal(t, "Restore the notes.", gone["index"].Do)
}

// The check of a host's entry that cannot work includes the reason and the remedy.
func TestCheckServer(t *testing.T) {
	dir := t.TempDir()
	h := hosts.All[0]
	for _, c := range []struct{ command, vault, state, text, do string }{
		{"/no/such/notesd", dir, problem, "; the program does not exist", "Run notesd setup --vault " + dir + " --name notes claude-desktop."},
		{"/no/such/notesd", dir + "/gone", problem, "; the program does not exist", "Run notesd setup --name notes claude-desktop with the vault"},
		{"go", "", problem, "names no vault that can be found", "notesd setup --name notes claude-desktop with the vault"},
		{"go", dir + "/gone", problem, "; the vault is not a folder", "or notesd setup --remove --name notes claude-desktop"},
		{"go", dir, remark, "may not find a command without its folder", "Run notesd setup --vault " + dir + " --name notes claude-desktop, which writes "},
	} {
		got := checkServer(h, "notes", hosts.Server{Command: c.command}, c.vault)
		assert.Equal(t, c.state, got.State, c.text)
		assert.Contains(t, got.Text, c.text)
		assert.Contains(t, got.Do, c.do)
	}
	assert.Equal(t, "! index          slow\n                 Wait.\n", printedBy(func(o *output) { o.printChecks([]check{{"index", remark, "slow", "Wait."}}) }))
}

func TestSetup_NamesAndArguments(t *testing.T) {
	for folder, want := range map[string]string{"/home/ann/My Notes": "my-notes", "/x/Übung": "bung", "/x/...": "vault", "/x/a_b-9": "a_b-9"} {
		assert.Equal(t, want, nameOf(folder))
	}
	for path, want := range map[string]string{"/a/b": "/a/b", "/a b": "'/a b'", "/it's (1)": `'/it'\''s (1)'`} {
		assert.Equal(t, want, quoted(path))
	}
	assert.Equal(t, []string{"--log-level", "debug", "--x=1"}, keptArgs([]string{"mcp", "--vault", "/a", "--read-only", "--log-level", "debug", "--state=/s", "--x=1"}, []string{"--vault", "--state", "--read-only"}))
}

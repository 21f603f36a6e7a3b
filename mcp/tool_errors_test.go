package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
	"notesd/notes"
	"notesd/vectors/table"
)

// wrongCalls are calls of every tool with a wrong argument, and what the error must name.
// {hash} stands for the hash of a version that is not the newest.
var wrongCalls = map[string][]struct {
	args args
	want string
}{
	"search_notes": {
		{args{"query": " "}, "query is empty"},
		{args{"query": "plan", "after": "someday"}, `after must be a time like 2026-01-31`},
		{args{"query": "plan", "as_of": "someday"}, `as_of must be a time like 2026-01-31`},
		{args{"query": "plan", "as_of": "1s", "mode": "semantic"}, "leave out mode"},
		{args{"query": "plan", "cursor": "x"}, "cursor"},
		{args{"query": "plan", "as_of": "0s", "cursor": "x"}, "cursor"},
	},
	"read_note": {
		{args{}, "pass a note, or several as notes"},
		{args{"note": "None"}, `"None"`},
		{args{"note": "Plan"}, "A/Plan.md"},
		{args{"note": "../x"}, `"../x"`},
		{args{"note": "A/Plan", "heading": "None"}, "None"},
		{args{"note": "A/Plan", "lines": "many"}, "range like 10-40"},
		{args{"note": "A/Plan", "lines": "99"}, "pass lines from 1 to 5"},
		{args{"note": "A/Plan", "revision": 999}, "999"},
		{args{"note": "A/Plan", "revision": 1, "as_of": "1s"}, "not both"},
		{args{"note": "A/Plan", "as_of": "2001-01-01"}, "Choose a time from"},
		{args{"notes": slices.Repeat([]string{"A/Plan"}, 51)}, "pass 50 at most"},
		{args{"notes": []string{"None"}}, `"None"`},
	},
	"list_notes": {
		{args{"glob": "["}, "["},
		{args{"where": args{"status": args{"like": "x"}}}, "like"},
		{args{"as_of": "someday"}, "as_of must be"},
		{args{"as_of": "0s", "cursor": "x"}, "cursor"},
		{args{"cursor": "x"}, "cursor"},
	},
	"list_tasks": {
		{args{"note": "None"}, `"None"`},
		{args{"status": "maybe"}, "maybe"},
		{args{"due": "someday"}, "due must be"},
		{args{"due_after": "someday"}, "due_after must be"},
		{args{"priority": "urgent"}, "urgent"},
		{args{"sort": "mood"}, "mood"},
		{args{"cursor": "x"}, "cursor"},
	},
	"note_links":     {{args{"note": "None"}, `"None"`}, {args{"note": "Plan"}, "A/Plan.md"}},
	"related_notes":  {{args{}, "pass a note, or a text"}, {args{"note": "None"}, `"None"`}},
	"gather_context": {{args{"query": " "}, "query is empty"}},
	"vault_overview": {},
	"create_note": {
		{args{"title": "X"}, "content is required"},
		{args{"content": "x"}, "title"},
		{args{"content": "x", "path": "A/Plan.md"}, `"A/Plan.md"`},
		{args{"content": "x", "path": "../x.md"}, `"../x.md"`},
		{args{"title": "X", "template": "None"}, "None"},
		{args{"title": "X", "content": strings.Repeat("x", 1<<20)}, "a note may have 1048576"},
	},
	"edit_note": {
		{args{"note": "None", "edits": []args{{"op": "append", "content": "x"}}}, `"None"`},
		{args{"note": "Plan", "edits": []args{{"op": "append", "content": "x"}}}, "A/Plan.md"},
		{args{"note": "A/Plan", "edits": []args{}}, "edit"},
		{args{"note": "A/Plan", "content": "x"}, "edits[0]: op is required: pass one of replace_text, "},
		{args{"note": "A/Plan", "edits": []args{{"op": "replace_section", "heading": "None", "content": "x"}}}, "not in the note. Nothing was changed. Name one of its headings.\n- "},
		{args{"note": "A/Plan", "edits": []args{{"op": "replace_text", "old": "none", "new": "x"}}}, "edit 1 (replace_text)"},
		{args{"note": "A/Plan", "edits": []args{{"op": "replace_text", "old": "e", "new": "x"}}}, "count"},
		{args{"note": "A/Plan", "edits": []args{{"op": "replace_text", "old": "e"}}}, "new is missing"},
		{args{"note": "A/Plan", "edits": []args{{"op": "replace_section", "heading": "None", "content": "x"}}}, "None"},
		{args{"note": "A/Plan", "edits": []args{{"op": "replace_section", "content": "x"}}}, "heading"},
		{args{"note": "A/Plan", "edits": []args{{"op": "rename_heading", "heading": "Plan"}}}, "new is missing"},
		{args{"note": "A/Plan", "edits": []args{{"op": "toggle_task", "text": "none"}}}, "none"},
		{args{"note": "A/Plan", "edits": []args{{"op": "toggle_task", "line": 1}}}, "1"},
		{args{"note": "A/Plan", "edits": []args{{"op": "add_tag"}}}, "tag"},
		{args{"note": "A/Plan", "edits": []args{{"op": "insert_before", "content": "x"}}}, "insert_before needs heading"},
		{args{"note": "A/Plan", "edits": []args{{"op": "set_front_matter", "key": "", "value": 1}}}, "key"},
		{args{"note": "A/Plan", "edits": []args{{"op": "append", "content": strings.Repeat("x", 1<<20)}}}, "a note may have 1048576"},
		{args{"note": "A/Plan", "expected_hash": "{hash}", "edits": []args{{"op": "append", "content": "x"}}}, "hash now: "},
	},
	"move_note": {
		{args{"note": "None", "to": "X.md"}, `"None"`},
		{args{"note": "Plan", "to": "X.md"}, "A/Plan.md"},
		{args{"note": "A/Plan", "to": "B/Plan.md"}, `"B/Plan.md"`},
		{args{"note": "A/Plan", "to": "../X.md"}, `"../X.md"`},
		{args{"note": "A/Plan", "to": ""}, "the path is empty"},
		{args{"note": "A/", "to": "A/B/"}, "A"},
	},
	"rename_tag": {
		{args{"tag": "none", "to": "x"}, "none"},
		{args{"tag": "garden", "to": "two words"}, `write "two-words"`},
		{args{"tag": "", "to": "x"}, "tag"},
	},
	"delete_note": {
		{args{"note": "None"}, `"None"`},
		{args{"note": "Plan"}, "A/Plan.md"},
		{args{"note": "A/Plan", "expected_hash": "{hash}"}, "hash now: "},
	},
	"note_history": {
		{args{"note": "None"}, `"None"`},
		{args{"since": "someday"}, "since must be"},
		{args{"note": "A/Plan", "diff": []int{1}}, "two of its revisions"},
		{args{"note": "A/Plan", "diff": []int{1, 999}}, "999"},
		{args{"note": "A/Plan", "cursor": "x"}, "cursor"},
	},
	"restore_note": {
		{args{}, "note_history"},
		{args{"note": "A/Plan", "revision": 999}, "999"},
		{args{"note": "None", "revision": 1}, `"None"`},
		{args{"change": 999}, "999"},
		{args{"change": 1, "note": "A/Plan"}, "given alone"},
		{args{"note": "A/Plan", "revision": 1, "expected_hash": "{hash}"}, "hash now: "},
	},
	"check_quotes": {
		{args{"quotes": []args{}}, "quotes is empty"},
		{args{"quotes": []args{{"anchor": "A/Plan.md", "quote": " "}}}, "quote 1 of 1 is empty"},
		{args{"quotes": slices.Repeat([]args{{"anchor": "A/Plan.md", "quote": "x"}}, 101)}, "pass 100 at most"},
	},
	"create_table":   {{args{"table_name": "t", "dimension": 2}, `"t"`}, {args{"table_name": "u", "dimension": 0}, "dimension"}},
	"add_vector":     {{args{"table_name": "none", "vector": []int{1, 2}}, `"none"`}, {args{"table_name": "t", "vector": []int{1}}, "takes 2"}},
	"search_vectors": {{args{"table_name": "none", "query_vector": []int{1, 2}}, `"none"`}, {args{"table_name": "t"}, "query_vector"}},
	"list_tables":    {},
	"delete_vectors": {{args{"table_name": "none", "ids": []string{"a"}}, `"none"`}, {args{"table_name": "t"}, "ids or a filter"}},
	"drop_table":     {{args{"table_name": "none"}, `"none"`}},
}

// helpful matches what an error without a hint must contain: what to pass.
var helpful = regexp.MustCompile(`\b(pass|must be|did you mean|give|takes|leave out|is missing|is given alone)\b`)

// Every tool, called with each wrong argument, returns an error that names what is wrong
// and what to do next.
func TestWrongCalls(t *testing.T) {
	w := newRealTables(t, map[string]string{"A/Plan.md": "# Plan\n\nGrow trees. #garden\n\n- [ ] sow\n", "B/Plan.md": "# Plan\n"})
	call[table.Item](t, w.session, "create_table", args{"table_name": "t", "dimension": 2})
	stale, _ := call[tools.ReadResult](t, w.session, "read_note", args{"note": "B/Plan.md"})
	for _, tool := range tools.All() {
		t.Run(tool.Name, func(t *testing.T) {
			fails := func(arguments args, want string) {
				t.Helper()
				if arguments["expected_hash"] == "{hash}" {
					arguments["expected_hash"] = stale.Hash
				}
				res, err := w.session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool.Name, Arguments: arguments})
				require.NoError(t, err)
				what := fmt.Sprintf("%.150v", arguments)
				text := res.Content[0].(*sdk.TextContent).Text
				if !assert.True(t, res.IsError, "%s: %s", what, text) {
					return
				}
				failure, _ := res.Meta[MetaFailure].(map[string]any)
				assert.Contains(t, text, want, what)
				assert.NotEqual(t, "internal", failure["code"], what)
				assert.True(t, failure["hint"] != nil || helpful.MatchString(text), "%s: no next step: %s", what, text)
			}
			require.Contains(t, wrongCalls, tool.Name)
			for _, c := range wrongCalls[tool.Name] {
				fails(c.args, c.want)
			}
			var schema struct {
				Properties map[string]struct{ Type string }
				Required   []string
			}
			require.NoError(t, json.Unmarshal(tool.InputSchema(tools.Limits{}), &schema))
			valid := args{}
			for _, name := range schema.Required {
				valid[name] = map[string]any{"string": "A/Plan.md", "integer": 2, "array": []any{}}[schema.Properties[name].Type]
			}
			for name, property := range schema.Properties {
				wrong := maps.Clone(valid)
				if wrong[name] = any(args{"x": 1}); property.Type == "object" {
					wrong[name] = 5
				}
				if property.Type == "array" {
					wrong[name] = []any{[]any{1, 2}}
				}
				fails(wrong, name)
				delete(wrong, name)
				if slices.Contains(schema.Required, name) {
					fails(wrong, name+" is required: pass ")
				}
			}
		})
	}
}

// Sessions that may not change anything, or only some folders, cannot change other notes.
func TestWrites_OutsideTheProfile(t *testing.T) {
	w := newRealTables(t, map[string]string{"A/Plan.md": "# Plan\n#garden\n", "B/Plan.md": "# Plan\n#garden\n"})
	readOnly := w.client(t, Profile{ReadOnly: true}, nil)
	bounded := w.client(t, Profile{Write: []string{"A"}}, nil)
	for _, tool := range tools.All() {
		if !tool.Writes() {
			continue
		}
		_, err := readOnly.CallTool(t.Context(), &sdk.CallToolParams{Name: tool.Name})
		require.ErrorContains(t, err, fmt.Sprintf("the tool %q is not available: this session is read-only", tool.Name))
		outside := map[string]args{
			"create_note":  {"path": "B/New.md", "content": "x"},
			"edit_note":    {"note": "B/Plan.md", "edits": []args{{"op": "append", "content": "x"}}},
			"move_note":    {"note": "A/Plan.md", "to": "B/Moved.md"},
			"rename_tag":   {"tag": "garden", "to": "yard"},
			"delete_note":  {"note": "B/Plan.md"},
			"restore_note": {"note": "B/Plan.md", "revision": 1},
		}[tool.Name]
		if outside == nil {
			assert.True(t, tool.Tables, "%s: tables are in no folder", tool.Name)
			continue
		}
		text := refused(t, bounded, tool.Name, outside)
		assert.Contains(t, text, "B/", tool.Name)
		assert.Regexp(t, `may not|not be changed|read-only|cannot`, text, tool.Name)
	}
}

// A failed call names some of a note's many headings, but not all.
// A hint does not name tools that the session lacks: a model would call them in vain.
func TestHintsNameOnlyOfferedTools(t *testing.T) {
	w := newRealWorld(t, realVault)
	calls := []struct {
		profile     Profile
		args        args
		want, lacks string
	}{
		{Profile{}, args{"note": "Nothing like it"}, "there is no such note. search_notes finds notes by content.", "offered"},
		{Profile{Tools: []string{"read_note"}}, args{"note": "Nothing like it"}, "there is no such note.", "search_notes"},
		{Profile{ReadOnly: true}, args{"note": "tomorrow"}, "there is no note of that day yet", "edit_note"},
		{Profile{ReadOnly: true}, args{"note": "Gone"}, "was deleted. note_history has its versions.", "restore_note"},
		{Profile{}, args{"note": "Gone"}, "was deleted. restore_note brings it back. note_history has its versions.", "offered"},
	}
	s := w.client(t, Profile{}, nil)
	call[tools.CreateResult](t, s, "create_note", args{"title": "Gone", "content": "x"})
	call[tools.DeleteResult](t, s, "delete_note", args{"note": "Gone"})
	for _, c := range calls {
		text := refused(t, w.client(t, c.profile, nil), "read_note", c.args)
		assert.Contains(t, text, c.want)
		assert.NotContains(t, text, c.lacks)
	}
	reader := w.client(t, Profile{Tools: []string{"read_note"}}, nil)
	_, err := reader.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "note:///Unheard%20of.md"})
	require.ErrorContains(t, err, "there is no such note")
	assert.NotContains(t, err.Error(), "search_notes")
	_, err = reader.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "summarize_note", Arguments: map[string]string{"note": "Unheard of"}})
	require.ErrorContains(t, err, "there is no such note")
	assert.NotContains(t, err.Error(), "search_notes")
	_, none := call[tools.SearchResult](t, w.client(t, Profile{Tools: []string{"search_notes"}}, nil), "search_notes", args{"query": "qqzzxx"})
	assert.Contains(t, none, "Try fewer or other words.")
	several := args{"notes": []string{"Nothing like it", "Garden/Tomatoes"}}
	_, text := call[tools.ReadManyResult](t, reader, "read_note", several)
	assert.NotContains(t, text, "search_notes")
}

func TestFailureNamesSomeCandidates(t *testing.T) {
	headings := strings.Repeat("# Same\n\n", mostCandidates+7)
	w := newRealWorld(t, map[string]string{"Long.md": headings})
	res, err := w.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_note", Arguments: args{"note": "Long", "heading": "Same"}})
	require.NoError(t, err)
	text := res.Content[0].(*sdk.TextContent).Text
	assert.Equal(t, mostCandidates, strings.Count(text, "\n- "), text)
	assert.Contains(t, text, "\n… and more")
	assert.NotContains(t, text, "… and more ")
}

// A candidate that the message names is not listed again.
func TestFailureText_Candidates(t *testing.T) {
	moved := Failure{Message: `find "A": the note was moved to "Box/A.md"`, Hint: "Use the new path.", Path: "A", Candidates: []string{"Box/A.md"}}
	assert.Equal(t, `find "A": the note was moved to "Box/A.md". Use the new path.`, moved.text())
	unknown := Failure{Message: `find "A": there is no such note`, Hint: "Did you mean one of these?", Candidates: []string{"Box/A.md", "A 2.md"}}
	assert.Equal(t, "find \"A\": there is no such note. Did you mean one of these?\n- Box/A.md\n- A 2.md", unknown.text())
}

// While the notes are being read, only a note of which there is no trace may still appear.
func TestDescribe_WhileNotesAreRead(t *testing.T) {
	w := newWorld(t, map[string]string{"Plan.md": "# Plan\n\n## Risks\n", "Work/Old.md": "old\n"}, Limits{})
	_, err := w.vault.Move(t.Context(), notes.MoveRequest{Note: "Work/Old.md", To: "Work/New.md"})
	require.NoError(t, err)
	w.vault.scanning = true
	for args, hint := range map[string]string{
		`{"note":"Nowhere"}`:               "The notes are still being read: try again in a moment, or pass the path of the note.",
		`{"note":"Plan","heading":"Gone"}`: "Pass one of the note's headings, or lines.",
		`{"note":"Work"}`:                  `List them with list_notes folder="Work".`,
		`{"note":"Work/Old.md"}`:           "Use the new path.",
		`{"note":"Plan","revision":99}`:    "note_history lists its revisions.",
	} {
		_, err := callTool(t, w, "read_note", args)
		require.Error(t, err, args)
		f, _ := w.core.describe(t.Context(), err)
		assert.Equal(t, hint, f.Hint, args)
	}
}

// A database on a broken disk is named, because nothing else explains the failure of reads.
func TestDescribe_Trouble(t *testing.T) {
	w := newWorld(t, nil, Limits{})
	broken := errors.New("disk I/O error")
	w.core.opts.Trouble = func(err error) string {
		if errors.Is(err, broken) {
			return broken.Error()
		}
		return ""
	}
	f, _ := w.core.describe(t.Context(), fmt.Errorf("list: %w", broken))
	assert.Equal(t, "unavailable", f.Code)
	assert.Contains(t, f.text(), "notesd's database cannot be used: disk I/O error. Check the disk")
	f, _ = w.core.describe(t.Context(), errors.New("another"))
	assert.Equal(t, "internal", f.Code)
}

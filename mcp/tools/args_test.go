package tools

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/phrase"
	"notesd/notes"
)

var exampleSchema = inputOf[exampleArgs]()()

type exampleArgs struct {
	Note      string           `json:"note" required:"true"`
	Limit     int              `json:"limit" min:"1" max:"50"`
	Weight    float64          `json:"weight"`
	Explain   bool             `json:"explain"`
	Mode      string           `json:"mode" enum:"hybrid,text"`
	Direction string           `json:"direction" enum:"both,in,out"`
	Tags      []string         `json:"tags"`
	Vector    []float64        `json:"vector"`
	Edits     []map[string]any `json:"edits"`
	Where     map[string]any   `json:"where"`
	Value     any              `json:"value"`
}

func TestArgumentsForgive(t *testing.T) {
	for name, tc := range map[string]struct {
		given string
		want  exampleArgs
	}{
		"as described":          {`{"note":"n","limit":5,"explain":true,"tags":["a"]}`, exampleArgs{Note: "n", Limit: 5, Explain: true, Tags: []string{"a"}}},
		"path for note":         {`{"path":"n"}`, exampleArgs{Note: "n"}},
		"file for note":         {`{"file":"n"}`, exampleArgs{Note: "n"}},
		"name for note":         {`{"name":"n"}`, exampleArgs{Note: "n"}},
		"camel case alias":      {`{"notePath":"n","maxResults":7}`, exampleArgs{Note: "n", Limit: 7}},
		"kebab case":            {`{"note":"n","top-k":7}`, exampleArgs{Note: "n", Limit: 7}},
		"capitals":              {`{"Note":"n"}`, exampleArgs{Note: "n"}},
		"numbers as strings":    {`{"note":"n","limit":"10","weight":"0.5"}`, exampleArgs{Note: "n", Limit: 10, Weight: .5}},
		"a whole float":         {`{"note":"n","limit":10.0}`, exampleArgs{Note: "n", Limit: 10}},
		"booleans as strings":   {`{"note":"n","explain":"True"}`, exampleArgs{Note: "n", Explain: true}},
		"booleans as numbers":   {`{"note":"n","explain":1}`, exampleArgs{Note: "n", Explain: true}},
		"numbers for strings":   {`{"note":2026}`, exampleArgs{Note: "2026"}},
		"one string in a list":  {`{"note":["n"]}`, exampleArgs{Note: "n"}},
		"comma list":            {`{"note":"n","tags":"a, b,,c"}`, exampleArgs{Note: "n", Tags: []string{"a", "b", "c"}}},
		"one tag":               {`{"note":"n","tag":"a"}`, exampleArgs{Note: "n", Tags: []string{"a"}}},
		"no tags":               {`{"note":"n","tags":""}`, exampleArgs{Note: "n", Tags: []string{}}},
		"list in a string":      {`{"note":"n","tags":"[\"a\",\"b\"]"}`, exampleArgs{Note: "n", Tags: []string{"a", "b"}}},
		"numbers in a string":   {`{"note":"n","vector":"[1, 2.5]"}`, exampleArgs{Note: "n", Vector: []float64{1, 2.5}}},
		"numbers with commas":   {`{"note":"n","vector":"1, 2.5"}`, exampleArgs{Note: "n", Vector: []float64{1, 2.5}}},
		"object in a string":    {`{"note":"n","where":"{\"a\":1}"}`, exampleArgs{Note: "n", Where: map[string]any{"a": 1.0}}},
		"one object for a list": {`{"note":"n","edits":{"op":"x"}}`, exampleArgs{Note: "n", Edits: []map[string]any{{"op": "x"}}}},
		"the same, in a string": {`{"note":"n","edits":"{\"op\":\"x\"}"}`, exampleArgs{Note: "n", Edits: []map[string]any{{"op": "x"}}}},
		"null is nothing":       {`{"note":"n","limit":null,"tags":null}`, exampleArgs{Note: "n"}},
		"zero is nothing":       {`{"note":"n","limit":0,"mode":""}`, exampleArgs{Note: "n"}},
		"enum in capitals":      {`{"note":"n","mode":" Text "}`, exampleArgs{Note: "n", Mode: "text"}},
		"a word for an enum":    {`{"note":"n","mode":"full-text","direction":"Backlinks"}`, exampleArgs{Note: "n", Mode: "text", Direction: "in"}},
		"too large a limit":     {`{"note":"n","limit":1000}`, exampleArgs{Note: "n", Limit: 50}},
		"any value":             {`{"note":"n","value":{"x":[1]}}`, exampleArgs{Note: "n", Value: map[string]any{"x": []any{1.0}}}},
		"all in a string":       {`"{\"note\":\"n\"}"`, exampleArgs{Note: "n"}},
		"unicode stays":         {`{"note":"Tägliches 🎉"}`, exampleArgs{Note: "Tägliches 🎉"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got exampleArgs
			ignored, err := decodeArgs(exampleSchema, json.RawMessage(tc.given), true, &got)
			require.NoError(t, err)
			assert.Empty(t, ignored)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestArgumentErrorsSayWhatToPass(t *testing.T) {
	for name, tc := range map[string]struct{ given, want string }{
		"nothing":             {``, "note is required: pass a string"},
		"null":                {`null`, "note is required: pass a string"},
		"not an object":       {`[1]`, "arguments must be a JSON object"},
		"an object for text":  {`{"note":{"path":"n"}}`, `note must be a string, not {"path":"n"}`},
		"two for one":         {`{"note":["a","b"]}`, `note must be a string, not ["a","b"]`},
		"words for a number":  {`{"note":"n","limit":"ten"}`, `limit must be a number from 1 to 50, not "ten"`},
		"a fraction":          {`{"note":"n","limit":1.5}`, `limit must be a number from 1 to 50, not 1.5`},
		"below the least":     {`{"note":"n","limit":-1}`, `limit must be a number from 1 to 50, not -1`},
		"maybe":               {`{"note":"n","explain":"maybe"}`, `explain must be true or false, not "maybe"`},
		"no such mode":        {`{"note":"n","mode":"fuzzy"}`, `mode must be one of hybrid, text, not "fuzzy"`},
		"objects for strings": {`{"note":"n","tags":[{"a":1}]}`, `tags must be an array of strings, like ["a", "b"], not [{"a":1}]`},
		"words for numbers":   {`{"note":"n","vector":["a"]}`, `vector must be an array of numbers, like [1, 2], not ["a"]`},
		"null for a number":   {`{"note":"n","vector":[1,null,2]}`, `vector[1] must be a number, not null`},
		"a flag for numbers":  {`{"note":"n","vector":true}`, `vector must be an array of numbers, like [1, 2], not true`},
		"text for an object":  {`{"note":"n","where":"status=open"}`, `where must be an object, like {"key": "value"}, not "status=open"`},
		"a near miss":         {`{"note":"n","limt":5}`, `there is no argument "limt": did you mean "limit"?`},
		"nothing near":        {`{"note":"n","zzzzz":5}`, `there is no argument "zzzzz": the arguments are direction, edits, explain, limit, mode, note, tags, value, vector, weight, where`},
		"all at once":         {`{"limit":"x","explain":"y"}`, `explain must be true or false, not "y"; limit must be a number from 1 to 50, not "x"; note is required: pass a string`},
		"several":             {`{"note":"n","zz1":5,"zz2":5}`, `there is no argument "zz1" or "zz2": the arguments are direction, edits, explain, limit, mode, note, tags, value, vector, weight, where`},
		"the same twice":      {`{"note":"n","path":"m"}`, `there is no argument "path": the arguments are direction, edits, explain, limit, mode, note, tags, value, vector, weight, where`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeArgs(exampleSchema, json.RawMessage(tc.given), true, new(exampleArgs))
			var usage *UsageError
			require.ErrorAs(t, err, &usage)
			assert.Equal(t, tc.want, err.Error())
		})
	}
}

func TestReadingToolsIgnoreStrayArguments(t *testing.T) {
	var got exampleArgs
	ignored, err := decodeArgs(exampleSchema, json.RawMessage(`{"note":"n","random_string":"x"}`), false, &got)
	require.NoError(t, err)
	assert.Equal(t, []string{`ignored the unknown argument "random_string"`}, ignored)
	_, err = decodeArgs(exampleSchema, json.RawMessage(`{"note":"n","limits":5}`), false, &got)
	require.ErrorContains(t, err, `did you mean "limit"?`)
	_, err = decodeArgs(exampleSchema, json.RawMessage(`{"input":{"note":"n"}}`), false, &got)
	require.EqualError(t, err, `there is no argument "input": the arguments are direction, edits, explain, limit, mode, note, tags, value, vector, weight, where; note is required: pass a string`)
	_, err = decodeArgs(exampleSchema, json.RawMessage(`{"note":"n","anyTags":["x"]}`), false, &got)
	require.ErrorContains(t, err, `there is no argument "anyTags": did you mean "tags"?`)
	_, err = decodeArgs(listNotes.input(), json.RawMessage(`{"excludeFolder":"x"}`), false, new(listArgs))
	require.EqualError(t, err, `there is no argument "excludeFolder": a condition excludes notes: where {"path":{"not":{"contains":"Archive/"}}}`)
	_, err = decodeArgs(searchNotes.input(), json.RawMessage(`{"query":"q","exclude":"x"}`), false, new(searchArgs))
	require.ErrorContains(t, err, `there is no argument "exclude": write -path:Archive/`)
	_, err = decodeArgs(listNotes.input(), json.RawMessage(`{"sort_by":"modified","order":"asc"}`), false, new(listArgs))
	require.EqualError(t, err, `there is no argument "order": each sort has one order, the newest notes or next due tasks first`)
	_, err = decodeArgs(listNotes.input(), json.RawMessage(`{"query":"plan"}`), false, new(listArgs))
	require.ErrorContains(t, err, `there is no argument "query": search_notes finds by content`)
	_, err = decodeArgs(listTasks.input(), json.RawMessage(`{"before":"today"}`), false, new(taskArgs))
	require.ErrorContains(t, err, `there is no argument "before": did you mean "due_before"?`)
}

// One edit or quote may be passed without the list around it, and an edit as in the tools of
// editors.
func TestOneElementNeedsNoList(t *testing.T) {
	var edit editArgs
	_, err := decodeArgs(editNote.input(), json.RawMessage(`{"file_path":"n","old_string":"a","new_string":"b","dry_run":true}`), true, &edit)
	require.NoError(t, err)
	edits, err := edit.all()
	require.NoError(t, err)
	assert.Equal(t, []notes.Edit{{Op: "replace_text", Old: "a", New: "b"}}, edits)
	assert.Equal(t, "n", edit.Note)
	assert.True(t, edit.DryRun)

	edit = editArgs{}
	_, err = decodeArgs(editNote.input(), json.RawMessage(`{"note":"n","op":"append","heading":"Log","content":"x"}`), true, &edit)
	require.NoError(t, err)
	edits, err = edit.all()
	require.NoError(t, err)
	assert.Equal(t, []notes.Edit{{Op: "append", Heading: "Log", Content: "x"}}, edits)

	var quotes quotesArgs
	_, err = decodeArgs(checkQuotes.input(), json.RawMessage(`{"note":"n","quote":"q"}`), false, &quotes)
	require.NoError(t, err)
	assert.Equal(t, []quotation{{Anchor: "n", Quote: "q"}}, quotes.Quotes)

	for given, want := range map[string]string{
		`{"note":"n","content":"x"}`:                                 "edits[0]: op is required",
		`{"note":"n","old":"a"}`:                                     "edits[0]: op is required",
		`{"note":"n","edits":[{"op":"append"}],"content":"x"}`:       `there is no argument "content"`,
		`{"note":"n","op":"append","content":"x","whatever":"else"}`: `there is no argument "whatever"`,
		`{"note":"n"}`: "edits is required",
	} {
		_, err := decodeArgs(editNote.input(), json.RawMessage(given), true, new(editArgs))
		require.ErrorContains(t, err, want, given)
	}
}

// A flag that a tool does not have sets the argument that it means.
func TestFlagsThatModelsGuess(t *testing.T) {
	for given, want := range map[string]taskArgs{
		`{"completed":true}`:                         {Status: "done"},
		`{"isCompleted":"false"}`:                    {Status: "open"},
		`{"done":true}`:                              {Status: "done"},
		`{"done":"today"}`:                           {Done: "today"},
		`{"include_completed":true}`:                 {Status: "all"},
		`{"include_completed":false}`:                {},
		`{"exclude_completed":true}`:                 {Status: "open"},
		`{"overdue":true,"due_before":"2026-02-01"}`: {Due: "overdue", DueBefore: "2026-02-01"},
		`{"completed":true,"status":"all"}`:          {Status: "all"},
		`{"due_date":"today","state":"open"}`:        {Due: "today", Status: "open"},
	} {
		var got taskArgs
		ignored, err := decodeArgs(listTasks.input(), json.RawMessage(given), false, &got)
		require.NoError(t, err, given)
		assert.Empty(t, ignored, given)
		assert.Equal(t, want, got, given)
	}
	var links linksArgs
	_, err := decodeArgs(noteLinks.input(), json.RawMessage(`{"note":"n","backlinks":true}`), false, &links)
	require.NoError(t, err)
	assert.Equal(t, "in", links.Direction)
	var edit editArgs
	_, err = decodeArgs(editNote.input(), json.RawMessage(`{"note":"n","edits":[{"op":"toggle_task","line":3,"completed":true},{"op":"toggle_task","task":"milk"},{"key":"status","value":"open"}]}`), true, &edit)
	require.NoError(t, err)
	edits, err := edit.all()
	require.NoError(t, err)
	assert.Equal(t, []notes.Edit{{Op: "toggle_task", Line: 3, Status: "done"}, {Op: "toggle_task", Text: "milk"}, {Op: "set_front_matter", Key: "status", Value: "open"}}, edits)
	_, err = decodeArgs(editNote.input(), json.RawMessage(`{"note":"n","edits":[],"overdue":true}`), true, &edit)
	require.ErrorContains(t, err, `there is no argument "overdue"`)
}

// Any input from a model yields arguments or an error that the model can correct, never an
// internal one.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"note":"n"}`, `{"note":1,"tags":"a,b","where":"{}"}`, `{"limit":1e400}`, `"{}"`, `[]`, `{"vector":"[1,"}`, `{"edits":[null]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return // rejected by the transport
		}
		_, err := decodeArgs(exampleSchema, raw, false, new(exampleArgs))
		if err != nil {
			var usage *UsageError
			require.ErrorAs(t, err, &usage)
		}
	})
}

// Every name in a schema has a field, and every alias belongs to an argument of some tool.
func TestAliasesAreOfUse(t *testing.T) {
	used := map[string]bool{}
	for _, tool := range All() {
		for _, p := range tool.input().params {
			used[p.name] = true
			if p.Items != nil {
				for _, field := range p.Items.Properties {
					used[field.name] = true
				}
			}
		}
	}
	for name, list := range aliases {
		assert.True(t, used[name], "no tool has an argument %q", name)
		for _, alias := range list {
			assert.Equal(t, phrase.SnakeCase(alias), alias)
		}
	}
}

// A text is cut at the end of a line, and the first line between two runes.
func TestBeginning(t *testing.T) {
	for _, c := range []struct {
		text string
		size int
		want string
	}{
		{"日本語\n", 100, "日本語\n"}, {"日本語\n", 4, "日"}, {"日本語\n", 6, "日本"}, {"日本語\n", 2, ""}, {"日本語\n", 9, "日本語"}, {"a\nbc\nd", 4, "a\n"}, {"a\nbc\nd", 5, "a\nbc\n"}, {"\x80\x80\x80", 2, ""},
	} {
		assert.Equal(t, c.want, beginning(c.text, c.size), "%q %d", c.text, c.size)
	}
}

// A number of lines does not replace the part of a note that its name selects, and a note does
// not have two names.
func TestArgumentsThatContradict(t *testing.T) {
	for _, given := range []string{`{"note":"Plan.md:50-60","limit":100}`, `{"path":"Plan#Risks","limit":100}`, `{"note":"Plan","heading":"Risks","limit":100}`} {
		var a readArgs
		ignored, err := decodeArgs(readNote.input(), json.RawMessage(given), false, &a)
		require.NoError(t, err)
		assert.Empty(t, a.Lines, given)
		assert.NotEmpty(t, ignored, given)
	}
	var listed listArgs
	_, err := decodeArgs(listNotes.input(), json.RawMessage(`{"filter":{"status":"open"}}`), true, &listed)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"status": "open"}, listed.Where)
	_, err = decodeArgs(listNotes.input(), json.RawMessage(`{"filter":"*.md"}`), true, &listed)
	require.NoError(t, err)
	assert.Equal(t, "*.md", listed.Glob)
	_, err = decodeArgs(listNotes.input(), json.RawMessage(`{"pattern":"{a,b}/*.md"}`), true, &listed)
	require.NoError(t, err)
	assert.Equal(t, "{a,b}/*.md", listed.Glob)
	var made createArgs
	_, err = decodeArgs(createNote.input(), json.RawMessage(`{"note":"T.md","text":"{{date}} {\"a\": 1}"}`), true, &made)
	require.NoError(t, err)
	assert.Equal(t, `{{date}} {"a": 1}`, *made.Content)
	var a deleteArgs
	_, err = decodeArgs(deleteNote.input(), json.RawMessage(`{"filename":"Draft.md","name":"Work"}`), true, &a)
	require.ErrorContains(t, err, `note is given twice, also as "name"`)
	_, err = decodeArgs(deleteNote.input(), json.RawMessage(`{"filename":"Draft.md","folder":"Work"}`), true, &a)
	require.ErrorContains(t, err, `there is no argument "folder"`)
}

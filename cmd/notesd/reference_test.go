package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/mcp/tools"
)

//go:generate go test -run TestReference -update .

const generated = "<!-- Generated from the program by go generate ./cmd/notesd. Do not edit. -->\n\n"

// TestReference compares the pages of docs/reference with the program.
func TestReference(t *testing.T) {
	t.Run("commands", func(t *testing.T) {
		notestest.Generated(t, "docs/reference/commands.md", commandsPage())
	})
	offer := offered(t)
	t.Run("tools", func(t *testing.T) {
		notestest.Generated(t, "docs/reference/tools.md", toolsPage(offer))
	})
	t.Run("prompts and resources", func(t *testing.T) {
		notestest.Generated(t, "docs/reference/prompts-and-resources.md", resourcesPage(offer))
	})
}

// Every example in help and in the reference is a valid command line.
func TestExamplesAreUnderstood(t *testing.T) {
	for _, cmd := range (&app{}).rootCommand().Commands() {
		for _, example := range docOf(cmd).Examples {
			t.Run(example, func(t *testing.T) {
				assert.NotZero(t, requireUnderstood(t, example), "it does not call notesd")
			})
		}
	}
}

// requireUnderstood checks the command, the flags and the number of arguments of each
// notesd call in a command line, and returns the number of calls.
func requireUnderstood(t *testing.T, line string) (calls int) {
	t.Helper()
	words := shellWords(line)
	for i, word := range words {
		if filepath.Base(word) != "notesd" || i > 0 && words[i-1] != "--" && !isOperator(words[i-1]) && !strings.Contains(words[i-1], "=") {
			continue
		}
		args := words[i+1:]
		if end := slices.IndexFunc(args, isOperator); end >= 0 {
			args = args[:end]
		}
		root := (&app{}).rootCommand()
		cmd, rest, err := root.Find(args)
		require.NoError(t, err)
		require.NotEqual(t, root, cmd, "%s names no command", line)
		require.NoError(t, cmd.ParseFlags(rest), line)
		require.NoError(t, cmd.ValidateArgs(cmd.Flags().Args()), line)
		calls++
	}
	return calls
}

func isOperator(word string) bool {
	return slices.Contains([]string{"|", "<", ">", "(", ")", ";", "&&"}, word)
}

// shellWords splits a command line like a shell, without substitutions; operators are
// separate words.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	flush := func() {
		if inWord {
			words = append(words, word.String())
			word.Reset()
			inWord = false
		}
	}
	for _, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			flush()
		case strings.ContainsRune("|;<>()", r):
			flush()
			words = append(words, string(r))
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	flush()
	return words
}

// jsonForms are the documents printed by --json: the name of a tool for its result,
// otherwise the members of an object, including those of objects in its lists.
var jsonForms = []struct{ command, form string }{
	{"daily", "read_note"},
	{"search", "search_notes"}, {"read", "read_note"}, {"list", "list_notes"}, {"links", "note_links"}, {"related", "related_notes"}, {"tasks", "list_tasks"},
	{"new", "create_note"}, {"append", "edit_note"}, {"edit", "edit_note"}, {"move", "move_note"}, {"delete", "delete_note"}, {"history", "note_history"},
	{"restore", "restore_note"}, {"undo", "restore_note"}, {"tags --rename", "rename_tag"},
	{"why NOTE QUERY", "{cosine, found, path, rank, read, reasons, score, terms: [{has, notes, term, weight}], text_rank, text_score, title, total, vector_rank}"},
	{"tags", "{tags: [{notes, tag}]}"},
	{"tables", "{tables}"},
	{"export --as-of TIME DIR", "{as_of, dir, notes}"},
	{"backup DIR", "{bytes, state, time, vault, version}"},
	{"forget NOTE", "{note, paths, set_aside, versions}"},
	{"index", "{notes, pending, rebuilt, seconds, seq}"},
	{"restart", "{started, stopped}"},
	{"status", "{clients: [{command, hits, name, result_bytes, search_mode, since, version}], daemon, index, log, notes, semantic, settings, skipped, state, vault, version, warnings, watcher}"},
	{"doctor", "{checks: [{name, state, text}]}"},
	{"config", "{settings: [{key, origin, value}]}"},
	{"setup --print HOST", "{hosts: [{action, file, host, name, text}]}"},
	{"stop", "{stopped}"},
	{"service status", "{current, installed, manager, name, place, running}"},
	{"adopt STATE", "{adopted, set_aside, state, vault}"},
	{"eval --mode text --questions FILE", "{modes}"},
	{"import DIR", "{added, left: [{path, reason}], place, unchanged}"},
	{"version", "{go, modified, platform, version}"},
}

// TestJSONForms runs the commands with --json.
func TestJSONForms(t *testing.T) {
	notestest.SkipInShort(t)
	p := newPlace(t, map[string]string{"Note.md": "word #tag\n", "Gone.md": "x\n"})
	out := t.TempDir()
	p.env = append(p.env, "HOME="+out, "USERPROFILE="+out, "NOTESD_SEMANTIC_PROVIDER=builtin") // no settings of hosts
	p.run(t, "delete", "Gone")
	p.run(t, "index", "--wait")
	questions := filepath.Join(out, "questions.json")
	require.NoError(t, os.WriteFile(questions, []byte(`{"queries": [{"query": "word", "expected": ["Note.md"]}]}`), 0o600))
	words := strings.NewReplacer("NOTE QUERY", "Note.md word", "TIME", "0s", "NOTE", "Gone.md", "HOST", "cursor", "FILE", questions, "DIR", "")
	for i, f := range jsonForms {
		if !strings.HasPrefix(f.form, "{") || strings.HasPrefix(f.command, "adopt") || strings.HasPrefix(f.command, "import") { // a tool's, or of another test
			continue
		}
		args := strings.Fields(words.Replace(f.command))
		if strings.HasSuffix(f.command, "DIR") {
			args = append(args, filepath.Join(out, fmt.Sprint(i)))
		}
		printed, err := p.command(append(args, "--json")...).Output()
		require.NoError(t, err, "%s", f.command)
		var document map[string]any
		require.NoError(t, json.Unmarshal(printed, &document), "%s", f.command)
		assert.Equal(t, f.form, formOf(document), f.command)
	}
}

// formOf returns the members of an object, including those of objects in its lists.
func formOf(document map[string]any) string {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(document)) {
		if list, ok := document[name].([]any); ok && len(list) > 0 {
			if first, ok := list[0].(map[string]any); ok {
				name += ": [" + formOf(first) + "]"
			}
		}
		members = append(members, name)
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func commandsPage() string {
	var b strings.Builder
	root := (&app{}).rootCommand()
	b.WriteString("# Commands\n\n" + generated)
	b.WriteString("`notesd COMMAND -h` prints what is here. `notesd completion bash` (zsh, fish, powershell) prints\n" +
		"the script with which your shell completes commands, flags, notes and tags.\n\n" +
		"## All commands\n\n| command | |\n|---|---|\n")
	commands := root.Commands()
	slices.SortFunc(commands, func(a, b *cobra.Command) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, cmd := range commands {
		d := docOf(cmd)
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", d.Name, strings.ReplaceAll(d.Name, " ", "-"), cell(d.Short))
	}
	b.WriteString("\nFlags of every command:\n\n")
	flagTable(&b, docOf(root).Flags)
	b.WriteString(`
## Output and exit codes

Results go to standard output, remarks and errors to standard error. With ` + "`--json`" + `, standard
output is one JSON document, and an error is ` + "`{\"error\": {\"code\", \"message\", \"hint\"}}`" + ` on standard error.

| exit code | |
|---|---|
| 0 | done |
| 1 | failed |
| 2 | wrong usage or configuration |
| 3 | not found |
| 4 | conflict: the note exists, or has changed |
| 128 + n | ended by signal n: 130 for Ctrl-C |

What it prints is named at each command. Later versions may add members to an object, and remove none; empty
members may be left out.
`)
	for _, cmd := range commands {
		d := docOf(cmd)
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n```text\n%s\n```\n\n", d.Name, d.About, d.Usage)
		for i, flag := range d.Flags {
			if flag.Name == "--json" {
				d.Flags[i].Text = cmp.Or(jsonOf(cmd.Name()), flag.Text)
			}
		}
		flagTable(&b, d.Flags)
		if len(d.Flags) > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "```sh\n%s\n```\n", strings.Join(d.Examples, "\n"))
	}
	return b.String()
}

// jsonOf describes the documents that --json prints for a command.
func jsonOf(command string) string {
	var forms []string
	for _, f := range jsonForms {
		name, args, _ := strings.Cut(f.command, " ")
		if name != command {
			continue
		}
		form := "`" + f.form + "`"
		if !strings.HasPrefix(f.form, "{") {
			form = fmt.Sprintf("the result of [`%s`](tools.md#%[1]s)", f.form)
		}
		if args == "--rename" {
			form += " with `--rename`"
		}
		forms = append(forms, form)
	}
	if len(forms) == 0 {
		return ""
	}
	return "print " + strings.Join(forms, ", or ")
}

func flagTable(b *strings.Builder, flags []flagDoc) {
	if len(flags) > 0 {
		b.WriteString("| flag | |\n|---|---|\n")
	}
	for _, f := range flags {
		fmt.Fprintf(b, "| `%s` | %s |\n", f.Name, cell(f.Text))
	}
}

// cell escapes a text for a table cell.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "\n", " ").Replace(text)
}

// offer is what a server offers to a client.
type offer struct {
	Tools []struct {
		Name, Title, Description string
		InputSchema              property
		Annotations              struct{ ReadOnlyHint, DestructiveHint bool }
	}
	Prompts []struct {
		Name, Title, Description string
		Arguments                []struct{ Name, Description string }
	}
	Resources         []resource
	ResourceTemplates []resource
}

type resource struct{ URI, URITemplate, Title, Description, MIMEType string }

type property struct {
	Type        string
	Description string
	Enum        []string
	Items       *property
	AnyOf       []property
	Properties  map[string]property
	Required    []string
	Minimum     *int
	Maximum     *int
}

// offered returns what the program offers.
func offered(t *testing.T) offer {
	t.Helper()
	h := newPlace(t, nil).launch(t, "mcp", "--in-process", "--tools", "all")
	h.initialize()
	var o offer
	for _, list := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		require.NoError(t, json.Unmarshal(h.call(list, nil).Result, &o), list)
	}
	require.NoError(t, h.end())
	require.Len(t, o.Tools, len(tools.All()))
	return o
}

func toolsPage(o offer) string {
	var b strings.Builder
	b.WriteString("# Tools\n\n" + generated)
	b.WriteString(`What a client is offered: the descriptions are those that the model reads. ` + "`notesd mcp --tools`" + ` takes
names of this page, or the groups ` + "`reader`, `writer` and `all`" + `.

A note is named by its path, its title, an alias, a link or a URI, as results write it
(` + "`Plan.md:5-14`, `Plan#Risks`" + `), or by ` + "`today`, `yesterday`, `tomorrow`, `this week`" + `, a day or a week for a daily or
weekly note. Queries: [Queries and filters](queries.md).

| tool | | |
|---|---|---|
`)
	for _, tool := range o.Tools {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", tool.Name, tool.Name, tool.Title, kindOf(tool.Name))
	}
	for _, tool := range o.Tools {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", tool.Name, tool.Description)
		rows := argumentRows("", tool.InputSchema)
		if len(rows) == 0 {
			b.WriteString("No arguments.\n")
			continue
		}
		b.WriteString("| argument | type | |\n|---|---|---|\n" + strings.Join(rows, ""))
	}
	return b.String()
}

// kindOf returns the effect of a tool on notes.
func kindOf(name string) string {
	return map[tools.Effect]string{tools.Reads: "reads", tools.Adds: "adds", tools.Changes: "changes"}[tools.Find(name).Effect]
}

// argumentRows returns a row for each argument, required ones first.
func argumentRows(prefix string, schema property) []string {
	names := slices.SortedFunc(maps.Keys(schema.Properties), func(a, b string) int {
		required := func(name string) int {
			if i := slices.Index(schema.Required, name); i >= 0 {
				return i
			}
			return len(schema.Required)
		}
		return cmp.Or(cmp.Compare(required(a), required(b)), cmp.Compare(a, b))
	})
	var rows []string
	for _, name := range names {
		p := schema.Properties[name]
		text := []string{}
		if slices.Contains(schema.Required, name) {
			text = append(text, "required")
		}
		if p.Description != "" {
			text = append(text, p.Description)
		}
		if len(p.Enum) > 0 {
			text = append(text, "`"+strings.Join(p.Enum, "`, `")+"`")
		}
		switch {
		case p.Minimum != nil && p.Maximum != nil:
			text = append(text, fmt.Sprintf("%d to %d", *p.Minimum, *p.Maximum))
		case p.Maximum != nil:
			text = append(text, fmt.Sprintf("at most %d", *p.Maximum))
		}
		rows = append(rows, fmt.Sprintf("| `%s%s` | %s | %s |\n", prefix, name, typeOf(p), cell(strings.Join(text, "; "))))
		if p.Items != nil && len(p.Items.Properties) > 0 {
			rows = append(rows, argumentRows(prefix+name+"[].", *p.Items)...)
		}
	}
	return rows
}

func typeOf(p property) string {
	switch {
	case p.Type == "array" && p.Items != nil:
		return "list of " + typeOf(*p.Items) + "s"
	case len(p.AnyOf) > 0:
		return "any"
	}
	return p.Type
}

func resourcesPage(o offer) string {
	var b strings.Builder
	b.WriteString("# Prompts and resources\n\n" + generated)
	b.WriteString("## Prompts\n\nNo argument is required. Your own prompts: [Write prompts](../how-to/prompts.md).\n")
	for _, p := range o.Prompts {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n| argument | |\n|---|---|\n", p.Name, p.Description)
		for _, a := range p.Arguments {
			fmt.Fprintf(&b, "| `%s` | %s |\n", a.Name, cell(a.Description))
		}
	}
	b.WriteString("\n## Resources\n\nA client can subscribe to each; it is notified when the resource reads differently.\n\n" +
		"| URI | type | |\n|---|---|---|\n")
	for _, r := range append(o.Resources, o.ResourceTemplates...) {
		if r.URI != "" && strings.HasPrefix(r.URI, "note:///") {
			continue // a note of the vault
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", cmp.Or(r.URI, r.URITemplate), cmp.Or(r.MIMEType, "its own"), cell(r.Description))
	}
	b.WriteString("\nA note's URI may end in lines or a heading: `note:///Plan.md#L12-L18`, `note:///Plan.md#Risks`. The\n" +
		"anchor of a passage also has the version that it was read from: `note:///Plan.md?rev=1a2b3c4d5e6f#L12-L18`.\n" +
		"As a resource it reads as that version, from history if the note has changed since, or fails if history does not\n" +
		"have it. `read_note` shows where the passage is now, with a remark if it has moved or is not found.\n")
	return b.String()
}

func TestShellWords(t *testing.T) {
	assert.Equal(t, []string{"a", "b c", "|", "d e", "f", ">", "g"}, shellWords(`a 'b c' | "d e" f > g`))
}

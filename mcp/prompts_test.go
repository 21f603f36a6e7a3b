package mcp

import (
	"context"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
	"notesd/notes"
	"notesd/prompts"
	"notesd/search"
)

// weakSearch returns a weak hit, after a good one if it has one.
type weakSearch struct{ good bool }

func (s weakSearch) Search(context.Context, search.Query) (search.Result, error) {
	res := search.Result{Hits: []search.Hit{{Path: "Empty.md", Title: "Empty", LineStart: 1, LineEnd: 1, Weak: true}}, Total: 1, Weak: !s.good,
		Semantic: notes.Coverage{State: search.StateReady, Coverage: 1}}
	if s.good {
		res.Hits = append([]search.Hit{{Path: "Plan.md", Title: "Plan", LineStart: 3, LineEnd: 3, Score: 1, Why: search.Why{TextRank: 1, Terms: []string{"tax"}}}}, res.Hits...)
		res.Total = 2
	}
	res.Index.Ready = true
	if res.Weak {
		res.Notes = []string{"no note matches well"}
	}
	return res, nil
}

// search_notes marks weak hits in both forms; tools and prompts that answer from notes do
// not use them.
func TestWeakHits(t *testing.T) {
	for _, good := range []bool{true, false} {
		w := newWorld(t, sampleVault, Limits{})
		w.core.opts.Search = weakSearch{good}
		var want []string
		if good {
			want = []string{"Plan.md"}
		}

		found, err := callTool(t, w, "search_notes", `{"query":"tax return"}`)
		require.NoError(t, err)
		results := found.Structured.(tools.SearchResult)
		assert.Equal(t, !good, results.Weak)
		assert.True(t, results.Results[len(results.Results)-1].Weak)
		assert.Equal(t, good, strings.Contains(found.Text, "(weak)"), "if all are, the first line says so")

		gathered, err := callTool(t, w, "gather_context", `{"query":"tax return"}`)
		require.NoError(t, err)
		var paths []string
		for _, p := range gathered.Structured.(tools.GatherResult).Passages {
			paths = append(paths, p.Path)
		}
		assert.Equal(t, want, paths)
		assert.Contains(t, gathered.Structured.(tools.GatherResult).Notes, "omitted as weak matches: 1 note; search_notes shows them")

		related, err := callTool(t, w, "related_notes", `{"text":"tax return"}`)
		require.NoError(t, err)
		assert.Len(t, related.Structured.(tools.RelatedResult).Related, len(want))

		listed, err := PromptSearch{Engine: weakSearch{good}}.Find(t.Context(), prompts.Query{Text: "tax return"}, notes.Filter{}, 10)
		require.NoError(t, err)
		assert.Equal(t, want, listed)
		listed, err = PromptSearch{Engine: weakSearch{good}}.Find(t.Context(), prompts.Query{Text: "tax return", Of: "Plan.md"}, notes.Filter{}, 10)
		require.NoError(t, err)
		assert.Empty(t, listed, "the note that the text is from")
	}
}

// A note whose file cannot be read, as on a disk that is not mounted, is omitted with a remark.
func TestGatherContext_UnreadableNote(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	w.vault.read = func(_ context.Context, ref string) error {
		if strings.HasSuffix(ref, "Garden/Plan.md") {
			return &notes.Error{Op: "read", Path: ref, Err: notes.ErrUnavailable}
		}
		return nil
	}
	gathered, err := callTool(t, w, "gather_context", `{"query":"plan garden"}`)
	require.NoError(t, err)
	out := gathered.Structured.(tools.GatherResult)
	require.NotEmpty(t, out.Passages)
	assert.Equal(t, "Plan.md", out.Passages[0].Path)
	assert.Contains(t, out.Notes, "omitted, because their files cannot be read at the moment: 1 note; search_notes shows them")
}

// countedNotes counts how often the folder of the templates is listed.
type countedNotes struct {
	*stagedVault
	lists int
}

func (n *countedNotes) List(ctx context.Context, q notes.ListQuery) (notes.ListPage, error) {
	n.lists++
	return n.stagedVault.List(ctx, q)
}

// A prompts/get reads the templates once, and renders what it read.
func TestPromptsGet_ReadsTemplatesOnce(t *testing.T) {
	w := newWorld(t, map[string]string{"Prompts/tidy.md": "Tidy up."}, Limits{})
	counted := &countedNotes{stagedVault: w.vault}
	client := tableClient(t, w.core, Profile{Settings: Settings{Prompts: prompts.New(prompts.Options{Notes: counted, Folder: "Prompts"})}})
	for _, request := range []struct {
		name string
		send func() error
	}{
		{"prompts/get", func() error {
			got, err := client.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "tidy"})
			if err == nil {
				assert.Equal(t, "Tidy up.", got.Messages[0].Content.(*sdk.TextContent).Text)
			}
			return err
		}},
		{"prompts/list", func() error { _, err := client.ListPrompts(t.Context(), nil); return err }},
	} {
		counted.lists = 0
		require.NoError(t, request.send(), request.name)
		assert.Equal(t, 1, counted.lists, request.name)
	}
}

func TestPromptDefinition_ArgumentTitles(t *testing.T) {
	def := promptDefinition(prompts.Prompt{Name: "p", Arguments: []prompts.Argument{{Name: "due_date"}, {Name: "étape"}, {Name: "тема"}, {Name: "主题"}}})
	var titles []string
	for _, a := range def.Arguments {
		titles = append(titles, a.Title)
	}
	assert.Equal(t, []string{"Due date", "Étape", "Тема", "主题"}, titles)
}

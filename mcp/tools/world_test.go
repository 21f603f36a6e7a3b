package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault"
	"notesd/search"
	"notesd/search/index"
	"notesd/vectors/table"
)

type args = map[string]any

// A world calls tools on a vault on disk, with its store, index and tables.
type world struct {
	root  string
	vault *vault.Vault
	env   tools.Env
}

func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	w := &world{root: t.TempDir()}
	for name, text := range files {
		name = filepath.Join(w.root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	state, now := t.TempDir(), func() time.Time { return time.Date(2026, 2, 4, 9, 0, 0, 0, time.UTC) }
	store, err := store.Open(t.Context(), state)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	w.vault, err = vault.New(t.Context(), store, w.root, vault.Options{Now: now, MaxNoteBytes: 1 << 20})
	require.NoError(t, err)
	index, err := index.Open(t.Context(), filepath.Join(state, "index"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, index.Close()) })
	w.vault.Follow(index)
	tables := table.New(store.History(), t.TempDir(), nil, table.Options{})
	t.Cleanup(func() { require.NoError(t, tables.Close()) })
	w.env = tools.Env{
		Vault: w.vault, History: w.vault.History(), Search: search.NewEngine(store, index, nil, search.EngineOptions{}), Tables: tables,
		Limits: tools.Limits{ResultBytes: 20_000, Hits: 10}, Seen: new(tools.Seen), Author: notes.Author{Name: "tester"}, Now: now,
		Confirm:  func(context.Context, string) error { return nil },
		Describe: func(_ context.Context, err error) (string, string) { return err.Error(), "" },
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.vault.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
	})
	require.Eventually(t, w.vault.Ready, time.Minute, time.Millisecond)
	return w
}

// call calls a tool that succeeds, and checks what holds for every result: it matches its
// schema, keeps the limit in both forms, and contains the structure's facts in the text.
func (w *world) call(t *testing.T, name string, a args) (structured args, text string) {
	t.Helper()
	tool := tools.Find(name)
	raw, err := json.Marshal(a)
	require.NoError(t, err)
	out, err := tool.Call(t.Context(), w.env, raw)
	require.NoError(t, err, "%s %s", name, raw)
	data, err := json.Marshal(out.Structured)
	require.NoError(t, err)
	var schema jsonschema.Schema
	require.NoError(t, json.Unmarshal(tool.OutputSchema(), &schema))
	resolved, err := schema.Resolve(nil)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &structured))
	require.NoError(t, resolved.Validate(structured), "%s %s: %s", name, raw, data)
	limit := w.env.Limits.ResultBytes
	if most, ok := a["max_bytes"].(int); ok {
		limit = max(limit, most)
	}
	assert.LessOrEqual(t, len(data), limit, "%s %s", name, raw)
	assert.LessOrEqual(t, len(out.Text), limit, "%s %s", name, raw)
	if hash, _ := structured["hash"].(string); a["dry_run"] == nil {
		assert.Contains(t, out.Text, notes.ShortHash(hash), "%s %s: the text lacks the hash", name, raw)
	}
	for _, field := range []string{"path", "next_cursor", "diff", "content"} {
		if value, _ := structured[field].(string); value != "" {
			assert.Contains(t, out.Text, strings.TrimRight(value, "\n"), "%s %s: the text lacks %s", name, raw, field)
		}
	}
	for _, list := range []string{"results", "notes", "related", "tasks", "revisions"} {
		items, _ := structured[list].([]any)
		for _, item := range items {
			fields, _ := item.(args)
			path, _ := fields["path"].(string)
			snippet, _ := fields["snippet"].(string)
			was, _ := fields["old_path"].(string)
			for _, fact := range []string{path, was, strings.Join(strings.Fields(snippet), " ")} {
				assert.Contains(t, out.Text, fact, "%s %s: the text lacks a fact", name, raw)
			}
			if number, ok := fields["revision"].(float64); ok && list == "revisions" && number > 0 {
				assert.Contains(t, out.Text, fmt.Sprintf("\n%v | ", number), "%s %s", name, raw)
			}
		}
	}
	for _, list := range []string{"notes", "warnings"} { // remarks
		all, _ := structured[list].([]any)
		for _, remark := range all {
			if said, ok := remark.(string); ok && name != "move_note" {
				assert.Contains(t, out.Text, said, "%s %s", name, raw)
			}
		}
	}
	return structured, out.Text
}

// fails calls a tool that fails for a reason that the caller can correct, and returns the
// error with its hint.
func (w *world) fails(t *testing.T, name string, a args) string {
	t.Helper()
	raw, err := json.Marshal(a)
	require.NoError(t, err)
	_, err = tools.Find(name).Call(t.Context(), w.env, raw)
	require.Error(t, err, "%s %s", name, raw)
	var usage *tools.UsageError
	if errors.As(err, &usage) {
		return usage.Error()
	}
	var domain *notes.Error
	require.ErrorAs(t, err, &domain, "%s %s", name, raw)
	return domain.Error() + ". " + domain.Hint
}

// refuse is a user who declines every question.
func refuse(asked *[]string) func(context.Context, string) error {
	return func(_ context.Context, question string) error {
		*asked = append(*asked, question)
		return &notes.Error{Op: "ask the user", Err: notes.ErrForbidden, Detail: "no"}
	}
}

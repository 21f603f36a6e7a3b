package search_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"notesd/notes/store"
	"notesd/notes/vault"
	"notesd/search"
	"notesd/search/index"
)

// fixture is a vault on disk with its store, index and engine.
type fixture struct {
	t      testing.TB
	root   string
	state  string
	store  *store.Store
	vault  *vault.Vault
	index  *index.Index
	engine *search.Engine
}

// today is the time of the engine's clock, to which dates are relative.
var today = time.Date(2026, 3, 10, 15, 4, 5, 0, time.UTC)

func newFixture(t testing.TB, files map[string]string) *fixture {
	t.Helper()
	return newFixtureWith(t, files, nil)
}

func newFixtureWith(t testing.TB, files map[string]string, semantic search.Semantic) *fixture {
	t.Helper()
	ctx := context.Background()
	f := &fixture{t: t, root: t.TempDir(), state: t.TempDir()}
	var err error
	f.store, err = store.Open(ctx, f.state)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.store.Close()) })
	f.vault, err = vault.New(ctx, f.store, f.root, vault.Options{})
	require.NoError(t, err)
	f.index, err = index.Open(ctx, filepath.Join(f.state, "index"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.index.Close()) })
	f.vault.Follow(f.index)
	f.write(files)
	f.engine = search.NewEngine(f.store, f.index, semantic, search.EngineOptions{SemanticTimeout: time.Minute, Clock: func() time.Time { return today }})
	return f
}

// write writes files to the vault ("" deletes one) and lets the index follow.
func (f *fixture) write(files map[string]string) {
	f.t.Helper()
	for name, text := range files {
		name = filepath.Join(f.root, filepath.FromSlash(name))
		if text == "" {
			require.NoError(f.t, os.Remove(name))
			continue
		}
		require.NoError(f.t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(f.t, os.WriteFile(name, []byte(text), 0o644))
	}
	require.NoError(f.t, f.vault.Reconcile(context.Background()))
}

func (f *fixture) search(q search.Query) search.Result {
	f.t.Helper()
	r, err := f.engine.Search(context.Background(), q)
	require.NoError(f.t, err)
	return r
}

// paths searches by words and returns the paths of the hits, without ".md".
func (f *fixture) paths(text string) []string {
	f.t.Helper()
	return pathsOf(f.search(search.Query{Text: text, Mode: search.ModeText, Limit: 50}))
}

func pathsOf(r search.Result) []string {
	out := []string{}
	for _, h := range r.Hits {
		out = append(out, strings.TrimSuffix(h.Path, ".md"))
	}
	return out
}

package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/notes/store"
	"notesd/vectors/table"
)

var watchedVault = map[string]string{
	"Plan.md":               "![[My photo.png]] ![[Later.png]]\n",
	"Pictures/My photo.png": "one",
	"Unlinked.png":          "nobody links to it",
	"Private/Diary.md":      "![[own.png]]\n",
	"Private/own.png":       "own",
}

const photoURI = "note:///Pictures/My%20photo.png"

// A change to the bytes of a watched attachment is announced once, whichever of the paths
// above it the watcher reports.
func TestAttachmentIsWatched(t *testing.T) {
	w := newRealWorld(t, watchedVault)
	require.NoError(t, w.session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: photoURI}))
	notifier := w.core.notifier.Load()
	for _, change := range []func(){
		func() {
			w.write(t, "Pictures/My photo.png", "two")
			notifier.FilesChanged([]string{"Plan.md", "Pictures/My photo.png"})
		},
		func() {
			w.write(t, "Pictures/My photo.png", "three")
			notifier.FilesChanged([]string{"pictures"}) // a folder, as a case-insensitive file system may spell it
		},
		func() {
			w.write(t, "Pictures/My photo.png", "four")
			notifier.EverythingChanged()
		},
		func() {
			require.NoError(t, os.Remove(filepath.Join(w.root, "Pictures", "My photo.png")))
			notifier.FilesChanged([]string{"Pictures/My photo.png"})
		},
	} {
		change()
		assert.Equal(t, photoURI, <-w.updated)
	}
	// Unchanged contents are not announced, so the next notification is for the next
	// change.
	notifier.EverythingChanged()
	notifier.FilesChanged([]string{"Plan.md", "Pictures/My photo.png", "Pictures/Other.png"})
	require.NoError(t, w.session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "note:///Plan.md"}))
	w.write(t, "Plan.md", "![[My photo.png]] now\n")
	w.vault.Changed([]string{"Plan.md"})
	assert.Equal(t, "note:///Plan.md", <-w.updated)
}

// After the feed restarts, every resource may have changed.
func TestResetIsAnnounced(t *testing.T) {
	w := newRealWorld(t, watchedVault)
	require.NoError(t, w.session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "note:///Plan.md"}))
	n := NewNotifier(w.core, notes.Position{})
	require.NoError(t, n.Reset(t.Context()))
	assert.Len(t, n.wake, 1, "Run announces it at once")
	news, _ := n.due(time.Now().Add(listLatest))
	assert.Equal(t, []string{"note:///Plan.md"}, news.uris)
	assert.True(t, news.list && news.prompts)
}

// A passage or a section of a note is watched as the note is, under the URI that the client wrote.
func TestPartOfNoteIsWatched(t *testing.T) {
	w := newRealWorld(t, watchedVault)
	parts := []string{"note:///Plan.md#L1-L2", "note:///Plan.md#Later", "note:///Plan.md?rev=000000000000#L1-L1", "note:///Plan.md#100%"}
	for _, uri := range parts {
		require.NoError(t, w.session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}))
	}
	w.write(t, "Plan.md", "# Later\n")
	w.vault.Changed([]string{"Plan.md"})
	assert.ElementsMatch(t, parts, []string{<-w.updated, <-w.updated, <-w.updated, <-w.updated})
	for _, uri := range parts[1:] {
		require.NoError(t, w.session.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: uri}))
	}
	for _, text := range []string{"one", "two"} {
		w.write(t, "Plan.md", text)
		w.vault.Changed([]string{"Plan.md"})
		assert.Equal(t, parts[0], <-w.updated)
	}
	scoped := w.client(t, Profile{Read: []string{"Pictures"}}, nil)
	require.Error(t, scoped.Subscribe(t.Context(), &sdk.SubscribeParams{URI: parts[0]}))
}

// A subscription that would never be notified is rejected.
func TestUnwatchableIsRefused(t *testing.T) {
	w := newRealWorld(t, watchedVault)
	for uri, why := range map[string]string{
		"note:///Unlinked.png":      "no note links to an attachment with this name",
		"note:///Nowhere.png":       "no note links to an attachment with this name",
		"note:///%2e%2e/secret.png": "",
		"http://example.com":        "no such resource",
		"notes://nonsense":          "no such resource",
		"vectors:///table":          "no such resource", // this core has no tables
		"file:///etc/passwd":        "no such resource",
		"note:///.trash/Old.md":     "no such resource", // ignored
		"":                          "no such resource",
	} {
		err := w.session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri})
		require.ErrorContains(t, err, why, uri)
	}
	scoped := w.client(t, Profile{Read: []string{"Pictures"}}, nil)
	for _, uri := range []string{"note:///Plan.md", "note:///Private/own.png", "note:///Private/New.md"} {
		require.Error(t, scoped.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}), uri)
	}
	require.NoError(t, scoped.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "note:///Pictures/To come.md"}))
	if err := os.Symlink("../Plan.md", filepath.Join(w.root, "Pictures", "plan.md")); err == nil { // if the system supports them
		require.NoError(t, w.vault.Reconcile(t.Context()))
		require.Error(t, scoped.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "note:///Pictures/plan.md"}))
		require.NoError(t, w.session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "note:///Pictures/plan.md"}))
	}
}

// TestDigestsAreBounded subscribes to more resources than may be watched, one after
// another.
func TestDigestsAreBounded(t *testing.T) {
	w := newRealWorld(t, watchedVault)
	w.core.limits.Subscriptions = 2
	s := w.core.newSession(Profile{}, !fixedTools)
	require.NoError(t, s.subs.subscribe(t.Context(), &sdk.SubscribeRequest{Params: &sdk.SubscribeParams{URI: photoURI}}))
	for i := range 10 {
		uri := fmt.Sprint("notes://tags/", i)
		require.NoError(t, s.subs.subscribe(t.Context(), &sdk.SubscribeRequest{Params: &sdk.SubscribeParams{URI: uri}}))
		require.NoError(t, s.subs.unsubscribe(t.Context(), &sdk.UnsubscribeRequest{Params: &sdk.UnsubscribeParams{URI: uri}}))
	}
	assert.LessOrEqual(t, len(s.subs.digests), 3)
	assert.Contains(t, s.subs.digests, photoURI, "which is watched")
}

// A second watch of a resource does not hide a change from the first that has not been
// announced yet.
func TestListen_SecondWatch(t *testing.T) {
	w := newRealWorld(t, watchedVault)
	s := w.core.newSession(Profile{}, !fixedTools)
	var announced []string
	s.out = func(method string, _ any) { announced = append(announced, method) }
	const uri = "notes://tags/new"
	require.NoError(t, s.subs.subscribe(t.Context(), &sdk.SubscribeRequest{Params: &sdk.SubscribeParams{URI: uri}}))
	w.write(t, "Plan.md", "#new\n")
	require.NoError(t, w.vault.Reconcile(t.Context()))
	_, err := s.subs.watchable(t.Context(), uri)
	require.NoError(t, err)
	s.subs.updated(t.Context(), uri)
	assert.Equal(t, []string{methodUpdated}, announced)
}

// The acknowledgment of a listen omits resources whose changes will not be reported; if no
// other remains, the listen is rejected.
func TestListen_AcknowledgesItsFilter(t *testing.T) {
	w := newRealWorld(t, watchedVault)
	s := w.core.newSession(Profile{}, !fixedTools)
	some := &sdk.NotificationSubscriptions{
		ResourceSubscriptions: []string{"note:///Unlinked.png", photoURI, "http://example.com", "note:///To come.md"},
	}
	uris, err := s.subs.watchableOnly(t.Context(), some)
	require.NoError(t, err)
	assert.Equal(t, []string{photoURI, "note:///To come.md"}, some.ResourceSubscriptions)
	assert.Equal(t, map[string][]string{photoURI: {photoURI}, "note:///To%20come.md": {"note:///To come.md"}}, uris)
	_, err = s.subs.watchableOnly(t.Context(), &sdk.NotificationSubscriptions{ResourceSubscriptions: []string{"http://example.com"}})
	require.ErrorIs(t, err, notes.ErrNotFound)
	uris, err = s.subs.watchableOnly(t.Context(), &sdk.NotificationSubscriptions{ToolsListChanged: true, ResourceSubscriptions: []string{"http://example.com"}})
	require.NoError(t, err)
	assert.Empty(t, uris)
}

// A table is announced when its rows change, and the list when tables do.
func TestTableIsWatched(t *testing.T) {
	state := t.TempDir()
	store, err := store.Open(t.Context(), state)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	tables := table.New(store.History(), filepath.Join(state, "vectors"), nil, table.Options{})
	t.Cleanup(func() { require.NoError(t, tables.Close()) })
	core := New(Options{Version: "test", Vault: newWorld(t, nil, Limits{}).vault, Tables: tables})
	w := &realWorld{core: core}
	notifier := NewNotifier(core, notes.Position{})
	w.background(t, notifier.Run)
	updated, listed := make(chan string, 10), make(chan struct{}, 10)
	s := w.client(t, Profile{Tools: []string{groupAll}}, &sdk.ClientOptions{
		ResourceUpdatedHandler:     func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { listed <- struct{}{} },
	})
	const uri = "vectors:///pictures"
	require.NoError(t, s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}), "it may yet be made")
	for _, step := range []struct {
		tool string
		args args
	}{
		{"create_table", args{"table_name": "pictures", "dimension": 2}},
		{"add_vector", args{"table_name": "pictures", "vector": []float64{1, 0}, "id": "a"}},
		{"delete_vectors", args{"table_name": "pictures", "ids": []string{"a"}}},
		{"drop_table", args{"table_name": "pictures"}},
	} {
		_, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: step.tool, Arguments: step.args})
		require.NoError(t, err)
		assert.Equal(t, uri, <-updated, step.tool)
	}
	<-listed
	_, err = tables.Restore(t.Context(), "pictures")
	require.NoError(t, err)
	core.TablesChanged(true)
	assert.Equal(t, uri, <-updated, "restored from the shell")
	<-listed
}

package mcp

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
)

func TestNarrow(t *testing.T) {
	for _, tc := range []struct {
		name               string
		outer, inner, want []string
	}{
		{"both everything", nil, nil, nil},
		{"one everything", []string{"A"}, nil, []string{"A"}},
		{"the other", nil, []string{"A"}, []string{"A"}},
		{"one within the other", []string{"A"}, []string{"A/B", "C"}, []string{"A/B"}},
		{"the other way round", []string{"A/B"}, []string{"A"}, []string{"A/B"}},
		{"the same twice", []string{"A", "A/B"}, []string{"A/B"}, []string{"A/B"}},
		{"nothing in common is nothing, not everything", []string{"A"}, []string{"B", "AB"}, []string{}},
		{"nothing stays nothing", []string{}, nil, []string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, narrow(tc.outer, tc.inner))
		})
	}
}

// A session that may see nothing sees nothing, by any method.
func TestSession_WithoutReadableNotes(t *testing.T) {
	w := newRealWorld(t, realVault)
	s := w.client(t, Profile{Read: []string{"Garden"}}.within(Profile{Read: []string{"Cellar"}}), nil)
	found, _ := call[tools.SearchResult](t, s, "search_notes", args{"query": "tomatoes"})
	assert.Empty(t, found.Results)
	list, _ := call[tools.ListResult](t, s, "list_notes", nil)
	assert.Empty(t, list.Notes)
	overview, _ := call[tools.Overview](t, s, "vault_overview", nil)
	assert.Zero(t, overview.Notes)
	assert.Empty(t, overview.Folders)
	assert.Empty(t, overview.Tags)
	assert.Contains(t, refused(t, s, "read_note", args{"note": "Garden/Tomatoes.md"}), "no such note")
	resources, err := s.ListResources(t.Context(), nil)
	require.NoError(t, err)
	assert.Len(t, resources.Resources, len(fixedResources))
	tools, err := s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	for _, tool := range tools.Tools {
		assert.True(t, tool.Annotations.ReadOnlyHint, tool.Name)
	}
}

// The groups reader and writer: the second includes the first.
func TestReaderAndWriter(t *testing.T) {
	offered := func(name string) (names []string) {
		for _, tool := range tools.All() {
			if (Profile{Tools: []string{name}}).selects(tool) {
				names = append(names, tool.Name)
			}
		}
		return names
	}
	reader, writer := offered("reader"), offered("writer")
	assert.Contains(t, reader, "search_notes")
	assert.NotContains(t, reader, "edit_note")
	assert.Subset(t, writer, reader)
	assert.Contains(t, writer, "edit_note")
	require.NoError(t, Profile{Tools: []string{"reader", "writer"}}.Validate())
}

// The overview of an Obsidian vault says how to open a note in the app, but not to a
// session that sees only a part of the vault.
func TestOverviewSaysHowToOpenANote(t *testing.T) {
	w := newRealWorld(t, realVault)
	w.core.opts.Open = map[string]string{"": "obsidian://open?path=%2Fvault%2F{path}"}
	overview, text := call[tools.Overview](t, w.client(t, Profile{}, nil), "vault_overview", nil)
	assert.Equal(t, w.core.opts.Open[""], overview.Open)
	assert.Contains(t, text, w.core.opts.Open[""])
	overview, text = call[tools.Overview](t, w.client(t, Profile{Read: []string{"Garden"}}, nil), "vault_overview", nil)
	assert.Empty(t, overview.Open)
	assert.NotContains(t, text, "obsidian")

	w.core.opts.Open = map[string]string{"work": "obsidian://open?path=%2Fvault%2F{path}"}
	overview, text = call[tools.Overview](t, w.client(t, Profile{}, nil), "vault_overview", nil)
	assert.Empty(t, overview.Open)
	assert.Equal(t, w.core.opts.Open, overview.OpenIn)
	assert.Contains(t, text, "To open a note in work: obsidian://open?path=%2Fvault%2F{path} with its path after work/")
}

// The status names the connected clients and their bounds.
func TestClients(t *testing.T) {
	w := newRealWorld(t, realVault)
	names := func() (names []string) {
		for _, c := range w.core.Clients() {
			names = append(names, c.Name)
		}
		return names
	}
	require.Equal(t, []string{"tester"}, names())
	s := w.client(t, Profile{ReadOnly: true, Read: []string{"Garden"}, Owner: true, Settings: Settings{Hits: 3, Mode: "text"}}, withPanel)
	clients := w.core.Clients()
	require.Len(t, clients, 2)
	c := clients[1]
	assert.Equal(t, Client{
		Name: "tester", Version: "2", Since: c.Since, Panel: true, Command: true, Profile: c.Profile,
	}, c)
	assert.True(t, c.ReadOnly)
	assert.Equal(t, []string{"Garden"}, c.Read)
	shown, err := json.Marshal(c)
	require.NoError(t, err)
	assert.Contains(t, string(shown), `"search_mode":"text","hits":3`)
	assert.False(t, c.Since.Before(clients[0].Since))
	require.NoError(t, s.Close())
	require.Eventually(t, func() bool { return len(names()) == 1 }, time.Minute, time.Millisecond)
}

// A client without sessions is identified by its first request.
func TestClientOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sampleVault, Limits{})
		c := w.connect(t, Profile{})
		synctest.Wait()
		assert.Empty(t, w.core.Clients()[0].Name)
		for _, name := range []string{"first", "second"} {
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"` + name + `","version":"7"}}}}`)
			synctest.Wait()
		}
		assert.Equal(t, "first", w.core.Clients()[0].Name)
		assert.Equal(t, "7", w.core.Clients()[0].Version)
	})
}

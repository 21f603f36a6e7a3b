package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
)

var withPanel = &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{
	Extensions: map[string]any{extensionUI: map[string]any{"mimeTypes": []string{panelType}}},
}}

// Only clients that declare the extension see the panel: in the tools, the
// resources, the results and the handshake.
func TestPanel_OnlyForClientsThatSupportIt(t *testing.T) {
	w := newRealWorld(t, realVault)
	otherType := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{
		Extensions: map[string]any{extensionUI: map[string]any{"mimeTypes": []string{"text/html+skybridge"}}},
	}}
	for name, c := range map[string]struct {
		options *sdk.ClientOptions
		shows   bool
	}{"without": {nil, false}, "of another type": {otherType, false}, "with": {withPanel, true}} {
		t.Run(name, func(t *testing.T) {
			s := w.client(t, Profile{}, c.options)
			assert.Nil(t, s.InitializeResult().Capabilities.Logging, "this world has no log for clients")
			_, declared := s.InitializeResult().Capabilities.Extensions[extensionUI]
			assert.Equal(t, c.shows, declared)

			list, err := s.ListTools(t.Context(), nil)
			require.NoError(t, err)
			var named []string
			for _, tool := range list.Tools {
				if ui, ok := tool.Meta["ui"].(map[string]any); ok {
					assert.Equal(t, panelURI, ui["resourceUri"])
					named = append(named, tool.Name)
				} else {
					assert.Empty(t, tool.Meta)
				}
			}
			resources, err := s.ListResources(t.Context(), nil)
			require.NoError(t, err)
			listed := false
			for _, r := range resources.Resources {
				listed = listed || r.URI == panelURI
			}
			assert.Equal(t, c.shows, listed)

			read, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: panelURI})
			found, callErr := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "search_notes", Arguments: map[string]any{"query": "plants"}})
			require.NoError(t, callErr)
			assert.NotEmpty(t, found.Content)
			if !c.shows {
				require.ErrorContains(t, err, "not found")
				assert.Empty(t, named)
				assert.Empty(t, found.Meta)
				return
			}
			require.NoError(t, err)
			assert.ElementsMatch(t, []string{"search_notes", "note_links", "related_notes", "edit_note"}, named)
			assert.Equal(t, panelType, read.Contents[0].MIMEType)
			assert.Contains(t, read.Contents[0].Text, "<!doctype html>")
			assert.NotContains(t, read.Contents[0].Meta["ui"], "csp", "it asks for no domain")
			assert.Contains(t, found.Meta, metaPanel)
		})
	}
}

// The panel is a single file without external dependencies.
func TestPanelIsSelfContained(t *testing.T) {
	for _, outside := range []string{"src=", "href=", "@import", "url(", "fetch(", "innerHTML", "insertAdjacentHTML", "eval("} {
		assert.NotContains(t, panelHTML, outside)
	}
	assert.Less(t, len(panelHTML), 20<<10)
}

// A client without sessions declares the extension in each request.
func TestPanelInEachRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newWorld(t, sampleVault, Limits{}).connect(t, Profile{})
		answer := func(method, capabilities string) string {
			c.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"uri":"` + panelURI + `","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + capabilities + `}}}`)
			synctest.Wait()
			return strings.Join(c.received(), "\n")
		}
		with := `{"extensions":{"` + extensionUI + `":{"mimeTypes":["` + panelType + `"]}}}`
		for method, shown := range map[string]string{
			"tools/list": `"resourceUri":"` + panelURI, "resources/list": `"uri":"` + panelURI, "resources/read": `"mimeType":"` + panelType, "server/discover": `"` + extensionUI,
		} {
			assert.NotContains(t, answer(method, "{}"), shown, method)
			assert.Contains(t, answer(method, with), shown, method)
			assert.Contains(t, answer(method, with), `"resultType":"complete"`, "2026-07-28 requires it")
		}
	})
}

// The arguments that Apply passes make the edit whose diff was shown, and are rejected if
// the note has changed.
func TestPanelAppliesWhatWasShown(t *testing.T) {
	long := strings.Repeat("word ", 200)
	w := newRealWorld(t, map[string]string{"Long.md": "# Long\n\n" + strings.Repeat("line\n", 2000) + long + "\n"})
	s := w.client(t, Profile{}, withPanel)
	propose := func() (tools.WriteResult, tools.EditPanel, json.RawMessage) {
		t.Helper()
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "edit_note", Arguments: map[string]any{
			"path": "Long", "preview": "yes", // as models may spell it
			"edits": []any{map[string]any{"op": "replace_all", "content": "# Long\n\n" + strings.Repeat("other\n", 2000) + long + "changed\n"}},
		}})
		require.NoError(t, err)
		var shown tools.WriteResult
		var panel struct {
			tools.EditPanel
			Apply json.RawMessage `json:"apply"`
		}
		reencode(t, res.StructuredContent, &shown)
		reencode(t, res.Meta[metaPanel], &panel)
		return shown, panel.EditPanel, panel.Apply
	}
	shown, panel, apply := propose()
	assert.Less(t, len(shown.Diff), 5000, "what the model reads is cut")
	assert.Equal(t, 2000, strings.Count(panel.Diff, "\n+other"))
	assert.Contains(t, panel.Diff, "\n+"+long+"changed\n")

	w.write(t, "Long.md", "# Long\n\nSaved by another program.\n")
	_, _ = call[tools.ReadResult](t, s, "read_note", map[string]any{"note": "Long"}) // the user presses Apply later
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "edit_note", Arguments: apply})
	require.NoError(t, err)
	require.True(t, res.IsError)
	assert.Contains(t, res.Content[0].(*sdk.TextContent).Text, "expected_hash")

	shown, _, apply = propose()
	res, err = s.CallTool(t.Context(), &sdk.CallToolParams{Name: "edit_note", Arguments: apply})
	require.NoError(t, err)
	var made tools.WriteResult
	reencode(t, res.StructuredContent, &made)
	assert.Equal(t, shown.Hash, made.Hash)
	assert.False(t, made.DryRun)
}

// reencode decodes a client's result as JSON.
func reencode(t *testing.T, from, to any) {
	t.Helper()
	data, err := json.Marshal(from)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, to))
}

package web

import (
	"encoding/json"
	"html/template"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
)

// TestDestinations renders links to files and to notes by the links of a note. Its
// attachments in read_note are those of the lines that fit.
func TestDestinations(t *testing.T) {
	var links tools.LinksResult
	require.NoError(t, json.Unmarshal([]byte(`{"outgoing": [
		{"path": "Files/Plan.canvas", "uri": "note:///Files/Plan.canvas", "target": "Plan.canvas"},
		{"path": "Files/a b.png", "uri": "note:///Files/a%20b.png", "target": "../Files/a b.png"},
		{"path": "Other/a b.png", "uri": "note:///Other/a%20b.png", "target": "Other/a b.png"},
		{"path": "Notes/To.md"}]}`), &links))
	to := destinationsOf(tools.ReadResult{Path: "Notes/From.md"}, links)
	to.embed = func(notePath, _ string) template.HTML { return template.HTML("the text of " + notePath) }
	for source, want := range map[string]string{
		"![[Plan.canvas]]":         `<p data-l="1-1"><a href="/f/Files/Plan.canvas">Plan.canvas</a></p>`,
		"[[Plan.canvas]]":          `<p data-l="1-1"><a href="/f/Files/Plan.canvas">Plan.canvas</a></p>`,
		"![p](../Files/a%20b.png)": `<p data-l="1-1"><img src="/f/Files/a%20b.png" alt="p" loading="lazy"></p>`,
		"![[Other/a b.png]]":       `<p data-l="1-1"><img src="/f/Other/a%20b.png" alt="Other/a b.png" loading="lazy"></p>`,
		"[[To]]":                   `<p data-l="1-1"><a href="/n/Notes/To.md">To</a></p>`,
		"![[To]]":                  `<div class="embed" data-l="1-1">` + "\nthe text of Notes/To.md</div>",
	} {
		assert.Equal(t, want+"\n", rendering(t, source, to))
	}
	links.Truncated = true
	to = destinationsOf(tools.ReadResult{Path: "Notes/From.md"}, links)
	assert.Equal(t, `<p data-l="1-1"><a href="/n/Notes/To.md">To</a> <a href="/?q=Other">Other</a></p>`+"\n", rendering(t, "[[To]] ![[Other]]", to), "it may not be missing")
}

package mcp

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
	"notesd/notes"
)

const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

// Attachments listed by tools can be read, byte for byte, by clients that may see them; no
// other file of the vault can.
func TestAttachments(t *testing.T) {
	w := newRealWorld(t, map[string]string{
		"Trip.md":               "# Trip\n\n![[My photo.png]]\n\n![plan](Plans/Route%20%C3%BC.pdf) and [site](https://example.com/x.png)\n\n## Later\n\n[[empty.bin]]\n",
		"Plans/Route ü.pdf":     "%PDF-1.4",
		"Pictures/My photo.png": pixel,
		"empty.bin":             "",
		"secret.key":            "no note links to it",
		"Private/Note.md":       "![[own.png]]\n",
		"Private/own.png":       pixel,
	})
	read, text := call[tools.ReadResult](t, w.session, "read_note", args{"note": "Trip"})
	want := []tools.AttachedFile{
		{URI: "note:///Pictures/My%20photo.png", Type: "image/png", Size: int64(len(pixel))},
		{URI: "note:///Plans/Route%20%C3%BC.pdf", Type: "application/pdf", Size: 8},
		{URI: "note:///empty.bin", Type: "application/octet-stream", Size: 0},
	}
	assert.Equal(t, want, read.Attachments)
	assert.Contains(t, text, "[attachments \"Trip.md\"")
	assert.Contains(t, text, "note:///Pictures/My%20photo.png (image/png, 16 bytes)")
	part, _ := call[tools.ReadResult](t, w.session, "read_note", args{"note": "Trip", "heading": "Later"})
	assert.Equal(t, want[2:], part.Attachments, "of the lines that are shown")

	links, text := call[tools.LinksResult](t, w.session, "note_links", args{"note": "Trip"})
	require.Len(t, links.Outgoing, 3)
	assert.Equal(t, want[0].URI, links.Outgoing[0].URI)
	assert.Contains(t, text, "-> note:///Plans/Route%20%C3%BC.pdf")

	for i, content := range []string{pixel, "%PDF-1.4", ""} {
		res, err := w.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: want[i].URI})
		require.NoError(t, err)
		require.Len(t, res.Contents, 1)
		assert.Equal(t, content, string(res.Contents[0].Blob))
		assert.NotNil(t, res.Contents[0].Blob, "an empty blob is one")
		assert.Equal(t, want[i].Type, res.Contents[0].MIMEType)
		assert.Equal(t, want[i].URI, res.Contents[0].URI)
	}
	for _, uri := range []string{"note:///secret.key", "note:///none.png", "note:///..%2Fsecret.png", "note:///%2Fetc%2Fpasswd"} {
		_, err := w.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		require.Error(t, err, uri)
	}
	assert.Contains(t, refused(t, w.session, "read_note", args{"note": "Pictures/My photo.png"}), "Read it as the resource note:///Pictures/My%20photo.png")
	assert.Contains(t, refused(t, w.session, "read_note", args{"note": "secret.key"}), "this is an attachment, not a note")

	completed, err := w.session.Complete(t.Context(), &sdk.CompleteParams{
		Ref: &sdk.CompleteReference{Type: "ref/resource", URI: attachmentTemplate.URITemplate}, Argument: sdk.CompleteParamsArgument{Name: "attachment", Value: "x"},
	})
	require.NoError(t, err)
	assert.Empty(t, completed.Completion.Values)

	scoped := w.client(t, Profile{Read: []string{"Pictures", "Plans"}}, nil)
	for _, uri := range []string{"note:///Private/own.png", want[0].URI} {
		_, err := scoped.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		require.ErrorContains(t, err, "not found", "%s: the note that links to it is out of scope, or the file is", uri)
	}
}

// For a note with many pictures, only some are listed; reading one that is too large fails
// with the reason.
func TestAttachmentsAreBounded(t *testing.T) {
	files := map[string]string{}
	var many strings.Builder
	for i := range 20 + 5 {
		fmt.Fprintf(&many, "![[%d.png]]\n", i)
		files[fmt.Sprintf("%d.png", i)] = pixel
	}
	files["Many.md"] = many.String()
	files["Big.md"] = "![[big.bin]]\n"
	files["big.bin"] = strings.Repeat("x", notes.MaxAttachmentBytes+1)
	w := newRealWorld(t, files)
	read, _ := call[tools.ReadResult](t, w.session, "read_note", args{"note": "Many"})
	assert.Len(t, read.Attachments, 20)
	_, err := w.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "note:///big.bin"})
	require.ErrorContains(t, err, "16777217 bytes")
}

// A canvas or base that no note links to is named by the overview and read as text.
func TestReadCanvas(t *testing.T) {
	w := newRealWorld(t, map[string]string{"A.md": "a\n", "Private/B.canvas": `{"nodes":[{"id":"x","type":"text","text":"covert"}]}`, "Books.base": "views: []\n", "Broken.canvas": "{", "Empty.canvas": "",
		"Maps/Plan.canvas": `{"nodes":[
			{"id":"t","type":"text","text":"call the printer","x":500,"y":10,"width":20,"height":20},
			{"id":"f","type":"file","file":"A.md","subpath":"#H","x":0,"y":10,"width":20,"height":20},
			{"id":"l","type":"link","url":"https://example.org","x":0,"y":900,"width":20,"height":20},
			{"id":"g","type":"group","label":"Ideas","x":-5,"y":-5,"width":600,"height":100}],
			"edges":[{"id":"e","fromNode":"f","toNode":"t","label":"needs"},{"id":"e2","fromNode":"t","toNode":"l"}]}`})
	overview, text := call[tools.Overview](t, w.session, "vault_overview", nil)
	assert.Equal(t, []string{"Books.base", "Broken.canvas", "Empty.canvas", "Maps/Plan.canvas", "Private/B.canvas"}, overview.Canvases)
	assert.Contains(t, text, "canvases and bases, for read_note: Books.base; ")
	const cards = "[1] group Ideas\n[2] (in Ideas) A.md#H\n[3] (in Ideas) call the printer\n[4] https://example.org\n[2] -> [3] needs\n[3] -> [4]\n"
	for _, ref := range []string{"Maps/Plan.canvas", "Plan.canvas", "Plan", "maps/plan", "note:///Maps/Plan.canvas"} {
		read, text := call[tools.ReadResult](t, w.session, "read_note", args{"note": ref})
		assert.Equal(t, cards, read.Content, ref)
		assert.Equal(t, "Maps/Plan.canvas", read.Path)
		assert.Contains(t, text, "(a canvas: its cards and connections as text; no tool changes it)")
		checked, _ := call[tools.QuotesResult](t, w.session, "check_quotes", args{"quotes": []args{{"anchor": read.Anchor, "quote": "call the printer"}}})
		assert.Equal(t, "exact", checked.Results[0].Verdict)
	}
	for ref, want := range map[string]string{"Books.base": "views: []\n", "Broken.canvas": "{", "Empty.canvas": ""} {
		read, _ := call[tools.ReadResult](t, w.session, "read_note", args{"note": ref})
		assert.Equal(t, want, read.Content)
	}
	assert.Contains(t, refused(t, w.session, "note_links", args{"note": "Maps/Plan.canvas"}), "read_note shows a canvas or base; no tool moves or changes it")
	assert.Contains(t, refused(t, w.session, "read_note", args{"note": "Plan.md"}), "there is no such note")
	s := w.client(t, Profile{Read: []string{"Maps"}}, nil)
	overview, _ = call[tools.Overview](t, s, "vault_overview", nil)
	assert.Equal(t, []string{"Maps/Plan.canvas"}, overview.Canvases)
	assert.NotContains(t, refused(t, s, "read_note", args{"note": "Private/B.canvas"}), "covert")
}

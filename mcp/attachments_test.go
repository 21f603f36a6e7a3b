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

package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/notes"
)

// attachmentTemplate covers the same URIs as noteTemplate: what is read tells
// notes from other files by their names.
var attachmentTemplate = &sdk.ResourceTemplate{
	Name: "attachment", Title: "Attachment", URITemplate: "note:///{+attachment}",
	Description: "A file that a note links to, such as a picture or a PDF, by its path in the vault; read_note and note_links name its URI. It is read as a blob.",
}

// isAttachment reports whether a canonical URI names a file that is no note.
func isAttachment(uri string) bool {
	if !notes.IsURI(uri) {
		return false
	}
	p, err := notes.ParseURI(uri)
	return err == nil && !notes.IsNoteName(p)
}

// isNote reports whether a canonical URI names a note, of whose changes the
// vault tells. What else there is changes with other things, and is compared.
func isNote(uri string) bool { return notes.IsURI(uri) && !isAttachment(uri) }

// attachmentContents reads an attachment.
func (s *session) attachmentContents(ctx context.Context, uri string) (*sdk.ResourceContents, error) {
	a, err := s.core.opts.Vault.Attachment(ctx, uri, s.bounds().scope())
	if err != nil {
		return nil, err
	}
	return &sdk.ResourceContents{
		URI: uri, MIMEType: a.MediaType, Blob: append([]byte{}, a.Data...), // never nil, which would be a text
		Meta: sdk.Meta{"size": a.Size, "lastModified": a.Modified.UTC().Format(time.RFC3339)},
	}, nil
}

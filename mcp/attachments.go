package mcp

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
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

// An attachedFile is an attachment as tools name it.
type attachedFile struct {
	URI  string `json:"uri"`
	Type string `json:"type"` // MIME
	Size int64  `json:"size"`
}

// maxAttached is how many attachments one result names.
const maxAttached = 20

// attached returns the attachments that the note links to in the lines shown.
// Most notes link to no files, and cost nothing here.
func (in *invocation) attached(ctx context.Context, note *notes.Note, first, last int) ([]attachedFile, error) {
	shown := make(map[string]bool) // the names of files, as targets end in them
	for _, l := range note.Links {
		if l.Line >= first && l.Line <= last && namesFile(l.Target) {
			shown[strings.ToLower(path.Base(l.Target))] = true
		}
	}
	if len(shown) == 0 {
		return nil, nil
	}
	all, err := in.vault().Attachments(ctx, note.Path, in.scope())
	if err != nil {
		return nil, err
	}
	var files []attachedFile
	for _, a := range all {
		if shown[strings.ToLower(path.Base(a.Path))] && len(files) < maxAttached {
			files = append(files, attachedFile{URI: notes.URI(a.Path), Type: a.MediaType, Size: a.Size})
		}
	}
	return files, nil
}

// namesFile reports whether a link's target may be a file that is no note.
func namesFile(target string) bool {
	return path.Ext(target) != "" && !notes.IsNoteName(target) && !strings.Contains(target, "://")
}

// attachedText names attachments for a reader.
func attachedText(origin string, files []attachedFile) string {
	lines := make([]string, len(files))
	for i, f := range files {
		lines[i] = fmt.Sprintf("%s (%s, %d bytes)", f.URI, f.Type, f.Size)
	}
	return fence("attachments", origin, strings.Join(lines, "\n"))
}

// instead makes "there is no such note" more helpful where ref is an
// attachment.
func (in *invocation) instead(ctx context.Context, ref string, err error) error {
	if !errors.Is(err, notes.ErrNotFound) || !namesFile(ref) && !isAttachment(ref) {
		return err
	}
	a, missing := in.vault().Attachment(ctx, ref, in.scope())
	if missing != nil {
		return err // what was said first
	}
	return &notes.Error{
		Op: "read", Path: a.Path, Err: notes.ErrInvalid, Detail: fmt.Sprintf("this is an attachment (%s, %d bytes), not a note", a.MediaType, a.Size),
		Hint: "Read it as the resource " + notes.URI(a.Path) + "; note_links tells which notes hold it.",
	}
}

package mcp

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"notesd/notes"
)

// An AttachedFile is an attachment as tools name it.
type AttachedFile struct {
	URI  string `json:"uri"`
	Type string `json:"type"` // MIME
	Size int64  `json:"size"`
}

// maxAttached is how many attachments one result names.
const maxAttached = 20

// attached returns the attachments that the note links to in the lines shown.
// Most notes link to no files, and cost nothing here.
func (in *invocation) attached(ctx context.Context, note *notes.Note, first, last int) ([]AttachedFile, error) {
	shown := make(map[string]bool) // the names of files, as targets end in them
	for _, l := range note.Links {
		if l.Line >= first && l.Line <= last && namesFile(l.Target) {
			shown[strings.ToLower(path.Base(l.Target))] = true
		}
	}
	if len(shown) == 0 {
		return nil, nil
	}
	all, err := in.Vault.Attachments(ctx, note.Path, in.Scope)
	if err != nil {
		return nil, err
	}
	var files []AttachedFile
	for _, a := range all {
		if shown[strings.ToLower(path.Base(a.Path))] && len(files) < maxAttached {
			files = append(files, AttachedFile{URI: notes.URI(a.Path), Type: a.MediaType, Size: a.Size})
		}
	}
	return files, nil
}

// namesFile reports whether a link's target may be a file that is no note.
func namesFile(target string) bool {
	return path.Ext(target) != "" && !notes.IsNoteName(target) && !strings.Contains(target, "://")
}

// attachedText names attachments for a reader.
func attachedText(origin string, files []AttachedFile) string {
	lines := make([]string, len(files))
	for i, f := range files {
		lines[i] = fmt.Sprintf("%s (%s, %d bytes)", f.URI, f.Type, f.Size)
	}
	return fence("attachments", origin, strings.Join(lines, "\n"))
}

// instead makes "there is no such note" more helpful where ref is an
// attachment.
func (in *invocation) instead(ctx context.Context, ref string, err error) error {
	if !errors.Is(err, notes.ErrNotFound) || !namesFile(ref) && !notes.IsURI(ref) {
		return err
	}
	a, missing := in.Vault.Attachment(ctx, ref, in.Scope)
	if missing != nil {
		return err // what was said first
	}
	return &notes.Error{
		Op: "read", Path: a.Path, Err: notes.ErrInvalid, Detail: fmt.Sprintf("this is an attachment (%s, %d bytes), not a note", a.MediaType, a.Size),
		Hint: "Read it as the resource " + notes.URI(a.Path) + "; note_links tells which notes hold it.",
	}
}

package vault

import (
	"context"
	"os"

	"notesd/notes"
	"notesd/notes/store"
)

// Delete removes a note's file. Restore brings it back.
func (v *Vault) Delete(ctx context.Context, r notes.DeleteRequest) (notes.Deletion, error) {
	written, err := v.change(ctx, r.RequestKey, func(root *os.Root) (*store.Operation, error) {
		f, err := v.openForChange(ctx, root, "delete", r.Note, r.ExpectedHash, r.Scope)
		if err != nil {
			return nil, err
		}
		linkedFrom, err := v.store.LinkedFrom(ctx, f.Note, r.Scope)
		if err != nil {
			return nil, err
		}
		if f.Link != "" { // the symlink is the note; its target stays
			f.OldDisk, f.Link = f.Link, ""
		}
		f.NewPath, f.NewDisk = "", ""
		return &store.Operation{Kind: "delete", Author: r.Author, Files: []store.FileChange{f}, LinkedFrom: linkedFrom}, nil
	})
	return notes.Deletion{Written: written, LinkedFrom: written.LinkedFrom}, err
}

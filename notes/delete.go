package notes

import (
	"context"
	"os"
)

// Delete removes a note's file. Restore brings it back.
func (v *Vault) Delete(ctx context.Context, r DeleteRequest) (Deletion, error) {
	written, err := v.change(ctx, r.RequestKey, func(root *os.Root) (*operation, error) {
		f, err := v.openForChange(ctx, root, "delete", r.Note, r.ExpectedHash, r.Scope)
		if err != nil {
			return nil, err
		}
		linkedFrom, err := v.store.linkedFrom(ctx, f.note, r.Scope)
		if err != nil {
			return nil, err
		}
		if f.link != "" { // the symlink is the note; its target stays
			f.oldDisk, f.link = f.link, ""
		}
		f.newPath, f.newDisk = "", ""
		return &operation{kind: "delete", author: r.Author, files: []fileChange{f}, linkedFrom: linkedFrom}, nil
	})
	return Deletion{Written: written, LinkedFrom: written.LinkedFrom}, err
}

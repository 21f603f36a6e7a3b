package vault

import (
	"context"
	"os"
	"slices"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
)

// batch turns prepared files into entries, comparing once more, under the
// vault's lock, with what the disk and the store have now.
type batch struct {
	vault   *Vault
	root    *os.Root
	current map[string]store.Row
	entries []store.Entry
	touches []store.Touch
	again   []string
	skipped []store.Skipped
}

// known returns the store's present row for one that the plan had, and
// whether it is still the same version of the same note.
func (b *batch) known(r store.Row) (store.Row, bool) {
	now, ok := b.current[r.Path]
	return now, ok && now.Id == r.Id && now.Hash == r.Hash
}

func (b *batch) remove(r store.Row) {
	if _, same := b.known(r); !same {
		return // a tool has changed or removed it since
	}
	if b.isBack(r) {
		b.again = append(b.again, r.DiskPath)
		return
	}
	b.delete(r)
}

// isBack reports whether a walk would find the note now. That anything has
// its name is not enough: a folder or a pipe would be looked at for ever.
func (b *batch) isBack(r store.Row) bool {
	info, err := b.root.Stat(r.DiskPath)
	return err == nil && info.Mode().IsRegular() && notes.IsNoteName(r.DiskPath) && fsid.SpelledSo(b.root, r.DiskPath) &&
		symlinkAbove(b.root, r.DiskPath) == "" && !b.vault.ignore.Match(r.Path)
}

// delete: the note is gone, unless its disk is.
func (b *batch) delete(r store.Row) {
	if b.vault.mounts.check(b.root, "look at", r.Path) == nil {
		b.entries = append(b.entries, store.Entry{Kind: notes.Deleted, Id: r.Id, Path: r.Path})
	}
}

// lookAgain leaves a file to the next look, with the name that it had before:
// what happened there will not be reported a second time.
func (b *batch) lookAgain(p *prepared) {
	b.again = append(b.again, p.DiskPath)
	if p.row != nil && p.row.Path != p.Path {
		b.again = append(b.again, p.row.DiskPath)
	}
}

func (b *batch) add(p *prepared) {
	if !p.unknown {
		b.vault.unread.remove(p.Path)
	}
	switch {
	case p.skip == skipChanging:
		b.lookAgain(p)
		return
	case p.skip != "":
		b.skip(p)
		return
	}
	if info, err := b.root.Stat(p.DiskPath); err != nil || fsid.StatOf(info) != p.Stat {
		b.lookAgain(p)
		return
	}
	b.enter(p)
}

// enter makes the entry of a file that was read.
func (b *batch) enter(p *prepared) {
	e := store.Entry{Kind: notes.Created, Path: p.Path, DiskPath: p.DiskPath, Stat: p.Stat, HashedAt: p.hashedAt, Note: p.note}
	if _, taken := b.current[p.Path]; taken && (p.row == nil || p.row.Path != p.Path) {
		b.lookAgain(p) // a tool has created it, or somebody read it, since
		return
	}
	if p.row == nil {
		b.entries = append(b.entries, e)
		return
	}
	if _, same := b.known(*p.row); !same {
		b.lookAgain(p)
		return
	}
	e.Id = p.row.Id
	switch {
	case p.row.Path != p.Path:
		e.Kind, e.OldPath = notes.Moved, p.row.Path
	case p.note == nil:
		b.touches = append(b.touches, store.Touch{Id: e.Id, DiskPath: p.DiskPath, Stat: p.Stat, HashedAt: p.hashedAt})
		return
	default:
		e.Kind = notes.Modified
	}
	b.entries = append(b.entries, e)
}

// skip: the file cannot be a note. If it was one, it is none any more.
func (b *batch) skip(p *prepared) {
	if p.unknown {
		b.vault.unread.add(p.File)
		b.skipped = append(b.skipped, store.Skipped{Skipped: notes.Skipped{Path: p.Path, Reason: p.skip}}) // without a stat: it is read again
		return
	}
	if p.row != nil {
		if r, same := b.known(*p.row); same {
			b.delete(r)
		}
	}
	if p.skip != skipGone {
		b.skipped = append(b.skipped, store.Skipped{Skipped: notes.Skipped{Path: p.Path, Reason: p.skip}, Stat: p.Stat})
	}
}

// pairMoves finds, for files without a row, the row of a vanished note whose
// file this was before: the same inode with the same stat, or else the same
// bytes, when they are not empty and nothing else on either side has them.
// The pairs leave p.gone. What cannot be paired stays a delete and a create.
func (v *Vault) pairMoves(ctx context.Context, root *os.Root, p *plan) (map[string]store.Row, error) {
	moves := map[string]store.Row{}
	if len(p.gone) == 0 {
		return moves, nil
	}
	byInode, byHash := map[int64]store.Row{}, map[string][]store.Row{}
	for _, r := range p.gone {
		if r.Stat.Inode != 0 {
			byInode[r.Stat.Inode] = r
		}
		byHash[r.Hash] = append(byHash[r.Hash], r)
	}
	taken := map[int64]bool{}
	var rest []store.File
	for _, f := range p.changed {
		if _, known := p.rows[f.Path]; known {
			continue
		}
		r, ok := byInode[f.Stat.Inode]
		if ok && !taken[r.Id] && r.Stat.Size == f.Stat.Size && r.Stat.Mtime == f.Stat.Mtime {
			moves[f.Path], taken[r.Id] = r, true
			continue
		}
		rest = append(rest, f)
	}
	if err := v.pairByHash(ctx, root, rest, byHash, moves, taken); err != nil {
		return nil, err
	}
	p.gone = slices.DeleteFunc(p.gone, func(r store.Row) bool { return taken[r.Id] })
	return moves, nil
}

func (v *Vault) pairByHash(ctx context.Context, root *os.Root, files []store.File, byHash map[string][]store.Row, moves map[string]store.Row, taken map[int64]bool) error {
	sizes := map[int64]bool{}
	for _, rows := range byHash {
		sizes[rows[0].Stat.Size] = true
	}
	sameHash := map[string][]store.File{}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.Stat.Size == 0 || !sizes[f.Stat.Size] {
			continue // cannot have the bytes of any of them
		}
		if data, _, err := readOnce(root, f.DiskPath, v.opt.MaxNoteBytes); err == nil {
			h := notes.Hash(data)
			sameHash[h] = append(sameHash[h], f)
		}
	}
	for h, files := range sameHash {
		rows := slices.DeleteFunc(slices.Clone(byHash[h]), func(r store.Row) bool { return taken[r.Id] })
		if len(files) == 1 && len(rows) == 1 {
			moves[files[0].Path], taken[rows[0].Id] = rows[0], true
		}
	}
	return nil
}

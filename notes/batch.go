package notes

import "os"

// batch turns prepared files into entries, comparing once more, under the
// vault's lock, with what the disk and the store have now.
type batch struct {
	vault   *Vault
	root    *os.Root
	current map[string]row
	entries []entry
	touches []touch
	again   []string
	skipped []Skipped
}

// known returns the store's present row for one that the plan had, and
// whether it is still the same version of the same note.
func (b *batch) known(r row) (row, bool) {
	now, ok := b.current[r.path]
	return now, ok && now.id == r.id && now.hash == r.hash
}

func (b *batch) remove(r row) {
	if _, same := b.known(r); !same {
		return // a tool has changed or removed it since
	}
	if b.isBack(r) {
		b.again = append(b.again, r.diskPath)
		return
	}
	b.delete(r)
}

// isBack reports whether a walk would find the note now. That anything has
// its name is not enough: a folder or a pipe would be looked at for ever.
func (b *batch) isBack(r row) bool {
	info, err := b.root.Stat(r.diskPath)
	return err == nil && info.Mode().IsRegular() && IsNoteName(r.diskPath) && spelledSo(b.root, r.diskPath) &&
		symlinkAbove(b.root, r.diskPath) == "" && !b.vault.ignore.Match(r.path)
}

// delete: the note is gone, unless its disk is.
func (b *batch) delete(r row) {
	if b.vault.mounts.check(b.root, "look at", r.path) == nil {
		b.entries = append(b.entries, entry{kind: Deleted, id: r.id, path: r.path})
	}
}

// lookAgain leaves a file to the next look, with the name that it had before:
// what happened there will not be reported a second time.
func (b *batch) lookAgain(p *prepared) {
	b.again = append(b.again, p.diskPath)
	if p.row != nil && p.row.path != p.path {
		b.again = append(b.again, p.row.diskPath)
	}
}

func (b *batch) add(p *prepared) {
	if !p.unknown {
		b.vault.unread.remove(p.path)
	}
	switch {
	case p.skip == skipChanging:
		b.lookAgain(p)
		return
	case p.skip != "":
		b.skip(p)
		return
	}
	if info, err := b.root.Stat(p.diskPath); err != nil || statOf(info) != p.stat {
		b.lookAgain(p)
		return
	}
	b.enter(p)
}

// enter makes the entry of a file that was read.
func (b *batch) enter(p *prepared) {
	e := entry{kind: Created, path: p.path, diskPath: p.diskPath, stat: p.stat, hashedAt: p.hashedAt, note: p.note}
	if _, taken := b.current[p.path]; taken && (p.row == nil || p.row.path != p.path) {
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
	e.id = p.row.id
	switch {
	case p.row.path != p.path:
		e.kind, e.oldPath = Moved, p.row.path
	case p.note == nil:
		b.touches = append(b.touches, touch{id: e.id, diskPath: p.diskPath, stat: p.stat, hashedAt: p.hashedAt})
		return
	default:
		e.kind = Modified
	}
	b.entries = append(b.entries, e)
}

// skip: the file cannot be a note. If it was one, it is none any more.
func (b *batch) skip(p *prepared) {
	if p.unknown {
		b.vault.unread.add(p.found)
		b.skipped = append(b.skipped, Skipped{Path: p.path, Reason: p.skip}) // without a stat: it is read again
		return
	}
	if p.row != nil {
		if r, same := b.known(*p.row); same {
			b.delete(r)
		}
	}
	if p.skip != skipGone {
		b.skipped = append(b.skipped, Skipped{Path: p.path, Reason: p.skip, stat: p.stat})
	}
}

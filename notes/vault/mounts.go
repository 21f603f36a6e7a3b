package vault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
)

// mounts are the folders of the vault where another disk begins, or that
// another folder is bound to (which only Linux tells). When one is unmounted,
// its mount point is left behind, empty or with what somebody wrote there
// meanwhile: its notes are not deleted but away. What is known of them is kept,
// and nothing is written there, until most of them are back.
//
// A folder on the vault's own disk that is emptied or replaced is nothing of
// the kind: that is what deleting notes, or a git checkout, looks like.
type mounts struct {
	mu    sync.Mutex
	known map[string]mount
	away  map[string]fsid.Identity // of those: what was in the place of each
}

// mount is a folder as it was when it was last seen mounted.
type mount struct {
	DiskPath string `json:"disk_path"`
	fsid.Identity
}

// mountsSetting is where the store keeps the known mounts.
const mountsSetting = "mounts"

// identityAt is what the folder at diskPath is, or zero when there is none.
func identityAt(root *os.Root, diskPath string) fsid.Identity {
	info, err := root.Lstat(diskPath)
	if err != nil || !info.IsDir() {
		return fsid.Identity{}
	}
	return fsid.IdentityOf(info)
}

// over returns the mounts that hold the note at p.
func (m *mounts) over(p string) []mount {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []mount
	for folder, mount := range m.known {
		if notes.Under(p, folder) {
			out = append(out, mount)
		}
	}
	return out
}

// check returns an [*Error] with [ErrUnavailable] when the disk that holds, or
// would hold, the note at p is away.
func (m *mounts) check(root *os.Root, op, p string) error {
	for _, mount := range m.over(p) {
		if identityAt(root, mount.DiskPath) != mount.Identity {
			return &notes.Error{Op: op, Path: p, Err: notes.ErrUnavailable, Detail: fmt.Sprintf("the disk of the folder %s is not mounted", notes.Quote(notes.Nfc(mount.DiskPath))),
				Hint: "Nothing was changed. notesd goes on by itself when it is mounted again. " + whenDeleted}
		}
	}
	return nil
}

// checkOperation refuses what would write to where a disk is away.
func (m *mounts) checkOperation(root *os.Root, op *store.Operation) error {
	for _, f := range op.Files {
		for _, p := range []string{f.OldPath, f.NewPath} {
			if err := m.check(root, op.Kind, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// explain returns err, or the reason for it when that is a disk that is away.
func (m *mounts) explain(root *os.Root, err error) error {
	var e *notes.Error
	if errors.As(err, &e) {
		if away := m.check(root, e.Op, e.Path); away != nil {
			return away
		}
	}
	return err
}

const whenDeleted = "If the notes were really deleted, run: notesd index --rebuild"

// mountsChanged reports whether something else is now in the place of a disk
// that was away.
func (v *Vault) mountsChanged() bool {
	root, err := v.disk.open()
	if err != nil {
		return false // an incident of its own
	}
	defer func() { _ = root.Close() }() // only read from
	v.mounts.mu.Lock()
	defer v.mounts.mu.Unlock()
	for folder, was := range v.mounts.away {
		if identityAt(root, v.mounts.known[folder].DiskPath) != was {
			return true
		}
	}
	return false
}

func (m *mounts) anyAway() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.away) > 0
}

// warnings tells which mounts are away.
func (m *mounts) warnings() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, folder := range slices.Sorted(maps.Keys(m.away)) {
		out = append(out, fmt.Sprintf("the disk of the folder %s is not mounted; its notes are kept as they were. %s", notes.Quote(folder), whenDeleted))
	}
	return out
}

// spareAway takes out of a scan's plan the notes that are gone with a disk,
// and remembers which disks are there, given those that the scan saw.
func (v *Vault) spareAway(ctx context.Context, root *os.Root, p *plan, seen map[string]mount) error {
	m := &v.mounts
	m.mu.Lock()
	known, wasAway := m.known, m.away
	m.mu.Unlock()
	next, away := maps.Clone(seen), map[string]fsid.Identity{}
	if next == nil {
		next = map[string]mount{}
	}
	for folder, mount := range known {
		now := identityAt(root, mount.DiskPath)
		if now != mount.Identity && !isAmong(seen, mount) && (p.isSpared(folder) || p.lacksMostOf(folder)) {
			p.spare(folder)
			next[folder], away[folder] = mount, now
		}
	}
	m.mu.Lock()
	m.known, m.away = next, away
	m.mu.Unlock()
	v.logMounts(wasAway, away)
	if maps.Equal(known, next) {
		return nil
	}
	return v.store.Notes().Write(ctx, func(tx *sql.Tx) error { return store.SetSetting(ctx, tx, mountsSetting, next) })
}

func (v *Vault) logMounts(before, after map[string]fsid.Identity) {
	for folder := range after {
		if _, was := before[folder]; !was {
			v.opt.Log.Warn("the disk of a folder is not mounted any more; what is known of its notes is kept", "folder", folder)
		}
	}
	for folder := range before {
		if _, is := after[folder]; !is {
			v.opt.Log.Info("the folder is usable again", "folder", folder)
		}
	}
}

// isAmong reports whether the disk is seen somewhere: the folder above a mount
// point can be renamed.
func isAmong(seen map[string]mount, disk mount) bool {
	for _, m := range seen {
		if m.Identity == disk.Identity {
			return true
		}
	}
	return false
}

// spareAwayBelow takes out of a plan for some paths the notes that may be gone
// with a disk, and leaves the verdict to a look at everything.
func (v *Vault) spareAwayBelow(root *os.Root, p *plan, seen map[string]mount) {
	for folder, mount := range v.mounts.all() {
		if !slices.ContainsFunc(p.gone, func(r store.Row) bool { return notes.Under(r.Path, folder) }) {
			continue
		}
		if now := identityAt(root, mount.DiskPath); now != mount.Identity && !isAmong(seen, mount) {
			p.spare(folder)
			if !v.mounts.isAway(folder, now) {
				v.queue.addAll()
			}
		}
	}
}

func (m *mounts) all() map[string]mount {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known // replaced, never changed
}

func (m *mounts) isAway(folder string, in fsid.Identity) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was, away := m.away[folder]
	return away && was == in
}

// lacksMostOf reports whether most of the folder's notes are gone.
func (p *plan) lacksMostOf(folder string) bool {
	all, gone := 0, 0
	for name := range p.rows {
		if notes.Under(name, folder) {
			all++
		}
	}
	for _, r := range p.gone {
		if notes.Under(r.Path, folder) {
			gone++
		}
	}
	return gone > all/2
}

// spare keeps what is known of the folder's notes.
func (p *plan) spare(folder string) {
	p.gone = slices.DeleteFunc(p.gone, func(r store.Row) bool { return notes.Under(r.Path, folder) })
	p.spared = append(p.spared, folder)
}

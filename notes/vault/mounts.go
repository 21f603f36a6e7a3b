package vault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// mounts are the folders of the vault where another disk begins, or that
// another folder is bound to (which only Linux reports), and its folders themselves
// if it has several. When one is unmounted,
// its mount point is left behind, empty or with what was written there
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

// check returns an [*Error] with [ErrUnavailable] when the disk that holds, or
// would hold, the note at p is away.
func (m *mounts) check(root *disk.Root, op, p string) error {
	if folder, err := root.Missing(p); err != nil {
		return &notes.Error{Op: op, Path: p, Err: notes.ErrUnavailable, Detail: fmt.Sprintf("the folder %s is not there (is its disk mounted?)", notes.Quote(folder)),
			Hint: "Nothing was changed. notesd goes on by itself when it is back. " + whenDeleted}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for folder, mount := range m.known {
		if notes.Under(p, folder) && root.Identity(mount.DiskPath) != mount.Identity {
			return &notes.Error{Op: op, Path: p, Err: notes.ErrUnavailable, Detail: fmt.Sprintf("the disk of the folder %s is not mounted", notes.Quote(notes.Nfc(mount.DiskPath))),
				Hint: "Nothing was changed. notesd goes on by itself when it is mounted again. " + whenDeleted}
		}
	}
	return nil
}

// checkOperation refuses what would write to where a disk is away.
func (m *mounts) checkOperation(root *disk.Root, op *store.Operation) error {
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
func (m *mounts) explain(root *disk.Root, err error) error {
	var e *notes.Error
	if errors.As(err, &e) {
		if away := m.check(root, e.Op, e.Path); away != nil {
			return away
		}
	}
	return err
}

const whenDeleted = "If the notes were really deleted, run: notesd index --rebuild"

// changed reports whether something else is now in the place of a disk that was
// away.
func (m *mounts) changed(d *disk.Disk) bool {
	root, err := d.Open()
	if err != nil {
		return false // an incident of its own
	}
	defer func() { _ = root.Close() }() // only read from
	m.mu.Lock()
	defer m.mu.Unlock()
	for folder, was := range m.away {
		if root.Identity(m.known[folder].DiskPath) != was {
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

// warnings names the folders that are not there, some of which are the vault's own.
func (m *mounts) warnings(folders []string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, folder := range slices.Sorted(maps.Keys(m.away)) {
		if slices.Contains(folders, folder) {
			out = append(out, fmt.Sprintf("the folder %s is not there, or lacks most of its notes; they are kept as they were. %s", notes.Quote(folder), whenDeleted))
			continue
		}
		out = append(out, fmt.Sprintf("the disk of the folder %s is not mounted; its notes are kept as they were. %s", notes.Quote(folder), whenDeleted))
	}
	return out
}

// keepUnmounted takes out of a scan of the whole vault the notes that are gone
// with a disk, and records which disks are there, given those that it saw.
func (s *scan) keepUnmounted(ctx context.Context, seen map[string]mount) error {
	m := &s.v.mounts
	m.mu.Lock()
	known, wasAway := m.known, m.away
	m.mu.Unlock()
	next, away := maps.Clone(seen), map[string]fsid.Identity{}
	for _, folder := range s.v.store.Several { // one that was never there has notes nowhere
		if _, missing := s.root.Missing(folder); missing != nil && known[folder] == (mount{}) {
			next[folder], away[folder] = mount{DiskPath: folder}, fsid.Identity{}
		}
	}
	for folder, mount := range known {
		now := s.root.Identity(mount.DiskPath)
		_, wasAway := wasAway[folder]
		top := slices.Contains(s.v.store.Several, folder)
		switch _, missing := s.root.Missing(folder); {
		case len(s.v.store.Several) > 0 && !slices.Contains(s.v.store.Several, s.v.store.FolderOf(folder)):
			continue // it is no longer a folder of the vault
		case isAmong(seen, mount) && now != mount.Identity:
			continue
		case now == mount.Identity && missing == nil && !(top && s.emptied(folder, wasAway)):
			continue
		case now != mount.Identity && !s.isUnseen(folder) && !s.lacksMostOf(folder) && missing == nil:
			continue
		}
		s.keep(folder)
		next[folder], away[folder] = mount, now
	}
	m.mu.Lock()
	m.known, m.away = next, away
	m.mu.Unlock()
	for folder := range away {
		if _, was := wasAway[folder]; !was && known[folder] != (mount{}) {
			s.v.opt.Log.Warn("the disk of a folder is no longer mounted; its notes stay indexed", "folder", folder)
		}
	}
	for folder := range wasAway {
		if _, still := away[folder]; !still {
			s.v.opt.Log.Info("the folder is usable again", "folder", folder)
		}
	}
	if maps.Equal(known, next) {
		return nil
	}
	return s.v.store.SaveSetting(ctx, mountsSetting, next)
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

// keepUnmountedBelow takes out of a scan of some paths the notes that may be gone
// with a disk, and leaves the verdict to a scan of everything.
func (s *scan) keepUnmountedBelow(seen map[string]mount) {
	m := &s.v.mounts
	m.mu.Lock()
	defer m.mu.Unlock()
	for folder := range m.away {
		if slices.ContainsFunc(s.Scanned, func(p string) bool { return notes.Under(p, folder) }) {
			s.keep(folder)
			s.v.queue.AddAll() // it is coming back, perhaps
		}
	}
	for folder, mount := range m.known {
		if !slices.ContainsFunc(s.gone, func(r store.Row) bool { return notes.Under(r.Path, folder) }) {
			continue
		}
		if now := s.root.Identity(mount.DiskPath); now != mount.Identity && !isAmong(seen, mount) {
			s.keep(folder)
			if was, away := m.away[folder]; !away || was != now {
				s.v.queue.AddAll()
			}
		}
	}
}

// emptied reports whether one of the vault's folders is empty although it had many
// notes, or was and lacks most of them still.
func (s *scan) emptied(folder string, wasAway bool) bool {
	all, gone := s.count(folder)
	return gone >= suspiciouslyMany && (gone == all || wasAway && gone > all/2)
}

// lacksMostOf reports whether most of the folder's notes are gone.
func (s *scan) lacksMostOf(folder string) bool {
	all, gone := s.count(folder)
	return gone > all/2
}

// count returns how many notes the store has in a folder, and how many of them are gone.
func (s *scan) count(folder string) (all, gone int) {
	for name := range s.rows {
		if notes.Under(name, folder) {
			all++
		}
	}
	for _, r := range s.gone {
		if notes.Under(r.Path, folder) {
			gone++
		}
	}
	return all, gone
}

// keep keeps what is known of the folder's notes.
func (s *scan) keep(folder string) {
	s.gone = slices.DeleteFunc(s.gone, func(r store.Row) bool { return notes.Under(r.Path, folder) })
	s.unseen = append(s.unseen, folder)
}

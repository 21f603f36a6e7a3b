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

// mounts are the mount points in the vault, including bind mounts (which only Linux
// reports), and the vault's own folders if it has several. When a disk is unmounted, its
// mount point is left behind, empty or with files written there since: its notes are not
// deleted but away. Their stored versions are kept, and nothing is written there, until
// most of the notes are back.
//
// A folder on the vault's own disk that is emptied or replaced is not covered: deleting
// notes, or a git checkout, looks the same.
type mounts struct {
	mu    sync.Mutex
	known map[string]mount
	away  map[string]fsid.Identity // unmounted ones → what is in their place
}

// mount is a folder as it was when it was last seen mounted.
type mount struct {
	DiskPath string `json:"disk_path"`
	fsid.Identity
}

// mountsSetting is the key under which the store keeps the known mounts.
const mountsSetting = "mounts"

// get returns the maps, which are replaced but not changed. A disk may take long to answer,
// so it is accessed without the lock.
func (m *mounts) get() (known map[string]mount, away map[string]fsid.Identity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known, m.away
}

// of returns the mount point that p is below, or "".
func (m *mounts) of(p string) (mountPoint string) {
	known, _ := m.get()
	for folder := range known {
		if len(folder) > len(mountPoint) && notes.Under(p, folder) {
			mountPoint = folder
		}
	}
	return mountPoint
}

// check returns an [*notes.Error] with [notes.ErrUnavailable] if the disk for the note at p
// is not mounted, or its folder is away.
func (m *mounts) check(root *disk.Root, op, p string) error {
	if folder, err := root.Missing(p); errors.Is(err, fsid.ErrNoAnswer) {
		return &notes.Error{Op: op, Path: p, Err: notes.ErrUnavailable, Detail: fmt.Sprintf("the disk of the folder %s does not answer", notes.Quote(folder)), Hint: disk.WhenItAnswers}
	} else if err != nil {
		return &notes.Error{Op: op, Path: p, Err: notes.ErrUnavailable, Detail: fmt.Sprintf("the folder %s does not exist (is its disk mounted?)", notes.Quote(folder)),
			Hint: "Nothing was changed. notesd resumes automatically when it is back. " + whenDeleted}
	}
	known, unmounted := m.get()
	for folder, mount := range known {
		if !notes.Under(p, folder) {
			continue // its disk may not answer
		}
		now := root.Identity(mount.DiskPath)
		was, away := unmounted[folder]
		switch {
		case now != mount.Identity:
			return &notes.Error{Op: op, Path: p, Err: notes.ErrUnavailable, Detail: fmt.Sprintf("the disk of the folder %s is not mounted", notes.Quote(notes.Nfc(mount.DiskPath))),
				Hint: "Nothing was changed. notesd resumes automatically when it is mounted again. " + whenDeleted}
		case away && was == now:
			return &notes.Error{Op: op, Path: p, Err: notes.ErrUnavailable, Detail: fmt.Sprintf("the folder %s lacks most of its notes", notes.Quote(folder)),
				Hint: "Nothing was changed. notesd resumes automatically when they are back. " + whenDeleted}
		}
	}
	return nil
}

// checkOperation rejects an operation with a file on an unmounted disk.
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

// explain returns err or, if an unmounted disk is its cause, the error for that.
func (m *mounts) explain(root *disk.Root, err error) error {
	if e, ok := errors.AsType[*notes.Error](err); ok {
		if away := m.check(root, e.Op, e.Path); away != nil {
			return away
		}
	}
	return err
}

const whenDeleted = "If the notes were really deleted, run: notesd index --rebuild"

// changed reports whether the place of an unmounted disk has changed, as when it was
// mounted again.
func (m *mounts) changed(d *disk.Disk) bool {
	root, err := d.Open()
	if err != nil {
		return false // handled as an incident
	}
	defer func() { _ = root.Close() }() // only read from
	known, away := m.get()
	for folder, was := range away {
		if root.Identity(known[folder].DiskPath) != was {
			return true
		}
	}
	return false
}

// warnings returns one warning for each unmounted disk and each missing folder of the
// vault.
func (m *mounts) warnings(folders []string) []string {
	_, away := m.get()
	var out []string
	for _, folder := range slices.Sorted(maps.Keys(away)) {
		if slices.Contains(folders, folder) {
			out = append(out, fmt.Sprintf("the folder %s does not exist or lacks most of its notes; they are kept as they were. %s", notes.Quote(folder), whenDeleted))
			continue
		}
		out = append(out, fmt.Sprintf("the disk of the folder %s is not mounted; its notes are kept as they were. %s", notes.Quote(folder), whenDeleted))
	}
	return out
}

// isBare reports whether a folder that had attachments, but no notes, lacks most of them.
func (s *scan) isBare(ctx context.Context, folder string) (bool, error) {
	if all, _ := s.count(folder); all > 0 {
		return false, nil
	}
	had, err := s.v.store.Files().Under(ctx, folder)
	left := map[string]bool{}
	for _, f := range s.Attachments {
		left[f.Path] = true
	}
	all := len(had)
	gone := len(slices.DeleteFunc(had, func(p string) bool { return left[p] }))
	return gone > all/2, err
}

// keepUnmounted excludes from a full scan's deletions the notes on unmounted disks, and
// records which disks are mounted, given the mount points that the scan saw.
func (s *scan) keepUnmounted(ctx context.Context, seen map[string]mount) error {
	m := &s.v.mounts
	known, wasAway := m.get()
	next, away := maps.Clone(seen), map[string]fsid.Identity{}
	for _, folder := range s.v.store.Several { // one that never existed has no notes to keep
		if _, missing := s.root.Missing(folder); missing != nil && known[folder] == (mount{}) {
			next[folder], away[folder] = mount{DiskPath: folder}, fsid.Identity{}
		}
	}
	for folder, mount := range known {
		now := s.root.Identity(mount.DiskPath)
		_, wasAway := wasAway[folder]
		replaced, top := now != mount.Identity, slices.Contains(s.v.store.Several, folder)
		bare := false
		if replaced {
			var err error
			if bare, err = s.isBare(ctx, folder); err != nil {
				return err
			}
		}
		switch _, missing := s.root.Missing(folder); {
		case len(s.v.store.Several) > 0 && !slices.Contains(s.v.store.Several, s.v.store.FolderOf(folder)):
			continue // no longer a folder of the vault
		case replaced && isAmong(seen, mount):
			continue
		case missing == nil && !bare && !(replaced && s.isUnseen(folder)) && !((replaced || top) && s.isAway(folder, replaced, replaced, wasAway)):
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

// isAmong reports whether the disk is mounted anywhere in the vault: a folder above its
// mount point may have been renamed.
func isAmong(seen map[string]mount, disk mount) bool {
	for _, m := range seen {
		if m.Identity == disk.Identity {
			return true
		}
	}
	return false
}

// keepUnmountedBelow excludes from the deletions of a scan of some paths the files that may
// be on an unmounted disk, and queues a full scan to decide.
func (s *scan) keepUnmountedBelow(seen map[string]mount) {
	known, wasAway := s.v.mounts.get()
	for folder, mount := range known {
		_, away := wasAway[folder]
		unmounted := func() bool { // its disk may not answer
			return s.root.Identity(mount.DiskPath) != mount.Identity && !isAmong(seen, mount)
		}
		touches := func(p string) bool { return notes.Under(p, folder) || notes.Under(folder, p) }
		if slices.ContainsFunc(s.Scanned, touches) && (away || unmounted()) {
			s.keep(folder)
			s.v.queue.AddAll()
		}
	}
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

// keep excludes the folder's notes from the scan's deletions and moves.
func (s *scan) keep(folder string) {
	s.gone = slices.DeleteFunc(s.gone, func(r store.Row) bool { return notes.Under(r.Path, folder) })
	maps.DeleteFunc(s.moves, func(_ string, r store.Row) bool { return notes.Under(r.Path, folder) })
	s.unseen = append(s.unseen, folder)
}

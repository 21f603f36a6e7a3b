package vault

import (
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
	m.mu.Lock()
	defer m.mu.Unlock()
	for folder := range m.known {
		if len(folder) > len(mountPoint) && notes.Under(p, folder) {
			mountPoint = folder
		}
	}
	return mountPoint
}

// check returns an [*notes.Error] with [notes.ErrUnavailable] if the disk for the note at p
// is not mounted, or its folder is away.
func (m *mounts) check(root *disk.Root, op, p string) error {
	if folder, err := root.Missing(p); err != nil {
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

func (m *mounts) anyAway() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.away) > 0
}

// warnings returns one warning for each unmounted disk and each missing folder of the
// vault.
func (m *mounts) warnings(folders []string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, folder := range slices.Sorted(maps.Keys(m.away)) {
		if slices.Contains(folders, folder) {
			out = append(out, fmt.Sprintf("the folder %s does not exist or lacks most of its notes; they are kept as they were. %s", notes.Quote(folder), whenDeleted))
			continue
		}
		out = append(out, fmt.Sprintf("the disk of the folder %s is not mounted; its notes are kept as they were. %s", notes.Quote(folder), whenDeleted))
	}
	return out
}

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

// mounts are the folders of the vault where another disk begins, or that
// another folder is bound to (which only Linux reports), and its folders themselves
// if it has several. When one is unmounted, its mount point is left behind, empty or
// with what was written there meanwhile: its notes are not deleted but away. What is
// known of them is kept, and nothing is written there, until most of them are back.
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

// check returns an [*notes.Error] with [notes.ErrUnavailable] when the disk that holds, or
// would hold, the note at p is away.
func (m *mounts) check(root *disk.Root, op, p string) error {
	if folder, err := root.Missing(p); err != nil {
		return &notes.Error{Op: op, Path: p, Err: notes.ErrUnavailable, Detail: fmt.Sprintf("the folder %s does not exist (is its disk mounted?)", notes.Quote(folder)),
			Hint: "Nothing was changed. notesd resumes automatically when it is back. " + whenDeleted}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for folder, mount := range m.known {
		if notes.Under(p, folder) && root.Identity(mount.DiskPath) != mount.Identity {
			return &notes.Error{Op: op, Path: p, Err: notes.ErrUnavailable, Detail: fmt.Sprintf("the disk of the folder %s is not mounted", notes.Quote(notes.Nfc(mount.DiskPath))),
				Hint: "Nothing was changed. notesd resumes automatically when it is mounted again. " + whenDeleted}
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
	if e, ok := errors.AsType[*notes.Error](err); ok {
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
			out = append(out, fmt.Sprintf("the folder %s does not exist or lacks most of its notes; they are kept as they were. %s", notes.Quote(folder), whenDeleted))
			continue
		}
		out = append(out, fmt.Sprintf("the disk of the folder %s is not mounted; its notes are kept as they were. %s", notes.Quote(folder), whenDeleted))
	}
	return out
}

package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// incident records why the vault cannot be used at the moment.
type incident struct {
	mu  sync.Mutex
	err error

	trouble string // why changes on disk cannot be stored, although the vault can be read
}

// record takes the result of a reconcile, of the whole vault if all is true, and reports
// whether an incident begins or ends.
func (i *incident) record(err error, all bool) (changed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	was := i.err
	switch {
	case err == nil && all, errors.Is(err, notes.ErrUnavailable):
		i.err, i.trouble = err, ""
	case isFull(err):
		i.trouble = stateIsFull
	case err != nil:
		i.trouble = err.Error()
	}
	return (was == nil) != (i.err == nil)
}

func (i *incident) get() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.err
}

func (i *incident) getTrouble() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.trouble
}

// checkVault returns an error if the vault's only folder is away. Otherwise another folder
// in its place (a restored backup, a fresh clone, a disk with a new device number) becomes
// the vault.
func (s *scan) checkVault(ctx context.Context, id fsid.Identity) error {
	if len(s.v.store.Several) > 0 {
		return nil // keepUnmounted checks each folder
	}
	recorded := s.v.disk.Identity()
	replaced := id != recorded && recorded != fsid.Identity{}
	switch away := s.isAway("", replaced, replaced && id.Device != recorded.Device, s.v.incident.get() != nil); {
	case away && replaced:
		return disk.Replaced()
	case away && s.isEmpty(""):
		return s.v.emptied("is empty")
	case away:
		return s.v.emptied("lacks most of its notes")
	case id != recorded:
		s.v.disk.Adopt(id)
		return s.v.store.SaveSetting(ctx, vaultSetting, id)
	}
	return nil
}

// isAway reports whether a folder does not look like the one with the stored notes. An
// unmounted disk leaves a mount point behind, empty or with files written there since; that
// must not be treated as the deletion of all notes. A folder that was replaced on the same
// disk may have lost a few notes by deletion. A folder that was away stays so until most of
// its notes are back, if only at other paths.
func (s *scan) isAway(folder string, replaced, otherDisk, wasAway bool) bool {
	all, gone := s.count(folder)
	switch {
	case gone <= all/2:
		return false
	case gone < SuspiciouslyMany:
		return otherDisk
	}
	return replaced || wasAway || s.isEmpty(folder)
}

// SuspiciouslyMany is the number of files that must vanish at once for a folder to be
// treated as unmounted, rather than its files as deleted by the user.
const SuspiciouslyMany = 10

// isEmpty reports whether the scan found no notes in a folder.
func (s *scan) isEmpty(folder string) bool {
	all, gone := s.count(folder)
	return gone == all && !slices.ContainsFunc(s.changed, func(f store.File) bool { return notes.Under(f.Path, folder) })
}

// ErrEmptied means that the vault's folder has lost its notes for an unknown reason.
var ErrEmptied = fmt.Errorf("%w: the folder was emptied", notes.ErrUnavailable)

// emptied returns the error of a vault whose folder suddenly "is empty" or "lacks most of its
// notes".
func (v *Vault) emptied(what string) error {
	hint := "Nothing was forgotten. " + whenDeleted
	if v.opt.Shared != nil {
		hint = "Nothing is deleted in the team's other folders. Put the notes back, or run notesd index --rebuild and create a file there, and they are fetched"
	}
	return &notes.Error{Op: "scan", Err: ErrEmptied, Detail: "the vault folder " + what + " although it had notes at the last scan", Hint: hint}
}

package vault

import (
	"context"
	"errors"
	"time"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// Shared is the log of a vault that several nodes share. It determines the order of
// concurrent changes to a note: an operation is committed to it after its new texts are
// staged and before the first name changes. An operation interrupted by a crash is
// completed or reverted according to the log.
type Shared interface {
	// Commit writes the batch. The error is a [*notes.LogConflict] if the log has other
	// files than the batch was computed from. It wraps [notes.ErrOutcomeUnknown] if the
	// batch may nevertheless have been written.
	Commit(ctx context.Context, b notes.Batch) error
	// Resolve reports whether the batch was committed; if not, it never will be.
	Resolve(ctx context.Context, id string) (committed bool, err error)
	// CatchUp synchronizes the folder and the log, including paths where the folder may
	// have changed. It is called without the vault's lock, and calls Place.
	CatchUp(ctx context.Context, paths []string) error
}

// behindError means that the log has a newer version than the folder.
type behindError struct {
	error
	paths []string // of the operation's files
}

func (e *behindError) Unwrap() error { return e.error }

// maxCatchUps bounds how often a change is recomputed because the folder was behind the
// log.
const maxCatchUps = 5

// share commits the operation to the shared log, if there is one.
func (d *placer) share() error {
	if !d.Shared {
		return nil
	}
	b := notes.Batch{ID: d.ID(), Kind: d.Kind, Author: d.Author}
	for i := range d.Files {
		f := &d.Files[i]
		c := notes.FileChange{OldPath: notes.Nfc(f.OldDisk), Path: notes.Nfc(f.NewDisk), Folder: f.Folder}
		if c.OldPath != "" && !f.Folder {
			c.Before = notes.Hash(f.Old)
		}
		if c.Path != "" && !f.Folder {
			if c.After = notes.Hash(f.New); c.After != c.Before {
				c.Data = f.New
			}
		}
		b.Changes = append(b.Changes, c)
	}
	ctx, cancel := context.WithTimeout(d.ctx, shareFor)
	defer cancel()
	err := d.v.opt.Shared.Commit(ctx, b)
	var other *notes.LogConflict
	switch {
	case err == nil:
		d.committed = true
		return d.v.step("committed")
	case errors.Is(err, notes.ErrOutcomeUnknown) || errors.Is(err, errKilled):
		return err
	case errors.As(err, &other):
		behind := &behindError{error: d.logConflict(other)}
		for _, c := range b.Changes {
			behind.paths = append(behind.paths, c.OldPath, c.Path)
		}
		return behind
	}
	d.v.opt.Log.Warn("a change could not be committed", "kind", d.Kind, "err", err)
	detail, hint := "the vault's shared database does not respond", "try again later."
	if errors.Is(err, sqlite.ErrNewer) {
		detail, hint = "the vault's shared database was upgraded by a newer notesd", "to write, upgrade notesd on this machine."
	}
	return &notes.Error{Op: d.Kind, Path: d.Files[0].Place(), Err: notes.ErrUnavailable, Detail: detail, Hint: "Nothing was changed. Reading and searching still work; " + hint}
}

// shareFor bounds the commit of an operation to the log, during which the vault's lock is
// held.
const shareFor = 20 * time.Second

func (d *placer) logConflict(other *notes.LogConflict) error {
	if other.Hash == "" {
		return &notes.Error{Op: d.Kind, Path: other.Path, Err: notes.ErrConflict, Detail: "the note was moved or deleted in the meantime; nothing was written", Hint: "Read the folder again."}
	}
	for _, f := range d.Files {
		if notes.Nfc(f.OldDisk) == other.Path {
			return conflict(d.Kind, other.Path, f.Old, other.Text)
		}
	}
	return &notes.Error{Op: d.Kind, Path: other.Path, Err: notes.ErrExists, Detail: "a file with this name exists already", Hash: other.Hash}
}

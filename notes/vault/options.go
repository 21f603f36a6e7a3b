package vault

import (
	"context"
	"log/slog"
	"time"

	"notesd/notes"
)

// Options configure a vault. Zero values mean the defaults.
type Options struct {
	Ignore       []string      // patterns of files to ignore, in addition to hidden files
	Dates        []string      // front matter keys that hold a note's date, before "date"
	MaxNoteBytes int64         // larger files are skipped; defaults to 16 MiB
	RescanEvery  time.Duration // how often everything is reconciled regardless of events; defaults to 5 min
	ReadOnly     bool          // reject every write

	// Folders are the vault's folders by name, instead of the root. A name is the first
	// segment of the folder's paths; names must differ in more than case.
	Folders map[string]string
	Daily   string // the folder of periodic notes; defaults to the first by name whose app makes daily notes

	// Protected returns the folders that clients may read but not write, such as those of
	// the user's prompts. It is called for each write; nil means none.
	Protected func() []string

	History notes.HistoryLimits
	Shared  Shared // the log shared by this vault's nodes; nil for a vault on one node
	Now     func() time.Time
	Log     *slog.Logger
}

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

package vault

import (
	"context"
	"log/slog"
	"time"

	"notesd/notes"
)

// Options say how a vault is kept. Zero values mean the defaults.
type Options struct {
	Ignore       []string      // patterns of what is not touched, beyond hidden files
	Dates        []string      // front matter keys that hold a note's date, before "date"
	MaxNoteBytes int64         // a larger file is skipped: 16 MiB
	RescanEvery  time.Duration // how often everything is compared, whatever the watcher says: 5 min
	ReadOnly     bool          // refuse every write

	// Folders are the vault's folders by name, in place of the root: each is a first
	// path segment. Names are plain segments, without regard to case.
	Folders map[string]string
	Daily   string // which of them has the periodic notes; "": the first by name whose app makes daily notes

	// Protected returns the folders that clients may read and not write, such as
	// those of the user's prompts. It is called for each write; nil: none.
	Protected func() []string

	History notes.HistoryLimits
	Shared  Shared // the log that this vault's nodes share; nil for a vault of its own
	Now     func() time.Time
	Log     *slog.Logger
}

// Shared is the log of a vault that several nodes share. It decides which of two
// changes of a note comes first: an operation is committed to it when its new texts
// are staged, before the first name changes, and what a crash has interrupted is
// finished or taken back as the log says.
type Shared interface {
	// Commit writes the batch. The error is a [*notes.LogConflict] if the log has other
	// files than the batch was computed from, and wraps [notes.ErrOutcomeUnknown] if it
	// may have been written all the same.
	Commit(ctx context.Context, b notes.Batch) error
	// Resolve reports whether the batch was committed; if not, it never will be.
	Resolve(ctx context.Context, id string) (committed bool, err error)
	// CatchUp brings the folder and the log in step, also at paths where the folder may
	// have changed. It is called without the vault's lock, and calls Place.
	CatchUp(ctx context.Context, paths []string) error
}

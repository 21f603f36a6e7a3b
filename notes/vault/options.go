package vault

import (
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

	scanPatience time.Duration // shorter in tests
}

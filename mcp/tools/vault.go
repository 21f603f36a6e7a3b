package tools

import (
	"context"
	"time"

	"notesd/notes"
	"notesd/search"
	"notesd/vectors/table"
)

// A Vault is how tools and resources access the notes; *vault.Vault implements it. A ref is
// a path, URI, title, alias or unambiguous name; for an attachment, a path or URI.
type Vault interface {
	// Ready reports whether the first scan has finished. It never blocks.
	Ready() bool
	// Stale returns why results may be older than the files, or "". It never blocks.
	Stale() string
	// Ignored reports whether a path cannot be that of a note. It never blocks.
	Ignored(path string) bool
	// InVault converts the absolute path of a note or folder of the vault, or an Obsidian
	// link, to a path in the vault. It never blocks.
	InVault(ref string) string
	Status(ctx context.Context) (notes.Status, error)
	// Period parses words that name a period; weeks begin as in the vault's calendar.
	Period(words string, now time.Time) (notes.Period, bool)
	// DuePeriod and PastPeriod also take weekdays and distances from now: what is due on
	// friday is so on the next one, and what was done on friday was on the last.
	DuePeriod(words string, now time.Time) (notes.Period, bool)
	PastPeriod(words string, now time.Time) (notes.Period, bool)
	// Moment parses a time, an age like 36h, or a period, of which it returns the last
	// moment (now if it has not ended) if last is set, otherwise the first.
	Moment(text string, now time.Time, last bool) (time.Time, bool)

	Lookup(ctx context.Context, ref string, scope notes.Scope) (notes.Meta, error)
	Read(ctx context.Context, ref string, scope notes.Scope) (*notes.Note, error)
	List(ctx context.Context, q notes.ListQuery) (notes.ListPage, error)
	Tasks(ctx context.Context, q notes.TaskQuery) (notes.TaskPage, error)
	// WhyNothing returns reasons why a filter matches no note, if any are known.
	WhyNothing(ctx context.Context, f notes.Filter) ([]string, error)
	Links(ctx context.Context, ref string, q notes.LinkQuery) (notes.LinkReport, error)
	Tags(ctx context.Context, scope notes.Scope) ([]notes.TagCount, error)
	Folders(ctx context.Context, scope notes.Scope) ([]notes.FolderCount, error)
	// ConflictCopies returns a warning about the conflict copies of sync programs, or "".
	ConflictCopies(ctx context.Context) (string, error)
	// Canvases returns the paths of the canvases and bases.
	Canvases(ctx context.Context, scope notes.Scope) ([]string, error)
	Attachment(ctx context.Context, ref string, scope notes.Scope) (notes.Attachment, error)
	Attachments(ctx context.Context, note string, scope notes.Scope) ([]notes.Attachment, error)

	Create(ctx context.Context, r notes.CreateRequest) (notes.Written, error)
	Edit(ctx context.Context, r notes.EditRequest) (notes.Written, error)
	Move(ctx context.Context, r notes.MoveRequest) (notes.Written, error)
	RenameTag(ctx context.Context, r notes.RenameTagRequest) (notes.Written, error)
	Delete(ctx context.Context, r notes.DeleteRequest) (notes.Written, error)
	// Repeated reports whether a request has already been carried out.
	Repeated(ctx context.Context, requestKey string) (bool, error)
}

// History is how tools access the past of the notes; *vault.History implements it.
type History interface {
	Revisions(ctx context.Context, q notes.HistoryQuery) (notes.HistoryPage, error)
	// Revision and ReadAt return a note as it was; At calls each for the notes as of a
	// time, and returns false if these were too large to be read at once.
	Revision(ctx context.Context, ref string, revision int64, scope notes.Scope) (*notes.Note, error)
	ReadAt(ctx context.Context, ref string, at time.Time, scope notes.Scope) (*notes.Note, error)
	At(ctx context.Context, at time.Time, f notes.Filter, each func(*notes.Note) error) (complete bool, err error)
	// Diff returns the differences between two revisions.
	Diff(ctx context.Context, ref string, from, to int64, scope notes.Scope) (string, error)
	// Version returns the text of a version by the first digits of its hash, or nil.
	Version(ctx context.Context, ref, rev string, scope notes.Scope) ([]byte, error)
	Restore(ctx context.Context, r notes.RestoreRequest) (notes.Written, error)
}

// A Searcher answers queries; *search.Engine implements it.
type Searcher interface {
	Search(ctx context.Context, q search.Query) (search.Result, error)
}

// Tables are the user's vector tables; *table.Tables implements it.
type Tables interface {
	Create(ctx context.Context, r table.CreateTableRequest) (table.Info, error)
	List(ctx context.Context) ([]table.Info, error)
	Describe(ctx context.Context, name string, ids int) (table.Info, []string, error)
	Drop(ctx context.Context, name, requestKey string) (table.Info, error)

	Add(ctx context.Context, r table.AddRequest) ([]string, error)
	Search(ctx context.Context, q table.Query) ([]table.Hit, error)
	DeleteRows(ctx context.Context, r table.DeleteRowsRequest) (int, error)
}

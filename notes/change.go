package notes

import "context"

// ChangeKind is the kind of a change.
type ChangeKind string

// The kinds of change in the feed.
const (
	Created  ChangeKind = "create"
	Modified ChangeKind = "modify"
	Deleted  ChangeKind = "delete"
	Moved    ChangeKind = "move" // from OldPath to Path; the text may have changed too
)

// Change is one entry of the store's append-only feed. Followers receive changes in the
// order of Seq. After a crash they may receive one again, so applying a change must be
// idempotent.
type Change struct {
	Seq     uint64
	Kind    ChangeKind
	NoteID  int64
	Path    string // the note's path; for Deleted, its last one
	OldPath string // for Moved, and for Created if the note was deleted there and has reappeared here

	Parsed *Note
	Loader func(ctx context.Context, id int64) (*Note, error)
}

// Note returns the note after the change, or nil if it no longer exists. A replayed
// change loads the current version of the note, so a follower must not assume that it
// still has the path c.Path.
func (c Change) Note(ctx context.Context) (*Note, error) {
	if c.Kind == Deleted {
		return nil, nil
	}
	if c.Parsed != nil {
		return c.Parsed, nil
	}
	return c.Loader(ctx, c.NoteID)
}

// Position is the last change that a follower has applied, in the feed of one store.
type Position struct {
	Store string // ID of the store, set when it is created; "" for a follower without data
	Seq   uint64
}

// Follower keeps data derived from the notes: the text index, the vectors, the
// notifier. The vault sends it every change after its position, in order, and does not
// skip a change that failed. If the position is of another store or beyond the feed's
// head, the vault calls Reset and then sends every note as a Created change.
//
// The vault never calls methods of a follower concurrently.
type Follower interface {
	// Name describes the follower to users, as in "the text index".
	Name() string
	// Position returns the last position that Apply or Reset made durable.
	Position() (Position, error)
	// Apply applies the changes and stores the position `to`, atomically. When it
	// returns, readers see the changes.
	Apply(ctx context.Context, to Position, changes []Change) error
	// Reset discards everything.
	Reset(ctx context.Context) error
}

// FromHead is the Seq in the Position of a follower that keeps no data. It receives
// only changes made after it was added.
const FromHead = ^uint64(0)

package notes

import "context"

// ChangeKind says what happened to a note.
type ChangeKind string

// The kinds of change in the feed.
const (
	Created  ChangeKind = "create"
	Modified ChangeKind = "modify"
	Deleted  ChangeKind = "delete"
	Moved    ChangeKind = "move" // OldPath → Path; the text may have changed as well
)

// Change is one entry of the store's append-only feed. Followers are given
// changes in the order of Seq, and may be given one again after a crash, so
// applying one twice must be the same as applying it once.
type Change struct {
	Seq     uint64
	Kind    ChangeKind
	NoteID  int64
	Path    string // where the note is now; for Deleted, where it was
	OldPath string // for Moved only

	Parsed *Note
	Loader func(ctx context.Context, id int64) (*Note, error)
}

// Note returns the note as it is after the change, or nil when it no longer
// exists (then or since: a replayed change loads the note's present state,
// which is why a follower must not assume that the note still has c.Path).
func (c Change) Note(ctx context.Context) (*Note, error) {
	if c.Kind == Deleted {
		return nil, nil
	}
	if c.Parsed != nil {
		return c.Parsed, nil
	}
	return c.Loader(ctx, c.NoteID)
}

// Position is how far a follower has applied the feed of one store.
type Position struct {
	Store string // the store's id, minted when it is created; "" for a follower with no data
	Seq   uint64
}

// Follower keeps data derived from the notes: the text index, the vectors,
// the notifier. The vault feeds it every change after its position, in order
// and never past one that failed; a position of another store, or one beyond
// the feed's head, makes the vault call Reset and feed every note from the
// start as a Created change.
//
// The vault calls a follower's methods from one goroutine at a time.
type Follower interface {
	// Name says what the follower is in words for users, as in "the text index".
	Name() string
	// Position reports the last state that Apply or Reset made durable.
	Position() (Position, error)
	// Apply makes the changes part of the follower's data and remembers `to`
	// with them, atomically. When it returns, readers see the changes.
	Apply(ctx context.Context, to Position, changes []Change) error
	// Reset discards everything.
	Reset(ctx context.Context) error
}

// FromHead is the Seq in the Position of a follower that keeps no data: it is
// fed what happens after it was added, and nothing before.
const FromHead = ^uint64(0)

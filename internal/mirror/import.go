package mirror

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"

	"notesd/notes"
	"notesd/notes/pglog"
	"notesd/notes/store"
	"notesd/notes/vault"
)

// Imported is the result of [Import].
type Imported struct {
	Place     string          `json:"place"`     // the database and the name of the vault in it
	Added     int             `json:"added"`     // files
	Unchanged int             `json:"unchanged"` // files that were already in the log, byte for byte
	Left      []notes.Skipped `json:"left"`      // files that were skipped, by path
}

// ImportOptions are limits and settings, as for a vault.
type ImportOptions struct {
	Ignore       []string // patterns of files to skip, in addition to hidden files
	MaxNoteBytes int64
	Author       notes.Author
	Log          *slog.Logger
}

// Import adds the files of a folder to a log. It changes nothing in the folder,
// overwrites nothing in the log, and may be repeated: a file is skipped, with a reason,
// if the log has different contents under its name. temp is a directory for its own use.
func Import(ctx context.Context, dir, temp string, log *pglog.Log, opt ImportOptions) (done Imported, err error) {
	s, err := store.Open(ctx, temp)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	v, err := vault.New(ctx, s, dir, vault.Options{Ignore: opt.Ignore, MaxNoteBytes: opt.MaxNoteBytes, ReadOnly: true, Log: opt.Log})
	if err != nil {
		return done, err
	}
	files, _, err := v.Replica().Files(ctx, nil, 0)
	if err != nil {
		return done, err
	}
	done = Imported{Place: log.Place(), Left: []notes.Skipped{}}
	_, have, err := log.Snapshot(ctx)
	if err != nil {
		return done, err
	}
	names := map[string]pglog.File{} // files that are or will be in the log, by case-folded name
	for _, f := range have {
		names[notes.Key(f.Path)] = f
	}
	var changes []notes.FileChange // to be committed
	size := 0
	for _, f := range files {
		data, _, err := v.Replica().Bytes(f)
		hash := notes.Hash(data)
		leave := func(reason string) { done.Left = append(done.Left, notes.Skipped{Path: f.Path, Reason: reason}) }
		switch has := names[notes.Key(f.Path)]; {
		case err != nil:
			leave(reasonOf(err, "it cannot be read: "+err.Error()))
		case has.Path == f.Path && has.Hash == hash:
			done.Unchanged++
		case has.Path == f.Path:
			leave("the vault has another text of that name")
		case has.Path != "":
			leave("the vault has " + notes.Quote(has.Path) + ", whose name differs in case only")
		default:
			names[notes.Key(f.Path)] = pglog.File{Path: f.Path, Hash: hash}
			changes, size = append(changes, notes.FileChange{Path: f.Path, After: hash, Data: data}), size+len(data)
		}
		if len(changes) >= stepFiles || size >= stepBytes {
			if err := done.commit(ctx, log, opt.Author, changes); err != nil {
				return done, err
			}
			changes, size = nil, 0
		}
	}
	err = done.commit(ctx, log, opt.Author, changes)
	return done, err
}

// commit adds files to the log.
func (i *Imported) commit(ctx context.Context, log *pglog.Log, by notes.Author, changes []notes.FileChange) error {
	if len(changes) == 0 {
		return nil
	}
	_, err := log.Commit(ctx, notes.Batch{ID: rand.Text(), Kind: kindOf(changes), Author: by, Changes: changes})
	if other, ok := errors.AsType[*notes.LogConflict](err); ok {
		return &notes.Error{Op: "import", Path: other.Path, Err: notes.ErrConflict, Detail: "another node has added it in the meantime", Hint: "Run the import again: it skips what the vault has."}
	}
	if err == nil {
		i.Added += len(changes)
	}
	return err
}

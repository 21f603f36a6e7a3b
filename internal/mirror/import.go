package mirror

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"

	"notesd/notes"
	"notesd/notes/pglog"
	"notesd/notes/store"
	"notesd/notes/vault"
)

// Imported is the result of [Import].
type Imported struct {
	Place     string    `json:"place"`     // the database and the name of the vault in it
	Added     int       `json:"added"`     // files
	Unchanged int       `json:"unchanged"` // files that were already in the log, byte for byte
	Left      []Problem `json:"left"`      // files that were skipped, by path
}

// Problem is a skipped file, with the reason.
type Problem struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
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
	done = Imported{Place: log.Place(), Left: []Problem{}}
	i := &importing{log: log, author: opt.Author, Imported: &done, names: map[string]pglog.File{}}
	_, have, err := log.Snapshot(ctx)
	if err != nil {
		return done, err
	}
	for _, f := range have {
		i.names[notes.Key(f.Path)] = f
	}
	for _, f := range files {
		data, _, err := v.Replica().Bytes(f)
		if err != nil {
			i.leave(f.Path, reasonOf(err, "it cannot be read: "+err.Error()))
			continue
		}
		if err := i.add(ctx, notes.FileChange{Path: f.Path, After: notes.Hash(data), Data: data}); err != nil {
			return done, err
		}
	}
	err = i.flush(ctx)
	return done, err
}

// importing is the state of an import.
type importing struct {
	log    *pglog.Log
	author notes.Author
	*Imported
	names   map[string]pglog.File // files that are or will be in the log, by case-folded name
	changes []notes.FileChange    // to be committed
	size    int
}

func (i *importing) leave(path, reason string) { i.Left = append(i.Left, Problem{path, reason}) }

func (i *importing) add(ctx context.Context, c notes.FileChange) error {
	switch has := i.names[notes.Key(c.Path)]; {
	case has.Path == c.Path && has.Hash == c.After:
		i.Unchanged++
		return nil
	case has.Path == c.Path:
		i.leave(c.Path, "the vault has another text of that name")
		return nil
	case has.Path != "":
		i.leave(c.Path, "the vault has "+notes.Quote(has.Path)+", whose name differs in case only")
		return nil
	}
	i.names[notes.Key(c.Path)] = pglog.File{Path: c.Path, Hash: c.After}
	i.changes = append(i.changes, c)
	if i.size += len(c.Data); len(i.changes) < stepFiles && i.size < stepBytes {
		return nil
	}
	return i.flush(ctx)
}

// flush commits the gathered changes. If another node has added some of the files
// meanwhile, it compares them again.
func (i *importing) flush(ctx context.Context) error {
	changes := i.changes
	i.changes, i.size = nil, 0
	if len(changes) == 0 {
		return nil
	}
	_, err := i.log.Commit(ctx, notes.Batch{ID: rand.Text(), Kind: kindOf(changes), Author: i.author, Changes: changes})
	other, conflict := errors.AsType[*notes.LogConflict](err)
	if !conflict {
		if err == nil {
			i.Added += len(changes)
		}
		return err
	}
	for _, c := range changes {
		delete(i.names, notes.Key(c.Path))
	}
	key := notes.Key(other.Path)
	if !slices.ContainsFunc(changes, func(c notes.FileChange) bool { return notes.Key(c.Path) == key }) {
		return err
	}
	i.names[key] = pglog.File{Path: other.Path, Hash: other.Hash}
	for _, c := range changes {
		if err := i.add(ctx, c); err != nil {
			return err
		}
	}
	return i.flush(ctx)
}

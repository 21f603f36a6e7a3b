package notes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// Forget removes every trace of a deleted note from the store: its versions,
// the journal entries that have one of its texts or names, its place in the
// feed, its embeddings, and damaged databases that were set aside, which may
// have all of that; and rewrites both databases, so that nothing of it is left
// in their free pages either. ref is the note's path, or a name that one deleted
// note has. All deleted notes that ever had the path are forgotten. A note that
// still exists is refused: the file would only be indexed again.
//
// Followers are built anew, for engines keep deleted words in their files for
// a while; that takes as long as a first index. Log files hold no note text.
func (v *Vault) Forget(ctx context.Context, ref string, scope Scope) (Forgotten, error) {
	if err := v.Reconcile(ctx); err != nil { // it may have been deleted a moment ago
		return Forgotten{}, err
	}
	p, err := v.forgettable(ctx, ref, scope)
	if err != nil {
		return Forgotten{}, err
	}
	if err := v.checkWrite("forget", p, scope); err != nil {
		return Forgotten{}, err
	}
	done, err := v.forgetStored(ctx, p)
	if err != nil {
		return done, err
	}
	was := v.progress.ready.Swap(false) // searches say so meanwhile
	defer v.progress.ready.Store(was)
	if err := v.feed.renew(ctx); err != nil {
		return done, err
	}
	done.SetAside, err = removeSetAside(filepath.Dir(v.store.History().Path()))
	return done, err
}

// forgettable returns the path of the deleted note that ref names.
func (v *Vault) forgettable(ctx context.Context, ref string, scope Scope) (string, error) {
	name, err := cleanRef(ref)
	if err != nil {
		return "", err
	}
	exists := func(p, detail string) error {
		return &Error{Op: "forget", Path: p, Err: ErrExists, Detail: detail, Hint: "Delete it first; forgetting cannot be undone."}
	}
	if IsNoteName(name) {
		rows, err := v.store.rows(ctx, []string{name})
		if err != nil {
			return "", err
		}
		if _, alive := rows[name]; alive {
			return "", exists(name, "the note still exists")
		}
		docs, err := v.store.documents(ctx, name)
		if err != nil {
			return "", err
		}
		dead := slices.DeleteFunc(slices.Clone(docs), func(d document) bool { return d.live })
		switch {
		case len(dead) > 0 && scope.CanRead(name):
			return name, nil
		case len(docs) > 0 && scope.CanRead(docs[0].path):
			return "", exists(docs[0].path, fmt.Sprintf("the note was moved to %s and still exists", quote(docs[0].path)))
		}
	}
	if meta, err := v.store.Lookup(ctx, ref, scope); err == nil {
		return "", exists(meta.Path, "the note still exists")
	} else if errors.Is(err, ErrAmbiguous) {
		return "", err
	}
	return v.store.deletedPath(ctx, name, scope,
		&Error{Op: "forget", Path: ref, Err: ErrNotFound, Detail: "there is no deleted note of this name in the history"})
}

func (v *Vault) forgetStored(ctx context.Context, p string) (Forgotten, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	done, err := v.store.forgetHistory(ctx, p)
	if err != nil {
		return done, err
	}
	return done, v.store.forgetDerived(ctx, done.Paths)
}

// setAsideNames match what the store, the search index and "notesd adopt" set
// aside.
var setAsideNames = regexp.MustCompile(`\.(damaged|corrupt|replaced)-\d{8}T\d{6}\.\d{3}(-wal|-shm)?$`)

// removeSetAside removes databases and indexes that were set aside from the
// state folder.
func removeSetAside(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var removed []string
	for _, e := range entries {
		if !setAsideNames.MatchString(e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return removed, err
		}
		removed = append(removed, e.Name())
	}
	return removed, nil
}

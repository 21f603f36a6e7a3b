package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"notesd/notes"
	"notesd/notes/store"
)

// Forget removes every trace of a deleted note from the store: its versions, the journal
// entries with its texts or names, its entries in the feed, its embeddings, and damaged
// databases that were set aside, which may contain any of these. It then rewrites both
// databases so that nothing remains in their free pages. ref is the note's path, or a name
// that only one deleted note has; all deleted notes that ever had the path are forgotten. A
// note that still exists is an error, because its file would only be indexed again.
//
// Followers are rebuilt, because engines keep deleted words in their files for a while;
// that takes as long as a first index. Log files contain no note text.
func (h *History) Forget(ctx context.Context, ref string, scope notes.Scope) (notes.Forgotten, error) {
	p, err := h.forgettable(ctx, ref, scope)
	if err != nil {
		return notes.Forgotten{}, err
	}
	return h.forget(ctx, p)
}

// ForgetPath is [History.Forget] for a command on another node: it erases the deleted notes
// that ever had exactly this path, whatever this node's settings protect. It does nothing if
// there are none, if a note has the path, or if it is an earlier path of the forgotten note and
// another deleted note had it too.
func (h *History) ForgetPath(ctx context.Context, p string, earlier bool) error {
	if err := h.vault.Reconcile(ctx); err != nil {
		return err
	}
	existing, err := h.store.Rows(ctx, []string{p})
	if _, exists := existing[p]; err != nil || exists {
		return err
	}
	docs, err := h.store.Documents(ctx, p)
	if err != nil || !slices.ContainsFunc(docs, func(d store.Document) bool { return !d.Live }) {
		return err
	}
	if earlier && slices.ContainsFunc(docs, func(d store.Document) bool { return !d.Live && d.Path != p }) {
		return nil
	}
	_, err = h.forget(ctx, p)
	return err
}

func (h *History) forget(ctx context.Context, p string) (notes.Forgotten, error) {
	h.vault.mu.Lock()
	done, err := h.store.Forget(ctx, p)
	h.vault.mu.Unlock()
	if err != nil {
		return done, err
	}
	ready := h.vault.progress.ready.Swap(false) // searches report the rebuild
	err = h.vault.feed.renew(ctx)
	if err != nil || len(h.vault.feed.behind()) > 0 { // Run continues, for example after ctx has ended
		h.vault.queue.AddAll()
	} else if ready {
		h.vault.progress.ready.Store(true)
	}
	if err != nil {
		return done, err
	}
	done.SetAside, err = removeSetAside(filepath.Dir(h.store.History().Path()))
	return done, err
}

// Forgettable returns the path of the deleted note that ref names, and what Forget would
// erase.
func (h *History) Forgettable(ctx context.Context, ref string, scope notes.Scope) (string, notes.Forgotten, error) {
	p, err := h.forgettable(ctx, ref, scope)
	if err != nil {
		return "", notes.Forgotten{}, err
	}
	found, err := h.store.Forgettable(ctx, p)
	return p, found, err
}

// forgettable returns the path of the deleted note that ref names.
func (h *History) forgettable(ctx context.Context, ref string, scope notes.Scope) (string, error) {
	if err := h.vault.Reconcile(ctx); err != nil { // it may have just been deleted
		return "", err
	}
	p, err := h.path(ctx, ref, scope)
	if errors.Is(err, notes.ErrNotFound) {
		return "", &notes.Error{Op: "forget", Path: ref, Err: notes.ErrNotFound, Detail: "the history has no deleted note with this name", Hint: "notesd history lists deleted notes."}
	} else if err != nil {
		return "", err
	}
	docs, err := h.store.Documents(ctx, p)
	if err != nil {
		return "", err
	}
	exists := &notes.Error{Op: "forget", Path: p, Err: notes.ErrExists, Detail: "the note still exists", Hint: "Delete it first; forgetting cannot be undone."}
	deleted := false
	for _, d := range docs {
		if d.Live && d.Path == p {
			return "", exists
		}
		deleted = deleted || !d.Live
	}
	if deleted {
		return p, h.vault.checkWrite("forget", p, scope)
	}
	exists.Path, exists.Detail = docs[0].Path, fmt.Sprintf("the note was moved to %s and still exists", notes.Quote(docs[0].Path))
	return "", exists
}

// removeSetAside removes databases and indexes that were set aside from the state
// directory.
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

// setAsideNames matches the names of files set aside by the store, the search index and
// "notesd adopt".
var setAsideNames = regexp.MustCompile(`\.(damaged|corrupt|replaced)-\d{8}T\d{6}\.\d{3}(-wal|-shm)?$`)

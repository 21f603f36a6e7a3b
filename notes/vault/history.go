package vault

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"notesd/notes"
	"notesd/notes/store"
)

// History provides the versions of the vault's notes, including deleted ones, and the vault
// as it was at a given time.
type History struct {
	vault *Vault
	store *store.Store
}

// History returns the history of the vault's notes.
func (v *Vault) History() *History { return &History{vault: v, store: v.store} }

// Revisions returns the versions of a note, and of every other note that ever had its path,
// newest first. They always include the note's present version. If q.Note is empty,
// Revisions returns the newest changes of all notes.
func (h *History) Revisions(ctx context.Context, q notes.HistoryQuery) (notes.HistoryPage, error) {
	if q.Note == "" {
		return h.store.Changes(ctx, q)
	}
	path, err := h.path(ctx, q.Note, q.Scope)
	if err != nil {
		return notes.HistoryPage{}, err
	}
	return h.store.Page(ctx, path, q)
}

// Version returns the text of the newest version of a note whose hash begins with rev, or
// nil if history does not have one. Deleted notes, and every note that ever had the path,
// are included.
func (h *History) Version(ctx context.Context, ref, rev string, scope notes.Scope) ([]byte, error) {
	const fewest = 6 // digits that identify a version
	if len(rev) < fewest {
		return nil, nil
	}
	all, err := h.Revisions(ctx, notes.HistoryQuery{Note: ref, Limit: math.MaxInt, Scope: scope})
	if errors.Is(err, notes.ErrNotFound) {
		return nil, nil
	}
	at := slices.IndexFunc(all.Revisions, func(r notes.Revision) bool { return strings.HasPrefix(r.Hash, rev) })
	if err != nil || at < 0 {
		return nil, err
	}
	return h.store.VersionText(ctx, all.Revisions[at].Path, all.Revisions[at].Hash)
}

// path returns the path whose history ref names: the path itself, if it is complete and a
// note has or had it; otherwise the path of the one existing or else deleted note with that
// name. The present version of an existing note is first added to history.
func (h *History) path(ctx context.Context, ref string, scope notes.Scope) (string, error) {
	ref = h.store.InVault(ref)
	meta, findErr := h.store.Lookup(ctx, ref, scope)
	had := func(name string) (bool, error) { // a note has or had this path
		canRead, err := h.store.ReadableEver(ctx, scope)
		if err != nil || !notes.IsNoteName(name) || !canRead(name) {
			return false, err
		}
		docs, err := h.store.Documents(ctx, name)
		return len(docs) > 0, err
	}
	if errors.Is(findErr, notes.ErrNotFound) {
		if whole, err := store.CleanRef(ref); err == nil { // such as Plan#1.md
			if found, err := had(whole); err != nil || found {
				return whole, err
			}
		}
		ref, _ = notes.SplitAnchor(ref) // ref may name a passage of a deleted note
		if p, _, err := h.store.PeriodicPath(ctx, ref, scope); err == nil && p != "" {
			ref = p // a deleted day's note
		}
	}
	if findErr != nil && !errors.Is(findErr, notes.ErrNotFound) && !errors.Is(findErr, notes.ErrAmbiguous) {
		return "", findErr
	}
	name, err := store.CleanRef(ref)
	if err != nil { // on Windows, for a passage such as Plan.md:5-7
		base, _ := notes.SplitAnchor(ref)
		name, err = store.CleanRef(base)
	}
	if err != nil && findErr != nil { // several notes have it as their title
		return "", findErr
	}
	if findErr != nil || notes.Key(meta.Path) != notes.Key(name) {
		if found, err := had(name); err != nil || found {
			return name, err
		}
	}
	if findErr == nil {
		h.vault.mu.Lock()
		defer h.vault.mu.Unlock()
		if err := h.store.KeepPresent(ctx, meta.ID); isFull(err) {
			return "", &notes.Error{Op: "list the history of", Path: meta.Path, Err: notes.ErrUnavailable, Detail: stateIsFull, Hint: "Free some space there and try again."}
		} else if err != nil {
			return "", err
		}
		return meta.Path, nil
	}
	if errors.Is(findErr, notes.ErrAmbiguous) {
		return "", findErr
	}
	return h.store.DeletedPath(ctx, name, scope, findErr)
}

// ReadAt returns the note that ref named at a given time; see [store.Moment.Read].
func (h *History) ReadAt(ctx context.Context, ref string, at time.Time, scope notes.Scope) (*notes.Note, error) {
	m, err := h.moment(ctx, "read", at)
	if err != nil {
		return nil, err
	}
	return m.Read(ctx, ref, scope)
}

// At calls each with the notes as they were at a given time; see [store.Moment.Notes].
func (h *History) At(ctx context.Context, at time.Time, f notes.Filter, each func(*notes.Note) error) (complete bool, err error) {
	m, err := h.moment(ctx, "list", at)
	if err != nil {
		return false, err
	}
	return m.Notes(ctx, f, each)
}

// Revision returns a version of a note from its history.
func (h *History) Revision(ctx context.Context, ref string, revision int64, scope notes.Scope) (*notes.Note, error) {
	notePath, err := h.path(ctx, ref, scope)
	if err != nil {
		return nil, err
	}
	return h.store.Revision(ctx, notePath, revision, scope)
}

// Diff returns the changes from one revision of a note to another, as a unified diff of
// limited length.
func (h *History) Diff(ctx context.Context, ref string, from, to int64, scope notes.Scope) (string, error) {
	notePath, err := h.path(ctx, ref, scope)
	if err != nil {
		return "", err
	}
	var texts [2][]byte
	for i, revision := range []int64{from, to} {
		if texts[i], err = h.store.RevisionText(ctx, "compare", notePath, revision, scope); err != nil {
			return "", err
		}
	}
	return store.ShortDiff(texts[0], texts[1], notePath), nil
}

// moment returns the vault as it was at a given time. A time in the future, or before
// history begins, is an [*notes.Error] with [notes.ErrInvalid].
func (h *History) moment(ctx context.Context, op string, at time.Time) (*store.Moment, error) {
	refused := &notes.Error{Op: op, Err: notes.ErrInvalid}
	if at.After(h.vault.opt.Now()) {
		refused.Detail, refused.Hint = fmt.Sprintf("%s is in the future", at.Local().Format(time.DateTime)), "Choose a time in the past."
		return nil, refused
	}
	begin, err := h.store.HistoryBegins(ctx)
	if err != nil {
		return nil, err
	}
	if begin.IsZero() {
		refused.Detail, refused.Hint = "there is no history yet", "It begins when notesd first reads the vault."
		return nil, refused
	}
	if at.Before(begin) {
		since := begin.Local().Add(time.Second).Format(time.DateTime) // rounded up, to a time that can be requested
		refused.Detail, refused.Hint = fmt.Sprintf("there is no history of %s: it begins at %s", at.Local().Format(time.DateTime), since), fmt.Sprintf("Choose a time from %s on.", since)
		return nil, refused
	}
	return h.store.AsOf(ctx, at, &h.vault.mu)
}

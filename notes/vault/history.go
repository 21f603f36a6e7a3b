package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"notesd/internal/atomicfile"
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

// ExportAsOf writes the notes as they were at a given time into dir, which must be empty or
// not exist, and returns the number written. Each note is exported in its version of that
// time, from history or the vault; attachments are not versioned and are omitted. A time in
// the future, or before history begins, is an [*notes.Error] with [notes.ErrInvalid].
func (h *History) ExportAsOf(ctx context.Context, at time.Time, dir string) (int, error) {
	m, err := h.moment(ctx, "export", at)
	if err != nil {
		return 0, err
	}
	if err := emptyFolder(dir); err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer func() { _ = root.Close() }() // every file is already synced
	written := 0
	for _, notePath := range m.Paths() {
		if err := ctx.Err(); err != nil {
			return written, err
		}
		n, err := m.Note(ctx, notePath)
		if err != nil {
			return written, err
		}
		if err := writeExported(root, notePath, []byte(n.Content)); err != nil {
			return written, err
		}
		written++
	}
	return written, nil
}

func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(dir, 0o755) //nolint:gosec // the user's own folder, as open as a vault is
	case err != nil:
		return err
	case len(entries) > 0:
		return &notes.Error{Op: "export", Path: filepath.Base(dir), Err: notes.ErrExists, Detail: "the folder is not empty", Hint: "Name a folder that does not exist yet."}
	}
	return nil
}

func writeExported(root *os.Root, notePath string, text []byte) error {
	if err := root.MkdirAll(path.Dir(notePath), 0o755); err != nil {
		return err
	}
	dir, err := atomicfile.OpenDir(root, path.Dir(notePath))
	if err != nil {
		return err
	}
	temp := store.TempName()
	err = dir.Stage(temp, text, nil)
	if err == nil {
		err = dir.Publish(temp, path.Base(notePath))
	}
	return errors.Join(err, dir.Close())
}

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
	err = h.vault.feeder.renew(ctx)
	if err != nil || len(h.vault.feeder.behind()) > 0 { // Run continues, for example after ctx has ended
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

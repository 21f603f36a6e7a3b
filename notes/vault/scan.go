package vault

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/appsettings"
	"notesd/notes/vault/disk"
)

// scan is a comparison of the disk with the store, and the resulting changes. It holds
// stats; files are read, and compared once more, when it is applied, so a stale scan
// is harmless.
type scan struct {
	store.Scan
	v          *Vault
	root       *disk.Root
	changed    []store.File             // files to be read
	differing  int                      // how many of changed are known to differ
	gone       []store.Row              // rows without a file, except those in moves
	moves      map[string]store.Row     // rows of notes that another program has moved, by new path
	unseen     []string                 // folders that could not be read; notes missing there are not gone
	rows       map[string]store.Row     // the stored rows
	passed     map[string]store.Skipped // files that were read and skipped, by path
	deferLinks bool                     // resolve links after the last batch
	again      []string                 // files that changed during the scan
	listed     disk.Listed
}

// isUnseen reports whether the absence of a file at name is inconclusive.
func (s *scan) isUnseen(name string) bool {
	return slices.ContainsFunc(s.unseen, func(folder string) bool { return notes.Under(name, folder) })
}

// compareAll compares the whole folder, whose identity is id, with the store. It decides whether
// the folder and the disks in it are the ones that the store knows, reads the settings of the
// apps that write it, and removes temp files that were left behind.
func (s *scan) compareAll(ctx context.Context, id fsid.Identity) error {
	w, err := s.list(ctx)
	if err != nil {
		return err
	}
	s.compare(w)
	if err := s.pairMoves(ctx); err != nil {
		return err
	}
	if err := s.checkVault(ctx, id); err != nil {
		return err
	}
	if err := s.keepUnmounted(ctx, w.mounts); err != nil {
		return err
	}
	if err := s.readAppSettings(ctx); err != nil {
		return err
	}
	s.v.symlinks.Clear()
	for _, p := range w.symlinks {
		s.v.symlinks.Store(p, nil)
	}
	return s.removeTemps(ctx, w.temps)
}

// comparePaths compares what is at and below some paths with the store. Notes on a disk that may
// be unmounted are left to a full scan.
func (s *scan) comparePaths(ctx context.Context, diskPaths []string) (err error) {
	s.Scanned = []string{}
	var places []string
	for _, diskPath := range s.withSymlinks(diskPaths) {
		diskPath = strings.Trim(path.Clean(diskPath), "/")
		name := notes.Nfc(diskPath)
		if diskPath == "" || diskPath == "." || s.v.ignore.Match(name) {
			continue
		}
		places, s.Scanned = append(places, diskPath), append(s.Scanned, name)
	}
	if s.rows, err = s.v.store.Rows(ctx, s.Scanned); err != nil {
		return err
	}
	w, err := s.walkPaths(ctx, places)
	if err != nil {
		return err
	}
	for _, p := range w.symlinks {
		s.v.symlinks.Store(p, nil)
	}
	s.compare(w)
	if err := s.pairMoves(ctx); err != nil {
		return err
	}
	s.keepUnmountedBelow(w.mounts)
	return nil
}

// withSymlinks returns places and all known symlinks, because the watcher reports a change
// to a symlink's target only under the target's own name.
func (s *scan) withSymlinks(places []string) []string {
	places = slices.Clone(places)
	for p := range s.v.symlinks.Range {
		if !slices.Contains(places, p.(string)) {
			places = append(places, p.(string))
		}
	}
	return places
}

// compare records the differences between the walk and the rows.
func (s *scan) compare(w *walked) {
	seen := make(map[string]bool, len(w.notes))
	for _, f := range slices.Concat(w.notes, w.evicted) {
		if !notes.IsNoteName(f.Path) {
			w.attachments = append(w.attachments, f)
			continue
		}
		if seen[f.Path] {
			continue
		}
		seen[f.Path] = true
		large := f.Stat.Size > s.v.opt.MaxNoteBytes // which may differ from the limit of an earlier scan
		if before, ok := s.passed[f.Path]; ok && before.Stat == (fsid.Stat{Size: f.Stat.Size, Mtime: f.Stat.Mtime, Ctime: f.Stat.Ctime}) &&
			(large || before.Reason != disk.ErrTooLarge.Error()) {
			s.Kept = append(s.Kept, f.Path)
			continue
		}
		if r := s.rows[f.Path]; r.DiskPath != f.DiskPath || !r.Unchanged(f.Stat) || r.Parser != notes.ParserVersion || large {
			s.changed = append(s.changed, f)
			if r.Stat != f.Stat { // otherwise it was read too soon after a change, or is only parsed again
				s.differing++
			}
		}
	}
	s.unseen = append(s.unseen, w.unreadable...)
	for name, r := range s.rows {
		if !seen[name] && !s.isUnseen(name) {
			s.gone = append(s.gone, r)
		}
	}
	s.Skipped = append(s.Skipped, w.skipped...)
	for _, dir := range w.unreadable {
		s.Skipped = append(s.Skipped, store.Skipped{Skipped: notes.Skipped{Path: dir, Reason: "the file or folder cannot be opened"}})
	}
	s.Attachments = append(s.Attachments, w.attachments...)
	s.Targets = w.targets
	slices.SortFunc(s.changed, func(a, b store.File) int { // newest first: they are the most wanted while a first index is built
		return cmp.Or(cmp.Compare(b.Stat.Mtime, a.Stat.Mtime), cmp.Compare(a.Path, b.Path))
	})
}

// pairMoves matches files without a row with the rows of vanished notes: by inode, size and
// mtime, or else by content, if that is not empty and unique on both sides. It moves the
// matched rows from s.gone to s.moves. A move by another program must not become a deletion
// and a new note: history, links and vectors belong to the note.
func (s *scan) pairMoves(ctx context.Context) error {
	s.moves = map[string]store.Row{}
	byInode, byHash := map[int64]store.Row{}, map[string][]store.Row{}
	for _, r := range s.gone {
		if r.Stat.Inode != 0 {
			byInode[r.Stat.Inode] = r
		}
		byHash[r.Hash] = append(byHash[r.Hash], r)
	}
	taken := map[int64]bool{}
	var rest []store.File
	for _, f := range s.changed {
		if _, known := s.rows[f.Path]; known {
			continue
		}
		r, ok := byInode[f.Stat.Inode]
		if ok && !taken[r.ID] && r.Stat.Size == f.Stat.Size && r.Stat.Mtime == f.Stat.Mtime {
			s.moves[f.Path], taken[r.ID] = r, true
			continue
		}
		rest = append(rest, f)
	}
	if err := s.pairByHash(ctx, rest, byHash, taken); err != nil {
		return err
	}
	s.gone = slices.DeleteFunc(s.gone, func(r store.Row) bool { return taken[r.ID] })
	return nil
}

func (s *scan) pairByHash(ctx context.Context, files []store.File, byHash map[string][]store.Row, taken map[int64]bool) error {
	sizes := map[int64]bool{}
	for _, rows := range byHash {
		sizes[rows[0].Stat.Size] = true
	}
	sameHash := map[string][]store.File{}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.Stat.Size == 0 || !sizes[f.Stat.Size] {
			continue // cannot equal any of them
		}
		if data, _, err := disk.Read(s.root, f.DiskPath, s.v.opt.MaxNoteBytes); err == nil {
			h := notes.Hash(data)
			sameHash[h] = append(sameHash[h], f)
		}
	}
	for h, files := range sameHash {
		rows := slices.DeleteFunc(slices.Clone(byHash[h]), func(r store.Row) bool { return taken[r.ID] })
		if len(files) == 1 && len(rows) == 1 {
			s.moves[files[0].Path], taken[rows[0].ID] = rows[0], true
		}
	}
	return nil
}

// finish resolves all links if a large scan deferred that and, once after each start, makes
// history agree with the files; see [store.Versions.MatchFiles].
func (s *scan) finish(ctx context.Context) error {
	v := s.v
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.store.FinishLinks(ctx); err != nil {
		return err
	}
	if v.historyMatched {
		return nil
	}
	passed, err := v.store.Files().PassedOver(ctx) // may be a note that cannot be read, or a symlink that broke when the note was deleted
	if err != nil {
		return err
	}
	rows, err := v.store.Rows(ctx, nil)
	if err != nil {
		return err
	}
	err = v.store.MatchFiles(ctx, func(path string) bool {
		_, isNote := rows[path]
		return isNote
	}, func(path string) bool {
		_, isFile := passed[path]
		return isFile || s.isUnseen(path)
	})
	v.historyMatched = err == nil
	return err
}

// unreadRetry is how soon a failed read is retried.
const unreadRetry = 10 * time.Second

// rereads are the files that Run will read again. The stored versions of their notes are kept
// until then.
type rereads struct {
	now   func() time.Time
	queue *Queue
	files sync.Map // path of the note → reread
}

type reread struct {
	at       time.Time
	diskPath string
	problem  string // why the last read failed, or ""
}

func (r *rereads) add(path, diskPath string, after time.Duration, problem string) {
	if _, had := r.files.Swap(path, reread{r.now().Add(after), diskPath, problem}); !had {
		r.queue.Wake() // Run sets its timer
	}
}

// problem returns why the last read of a note's file failed, or "".
func (r *rereads) problem(path string) string {
	if f, ok := r.files.Load(path); ok {
		return f.(reread).problem
	}
	return ""
}

// next returns when the next file is to be read, or zero if there is none.
func (r *rereads) next() (next time.Time) {
	for _, f := range r.files.Range {
		if at := f.(reread).at; next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// queueDue queues the files that are due at a time. One that fails again is added again.
func (r *rereads) queueDue(now time.Time) {
	for path, f := range r.files.Range {
		if f := f.(reread); !f.at.After(now) {
			r.files.Delete(path)
			r.queue.Add(f.diskPath)
		}
	}
}

// leadsToSettings reports whether the vault-relative path is one of the [appsettings.Files], or a folder
// above one.
func (v *Vault) leadsToSettings(p string) bool {
	if len(v.store.Several) > 0 {
		_, p, _ = strings.Cut(p, "/")
	}
	return p != "" && slices.ContainsFunc(appsettings.Files, func(file string) bool { return notes.Under(file, p) })
}

// dailySetting is the key under which the store keeps which of several folders has the
// periodic notes.
const dailySetting = "daily"

// readAppSettings applies the settings of the app. For a folder that cannot be opened at
// the moment, the settings read before still apply.
func (s *scan) readAppSettings(ctx context.Context) error {
	v := s.v
	apps := maps.Clone(*v.store.Apps.Load())
	for folder, root := range s.root.All() {
		apps[folder] = appsettings.Read(root, folder)
	}
	v.store.Apps.Store(&apps)
	logseq := map[string]string{}
	for folder := range apps {
		if l := apps[folder].Logseq; l != nil {
			logseq[folder] = l.Journals
		}
	}
	if err := v.store.SetLogseq(ctx, logseq); err != nil {
		return err
	}
	exclude := &notes.Exclusions{}
	for _, folder := range slices.Sorted(maps.Keys(apps)) {
		exclude.Prefixes = append(exclude.Prefixes, apps[folder].Exclude.Prefixes...)
		exclude.Patterns = append(exclude.Patterns, apps[folder].Exclude.Patterns...)
	}
	v.store.Exclude.Store(exclude)
	daily := v.opt.Daily
	if daily == "" {
		if err := v.store.Setting(ctx, dailySetting, &daily); err != nil {
			return err
		}
	}
	if len(apps) < len(v.store.Several) { // a folder's settings were never read: keep what was derived from them earlier
		v.store.Daily.Store(&daily)
		return nil
	}
	if v.opt.Daily == "" {
		chosen := ""
		for _, folder := range slices.Backward(v.store.Several) {
			if _, ok := apps[folder].Periodic.Notes[notes.Day]; ok {
				chosen = folder
			}
		}
		if chosen != daily {
			if err := v.store.SaveSetting(ctx, dailySetting, chosen); err != nil {
				return err
			}
		}
		daily = chosen
	}
	v.store.Daily.Store(&daily)
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.store.SetStatuses(ctx); err != nil {
		return err
	}
	return v.store.SetDates(ctx, appsettings.DateRules(apps, v.store.DailyFolder(notes.Scope{}), v.opt.Dates))
}

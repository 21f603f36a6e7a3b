package vault

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// Reconcile finishes what a crash has interrupted, makes the store equal to
// the disk, for the whole vault, and feeds the followers.
func (v *Vault) Reconcile(ctx context.Context) error {
	v.mu.Lock()
	err := v.recoverPending(ctx)
	v.mu.Unlock()
	if err != nil {
		v.incident.set(err)
		return err
	}
	root, id, err := v.disk.OpenAny()
	if err != nil {
		v.incident.set(err)
		return err
	}
	defer func() { _ = root.Close() }() // only read from
	s := &scan{v: v, root: root, Scan: store.Scan{Whole: true}, writes: v.writes.Load()}
	if err := s.compareAll(ctx, id); err != nil {
		v.incident.set(err)
		return err
	}
	if err := s.apply(ctx); err != nil {
		return err
	}
	if v.incident.clear() {
		v.opt.Log.Info("the vault is usable again")
	}
	return s.finish(ctx)
}

// maxRescans bounds how often a scan of some paths is made again at once for files that
// were saved meanwhile, or that another scan has committed.
const maxRescans = 3

// reconcilePaths makes the store equal to the disk at, and below, these paths: it has
// every save that was made before the call, but for files that go on changing, which are
// left to Run.
func (v *Vault) reconcilePaths(ctx context.Context, paths []string) error {
	for range maxRescans {
		var err error
		if paths, err = v.reconcileOnce(ctx, paths); err != nil || len(paths) == 0 {
			return err
		}
	}
	return nil
}

// reconcileOnce returns the paths that have to be scanned again.
func (v *Vault) reconcileOnce(ctx context.Context, paths []string) (again []string, err error) {
	root, err := v.disk.Open()
	if err != nil {
		if v.incident.set(err) {
			v.queue.addAll() // Run is what ends it
		}
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read from
	s := &scan{v: v, root: root, writes: v.writes.Load()}
	if err := s.comparePaths(ctx, paths); err != nil {
		return nil, err
	}
	if many, err := s.lacksMany(ctx); many || err != nil { // whether the vault is suddenly empty, only a scan of all of it says
		v.queue.addAll()
		return nil, err
	}
	err = s.apply(ctx)
	return s.again, err
}

// lacksMany reports whether a scan of some paths found most notes of the vault, or of
// one of its several folders, gone.
func (s *scan) lacksMany(ctx context.Context) (bool, error) {
	gone := map[string]int{}
	for _, r := range s.gone {
		gone[s.v.store.FolderOf(r.Path)]++
	}
	for folder, n := range gone {
		if n < suspiciouslyMany {
			continue
		}
		all, err := s.countIn(ctx, folder)
		if n > all/2 || err != nil {
			return true, err
		}
	}
	return false, nil
}

// countIn returns how many notes the store has in one of several folders, or in a
// vault of one, whose name is "".
func (s *scan) countIn(ctx context.Context, folder string) (int, error) {
	if folder == "" {
		return s.v.store.Count(ctx)
	}
	rows, err := s.v.store.Rows(ctx, []string{folder})
	return len(rows), err
}

// scan is one comparison of the disk with the store and what follows from it.
// It holds stats only; files are read when it is applied, and compared once
// more then, so a scan that has become old does no harm.
type scan struct {
	store.Scan
	v          *Vault
	root       *disk.Root
	changed    []store.File         // to be read
	differing  int                  // of changed, those that are known to differ
	gone       []store.Row          // no file has this name now
	unseen     []string             // folders that could not be read: a note that is not seen there is not gone
	rows       map[string]store.Row // what the store had
	passed     map[string]fsid.Stat // files that were read and found to be no notes
	deferLinks bool                 // links are resolved when everything is applied
	writes     uint64               // Vault.writes when the scan began
	again      []string             // files that changed meanwhile
}

// isUnseen reports whether the absence of a file at name means nothing.
func (s *scan) isUnseen(name string) bool {
	return slices.ContainsFunc(s.unseen, func(folder string) bool { return notes.Under(name, folder) })
}

func (s *scan) compareAll(ctx context.Context, id fsid.Identity) error {
	w, err := walk(ctx, s.root, ".", s.v.ignore)
	if err != nil {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return disk.Unavailable(err)
	}
	if s.rows, err = s.v.store.Rows(ctx, nil); err != nil {
		return err
	}
	if err := s.checkVault(ctx, id, w); err != nil {
		return err
	}
	if s.passed, err = s.v.store.Files().PassedOver(ctx); err != nil {
		return err
	}
	if err := s.readAppSettings(ctx); err != nil {
		return err
	}
	s.compare(w)
	if err := s.keepUnmounted(ctx, w.mounts); err != nil {
		return err
	}
	s.v.symlinks.found(w.symlinks, true)
	return s.removeTemps(ctx, w.temps)
}

func (s *scan) comparePaths(ctx context.Context, diskPaths []string) (err error) {
	s.Looked = []string{}
	var places []string
	for _, diskPath := range s.v.symlinks.with(diskPaths) {
		diskPath = strings.Trim(path.Clean(diskPath), "/")
		name := norm.NFC.String(diskPath)
		if diskPath == "" || diskPath == "." || s.v.ignore.Match(name) {
			continue
		}
		places, s.Looked = append(places, diskPath), append(s.Looked, name)
	}
	if s.rows, err = s.v.store.Rows(ctx, s.Looked); err != nil {
		return err
	}
	var w walked
	for _, diskPath := range places {
		for _, spelled := range s.spellings(diskPath) {
			if err := s.look(ctx, spelled, &w); err != nil {
				return err
			}
		}
	}
	w.dropTwins()
	s.v.symlinks.found(w.symlinks, false)
	s.compare(&w)
	s.keepUnmountedBelow(w.mounts)
	return nil
}

// compare fills in what differs between the walk and the rows.
func (s *scan) compare(w *walked) {
	seen := make(map[string]bool, len(w.notes))
	for _, f := range w.notes {
		seen[f.Path] = true
		if before, ok := s.passed[f.Path]; ok && before == (fsid.Stat{Size: f.Stat.Size, Mtime: f.Stat.Mtime, Ctime: f.Stat.Ctime}) {
			s.Kept = append(s.Kept, f.Path)
			continue
		}
		if r, ok := s.rows[f.Path]; !ok || r.DiskPath != f.DiskPath || !r.Unchanged(f.Stat) {
			s.changed = append(s.changed, f)
			if r.Stat != f.Stat { // else it was read too soon after its change, and is only read again
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
		s.Skipped = append(s.Skipped, store.Skipped{Skipped: notes.Skipped{Path: dir, Reason: "the folder cannot be read"}})
	}
	s.Attachments = append(s.Attachments, w.attachments...)
	s.Targets = w.targets
	s.sort()
}

// sort puts the newest first: they are what is asked for while a first index
// is being built.
func (s *scan) sort() {
	slices.SortFunc(s.changed, func(a, b store.File) int {
		if a.Stat.Mtime != b.Stat.Mtime {
			return int(min(1, max(-1, b.Stat.Mtime-a.Stat.Mtime)))
		}
		return strings.Compare(a.Path, b.Path)
	})
}

// spellings returns diskPath and the other Unicode forms of it that have to be scanned
// with it: that of the file that the note was read from, and if there is no file at
// diskPath, those of its twins.
func (s *scan) spellings(diskPath string) []string {
	name := norm.NFC.String(diskPath)
	spelled := []string{diskPath}
	if r, ok := s.rows[name]; ok {
		spelled = append(spelled, r.DiskPath)
	}
	if _, err := s.root.Lstat(diskPath); errors.Is(err, fs.ErrNotExist) {
		spelled = append(spelled, name, norm.NFD.String(name))
	}
	slices.Sort(spelled)
	return slices.Compact(spelled)
}

// look adds what is at diskPath, and below it, to w.
func (s *scan) look(ctx context.Context, diskPath string, w *walked) error {
	info, err := s.root.Lstat(diskPath)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsid.ErrNotDirectory):
		return nil // gone
	case err != nil:
		w.unreadable = append(w.unreadable, norm.NFC.String(diskPath))
		return nil
	case !s.root.SpelledSo(diskPath) || s.root.SymlinkAbove(diskPath) != "":
		return nil // the disk answers to a name that is not there, or is not this file's own
	case !info.IsDir():
		one := &walker{ctx: ctx, top: s.root, ignore: s.v.ignore, out: w}
		one.file(path.Base(diskPath), diskPath, info)
		return nil
	}
	sub, err := walk(ctx, s.root, diskPath, s.v.ignore)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		w.unreadable = append(w.unreadable, norm.NFC.String(diskPath))
		return nil
	}
	w.notes = append(w.notes, sub.notes...)
	w.attachments = append(w.attachments, sub.attachments...)
	w.skipped = append(w.skipped, sub.skipped...)
	w.unreadable = append(w.unreadable, sub.unreadable...)
	w.symlinks = append(w.symlinks, sub.symlinks...)
	if w.targets == nil {
		w.targets = map[string]string{}
	}
	maps.Copy(w.targets, sub.targets)
	for folder, m := range sub.mounts {
		w.addMount(folder, m)
	}
	return nil
}

// suspiciouslyMany is how many notes must have vanished at once for a folder
// to be taken for the place of an unmounted disk and not for the user's wish.
const suspiciouslyMany = 10

// checkVault refuses to conclude anything from a folder that is not, or does
// not look like, the vault: an unmounted disk leaves a folder behind that is
// empty, or has what was written there meanwhile, which must not be taken for
// the deletion of all notes. Another folder that has most of them (a restored
// backup, a fresh clone, a disk that got another number) is the vault from now
// on.
func (s *scan) checkVault(ctx context.Context, id fsid.Identity, w *walked) error {
	if len(s.v.store.Several) > 0 {
		return nil // keepUnmounted checks each folder
	}
	recorded := s.v.disk.Identity()
	replaced := id != recorded && recorded != fsid.Identity{}
	switch {
	case replaced && w.lacksMost(s.rows):
		return disk.Replaced()
	case len(w.notes) == 0 && w.lacksMost(s.rows):
		return suddenly("is empty")
	case s.v.incident.get() != nil && w.lacksMost(s.rows): // the first notes are back
		return suddenly("lacks most of its notes")
	case id != recorded:
		s.v.disk.Adopt(id)
		return s.v.store.SaveSetting(ctx, vaultSetting, id)
	}
	return nil
}

func suddenly(what string) error {
	return &notes.Error{Op: "scan", Err: notes.ErrUnavailable, Detail: "the vault folder " + what + " although it had notes at the last scan",
		Hint: "Nothing was forgotten. If the notes were really deleted, run: notesd index --rebuild"}
}

// lacksMost reports whether most of the rows' notes, and suspiciously many, are
// not where they were.
func (w *walked) lacksMost(rows map[string]store.Row) bool {
	missing := len(rows)
	for _, f := range w.notes {
		if _, known := rows[f.Path]; known {
			missing--
		}
	}
	return missing >= suspiciouslyMany && missing > len(rows)/2
}

// A batch is read, parsed and committed together. Large ones let the text
// index build two segments at once; the first of a whole vault is small, so
// that the newest notes are found within a moment of a first start.
const (
	batchBytes      = 6 << 20
	firstBatchBytes = 1 << 20
	batchFiles      = 2000
	// deferLinksFrom is how many files a scan of the whole vault must have to
	// read for links to be resolved once at its end and not with every batch.
	deferLinksFrom = 64
)

// apply brings the store, and then the followers, to what the scan found. While
// the followers apply one batch, the next is read, parsed and committed.
func (s *scan) apply(ctx context.Context) error {
	v := s.v
	v.progress.begin(len(s.changed))
	defer v.progress.end()
	v.progress.differing.Add(int64(s.differing))
	defer v.progress.differing.Add(-int64(s.differing))
	if err := v.store.Files().Record(ctx, s.Scan, s.isUnseen); err != nil {
		return err
	}
	moves, err := s.pairMoves(ctx)
	if err != nil {
		return err
	}
	s.deferLinks = s.Whole && len(s.changed) >= deferLinksFrom
	feeding := make(chan struct{}, 1) // holds a token while the followers are fed
	defer func() { feeding <- struct{}{} }()
	gone := s.gone
	for first := true; first || len(s.changed) > 0; first = false {
		batch := s.next(first && s.Whole)
		files, err := s.prepare(ctx, batch, moves)
		if err != nil {
			return err
		}
		if err := s.commit(ctx, files, gone); err != nil {
			return err
		}
		gone = nil
		v.progress.done.Add(int64(len(batch)))
		feeding <- struct{}{} // until now the batch before may have been with the followers
		go func() {
			defer func() { <-feeding }()
			v.feed.run(ctx)
		}()
	}
	return ctx.Err()
}

// next cuts a batch off the scan.
func (s *scan) next(small bool) []store.File {
	limit := int64(batchBytes)
	if small {
		limit = firstBatchBytes
	}
	n, total := 0, int64(0)
	for n < len(s.changed) && n < batchFiles && (n == 0 || total+s.changed[n].Stat.Size <= limit) {
		total += s.changed[n].Stat.Size
		n++
	}
	batch := s.changed[:n]
	s.changed = s.changed[n:]
	return batch
}

// commit writes a prepared batch to the store under the vault's lock. What
// has changed since the scan began is left to the next one.
func (s *scan) commit(ctx context.Context, files []prepared, gone []store.Row) error {
	s.v.mu.Lock()
	defer s.v.mu.Unlock()
	b := &batch{v: s.v, root: s.root, current: s.rows}
	if s.v.writes.Load() != s.writes {
		var err error
		if b.current, err = s.v.store.Rows(ctx, pathsOf(files, gone)); err != nil {
			return err
		}
	}
	for _, r := range gone {
		b.remove(r)
	}
	for i := range files {
		b.add(&files[i])
	}
	s.again = append(s.again, b.again...)
	return b.commit(ctx, notes.Outside, s.deferLinks)
}

func pathsOf(files []prepared, gone []store.Row) []string {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
		if f.row != nil && f.row.Path != f.Path {
			paths = append(paths, f.row.Path)
		}
	}
	for _, r := range gone {
		paths = append(paths, r.Path)
	}
	return paths
}

// pairMoves finds, for files without a row, the row of a vanished note whose
// file this was before: the same inode with the same stat, or else the same
// bytes, when they are not empty and nothing else on either side has them.
// The pairs leave s.gone. What cannot be paired stays a delete and a create.
func (s *scan) pairMoves(ctx context.Context) (map[string]store.Row, error) {
	moves := map[string]store.Row{}
	if len(s.gone) == 0 {
		return moves, nil
	}
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
		if ok && !taken[r.Id] && r.Stat.Size == f.Stat.Size && r.Stat.Mtime == f.Stat.Mtime {
			moves[f.Path], taken[r.Id] = r, true
			continue
		}
		rest = append(rest, f)
	}
	if err := s.pairByHash(ctx, rest, byHash, moves, taken); err != nil {
		return nil, err
	}
	s.gone = slices.DeleteFunc(s.gone, func(r store.Row) bool { return taken[r.Id] })
	return moves, nil
}

func (s *scan) pairByHash(ctx context.Context, files []store.File, byHash map[string][]store.Row, moves map[string]store.Row, taken map[int64]bool) error {
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
			continue // cannot have the bytes of any of them
		}
		if data, _, err := readOnce(s.root, f.DiskPath, s.v.opt.MaxNoteBytes); err == nil {
			h := notes.Hash(data)
			sameHash[h] = append(sameHash[h], f)
		}
	}
	for h, files := range sameHash {
		rows := slices.DeleteFunc(slices.Clone(byHash[h]), func(r store.Row) bool { return taken[r.Id] })
		if len(files) == 1 && len(rows) == 1 {
			moves[files[0].Path], taken[rows[0].Id] = rows[0], true
		}
	}
	return nil
}

// finish resolves all links when a large batch has left that undone, and makes history
// agree with the files, once after a start; see [store.Versions.MatchFiles].
func (s *scan) finish(ctx context.Context) error {
	v := s.v
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.store.FinishLinks(ctx); err != nil || v.historyMatched {
		return err
	}
	passed, err := v.store.Files().PassedOver(ctx) // a file that cannot be read may still be the note
	if err != nil {
		return err
	}
	rows, err := v.store.Rows(ctx, nil)
	if err != nil {
		return err
	}
	err = v.store.MatchFiles(ctx, func(path string) bool {
		_, isNote := rows[path]
		_, isFile := passed[path]
		return isNote || isFile
	}, s.isUnseen)
	v.historyMatched = err == nil
	return err
}

// dailySetting is where the store keeps which of several folders has the periodic
// notes.
const dailySetting = "daily"

// readAppSettings applies what the app says about the notes. What was read of a
// folder that cannot be opened now still holds.
func (s *scan) readAppSettings(ctx context.Context) error {
	v := s.v
	apps := maps.Clone(*v.store.Apps.Load())
	for folder, root := range s.root.All() {
		apps[folder] = readApp(root, folder)
	}
	v.store.Apps.Store(&apps)
	aside := &notes.AsideRules{}
	for _, folder := range slices.Sorted(maps.Keys(apps)) {
		aside.Prefixes = append(aside.Prefixes, apps[folder].Aside.Prefixes...)
		aside.Patterns = append(aside.Patterns, apps[folder].Aside.Patterns...)
	}
	if before := v.store.Aside.Load(); before == nil || !before.Equal(aside) {
		v.store.Aside.Store(aside)
	}
	daily := v.opt.Daily
	if daily == "" {
		if err := v.store.Setting(ctx, dailySetting, &daily); err != nil {
			return err
		}
	}
	if len(apps) < len(v.store.Several) { // what the app says of a folder was never read: what was derived from it stays
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
	if err := v.store.ReadTasks(ctx); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.store.SetDates(ctx, readDateRules(apps, v.store.DailyFolder(notes.Scope{}), v.opt.Dates))
}

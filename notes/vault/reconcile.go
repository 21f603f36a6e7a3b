package vault

import (
	"context"
	"errors"
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
	err := v.interrupted.finish(ctx)
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
	root, err := v.disk.Open()
	if err != nil {
		if v.incident.set(err) {
			v.queue.AddAll() // Run is what ends it
		}
		return err
	}
	defer func() { _ = root.Close() }() // only read from
	for try := 0; try < maxRescans && (try == 0 || len(paths) > 0); try++ {
		s := &scan{v: v, root: root, writes: v.writes.Load()}
		if err := s.comparePaths(ctx, paths); err != nil {
			return err
		}
		if many, err := s.lacksMany(ctx); many || err != nil { // whether the vault is suddenly empty, only a scan of all of it says
			v.queue.AddAll()
			return err
		}
		if err := s.apply(ctx); err != nil {
			return err
		}
		paths = s.again
	}
	return nil
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

func (s *scan) compareAll(ctx context.Context, id fsid.Identity) error {
	w, err := walk(ctx, s.root, s.v.ignore)
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
	symlinks := map[string]string{}
	for _, p := range w.symlinks {
		symlinks[p] = p
	}
	s.v.symlinks.replace(symlinks)
	return s.removeTemps(ctx, w.temps)
}

func (s *scan) comparePaths(ctx context.Context, diskPaths []string) (err error) {
	s.Scanned = []string{}
	var places []string
	for _, diskPath := range s.withSymlinks(diskPaths) {
		diskPath = strings.Trim(path.Clean(diskPath), "/")
		name := norm.NFC.String(diskPath)
		if diskPath == "" || diskPath == "." || s.v.ignore.Match(name) {
			continue
		}
		places, s.Scanned = append(places, diskPath), append(s.Scanned, name)
	}
	if s.rows, err = s.v.store.Rows(ctx, s.Scanned); err != nil {
		return err
	}
	w := newWalked()
	for _, diskPath := range places {
		for _, spelled := range s.spellings(diskPath) {
			if err := s.addPath(ctx, spelled, w); err != nil {
				return err
			}
		}
	}
	w.dropTwins()
	for _, p := range w.symlinks {
		s.v.symlinks.set(p, p)
	}
	s.compare(w)
	s.keepUnmountedBelow(w.mounts)
	return nil
}

// withSymlinks returns places and the symlinks that are not among them: what happens
// to the target of a symlink is reported under its own name only.
func (s *scan) withSymlinks(places []string) []string {
	symlinks := s.v.symlinks.all()
	for _, p := range places {
		delete(symlinks, p)
	}
	return slices.AppendSeq(slices.Clone(places), maps.Keys(symlinks))
}

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

// keepUnmounted takes out of a scan of the whole vault the notes that are gone
// with a disk, and records which disks are there, given those that it saw.
func (s *scan) keepUnmounted(ctx context.Context, seen map[string]mount) error {
	m := &s.v.mounts
	m.mu.Lock()
	known, wasAway := m.known, m.away
	m.mu.Unlock()
	next, away := maps.Clone(seen), map[string]fsid.Identity{}
	for _, folder := range s.v.store.Several { // one that was never there has notes nowhere
		if _, missing := s.root.Missing(folder); missing != nil && known[folder] == (mount{}) {
			next[folder], away[folder] = mount{DiskPath: folder}, fsid.Identity{}
		}
	}
	for folder, mount := range known {
		now := s.root.Identity(mount.DiskPath)
		_, wasAway := wasAway[folder]
		top := slices.Contains(s.v.store.Several, folder)
		switch _, missing := s.root.Missing(folder); {
		case len(s.v.store.Several) > 0 && !slices.Contains(s.v.store.Several, s.v.store.FolderOf(folder)):
			continue // it is no longer a folder of the vault
		case isAmong(seen, mount) && now != mount.Identity:
			continue
		case now == mount.Identity && missing == nil && !(top && s.emptied(folder, wasAway)):
			continue
		case now != mount.Identity && !s.isUnseen(folder) && !s.lacksMostOf(folder) && missing == nil:
			continue
		}
		s.keep(folder)
		next[folder], away[folder] = mount, now
	}
	m.mu.Lock()
	m.known, m.away = next, away
	m.mu.Unlock()
	for folder := range away {
		if _, was := wasAway[folder]; !was && known[folder] != (mount{}) {
			s.v.opt.Log.Warn("the disk of a folder is no longer mounted; its notes stay indexed", "folder", folder)
		}
	}
	for folder := range wasAway {
		if _, still := away[folder]; !still {
			s.v.opt.Log.Info("the folder is usable again", "folder", folder)
		}
	}
	if maps.Equal(known, next) {
		return nil
	}
	return s.v.store.SaveSetting(ctx, mountsSetting, next)
}

// isAmong reports whether the disk is seen somewhere: the folder above a mount
// point can be renamed.
func isAmong(seen map[string]mount, disk mount) bool {
	for _, m := range seen {
		if m.Identity == disk.Identity {
			return true
		}
	}
	return false
}

// keepUnmountedBelow takes out of a scan of some paths the notes that may be gone
// with a disk, and leaves the verdict to a scan of everything.
func (s *scan) keepUnmountedBelow(seen map[string]mount) {
	m := &s.v.mounts
	m.mu.Lock()
	defer m.mu.Unlock()
	for folder := range m.away {
		if slices.ContainsFunc(s.Scanned, func(p string) bool { return notes.Under(p, folder) }) {
			s.keep(folder)
			s.v.queue.AddAll() // it is coming back, perhaps
		}
	}
	for folder, mount := range m.known {
		if !slices.ContainsFunc(s.gone, func(r store.Row) bool { return notes.Under(r.Path, folder) }) {
			continue
		}
		if now := s.root.Identity(mount.DiskPath); now != mount.Identity && !isAmong(seen, mount) {
			s.keep(folder)
			if was, away := m.away[folder]; !away || was != now {
				s.v.queue.AddAll()
			}
		}
	}
}

// emptied reports whether one of the vault's folders is empty although it had many
// notes, or was and lacks most of them still.
func (s *scan) emptied(folder string, wasAway bool) bool {
	all, gone := s.count(folder)
	return gone >= suspiciouslyMany && (gone == all || wasAway && gone > all/2)
}

// lacksMostOf reports whether most of the folder's notes are gone.
func (s *scan) lacksMostOf(folder string) bool {
	all, gone := s.count(folder)
	return gone > all/2
}

// count returns how many notes the store has in a folder, and how many of them are gone.
func (s *scan) count(folder string) (all, gone int) {
	for name := range s.rows {
		if notes.Under(name, folder) {
			all++
		}
	}
	for _, r := range s.gone {
		if notes.Under(r.Path, folder) {
			gone++
		}
	}
	return all, gone
}

// keep keeps what is known of the folder's notes.
func (s *scan) keep(folder string) {
	s.gone = slices.DeleteFunc(s.gone, func(r store.Row) bool { return notes.Under(r.Path, folder) })
	s.unseen = append(s.unseen, folder)
}

// Refresh reconciles a folder at once until the first scan of the whole vault has ended;
// after that it does nothing.
func (v *Vault) Refresh(ctx context.Context, folder string) error {
	if v.Ready() {
		return nil
	}
	return v.reconcilePaths(ctx, []string{folder})
}

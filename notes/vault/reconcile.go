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

// Reconcile finishes operations interrupted by a crash, updates the store to match the
// disk, for the whole vault, and feeds the followers.
func (v *Vault) Reconcile(ctx context.Context) error {
	err := v.reconcileAll(ctx)
	if err == nil {
		v.progress.endWhole()
	}
	if ctx.Err() == nil && v.incident.took(err, true) && err == nil {
		v.opt.Log.Info("the vault is usable again")
	}
	return err
}

func (v *Vault) reconcileAll(ctx context.Context) error {
	v.mu.Lock()
	unfinished := v.interrupted.finish(ctx)
	v.mu.Unlock()
	root, id, err := v.disk.OpenAny()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only read from
	if unfinished != nil && id == v.disk.Identity() {
		return unfinished
	}
	s := &scan{v: v, root: root, Scan: store.Scan{Whole: true}}
	if err := s.compareAll(ctx, id); err != nil {
		return err
	}
	if unfinished != nil { // this folder, a copy of the vault, is the vault only now
		return v.reconcileAll(ctx)
	}
	if err := s.apply(ctx); err != nil {
		return err
	}
	return s.finish(ctx)
}

// maxRescans bounds how often a scan of some paths is repeated at once for files that were
// saved meanwhile, or that another scan has committed.
const maxRescans = 3

// reconcilePaths updates the store to match the disk at and below these paths. Afterwards
// the store has every save made before the call, except for files that keep changing, which
// are left to Run.
func (v *Vault) reconcilePaths(ctx context.Context, paths []string) error {
	if err := v.incident.get(); err != nil {
		return err // a file that is missing now may not be deleted
	}
	root, err := v.disk.Open()
	if err != nil {
		if v.incident.took(err, false) {
			v.queue.AddAll() // only Run ends an incident
		}
		return err
	}
	defer func() { _ = root.Close() }() // only read from
	for try := 0; try < maxRescans && (try == 0 || len(paths) > 0); try++ {
		s := &scan{v: v, root: root}
		if err := s.comparePaths(ctx, paths); err != nil {
			return err
		}
		if len(s.gone) >= suspiciouslyMany { // only a full scan can tell whether a folder is suddenly empty
			v.queue.AddAll()
			return nil
		}
		if err := s.apply(ctx); err != nil {
			return err
		}
		paths = s.again
	}
	return nil
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
	if s.passed, err = s.v.store.Files().PassedOver(ctx); err != nil {
		return err
	}
	parser := 0
	if err := s.v.store.Setting(ctx, parserSetting, &parser); err != nil {
		return err
	}
	switch {
	case parser == notes.ParserVersion:
	case len(s.rows) > 0:
		s.reparse = true
	default:
		if err := s.v.store.SaveSetting(ctx, parserSetting, notes.ParserVersion); err != nil {
			return err
		}
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

// checkVault returns an error if the vault's only folder is away. Otherwise another folder
// in its place (a restored backup, a fresh clone, a disk with a new device number) becomes
// the vault.
func (s *scan) checkVault(ctx context.Context, id fsid.Identity) error {
	if len(s.v.store.Several) > 0 {
		return nil // keepUnmounted checks each folder
	}
	recorded := s.v.disk.Identity()
	replaced := id != recorded && recorded != fsid.Identity{}
	switch away := s.isAway("", replaced, replaced && id.Device != recorded.Device, s.v.incident.get() != nil); {
	case away && replaced:
		return disk.Replaced()
	case away && s.isEmpty(""):
		return suddenly("is empty")
	case away:
		return suddenly("lacks most of its notes")
	case id != recorded:
		s.v.disk.Adopt(id)
		return s.v.store.SaveSetting(ctx, vaultSetting, id)
	}
	return nil
}

// isAway reports whether a folder does not look like the one with the stored notes. An
// unmounted disk leaves a mount point behind, empty or with files written there since; that
// must not be treated as the deletion of all notes. A folder that was replaced on the same
// disk may have lost a few notes by deletion. A folder that was away stays so until most of
// its notes are back, if only at other paths.
func (s *scan) isAway(folder string, replaced, otherDisk, wasAway bool) bool {
	all, gone := s.count(folder)
	switch {
	case gone <= all/2:
		return false
	case gone < suspiciouslyMany:
		return otherDisk
	}
	return replaced || wasAway || s.isEmpty(folder)
}

// isEmpty reports whether the scan found no notes in a folder.
func (s *scan) isEmpty(folder string) bool {
	all, gone := s.count(folder)
	return gone == all && !slices.ContainsFunc(s.changed, func(f store.File) bool { return notes.Under(f.Path, folder) })
}

// parserSetting is where the store keeps the version of the parser that made its notes.
const parserSetting = "parser"

func suddenly(what string) error {
	return &notes.Error{Op: "scan", Err: notes.ErrUnavailable, Detail: "the vault folder " + what + " although it had notes at the last scan",
		Hint: "Nothing was forgotten. If the notes were really deleted, run: notesd index --rebuild"}
}

// finish resolves all links if a large scan deferred that, records the parser if all notes
// were parsed again and, once after each start, makes history agree with the files; see
// [store.Versions.MatchFiles].
func (s *scan) finish(ctx context.Context) error {
	v := s.v
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.store.FinishLinks(ctx); err != nil {
		return err
	}
	if s.reparse && len(s.again) == 0 {
		if err := v.store.SaveSetting(ctx, parserSetting, notes.ParserVersion); err != nil {
			return err
		}
	}
	if v.historyMatched {
		return nil
	}
	passed, err := v.store.Files().PassedOver(ctx) // a file that cannot be read may still be a note
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

// keepUnmounted excludes from a full scan's deletions the notes on unmounted disks, and
// records which disks are mounted, given the mount points that the scan saw.
func (s *scan) keepUnmounted(ctx context.Context, seen map[string]mount) error {
	m := &s.v.mounts
	known, wasAway := m.get()
	next, away := maps.Clone(seen), map[string]fsid.Identity{}
	for _, folder := range s.v.store.Several { // one that never existed has no notes to keep
		if _, missing := s.root.Missing(folder); missing != nil && known[folder] == (mount{}) {
			next[folder], away[folder] = mount{DiskPath: folder}, fsid.Identity{}
		}
	}
	for folder, mount := range known {
		now := s.root.Identity(mount.DiskPath)
		_, wasAway := wasAway[folder]
		replaced, top := now != mount.Identity, slices.Contains(s.v.store.Several, folder)
		switch _, missing := s.root.Missing(folder); {
		case len(s.v.store.Several) > 0 && !slices.Contains(s.v.store.Several, s.v.store.FolderOf(folder)):
			continue // no longer a folder of the vault
		case replaced && isAmong(seen, mount):
			continue
		case missing == nil && !(replaced && s.isUnseen(folder)) && !((replaced || top) && s.isAway(folder, replaced, replaced, wasAway)):
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

// isAmong reports whether the disk is mounted anywhere in the vault: a folder above its
// mount point may have been renamed.
func isAmong(seen map[string]mount, disk mount) bool {
	for _, m := range seen {
		if m.Identity == disk.Identity {
			return true
		}
	}
	return false
}

// keepUnmountedBelow excludes from the deletions of a scan of some paths the notes that may
// be on an unmounted disk, and queues a full scan to decide.
func (s *scan) keepUnmountedBelow(seen map[string]mount) {
	known, wasAway := s.v.mounts.get()
	for folder, mount := range known {
		_, away := wasAway[folder]
		unmounted := func() bool { // its disk may not answer
			return s.root.Identity(mount.DiskPath) != mount.Identity && !isAmong(seen, mount)
		}
		below := func(p string) bool { return notes.Under(p, folder) }
		if away && slices.ContainsFunc(s.Scanned, below) || slices.ContainsFunc(s.gone, func(r store.Row) bool { return below(r.Path) }) && unmounted() {
			s.keep(folder)
			s.v.queue.AddAll()
		}
	}
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

// keep excludes the folder's notes from the scan's deletions and moves.
func (s *scan) keep(folder string) {
	s.gone = slices.DeleteFunc(s.gone, func(r store.Row) bool { return notes.Under(r.Path, folder) })
	maps.DeleteFunc(s.moves, func(_ string, r store.Row) bool { return notes.Under(r.Path, folder) })
	s.unseen = append(s.unseen, folder)
}

// Refresh reconciles a folder at once if the first scan of the whole vault has not ended;
// after that it is a no-op.
func (v *Vault) Refresh(ctx context.Context, folder string) error {
	if v.progress.ready.Load() {
		return nil
	}
	return v.reconcilePaths(ctx, []string{folder})
}

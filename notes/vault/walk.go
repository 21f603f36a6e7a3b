package vault

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// walked is the result of walking a folder. Paths are in no particular order.
type walked struct {
	notes       []store.File
	attachments []store.File
	evicted     []store.File // notes or attachments, without a stat, that iCloud Drive has replaced by placeholders
	skipped     []store.Skipped
	// unreadable are folders that could not be listed; nothing may be concluded about the
	// notes in them.
	unreadable []string
	symlinks   []string // symlinks with a note's name, as the file system spells them
	// astray are symlinks that lead out of the vault, nowhere, or to what is hidden or ignored,
	// and what is neither a file nor a folder, such as a junction of Windows.
	astray  []string
	targets map[string]string // symlink to a file → the file it leads to, as the file system spells it
	temps   []string          // temp files of operations
	mounts  map[string]mount  // mount points, and the vault's folders if it has several
}

// evictedSuffix ends the name of the hidden placeholder that iCloud Drive, before macOS 14,
// puts in place of a file that it removes to save space: .Plan.md.icloud for Plan.md.
const evictedSuffix = ".icloud"

// isEvicted reports whether iCloud Drive has evicted the file at diskPath.
func isEvicted(root *disk.Root, diskPath string) bool {
	_, err := root.Lstat(path.Join(path.Dir(diskPath), "."+path.Base(diskPath)+evictedSuffix))
	return err == nil
}

// evict adds an evicted file.
func (w *walked) evict(diskPath string) {
	w.evicted = append(w.evicted, store.File{Path: notes.Nfc(diskPath), DiskPath: diskPath})
}

func newWalked() *walked { return &walked{targets: map[string]string{}, mounts: map[string]mount{}} }

// walk lists the vault without opening files. Symlinked folders are not followed: their
// notes could be listed twice, or the walk could loop.
func walk(ctx context.Context, root *disk.Root, ig *notes.Ignore) (*walked, error) {
	w := &walker{ctx: ctx, top: root, ignore: ig, out: newWalked()}
	for folder := range root.All() {
		if folder == "" { // the vault has only one folder
			if err := w.start("."); err != nil {
				return nil, err
			}
			break
		}
		if ig.MatchOne(folder) {
			continue
		}
		w.out.mounts[folder] = mount{DiskPath: folder, Identity: root.Identity(folder)}
		if err := w.start(folder); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			w.out.unreadable = append(w.out.unreadable, folder)
		}
	}
	w.out.dropTwins()
	return w.out, nil
}

type walker struct {
	ctx    context.Context
	top    *disk.Root // resolves symlinks, which may lead anywhere inside the vault
	ignore *notes.Ignore
	out    *walked
}

func (w *walker) start(dir string) error {
	folder, err := w.top.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }() // only read from
	info, err := folder.Stat(".")
	if err != nil {
		return err
	}
	return w.dir(folder, strings.TrimPrefix(dir, "."), fsid.IdentityOf(info).Device, 0)
}

// maxDepth bounds the recursion; a path of 1024 bytes cannot be deeper.
const maxDepth = 512

// dir lists one folder, which is already open and lies on the device. An error in a
// subfolder is recorded, not returned.
func (w *walker) dir(folder *os.Root, rel string, device uint64, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	names, here, err := list(folder)
	if err != nil {
		return err
	}
	if here != (fsid.Identity{}) && depth > 0 {
		w.out.mounts[notes.Nfc(rel)] = mount{DiskPath: rel, Identity: here}
	}
	for _, name := range names {
		diskPath := path.Join(rel, name)
		if store.IsTempName(name) {
			w.out.temps = append(w.out.temps, diskPath)
		}
		if file, ok := strings.CutSuffix(name, evictedSuffix); ok && len(file) > 1 && file[0] == '.' {
			if _, err := folder.Lstat(file[1:]); err != nil { // otherwise it is being downloaded
				w.out.evict(path.Join(rel, file[1:]))
			}
		}
		if w.ignore.MatchOne(notes.Nfc(diskPath)) {
			continue
		}
		info, err := folder.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted since it was listed
		case err != nil: // the disk may not be responding
			w.out.unreadable = append(w.out.unreadable, notes.Nfc(diskPath))
		case info.IsDir():
			id := fsid.IdentityOf(info)
			if id.Device != device {
				w.out.mounts[notes.Nfc(diskPath)] = mount{DiskPath: diskPath, Identity: id}
			}
			if err := w.below(folder, name, diskPath, id.Device, depth); err != nil {
				return err
			}
		default:
			w.file(name, diskPath, info)
		}
	}
	return nil
}

// list returns the names in a folder, and the folder's identity if the system reports it as
// a mount point, even of the same disk.
func list(folder *os.Root) (names []string, mounted fsid.Identity, err error) {
	f, err := folder.Open(".")
	if err != nil {
		return nil, fsid.Identity{}, err
	}
	defer func() { _ = f.Close() }() // only read from
	if fsid.IsMountRoot(f) {
		info, err := f.Stat()
		if err != nil {
			return nil, fsid.Identity{}, err
		}
		mounted = fsid.IdentityOf(info)
	}
	names, err = f.Readdirnames(-1)
	return names, mounted, err
}

func (w *walker) below(folder *os.Root, name, diskPath string, device uint64, depth int) error {
	sub, err := folder.OpenRoot(name + "/.") // fails for a pipe, as in disk.Root
	if err == nil && depth < maxDepth {
		err = w.dir(sub, diskPath, device, depth+1)
		_ = sub.Close() // only read from
	}
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return nil
	case w.ctx.Err() != nil:
		return w.ctx.Err()
	}
	w.out.unreadable = append(w.out.unreadable, notes.Nfc(diskPath))
	return nil
}

// file adds a file or symlink to the result: as a note or attachment, or as one that is skipped,
// with the reason if it has a note's name.
func (w *walker) file(name, diskPath string, info fs.FileInfo) {
	p := notes.Nfc(diskPath)
	isNote := notes.IsNoteName(name)
	if info.Mode()&fs.ModeSymlink != 0 {
		if isNote {
			w.out.symlinks = append(w.out.symlinks, diskPath)
		}
		real, visible := w.symlink(diskPath)
		target, err := w.top.Stat(diskPath)
		switch {
		case err == nil && target.IsDir():
			w.skip(p, "a symlink to a folder, which is not followed", info)
			return
		case err != nil && isNote:
			w.skip(p, "a symlink that is broken or leads out of the vault", info)
			return
		case err != nil:
			return
		}
		if !visible {
			if isNote { // no stat, because the configuration of ignored files may change
				w.out.skipped = append(w.out.skipped, store.Skipped{Skipped: notes.Skipped{Path: p, Reason: "a symlink to a file that is hidden or ignored"}})
			}
			return
		}
		w.out.targets[p] = real
		info = target
	}
	if !info.Mode().IsRegular() {
		w.out.astray = append(w.out.astray, p)
		if isNote {
			w.skip(p, "not a regular file", info)
		}
		return
	}
	if _, err := notes.CleanPath(p); err != nil {
		if !isNote {
			return // such as "Icon\r", the icon of a folder on macOS
		}
		reason := "its name cannot be used"
		if e, ok := errors.AsType[*notes.Error](err); ok {
			reason += ": " + e.Detail
		}
		w.skip(strings.ToValidUTF8(p, "\uFFFD"), reason, info)
		return
	}
	f := store.File{Path: p, DiskPath: diskPath, Stat: fsid.StatOf(info)}
	if isNote {
		w.out.notes = append(w.out.notes, f)
	} else {
		w.out.attachments = append(w.out.attachments, f)
	}
}

// symlink returns the path that a symlink leads to. It is not visible if it is outside the vault,
// does not exist, or is hidden or ignored.
func (w *walker) symlink(diskPath string) (real string, visible bool) {
	real, visible = w.top.RealPath(diskPath)
	if visible = visible && !w.ignore.Match(notes.Nfc(real)); !visible {
		w.out.astray = append(w.out.astray, notes.Nfc(diskPath))
	}
	return real, visible
}

func (w *walker) skip(p, reason string, info fs.FileInfo) {
	w.out.skipped = append(w.out.skipped, store.Skipped{Skipped: notes.Skipped{Path: p, Reason: reason}, Stat: fsid.StatOf(info)})
}

// dropTwins keeps one of the files whose names differ only in Unicode normalization,
// preferring the NFC name, because a note's path must name one file.
func (w *walked) dropTwins() {
	slices.SortFunc(w.notes, func(a, b store.File) int {
		switch {
		case a.Path == b.Path && a.DiskPath == a.Path:
			return -1
		case a.Path == b.Path && b.DiskPath == b.Path:
			return 1
		}
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.DiskPath, b.DiskPath))
	})
	w.notes = slices.CompactFunc(w.notes, func(a, b store.File) bool {
		if a.Path != b.Path {
			return false
		}
		if a.DiskPath != b.DiskPath && (a.Stat.Inode == 0 || a.Stat.Inode != b.Stat.Inode) { // otherwise one file, listed twice
			w.skipped = append(w.skipped, store.Skipped{Skipped: notes.Skipped{Path: b.Path + store.TwinMark,
				Reason: "another file has the same name in another Unicode form"}, Stat: b.Stat})
		}
		return true
	})
}

// list lists the whole folder and reads what the store has of it.
func (s *scan) list(ctx context.Context) (*walked, error) {
	w, err := walk(ctx, s.root, s.v.ignore)
	if err != nil {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		return nil, disk.Unavailable(err)
	}
	if s.rows, err = s.v.store.Rows(ctx, nil); err != nil {
		return nil, err
	}
	s.passed, err = s.v.store.Files().PassedOver(ctx)
	return w, err
}

// walkPaths lists the files at and below the paths.
func (s *scan) walkPaths(ctx context.Context, diskPaths []string) (*walked, error) {
	w := newWalked()
	s.listed = disk.Listed{}
	for _, diskPath := range diskPaths {
		for _, spelled := range s.spellings(diskPath) {
			if err := s.addPath(ctx, spelled, w); err != nil {
				return nil, err
			}
		}
	}
	w.dropTwins()
	return w, nil
}

// spellings returns diskPath and the other Unicode forms of it that have to be scanned with
// it: the one that the note was read from and, if there is no file at diskPath, its NFC and
// NFD forms.
func (s *scan) spellings(diskPath string) []string {
	name := notes.Nfc(diskPath)
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

// addPath adds the file at diskPath, or the folder with everything below it, to w.
func (s *scan) addPath(ctx context.Context, diskPath string, w *walked) error {
	one := &walker{ctx: ctx, top: s.root, ignore: s.v.ignore, out: w}
	if link := s.root.SymlinkAbove(diskPath); link != "" {
		one.symlink(link)
		return nil // not the file's real path
	}
	info, err := s.root.Lstat(diskPath)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsid.ErrNotDirectory):
		if isEvicted(s.root, diskPath) {
			w.evict(diskPath)
		}
		return nil // gone
	case err != nil:
		w.unreadable = append(w.unreadable, notes.Nfc(diskPath))
		return nil
	}
	switch spelled, known := s.root.WhollySpelledSo(diskPath, s.listed); {
	case !known:
		w.unreadable = append(w.unreadable, notes.Nfc(diskPath))
		return nil
	case !spelled:
		return nil // the disk matched a differently spelled name
	}
	if !info.IsDir() {
		one.file(path.Base(diskPath), diskPath, info)
		return nil
	}
	if err = one.start(diskPath); ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.unreadable = append(w.unreadable, notes.Nfc(diskPath))
	}
	return nil
}

package vault

import (
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

// walked is what a walk of a folder saw. Paths are in no particular order.
type walked struct {
	notes       []store.File
	attachments []store.File
	skipped     []store.Skipped
	// unreadable are folders that could not be listed: nothing may be
	// concluded about the notes in them.
	unreadable []string
	symlinks   []string          // that are, or could be, notes; as the file system spells them
	targets    map[string]string // of the symlinks to files: their paths, and those that they lead to
	temps      []string          // temp files of operations
	mounts     map[string]mount  // folders where another disk begins
}

func (w *walked) addMount(folder string, m mount) {
	if w.mounts == nil {
		w.mounts = map[string]mount{}
	}
	w.mounts[folder] = m
}

// walk lists the folder dir ("." for the vault) and everything below it,
// without opening a file. Symlinked folders are not followed: they would
// bring notes in twice, or loop.
func walk(ctx context.Context, root *disk.Root, dir string, ig *notes.Ignore) (*walked, error) {
	w := &walker{ctx: ctx, top: root, ignore: ig, out: &walked{}}
	if len(root.Folders()) == 0 || dir != "." {
		if err := w.start(dir); err != nil {
			return nil, err
		}
		w.out.dropTwins()
		return w.out, nil
	}
	for folder := range root.All() {
		if ig.MatchOne(folder) {
			continue
		}
		w.out.addMount(folder, mount{DiskPath: folder, Identity: root.Identity(folder)})
		if err := w.start(folder); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			w.out.unreadable = append(w.out.unreadable, folder)
		}
	}
	w.out.dropTwins()
	return w.out, nil
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

// maxDepth bounds recursion; a path of 1024 bytes cannot go deeper.
const maxDepth = 512

type walker struct {
	ctx    context.Context
	top    *disk.Root // resolves symlinks: they may lead anywhere inside the vault
	ignore *notes.Ignore
	out    *walked
}

// dir lists one folder, which is already open and lies on the device. Errors
// below the first folder are recorded, not returned.
func (w *walker) dir(folder *os.Root, rel string, device uint64, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	names, here, err := list(folder)
	if err != nil {
		return err
	}
	if here != (fsid.Identity{}) && depth > 0 {
		w.out.addMount(norm.NFC.String(rel), mount{DiskPath: rel, Identity: here})
	}
	for _, name := range names {
		diskPath := path.Join(rel, name)
		if store.IsTempName(name) {
			w.out.temps = append(w.out.temps, diskPath)
		}
		if w.ignore.MatchOne(norm.NFC.String(diskPath)) {
			continue
		}
		info, err := folder.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone since it was listed
		case err != nil: // a disk that does not answer, perhaps
			w.out.unreadable = append(w.out.unreadable, norm.NFC.String(diskPath))
		case info.IsDir():
			if err := w.below(folder, name, diskPath, w.crossing(diskPath, info, device), depth); err != nil {
				return err
			}
		default:
			w.file(name, diskPath, info)
		}
	}
	return nil
}

// crossing returns the device of a folder whose parent lies on another one,
// perhaps, and remembers where that is so.
func (w *walker) crossing(diskPath string, info fs.FileInfo, parent uint64) uint64 {
	id := fsid.IdentityOf(info)
	if id.Device != parent {
		w.out.addMount(norm.NFC.String(diskPath), mount{DiskPath: diskPath, Identity: id})
	}
	return id.Device
}

// list returns the names in a folder, and its identity when the system says
// that it is mounted there, be it from the same disk.
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
	sub, err := folder.OpenRoot(name)
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
	w.out.unreadable = append(w.out.unreadable, norm.NFC.String(diskPath))
	return nil
}

func (w *walker) file(name, diskPath string, info fs.FileInfo) {
	p := norm.NFC.String(diskPath)
	isNote := notes.IsNoteName(name)
	if info.Mode()&fs.ModeSymlink != 0 {
		if isNote {
			w.out.symlinks = append(w.out.symlinks, diskPath)
		}
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
		real, ok := w.top.RealPath(diskPath)
		if !ok || w.ignore.Match(norm.NFC.String(real)) {
			if isNote { // without a stat: what is ignored is up to the configuration
				w.out.skipped = append(w.out.skipped, store.Skipped{Skipped: notes.Skipped{Path: p, Reason: "a symlink to a file that is hidden or ignored"}})
			}
			return
		}
		if w.out.targets == nil {
			w.out.targets = map[string]string{}
		}
		w.out.targets[p] = norm.NFC.String(real)
		info = target
	}
	if !info.Mode().IsRegular() {
		if isNote {
			w.skip(p, "not a regular file", info)
		}
		return
	}
	if _, err := notes.CleanPath(p); err != nil {
		w.skip(strings.ToValidUTF8(p, "\uFFFD"), "its name is not valid UTF-8 or has a control character in it", info)
		return
	}
	f := store.File{Path: p, DiskPath: diskPath, Stat: fsid.StatOf(info)}
	if isNote {
		w.out.notes = append(w.out.notes, f)
	} else {
		w.out.attachments = append(w.out.attachments, f)
	}
}

func (w *walker) skip(p, reason string, info fs.FileInfo) {
	w.out.skipped = append(w.out.skipped, store.Skipped{Skipped: notes.Skipped{Path: p, Reason: reason}, Stat: fsid.StatOf(info)})
}

// dropTwins keeps one of the files whose names differ only in Unicode form
// (NFC and NFD spellings of one name), the NFC one if there is one: a note's
// path must name one file.
func (w *walked) dropTwins() {
	slices.SortFunc(w.notes, func(a, b store.File) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		if a.DiskPath == a.Path {
			return -1
		}
		if b.DiskPath == b.Path {
			return 1
		}
		return strings.Compare(a.DiskPath, b.DiskPath)
	})
	w.notes = slices.CompactFunc(w.notes, func(a, b store.File) bool {
		if a.Path != b.Path {
			return false
		}
		if a.DiskPath != b.DiskPath && (a.Stat.Inode == 0 || a.Stat.Inode != b.Stat.Inode) { // else the same file, seen twice
			w.skipped = append(w.skipped, store.Skipped{Skipped: notes.Skipped{Path: b.Path + store.TwinMark,
				Reason: "another file has the same name in another Unicode form"}, Stat: b.Stat})
		}
		return true
	})
}

package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"notesd/internal/atomicfile"
	"notesd/internal/fsid"
	"notesd/notes"
)

// Root is the vault's open folder or folders. Its methods accept vault-relative paths, as
// the disk spells them, and mirror those of [os.Root].
type Root struct {
	folders map[string]folder // by name, the first segment of a path; "" names the vault's only folder
}

// folder is one of the vault's folders.
type folder struct {
	*os.Root // nil if the folder cannot be opened; see err
	id       fsid.Identity
	err      error
}

// at returns the folder that contains a path, the path relative to it, and the folder's
// name.
func (r *Root) at(name string) (root *os.Root, in, prefix string, err error) {
	if one := r.folders[""].Root; one != nil {
		return one, name, "", nil
	}
	prefix, in, _ = strings.Cut(name, "/")
	f := r.folders[prefix]
	if f.Root == nil {
		return nil, "", "", &fs.PathError{Op: "open", Path: name, Err: cmp.Or(f.err, fs.ErrNotExist)}
	}
	return f.Root, cmp.Or(in, "."), prefix, nil
}

// Close closes the folders.
func (r *Root) Close() error {
	var errs []error
	for _, root := range r.All() {
		errs = append(errs, root.Close())
	}
	return errors.Join(errs...)
}

// All returns the open folders, sorted by name. The name of a vault's only folder is "".
func (r *Root) All() iter.Seq2[string, *os.Root] {
	return func(yield func(string, *os.Root) bool) {
		for _, name := range slices.Sorted(maps.Keys(r.folders)) {
			if root := r.folders[name].Root; root != nil && !yield(name, root) {
				return
			}
		}
	}
}

// Missing returns the first segment of a path and, if that is a folder of the vault that
// cannot be opened, the reason.
func (r *Root) Missing(p string) (name string, err error) {
	name, _, _ = strings.Cut(p, "/")
	return name, r.folders[name].err
}

// Identity returns the identity of the folder at a path, or zero if there is none or its disk
// does not answer. On Windows it is zero except for the vault's own folders.
func (r *Root) Identity(name string) fsid.Identity {
	if f, ok := r.folders[name]; ok {
		return f.id
	}
	root, rel, _, err := r.at(name)
	if err != nil {
		return fsid.Identity{}
	}
	info, err := fsid.InTime(filepath.Join(root.Name(), rel), openPatience, func() (fs.FileInfo, error) { return root.Lstat(rel) })
	if err != nil || !info.IsDir() {
		return fsid.Identity{}
	}
	return fsid.IdentityOf(info)
}

// Lasting identifies the vault's only folder, or is "" if the system cannot. Unlike its
// [Root.Identity], this is the same when the disk is plugged in again, and differs for a folder
// that was deleted and created again.
func (r *Root) Lasting() (string, error) {
	one := r.folders[""]
	if one.id == (fsid.Identity{}) {
		return "", nil
	}
	born, err := fsid.Born(one.Root)
	return fmt.Sprintf("%d %d", one.id.Inode, born), err
}

// in calls a method of [os.Root] on the folder that contains a path.
func in[T any](r *Root, name string, method func(*os.Root, string) (T, error)) (result T, err error) {
	root, rel, _, err := r.at(name)
	if err != nil {
		return result, err
	}
	return method(root, rel)
}

// Lstat is [os.Root.Lstat].
func (r *Root) Lstat(name string) (fs.FileInfo, error) { return in(r, name, (*os.Root).Lstat) }

// Stat is [os.Root.Stat].
func (r *Root) Stat(name string) (fs.FileInfo, error) { return in(r, name, (*os.Root).Stat) }

// OpenRoot is [os.Root.OpenRoot], except that it does not block on a named pipe, which may
// have taken the place of a folder: the dot makes the open fail for anything else.
func (r *Root) OpenRoot(name string) (*os.Root, error) {
	return in(r, name, func(root *os.Root, rel string) (*os.Root, error) { return root.OpenRoot(rel + "/.") })
}

// OpenFile is [os.Root.OpenFile].
func (r *Root) OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error) {
	return in(r, name, func(root *os.Root, rel string) (*os.File, error) { return root.OpenFile(rel, flag, mode) })
}

// OpenDir opens a folder for changes.
func (r *Root) OpenDir(name string) (*atomicfile.Dir, error) { return in(r, name, atomicfile.OpenDir) }

// Mkdir is [os.Root.Mkdir].
func (r *Root) Mkdir(name string, mode fs.FileMode) error {
	_, err := in(r, name, func(root *os.Root, rel string) (any, error) { return nil, root.Mkdir(rel, mode) })
	return err
}

// Remove is [os.Root.Remove].
func (r *Root) Remove(name string) error {
	_, err := in(r, name, func(root *os.Root, rel string) (any, error) { return nil, root.Remove(rel) })
	return err
}

// WalkDir is [fs.WalkDir].
func (r *Root) WalkDir(name string, each fs.WalkDirFunc) error {
	root, in, prefix, err := r.at(name)
	if err != nil {
		return err
	}
	return fs.WalkDir(root.FS(), in, func(p string, d fs.DirEntry, err error) error { return each(path.Join(prefix, p), d, err) })
}

// SpelledSo reports whether the last segment of a path is spelled as the disk lists it, in any
// Unicode form. It returns true for a missing file. It is not known if the folder cannot be
// listed.
func (r *Root) SpelledSo(name string) (spelled, known bool) {
	if !r.Folds(name) {
		return true, true
	}
	names, want := r.Names(path.Dir(name)), notes.Nfc(path.Base(name))
	return slices.ContainsFunc(names, func(n string) bool { return notes.Nfc(n) == want }), names != nil
}

// Folds reports whether another spelling of the last segment of a path also refers to a file.
func (r *Root) Folds(name string) bool {
	root, in, _, err := r.at(name)
	return err == nil && in != "." && fsid.Folds(root, in)
}

// Listed has the names, in NFC, in folders of a disk that ignores case.
type Listed map[string]map[string]bool

// WhollySpelledSo is [Root.SpelledSo] for each segment of a path. For many paths it takes linear
// time if it is called with the same map, to which it adds the folders that it lists: it lists a
// folder again only for a name that it lacked before.
func (r *Root) WhollySpelledSo(name string, listed Listed) (spelled, known bool) {
	for ; name != "."; name = path.Dir(name) {
		dir, base := path.Dir(name), notes.Nfc(path.Base(name))
		if listed[dir][base] || !r.Folds(name) {
			continue
		}
		names := r.Names(dir)
		if names == nil {
			return false, false
		}
		listed[dir] = map[string]bool{}
		for _, name := range names {
			listed[dir][notes.Nfc(name)] = true
		}
		if !listed[dir][base] {
			return false, true
		}
	}
	return true, true
}

// Spelled returns a path, in NFC, as the disk spells it: an existing file or folder may have
// its name in another Unicode form.
func (r *Root) Spelled(p string) string {
	segments := strings.Split(p, "/")
	for i, segment := range segments {
		if norm.NFD.IsNormalString(segment) {
			continue // has only one form
		}
		names := r.Names(path.Join(segments[:i]...))
		same := slices.IndexFunc(names, func(name string) bool { return notes.Nfc(name) == segment })
		if same >= 0 && !slices.Contains(names, segment) {
			segments[i] = names[same]
		}
	}
	return strings.Join(segments, "/")
}

// Names lists a folder as the disk spells it, or returns nil if that is not possible, as for
// a pipe.
func (r *Root) Names(dir string) []string {
	folder, err := r.OpenFile(cmp.Or(dir, "."), os.O_RDONLY|fsid.OpenNonblock, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = folder.Close() }() // only read from
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return nil // some of the names would look like all
	}
	return names
}

// SymlinkAbove returns the topmost symlink among the parents of a path, or "".
func (r *Root) SymlinkAbove(name string) string {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		info, err := r.Lstat(name[:i])
		if err != nil {
			return "" // nothing exists below it either
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return name[:i]
		}
	}
	return ""
}

// maxSymlinks bounds the symlinks followed, in case they loop.
const maxSymlinks = 16

// RealPath returns the path of the file that a path leads to, with symlinks resolved. It
// returns false if there is no such file in the same folder of the vault.
func (r *Root) RealPath(name string) (string, bool) {
	root, in, prefix, err := r.at(name)
	if err != nil {
		return "", false
	}
	rest := strings.Split(in, "/")
	at, followed := ".", 0
	for len(rest) > 0 {
		segment := rest[0]
		rest = rest[1:]
		if segment == ".." {
			if at == "." {
				return "", false
			}
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, segment)
		info, err := root.Lstat(next)
		if err != nil {
			return "", false
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := root.Readlink(next)
		if followed++; err != nil || path.IsAbs(target) || followed > maxSymlinks {
			return "", false
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return path.Join(prefix, at), true
}

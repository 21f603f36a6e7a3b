// Package disk opens the folders of a vault. Everything that reads or writes a file
// of the vault goes through a [Root], by the vault-relative path of the file.
//
// A vault is one folder, or several, each with a name that is the first segment of
// its paths. The first segment selects the folder that handles a path, and nothing
// crosses from one folder to another: neither ".." nor a symlink.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"notesd/internal/fsid"
	"notesd/notes"
)

// Disk is the vault's folder or folders. They are opened again for every operation or
// batch: a handle that is kept goes on reading and writing the old tree after the
// folder was replaced, and keeps a volume from being unmounted. What is opened
// is compared with the folder that was recorded, so that nothing is ever
// written to, or concluded from, the empty mount point of an unplugged disk.
type Disk struct {
	dirs map[string]string // name → absolute path without symlinks; "" is a vault of one folder

	mu       sync.Mutex
	recorded fsid.Identity
}

// FolderID identifies the folder at path by where it lies on its disk, so that
// it is recognized after it was renamed. It is "" for a folder that cannot be
// opened and on systems without such numbers.
func FolderID(path string) string {
	root, err := os.OpenRoot(path)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }() // only asked
	id, err := fsid.RootIdentity(root)
	if err != nil || id == (fsid.Identity{}) {
		return ""
	}
	return fmt.Sprintf("%d:%d", id.Device, id.Inode)
}

// New returns the disk of a vault with these folders by name; the name of a vault's
// only folder is "". recorded is what [Disk.Identity] returned earlier.
func New(dirs map[string]string, recorded fsid.Identity) (*Disk, error) {
	d := &Disk{dirs: map[string]string{}, recorded: recorded}
	for name, dir := range dirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			abs = real
		}
		d.dirs[name] = abs
	}
	return d, nil
}

// Folders returns the names of the vault's folders, sorted, or nil if it is one.
func (d *Disk) Folders() []string {
	if _, one := d.dirs[""]; one {
		return nil
	}
	return slices.Sorted(maps.Keys(d.dirs))
}

// Dirs returns the paths of the folders by name.
func (d *Disk) Dirs() map[string]string { return d.dirs }

// Path returns the path of the vault's folder, or of several "NAME=PATH,NAME=PATH".
func (d *Disk) Path() string {
	if one, ok := d.dirs[""]; ok {
		return one
	}
	var all []string
	for _, name := range d.Folders() {
		all = append(all, name+"="+d.dirs[name])
	}
	return strings.Join(all, ",")
}

// errReplaced: a folder is there, but it is not the recorded one.
var errReplaced = errors.New("another folder is in its place")

// Replaced is the [*notes.Error] of another folder in the vault's place.
func Replaced() error { return Unavailable(errReplaced) }

// Open returns the vault's folder, to be closed by the caller, or an [*notes.Error]
// with [notes.ErrUnavailable]. It does not fail for a folder among several, of which
// [Root.Missing] reports the error.
func (d *Disk) Open() (*Root, error) {
	root, id, err := d.OpenAny()
	if err != nil || root.one == nil {
		return root, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.recorded == (fsid.Identity{}) {
		d.recorded = id
	}
	if id != d.recorded {
		_ = root.Close()
		return nil, Replaced()
	}
	return root, nil
}

// OpenAny opens the folder without comparing it with the recorded one. The identity
// of a vault of several folders is zero: each has its own, see [Root.Identity].
func (d *Disk) OpenAny() (*Root, fsid.Identity, error) {
	if one, ok := d.dirs[""]; ok {
		root, id, err := open(one)
		if err != nil {
			return nil, id, Unavailable(err)
		}
		return &Root{one: root}, id, nil
	}
	r := &Root{several: map[string]folder{}}
	for name, dir := range d.dirs {
		var f folder
		if f.Root, f.id, f.err = open(dir); f.err != nil {
			var where *fs.PathError
			if errors.As(f.err, &where) {
				f.err = where.Err // without the outside path
			}
		}
		r.several[name] = f
	}
	return r, fsid.Identity{}, nil
}

func open(dir string) (*os.Root, fsid.Identity, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fsid.Identity{}, err
	}
	id, err := fsid.RootIdentity(root)
	if err != nil {
		_ = root.Close()
		return nil, fsid.Identity{}, err
	}
	return root, id, nil
}

// Adopt records id as the vault from now on.
func (d *Disk) Adopt(id fsid.Identity) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recorded = id
}

// Identity returns what is recorded of the vault.
func (d *Disk) Identity() fsid.Identity {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.recorded
}

// Unavailable returns the [*notes.Error] for a vault's folder that cannot be opened,
// without an outside path.
func Unavailable(err error) error {
	detail, hint := "the vault folder cannot be opened", "Nothing was changed. notesd resumes automatically when the folder is back."
	switch {
	case errors.Is(err, fs.ErrNotExist):
		detail = "the vault folder does not exist (is its disk mounted?)"
	case errors.Is(err, fs.ErrPermission):
		detail = "the vault folder is not readable"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		detail, hint = "too many files are open", "Nothing was changed. Raise the limit of open files (ulimit -n), and restart notesd."
	case errors.Is(err, errReplaced):
		detail = "another folder is where the vault was (is its disk mounted?)"
		hint += " To use this folder as the vault from now on, run: notesd index --rebuild"
	}
	return &notes.Error{Op: "open vault", Err: notes.ErrUnavailable, Detail: detail, Hint: hint}
}

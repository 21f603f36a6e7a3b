// Package disk opens the folders of a vault. All reads and writes of the vault's files go
// through a [Root], with vault-relative paths.
//
// A vault is one folder, or several, each with a name that is the first segment of its
// paths. The first segment selects the folder, and neither ".." nor a symlink can lead from
// one folder to another.
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
	"time"

	"notesd/internal/fsid"
	"notesd/notes"
)

// Disk is the vault's folder or folders. They are reopened for every operation or batch: a
// handle kept open would continue to read and write the old tree after the folder was
// replaced, and would keep a volume from being unmounted. The opened folder is compared
// with the recorded one, so that the empty mount point of an unplugged disk is never
// written to or treated as the vault.
type Disk struct {
	dirs map[string]string // name → absolute path, symlinks resolved; "" names the only folder

	mu       sync.Mutex
	recorded fsid.Identity
}

// FolderID identifies the folder at path by device and inode, so that it is recognized
// after a rename. It returns "" if the folder cannot be opened, or if the system has no
// such numbers.
func FolderID(path string) string {
	f, err := fsid.InTime(path, fsid.Patience, func() (folder, error) { return open(path) })
	if err != nil {
		return ""
	}
	_ = f.Close() // opened for its identity
	if f.id == (fsid.Identity{}) {
		return ""
	}
	return fmt.Sprintf("%d:%d", f.id.Device, f.id.Inode)
}

// New returns the disk of a vault with these folders by name; the name of a vault's only
// folder is "". recorded is an earlier result of [Disk.Identity], or zero.
func New(dirs map[string]string, recorded fsid.Identity) (*Disk, error) {
	d := &Disk{dirs: map[string]string{}, recorded: recorded}
	for name, dir := range dirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		d.dirs[name] = fsid.RealPath(abs)
	}
	return d, nil
}

// Folders returns the sorted names of the vault's folders, or nil if the vault is a single
// folder.
func (d *Disk) Folders() []string {
	if _, one := d.dirs[""]; one {
		return nil
	}
	return slices.Sorted(maps.Keys(d.dirs))
}

// Dirs returns the paths of the folders by name.
func (d *Disk) Dirs() map[string]string { return d.dirs }

// Path returns the path of the vault's folder or, if it has several, "NAME=PATH,NAME=PATH".
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

// errReplaced means that a folder exists, but is not the recorded one.
var errReplaced = errors.New("another folder is in its place")

// Replaced returns the [*notes.Error] for another folder in the vault's place.
func Replaced() error { return Unavailable(errReplaced) }

// Open opens the vault's folder, which the caller must close. The error is an
// [*notes.Error] with [notes.ErrUnavailable]. If the vault has several folders, Open does
// not fail for one of them; [Root.Missing] reports its error.
func (d *Disk) Open() (*Root, error) {
	root, id, err := d.OpenAny()
	if _, one := d.dirs[""]; err != nil || !one {
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

// OpenAny opens the folder without comparing it with the recorded one. If the vault has
// several folders, the identity is zero; [Root.Identity] returns that of each.
func (d *Disk) OpenAny() (*Root, fsid.Identity, error) {
	r := &Root{folders: map[string]folder{}}
	for name, dir := range d.dirs {
		var f folder
		f, f.err = fsid.InTime(dir, openPatience, func() (folder, error) { return open(dir) })
		if f.err != nil {
			if where, ok := errors.AsType[*fs.PathError](f.err); ok {
				f.err = where.Err // omits the path, which is outside the vault
			}
		}
		r.folders[name] = f
	}
	if err := r.folders[""].err; err != nil {
		return nil, fsid.Identity{}, Unavailable(err)
	}
	return r, r.folders[""].id, nil
}

// openPatience is how long an operation waits for the vault's disk, which may have to spin
// up.
const openPatience = 15 * time.Second

func open(dir string) (folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return folder{}, err
	}
	id, err := fsid.RootIdentity(root)
	if err != nil {
		_ = root.Close()
		return folder{}, err
	}
	return folder{Root: root, id: id}, nil
}

// Adopt records id as the identity of the vault.
func (d *Disk) Adopt(id fsid.Identity) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recorded = id
}

// Identity returns the recorded identity of the vault.
func (d *Disk) Identity() fsid.Identity {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.recorded
}

// WhenItAnswers is the hint of an error for a disk that does not answer.
const WhenItAnswers = "Nothing was changed. Check the disk or its network connection; notesd resumes automatically when it answers."

// Unavailable returns the [*notes.Error] for a vault folder that cannot be opened. It
// contains no path outside the vault.
func Unavailable(err error) error {
	detail, hint := "the vault folder cannot be opened", "Nothing was changed. notesd resumes automatically when the folder is back."
	switch {
	case errors.Is(err, fs.ErrNotExist):
		detail = "the vault folder does not exist (is its disk mounted?)"
	case errors.Is(err, syscall.EPERM): // not EACCES: from macOS, for Documents, Desktop and iCloud Drive
		detail = "the system does not let notesd read the vault folder"
		hint = "Nothing was changed. On macOS, allow it for the program that starts notesd, under System Settings, Privacy & Security, Files and Folders or Full Disk Access; then run: notesd restart"
	case errors.Is(err, fs.ErrPermission):
		detail = "the vault folder is not readable"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		detail, hint = "too many files are open", "Nothing was changed. Raise the limit of open files (ulimit -n), and restart notesd."
	case errors.Is(err, errReplaced):
		detail = "another folder is where the vault was (is its disk mounted?)"
		hint += " To use this folder as the vault from now on, run: notesd index --rebuild"
	case errors.Is(err, fsid.ErrNoAnswer): // such as a network disk that waits for its server
		detail, hint = "the vault's disk does not answer", WhenItAnswers
	default:
		if errno, ok := errors.AsType[syscall.Errno](err); ok { // such as a network disk that lost its server
			detail += " (" + errno.Error() + ")"
		}
	}
	return &notes.Error{Op: "open vault", Err: notes.ErrUnavailable, Detail: detail, Hint: hint}
}

package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"notesd/internal/fsid"
	"notesd/notes"
)

// disk is the vault's folder. It is opened again for every operation or batch:
// a handle that is kept goes on reading and writing the old tree after the
// folder was replaced, and keeps a volume from being unmounted. What is opened
// is compared with the folder that was recorded, so that nothing is ever
// written to, or concluded from, the empty mount point of an unplugged disk.
type disk struct {
	path string

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

func newDisk(root string, recorded fsid.Identity) (*disk, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	return &disk{path: abs, recorded: recorded}, nil
}

// errReplaced: a folder is there, but it is not the recorded one.
var errReplaced = errors.New("another folder is in its place")

// open returns the vault's folder, to be closed by the caller, or an [*Error]
// with [ErrUnavailable].
func (d *disk) open() (*os.Root, error) {
	root, id, err := d.openAny()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.recorded == (fsid.Identity{}) {
		d.recorded = id
	}
	if id != d.recorded {
		_ = root.Close()
		return nil, unavailable(errReplaced)
	}
	return root, nil
}

// openAny opens the folder whatever it is.
func (d *disk) openAny() (*os.Root, fsid.Identity, error) {
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return nil, fsid.Identity{}, unavailable(err)
	}
	id, err := fsid.RootIdentity(root)
	if err != nil {
		_ = root.Close()
		return nil, fsid.Identity{}, unavailable(err)
	}
	return root, id, nil
}

// adopt records id as the vault from now on.
func (d *disk) adopt(id fsid.Identity) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recorded = id
}

func (d *disk) identity() fsid.Identity {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.recorded
}

// unavailable maps what the system said to words without an outside path.
func unavailable(err error) error {
	detail, hint := "the vault folder cannot be opened", "Nothing was changed. notesd goes on by itself when the folder is back."
	switch {
	case errors.Is(err, fs.ErrNotExist):
		detail = "the vault folder is not there (is its disk mounted?)"
	case errors.Is(err, fs.ErrPermission):
		detail = "the vault folder may not be read"
	case errors.Is(err, errReplaced):
		detail = "another folder is where the vault was (is its disk mounted?)"
		hint += " If this folder is to be the vault from now on, run: notesd index --rebuild"
	}
	return &notes.Error{Op: "open vault", Err: notes.ErrUnavailable, Detail: detail, Hint: hint}
}

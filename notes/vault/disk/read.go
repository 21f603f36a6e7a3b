package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"notesd/internal/fsid"
)

// Opener is a folder of which files are opened: an [os.Root] or a [Root].
type Opener interface {
	OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error)
}

// Errors of reading.
var (
	ErrTooLarge   = errors.New("larger than the limit for notes")
	ErrNotRegular = errors.New("not a regular file")
	ErrChanging   = errors.New("being written") // it goes on changing while it is read
)

// OpenRegular opens a file for reading, or fails with [ErrNotRegular]: opening
// a pipe would wait for its writer.
func OpenRegular(root Opener, diskPath string) (*os.File, error) {
	f, err := root.OpenFile(diskPath, os.O_RDONLY|fsid.OpenNonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		_ = f.Close() // nothing was read from it
		return nil, err
	}
	return f, nil
}

// Read reads a regular file of at most limit bytes. A stat that is taken later differs
// from the one returned if the file changed while it was read.
func Read(root Opener, diskPath string, limit int64) ([]byte, fsid.Stat, error) {
	f, err := OpenRegular(root, diskPath)
	if err != nil {
		return nil, fsid.Stat{}, err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, fsid.Stat{}, err
	}
	if info.Size() > limit {
		return nil, fsid.StatOf(info), ErrTooLarge
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // it has shrunk, perhaps to nothing; the later stat shows that
	}
	return data[:n], fsid.StatOf(info), err
}

// ReadStable reads a regular file of at most limit bytes that does not change meanwhile.
func ReadStable(root *Root, diskPath string, limit int64) ([]byte, fsid.Stat, error) {
	for range 3 {
		data, before, err := Read(root, diskPath, limit)
		if err != nil {
			return nil, before, err
		}
		after, err := root.Stat(diskPath)
		if err != nil {
			return nil, before, err
		}
		if fsid.StatOf(after) == before && int64(len(data)) == before.Size {
			return data, before, nil
		}
	}
	return nil, fsid.Stat{}, ErrChanging
}

// IsUnknown reports whether a read failed in a way that says nothing of the
// file: a disk or a server that did not answer, too many open files, a
// placeholder whose text is elsewhere.
func IsUnknown(err error) bool {
	var errno syscall.Errno
	return errors.As(err, &errno) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fsid.ErrNotDirectory)
}

package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"notesd/internal/fsid"
)

// Opener opens files in a folder. It is an [os.Root] or a [Root].
type Opener interface {
	OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error)
	Lstat(name string) (fs.FileInfo, error)
}

// Errors of reading.
var (
	ErrTooLarge   = errors.New("larger than the limit for notes")
	ErrNotRegular = errors.New("not a regular file")
	ErrChanging   = errors.New("being written") // it keeps changing while it is read
)

// OpenRegular opens a file for reading. It fails with [ErrNotRegular] for anything else,
// because opening a pipe would block until it has a writer.
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

// Read reads a regular file of at most limit bytes. If the file changed during the read, a
// later stat differs from the returned one.
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
		err = nil // the file has shrunk, possibly to nothing; a later stat shows that
	}
	return data[:n], fsid.StatOf(info), err
}

// ReadStable reads a regular file of at most limit bytes, which must not be a symlink. If
// the file keeps changing during the read, or is a symlink, the error is [ErrChanging].
func ReadStable(root *Root, diskPath string, limit int64) ([]byte, fsid.Stat, error) {
	for range 3 {
		data, before, err := Read(root, diskPath, limit)
		if err != nil {
			return nil, before, err
		}
		after, err := root.Lstat(diskPath)
		if err != nil {
			return nil, before, err
		}
		if fsid.StatOf(after) == before && int64(len(data)) == before.Size {
			return data, before, nil
		}
	}
	return nil, fsid.Stat{}, ErrChanging
}

// IsUnknown reports whether a read failed without showing anything about the file: a disk
// or server did not respond, too many files were open, or the file is a placeholder whose
// text is elsewhere.
func IsUnknown(err error) bool {
	var errno syscall.Errno
	return errors.As(err, &errno) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fsid.ErrNotDirectory)
}

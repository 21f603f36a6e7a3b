package notes

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

var (
	errTooLarge   = errors.New("larger than the limit for notes")
	errNotRegular = errors.New("not a regular file")
)

// readOnce reads a regular file of at most limit bytes. The stat tells, with
// one taken later, whether it changed while it was read.
func readOnce(root *os.Root, diskPath string, limit int64) ([]byte, stat, error) {
	f, err := openRegular(root, diskPath)
	if err != nil {
		return nil, stat{}, err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, stat{}, err
	}
	if info.Size() > limit {
		return nil, statOf(info), errTooLarge
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // it has shrunk, perhaps to nothing; the stat after tells
	}
	return data[:n], statOf(info), err
}

func readProblem(err error) string {
	var errno syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDirectory):
		return skipGone
	case errors.Is(err, errTooLarge):
		return err.Error()
	case errors.Is(err, fs.ErrPermission):
		return "it may not be read"
	case errors.As(err, &errno):
		return fmt.Sprintf("it cannot be read just now (%v); it is tried again", errno)
	}
	return "it cannot be read"
}

package daemon

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync"
)

// LogFile is an append-only log file with rotation: when it is full, its content moves
// to path.1, that of path.1 to path.2, and so on. It is safe for concurrent use.
type LogFile struct {
	path string
	max  int64
	keep int

	mu   sync.Mutex
	file *os.File // nil once closed
	size int64
}

// OpenLog opens the log file at path, which only the user can read. The file is rotated
// before it would exceed max bytes; keep is the number of old files kept, at least one.
func OpenLog(path string, max int64, keep int) (*LogFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log file: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = f.Chmod(0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open log file: %w", err), f.Close())
	}
	return &LogFile{path: path, max: max, keep: keep, file: f, size: info.Size()}, nil
}

// CaptureStderr redirects standard error to the file, so that the log contains the
// runtime's crash output.
func (l *LogFile) CaptureStderr() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return os.ErrClosed
	}
	return redirectStderr(l.file)
}

// Write appends p, rotating the file first if p does not fit. If rotation fails, the
// file keeps growing: its latest records matter more than its size.
func (l *LogFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return 0, os.ErrClosed
	}
	var rotateErr error
	if l.size > 0 && l.size+int64(len(p)) > l.max {
		if rotateErr = l.rotate(); rotateErr != nil {
			rotateErr = fmt.Errorf("rotate log file: %w", rotateErr)
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, errors.Join(err, rotateErr)
}

// Close closes the file. It is idempotent.
func (l *LogFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// rotate copies the file aside and truncates it, rather than rename it: Windows does
// not rename an open file, and another process may have it as its standard error.
func (l *LogFile) rotate() error {
	for n := l.keep - 1; n >= 1; n-- {
		if err := os.Rename(l.aside(n), l.aside(n+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	from, err := os.OpenFile(l.path, os.O_RDWR, 0) // l.file can only append, and Windows does not truncate such a file
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(l.aside(1), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	l.size = 0
	return from.Truncate(0)
}

func (l *LogFile) aside(n int) string { return l.path + "." + strconv.Itoa(n) }

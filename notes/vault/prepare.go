package vault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
)

// prepare reads and parses the files, on all processors.
func (v *Vault) prepare(ctx context.Context, root *os.Root, batch []store.File, rows map[string]store.Row, moves map[string]store.Row) ([]prepared, error) {
	out := make([]prepared, len(batch))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	const stride = 32 // files for one worker at a time: small ones take microseconds
	for start := 0; start < len(batch); start += stride {
		g.Go(func() error {
			for i := start; i < min(start+stride, len(batch)); i++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				f := batch[i]
				out[i] = prepared{File: f}
				if r, ok := rows[f.Path]; ok {
					out[i].row = &r
				} else if r, ok := moves[f.Path]; ok {
					out[i].row = &r
				}
				if err := v.readFile(root, &out[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return out, g.Wait()
}

// readFile reads one file, consistently: one that changes meanwhile is read
// again, and left to the next look when it goes on changing.
func (v *Vault) readFile(root *os.Root, p *prepared) error {
	for range 3 {
		p.hashedAt = v.opt.Now().UnixNano()
		data, before, err := readOnce(root, p.DiskPath, v.opt.MaxNoteBytes)
		var after os.FileInfo
		if err == nil {
			after, err = root.Stat(p.DiskPath)
		}
		if err == nil {
			err = v.step(readStep + p.DiskPath)
		}
		if err != nil {
			p.skip, p.unknown = readProblem(err), isUnknown(err)
			return nil
		}
		if fsid.StatOf(after) != before || int64(len(data)) != before.Size {
			continue
		}
		p.Stat = before
		if reason := notes.NotText(data); reason != "" {
			p.skip = reason
			return nil
		}
		p.hash = notes.Hash(data)
		if p.row == nil || p.row.Path != p.Path || p.row.Hash != p.hash {
			p.note = notes.Parse(p.Path, data, time.Unix(0, before.Mtime))
		}
		return nil
	}
	p.skip = skipChanging
	return nil
}

// readStep begins the name of the step at which tests make a read fail.
const readStep = "read "

// Reasons to pass a file over that are not facts about the file, and so are
// not shown.
const (
	skipGone     = "gone"
	skipChanging = "being written"
)

// isUnknown reports whether a read failed in a way that says nothing of the
// file: a disk or a server that did not answer, too many open files, a
// placeholder whose text is elsewhere.
func isUnknown(err error) bool {
	var errno syscall.Errno
	return errors.As(err, &errno) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fsid.ErrNotDirectory)
}

// unreadRetry is how soon files whose read failed are read again.
const unreadRetry = 10 * time.Second

// unread are the files whose last read failed: path → how the disk spells it.
// What is known of such a note is kept.
type unread struct {
	mu    sync.Mutex
	files map[string]string
}

func (u *unread) add(f store.File) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.files == nil {
		u.files = map[string]string{}
	}
	u.files[f.Path] = f.DiskPath
}

func (u *unread) remove(p string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.files, p)
}

func (u *unread) has(p string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.files[p] != ""
}

// take empties the set: a file that fails again comes back.
func (u *unread) take() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	files := slices.Collect(maps.Values(u.files))
	u.files = nil
	return files
}

func (u *unread) any() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.files) > 0
}

// openRegular opens a file for reading, or fails with [errNotRegular]: opening
// a pipe would wait for whoever writes to it.
func openRegular(root *os.Root, diskPath string) (*os.File, error) {
	f, err := root.OpenFile(diskPath, os.O_RDONLY|fsid.OpenNonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		_ = f.Close() // nothing was read from it
		return nil, err
	}
	return f, nil
}

var (
	errTooLarge   = errors.New("larger than the limit for notes")
	errNotRegular = errors.New("not a regular file")
)

// readOnce reads a regular file of at most limit bytes. The stat tells, with
// one taken later, whether it changed while it was read.
func readOnce(root *os.Root, diskPath string, limit int64) ([]byte, fsid.Stat, error) {
	f, err := openRegular(root, diskPath)
	if err != nil {
		return nil, fsid.Stat{}, err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, fsid.Stat{}, err
	}
	if info.Size() > limit {
		return nil, fsid.StatOf(info), errTooLarge
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // it has shrunk, perhaps to nothing; the stat after tells
	}
	return data[:n], fsid.StatOf(info), err
}

func readProblem(err error) string {
	var errno syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsid.ErrNotDirectory):
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

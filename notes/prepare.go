package notes

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// prepare reads and parses the files, on all processors.
func (v *Vault) prepare(ctx context.Context, root *os.Root, batch []found, rows map[string]row, moves map[string]row) ([]prepared, error) {
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
				out[i] = prepared{found: f}
				if r, ok := rows[f.path]; ok {
					out[i].row = &r
				} else if r, ok := moves[f.path]; ok {
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
		data, before, err := readOnce(root, p.diskPath, v.opt.MaxNoteBytes)
		var after os.FileInfo
		if err == nil {
			after, err = root.Stat(p.diskPath)
		}
		if err == nil {
			err = v.step(readStep + p.diskPath)
		}
		if err != nil {
			p.skip, p.unknown = readProblem(err), isUnknown(err)
			return nil
		}
		if statOf(after) != before || int64(len(data)) != before.size {
			continue
		}
		p.stat = before
		if reason := notText(data); reason != "" {
			p.skip = reason
			return nil
		}
		p.hash = hashOf(data)
		if p.row == nil || p.row.path != p.path || p.row.hash != p.hash {
			p.note = parseNote(p.path, data, time.Unix(0, before.mtime))
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
	return errors.As(err, &errno) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotDirectory)
}

// unreadRetry is how soon files whose read failed are read again.
const unreadRetry = 10 * time.Second

// unread are the files whose last read failed: path → how the disk spells it.
// What is known of such a note is kept.
type unread struct {
	mu    sync.Mutex
	files map[string]string
}

func (u *unread) add(f found) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.files == nil {
		u.files = map[string]string{}
	}
	u.files[f.path] = f.diskPath
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
	f, err := root.OpenFile(diskPath, os.O_RDONLY|openNonblock, 0)
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

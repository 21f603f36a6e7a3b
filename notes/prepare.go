package notes

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
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
		if err != nil {
			p.skip = readProblem(err)
			return nil
		}
		after, err := root.Stat(p.diskPath)
		if err != nil {
			p.skip = readProblem(err)
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
		if p.row == nil || p.row.path != p.path || p.row.hash != hashOf(data) {
			p.note = parseNote(p.path, data, time.Unix(0, before.mtime))
		}
		return nil
	}
	p.skip = skipChanging
	return nil
}

// Reasons to pass a file over that are not facts about the file, and so are
// not shown.
const (
	skipGone     = "gone"
	skipChanging = "being written"
)

var (
	errTooLarge   = errors.New("larger than the limit for notes")
	errNotRegular = errors.New("not a regular file")
)

func readProblem(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return skipGone
	case errors.Is(err, errTooLarge):
		return err.Error()
	case errors.Is(err, fs.ErrPermission):
		return "it may not be read"
	}
	return "it cannot be read"
}

// readOnce reads a regular file of at most limit bytes. The stat tells, with
// one taken later, whether it changed while it was read.
func readOnce(root *os.Root, diskPath string, limit int64) ([]byte, stat, error) {
	f, err := root.OpenFile(diskPath, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, stat{}, err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, stat{}, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, stat{}, errNotRegular
	case info.Size() > limit:
		return nil, statOf(info), errTooLarge
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // it has shrunk, perhaps to nothing; the stat after tells
	}
	return data[:n], statOf(info), err
}

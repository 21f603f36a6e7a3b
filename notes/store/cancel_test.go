package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// A read whose caller gives up at any point returns the error of its context. The driver
// closes the rows of a query whose context ends, so that any row can fail to be read.
func TestRead_Cancelled(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("f%d/%03d.md", i%9, i)] = fmt.Sprintf("---\nkey: %d\nk2: [a, b]\n---\n# H\n#a #b #c [[%03d]] [[%03d#H]] [[none]]\n- [ ] call #d\n", i, (i+1)%200, i/2)
	}
	w := newWorld(t, files)
	files["f0/000.md"] += "more\n"
	w.save("f0/000.md", files["f0/000.md"])
	ids := make([]int64, 100)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	where := notes.Filter{Where: map[string]any{"key": map[string]any{"gt": 3.0}}}
	for name, read := range map[string]func(ctx context.Context) error{
		"list": func(ctx context.Context) error {
			_, err := w.List(ctx, notes.ListQuery{Limit: 1000, Fields: []string{"key", "k2"}})
			return err
		},
		"filtered list": func(ctx context.Context) error {
			_, err := w.List(ctx, notes.ListQuery{Limit: 1000, Filter: where})
			return err
		},
		"links": func(ctx context.Context) error {
			_, err := w.Links(ctx, "000", notes.LinkQuery{Depth: 3, Limit: 1000})
			return err
		},
		"tasks": func(ctx context.Context) error { _, err := w.Tasks(ctx, notes.TaskQuery{Limit: 1000}); return err },
		"graph": func(ctx context.Context) error { _, err := w.Graph(ctx, notes.Scope{}); return err },
		"targets": func(ctx context.Context) error {
			_, err := w.Targets(ctx, "000", notes.Scope{})
			return err
		},
		"notes": func(ctx context.Context) error { _, err := w.ByID(ctx, ids); return err },
		"changes": func(ctx context.Context) error {
			_, err := w.Changes(ctx, notes.HistoryQuery{Limit: 1000})
			return err
		},
		"past": func(ctx context.Context) error {
			m, err := w.AsOf(ctx, w.Now(), &sync.Mutex{})
			if err == nil {
				_, err = m.Notes(ctx, where, func(*notes.Note) error { return nil })
			}
			return err
		},
		"lookup": func(ctx context.Context) error {
			_, err := w.Lookup(ctx, "f0/000", notes.Scope{Read: []string{"f0"}})
			return err
		},
		"tags": func(ctx context.Context) error { _, err := w.Tags(ctx, notes.Scope{Read: []string{"f1"}}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			require.NoError(t, read(t.Context()))
			whole := time.Since(began)
			for i := range 30 {
				ctx, cancel := context.WithCancel(t.Context())
				timer := time.AfterFunc(whole*time.Duration(i)/25, cancel)
				if err := read(ctx); err != nil {
					require.ErrorIs(t, err, context.Canceled)
				}
				timer.Stop()
				cancel()
			}
		})
	}
}

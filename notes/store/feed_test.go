package store_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// copyOf is the data of a follower: the notes by ID.
type copyOf map[int64]string

// apply applies changes as a follower does, idempotently.
func (c copyOf) apply(t *testing.T, changes []notes.Change) {
	t.Helper()
	for _, change := range changes {
		n, err := change.Note(t.Context())
		require.NoError(t, err)
		if n == nil {
			delete(c, change.NoteID)
			continue
		}
		c[change.NoteID] = n.Path + "\n" + n.Content
	}
}

func (w *world) present() copyOf {
	w.t.Helper()
	rows, err := w.Rows(w.t.Context(), nil)
	require.NoError(w.t, err)
	c := copyOf{}
	for _, r := range rows {
		n, err := w.LoadNote(w.t.Context(), r.ID)
		require.NoError(w.t, err)
		c[r.ID] = n.Path + "\n" + n.Content
	}
	return c
}

// TestFollowerAtAnyPosition checks that a follower that resumes at any position, and
// receives some changes twice, ends with the current notes, as does one that starts
// from a snapshot while changes are being made.
func TestFollowerAtAnyPosition(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(8, 1))
	w := newWorld(t, map[string]string{"N0.md": "0", "N1.md": "1", "N2.md": "2"})
	followers := map[uint64]copyOf{0: {}}
	for i := range 60 {
		w.advance(time.Second)
		all := w.list(notes.Filter{})
		p := notes.URI(all[rng.IntN(len(all))])
		var err error
		switch op := rng.IntN(5); {
		case op == 0 && len(all) > 2:
			_, err = w.vault.Delete(ctx, notes.DeleteRequest{Note: p})
		case op == 1:
			_, err = w.vault.Move(ctx, notes.MoveRequest{Note: p, To: fmt.Sprintf("d/M%d.md", i), UpdateLinks: true})
		case op == 2:
			w.save(fmt.Sprintf("N%d.md", i), fmt.Sprintf("made %d", i))
		default:
			_, err = w.vault.Edit(ctx, notes.EditRequest{Note: p, Edits: []notes.Edit{{Op: "append", Content: fmt.Sprint(i)}}})
		}
		require.NoError(t, err)
		if i%10 == 0 {
			followers[w.Head()] = w.present()
		}
	}
	want := w.present()
	head := w.Head()
	for from, c := range followers {
		for at := from; ; {
			changes, whole, err := w.Feed().After(ctx, at, 7)
			require.NoError(t, err)
			require.True(t, whole)
			if len(changes) == 0 {
				require.Equal(t, head, at)
				break
			}
			require.Equal(t, at+1, changes[0].Seq, "none is left out")
			require.NoError(t, w.Feed().Attach(ctx, changes))
			c.apply(t, changes)
			c.apply(t, changes[len(changes)/2:])
			at = changes[len(changes)-1].Seq
		}
		assert.Equal(t, want, c, "from %d", from)
	}

	fresh := copyOf{}
	for at, first := uint64(0), true; ; first = false {
		changes, err := w.Feed().Snapshot(ctx, at, head, 2)
		require.NoError(t, err)
		if len(changes) == 0 {
			break
		}
		fresh.apply(t, changes)
		at = changes[len(changes)-1].Seq
		if first { // changes made meanwhile arrive through the feed
			w.save("During.md", "made during the snapshot")
			_, err := w.vault.Delete(ctx, notes.DeleteRequest{Note: w.list(notes.Filter{})[1]})
			require.NoError(t, err)
		}
	}
	changes, whole, err := w.Feed().After(ctx, head, 100)
	require.NoError(t, err)
	require.True(t, whole)
	fresh.apply(t, changes)
	assert.Equal(t, w.present(), fresh)
}

// TestFeed_Pruned checks that After reports a pruned feed to a follower that needs
// the missing changes, and only then.
func TestFeed_Pruned(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, map[string]string{"A.md": "a"})
	for i := range 5 {
		w.save("A.md", fmt.Sprint(i))
	}
	head := w.Head()
	require.Equal(t, uint64(6), head)
	require.NoError(t, w.Notes().Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM changes WHERE seq <= 3`)
		return err
	}))
	for from, want := range map[uint64]bool{0: false, 2: false, 3: true, 5: true, head: true} {
		_, whole, err := w.Feed().After(ctx, from, 100)
		require.NoError(t, err)
		assert.Equal(t, want, whole, "from %d", from)
	}
	require.NoError(t, w.Prune(ctx, notes.HistoryLimits{}))
	_, whole, err := w.Feed().After(ctx, 3, 100)
	require.NoError(t, err)
	assert.True(t, whole, "a short feed is kept")
	w.save("A.md", "last")
	changes, _, err := w.Feed().After(ctx, head, 100)
	require.NoError(t, err)
	require.Len(t, changes, 1)
	assert.Equal(t, head+1, changes[0].Seq, "numbers go on")
}

// TestList_SortOrders checks each sort order, and that the pages of a list add up to it.
func TestList_SortOrders(t *testing.T) {
	ctx := t.Context()
	files := map[string]string{}
	for i := range 23 {
		files[fmt.Sprintf("d%d/N%02d.md", i%3, (i*7)%23)] = fmt.Sprintf("---\ndate: 2030-01-%02d\ntitle: T%02d\n---\n%*s", 1+i%5, i%7, i*3%11, "x")
	}
	w := newWorld(t, files)
	for sort, inOrder := range map[string]func(a, b notes.Meta) bool{
		"path":     func(a, b notes.Meta) bool { return notes.Key(a.Path) < notes.Key(b.Path) },
		"title":    func(a, b notes.Meta) bool { return a.Title <= b.Title },
		"size":     func(a, b notes.Meta) bool { return a.Size >= b.Size },
		"date":     func(a, b notes.Meta) bool { return !a.Date.Before(b.Date) },
		"modified": func(a, b notes.Meta) bool { return !a.Modified.Before(b.Modified) },
		"created":  func(_, _ notes.Meta) bool { return true }, // pages only
		"":         func(a, b notes.Meta) bool { return !a.Modified.Before(b.Modified) },
	} {
		whole, err := w.List(ctx, notes.ListQuery{Sort: sort, Limit: 100})
		require.NoError(t, err)
		require.Len(t, whole.Notes, 23)
		for i := range whole.Notes[1:] {
			require.True(t, inOrder(whole.Notes[i], whole.Notes[i+1]), "%s: %v before %v", sort, whole.Notes[i], whole.Notes[i+1])
		}
		var all []notes.Meta
		q := notes.ListQuery{Sort: sort, Limit: 4}
		for {
			page, err := w.List(ctx, q)
			require.NoError(t, err)
			require.Equal(t, 23, page.Total)
			all = append(all, page.Notes...)
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
		require.Equal(t, whole.Notes, all, sort)
	}
	_, err := w.List(ctx, notes.ListQuery{Sort: "colour"})
	require.ErrorIs(t, err, notes.ErrInvalid)
	_, err = w.List(ctx, notes.ListQuery{Cursor: "nonsense"})
	require.ErrorIs(t, err, notes.ErrInvalid)
}

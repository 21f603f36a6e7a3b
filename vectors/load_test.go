package vectors

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rows returns the number of vectors in SQLite.
func (w *world) rows() (n int) {
	w.t.Helper()
	require.NoError(w.t, w.store.Notes().Reader().QueryRow(`SELECT count(*) FROM embeddings`).Scan(&n))
	return n
}

func (w *world) fileSize() int64 {
	w.t.Helper()
	info, err := os.Stat(slotPath(w.state, "m1"))
	require.NoError(w.t, err)
	return info.Size()
}

// Many unused vectors are deleted at the next start. A text in several notes is one vector.
func TestLoad_DeletesManyUnusedVectors(t *testing.T) {
	ctx := context.Background()
	e := newWordEmbedder("m1")
	const keep, copies = 20, 40
	files := map[string]string{"log.md": "day zero", "still.md": "never changes"}
	for i := range copies {
		files[fmt.Sprintf("%d/copy.md", i)] = "the same text"
	}
	w := newWorld(t, e, files)
	w.keepUnused = keep
	w.settle()
	for i := range 2 * keep {
		w.write("log.md", fmt.Sprintf("day %d", i))
		require.NoError(t, w.vault.Reconcile(ctx))
		w.settle()
		if i == keep-1 {
			w.restart(e, nil)
			w.settle()
			assert.Equal(t, keep+3, w.rows(), "these few are kept")
		}
	}
	size := w.fileSize()
	w.restart(e, nil)
	w.settle()
	assert.Equal(t, 3, w.rows())
	assert.Less(t, w.fileSize(), size)
	assert.Len(t, w.index.serving.slots.byKey, 3, "the file has what SQLite has")
	w.requireConsistent()
	assert.Equal(t, "log.md", w.find(fmt.Sprintf("day %d", 2*keep-1))[0])
	assert.Equal(t, "still.md", w.find("never changes")[0])
	for text, n := range e.counts() {
		assert.Equal(t, 1, n, text)
	}
}

// A file that is written again has the vectors of leads, which are not rows of the store.
func TestLoad_KeepsLeadsOfFileWrittenAgain(t *testing.T) {
	e := newWordEmbedder("m1")
	w := newWorld(t, e, map[string]string{"a.md": "# One\n\n" + strings.Repeat("alpha ", 300) + "\n\n# Two\n\n" + strings.Repeat("beta ", 300)})
	w.settle()
	require.NotEmpty(t, w.index.serving.entries.leads)
	w.stop()
	require.NoError(t, os.Remove(slotPath(w.state, "m1")))
	w.start(e, nil)
	w.settle()
	w.requireConsistent()
	for text, n := range e.counts() {
		assert.Equal(t, 1, n, text)
	}
}

func TestLoad_KeepsVectorOfUndoneEdit(t *testing.T) {
	ctx := context.Background()
	e := newWordEmbedder("m1")
	w := newWorld(t, e, map[string]string{"a.md": "first words"})
	w.settle()
	for i := range 6 { // fewer than are retained
		w.write("a.md", fmt.Sprintf("other words %d", i))
		require.NoError(t, w.vault.Reconcile(ctx))
		w.settle()
	}
	w.restart(e, nil)
	w.write("a.md", "first words")
	require.NoError(t, w.vault.Reconcile(ctx))
	w.settle()
	w.requireConsistent()
	assert.Equal(t, 1, e.counts()["a\nfirst words"])
}

func TestLoad_LostFile(t *testing.T) {
	ctx := context.Background()
	e := newWordEmbedder("m1")
	w := newWorld(t, e, map[string]string{"a.md": "one", "b.md": "two"})
	w.settle()
	w.write("a.md", "three")
	require.NoError(t, w.vault.Reconcile(ctx))
	w.settle()
	assert.Equal(t, 3, w.rows())
	w.stop()
	require.NoError(t, os.Remove(slotPath(w.state, "m1")))
	w.start(e, nil)
	w.settle()
	assert.Equal(t, 2, w.rows(), "nothing else knows of them any more")
	w.requireConsistent()
}

func TestLoad_FileOfAnotherStore(t *testing.T) {
	e := newWordEmbedder("m1")
	w := newWorld(t, e, map[string]string{"a.md": "one", "b.md": "two"})
	w.settle()
	w.stop()
	for _, name := range []string{"notes.db", "notes.db-wal", "notes.db-shm", "notes.db.closed"} {
		if err := os.Remove(w.state + "/" + name); !errors.Is(err, os.ErrNotExist) {
			require.NoError(t, err)
		}
	}
	w.start(e, nil)
	w.settle()
	assert.Equal(t, 2, w.rows(), "SQLite has every vector")
	w.requireConsistent()
}

package vectors

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/notes/store"
	"notesd/vectors/flat"
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

// requireFileFromStore replaces the cache file of model m1 and checks that no text is embedded
// again for it.
func (w *world) requireFileFromStore(t *testing.T, e *wordEmbedder) {
	t.Helper()
	w.stop()
	require.NoError(t, os.Remove(slotPath(w.state, "m1")))
	w.start(e, nil)
	w.settle()
	w.requireConsistent()
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
	w.requireFileFromStore(t, e)
}

// Erasing a deleted note erases its vectors only, not those of the leads of other notes.
func TestForget_KeepsOtherLeads(t *testing.T) {
	ctx := t.Context()
	long := func(words ...string) (text string) {
		for _, word := range words {
			text += "# " + word + "\n\n" + strings.Repeat(word+" ", 300) + "\n\n"
		}
		return text
	}
	e := newWordEmbedder("m1")
	w := newWorld(t, e, map[string]string{"a.md": long("alpha", "beta"), "b.md": long("gamma", "delta")})
	w.settle()
	rowsFor := func(leads int) int {
		chunks, err := w.index.store.countChunks(ctx)
		require.NoError(t, err)
		return chunks + leads
	}
	require.Equal(t, rowsFor(2), w.rows())
	_, err := w.vault.Delete(ctx, notes.DeleteRequest{Note: "b.md"})
	require.NoError(t, err)
	_, err = w.vault.History().Forget(ctx, "b.md", notes.Scope{})
	require.NoError(t, err)
	w.settle()
	assert.Equal(t, rowsFor(1), w.rows())
	w.requireFileFromStore(t, e)
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

// A search fails, and does not end the process, if another program truncates the mapped file or
// the disk cannot read it. The vectors are then loaded again.
func TestIndex_FileTruncatedWhileMapped(t *testing.T) {
	e := newWordEmbedder("m1")
	files := map[string]string{}
	for i := range 600 { // several pages, and enough for two goroutines
		files[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("word%d", i)
	}
	w := newWorld(t, e, files)
	w.settle()
	for name, read := range map[string]func(){
		"search": func() { _, _ = w.index.Nearest(t.Context(), "word7", nil, 3) },
		"forget": func() { _ = w.index.Reset(t.Context()) },
	} {
		require.NoError(t, os.Truncate(slotPath(w.state, "m1"), flat.HeaderSize))
		read()
		w.eventually(func() bool {
			_, err := w.index.Nearest(t.Context(), "word7", nil, 3)
			return err == nil && !w.index.stale.Load() && w.index.Status().State == StateReady
		})
		assert.Equal(t, []string{"7.md"}, w.find("word7")[:1], name)
		w.requireConsistent()
	}
	for _, n := range e.counts() {
		assert.Equal(t, 1, n, "the vectors are in SQLite")
	}
}

func TestRun_FileThatCannotBeMade(t *testing.T) {
	e := newWordEmbedder("m1")
	w := newWorld(t, e, map[string]string{"a.md": "one", "b.md": "two"})
	w.settle()
	w.stop()
	path := slotPath(w.state, "m1")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	w.start(e, nil)
	w.eventually(func() bool { return strings.HasPrefix(w.index.Status().Trouble, "load the vectors: ") })
	_, err := w.index.Nearest(t.Context(), "one", nil, 3)
	require.ErrorIs(t, err, ErrNothingYet)
	require.NoError(t, os.Remove(path))
	w.settle()
	assert.Equal(t, "a.md", w.find("one")[0])
	assert.Len(t, e.counts(), 2)
}

// leave puts a cache file of another model into the state directory and returns its path.
func (w *world) leave() string {
	w.t.Helper()
	path := slotPath(w.state, "gone")
	require.NoError(w.t, os.WriteFile(path, []byte("vectors of another model"), 0o600))
	return path
}

// The cache files of other models are deleted, however they were left.
func TestLoad_DeletesFilesOfOtherModels(t *testing.T) {
	for name, open := range map[string]func(string) (Embedder, error){
		"a crash":                         nil,
		"a model that cannot be opened":   func(string) (Embedder, error) { return nil, errors.New("moved") },
		"a source that has another model": func(string) (Embedder, error) { return newWordEmbedder("upgraded"), nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newWordEmbedder("m1"), map[string]string{"a.md": "one", "b.md": "two"})
			w.settle()
			w.stop()
			left := w.leave()
			w.start(newWordEmbedder("m2"), open)
			w.eventually(func() bool { return w.index.Status().State == StateReady })
			w.eventually(func() bool { return !exists(left) && !exists(slotPath(w.state, "m1")) })
			w.requireConsistent()
			assert.Equal(t, "a.md", w.find("one")[0])
			assert.FileExists(t, slotPath(w.state, "m2"))
		})
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// The file of the earlier model is closed and deleted even if SQLite cannot record the change.
func TestTakeOver_Fails(t *testing.T) {
	old, next := newWordEmbedder("m1"), newWordEmbedder("m2")
	w := newWorld(t, old, map[string]string{"a.md": "one", "b.md": "two"})
	w.settle()
	next.gate = make(chan struct{})
	w.restart(next, func(string) (Embedder, error) { return old, nil })
	w.eventually(func() bool { return w.index.Status().Answering == "m1" })
	w.index.mu.RLock()
	replaced := w.index.serving
	w.index.mu.RUnlock()
	require.NoError(t, w.store.Notes().Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`CREATE TRIGGER full BEFORE UPDATE ON models BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
		return err
	}))
	close(next.gate)
	w.eventually(func() bool { return w.index.Status().Answering == "" })
	w.stop()
	require.NoFileExists(t, slotPath(w.state, "m1"))
	assert.Zero(t, replaced.slots.records.N, "it is closed")
}

// Forgetting a note deletes the cache files of other models, and all files if none is loaded.
func TestReset_FilesOfOtherModels(t *testing.T) {
	e := newWordEmbedder("m1")
	w := newWorld(t, e, map[string]string{"a.md": "one", "b.md": "two"})
	w.settle()
	left := w.leave()
	require.NoError(t, w.index.Reset(t.Context()))
	assert.NoFileExists(t, left)
	assert.FileExists(t, slotPath(w.state, "m1"))
	assert.Equal(t, "b.md", w.find("two")[0])
	w.stop()
	require.NoError(t, NewIndex(nil, w.state, Options{Embedder: e}).Reset(t.Context()))
	assert.NoFileExists(t, slotPath(w.state, "m1"))
	assert.FileExists(t, filepath.Join(w.state, store.NotesFile))
	w.start(e, nil)
	w.settle()
	w.requireConsistent()
	assert.Len(t, e.counts(), 2, "SQLite has every vector")
	for text, n := range e.counts() {
		assert.Equal(t, 1, n, text)
	}
}

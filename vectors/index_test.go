package vectors

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault"
	"notesd/vectors/flat"
)

// wordEmbedder is a fake model: a vector is the sum of one random direction per word, so that
// texts with common words are near.
type wordEmbedder struct {
	id  string
	dim int

	mu       sync.Mutex
	embedded map[string]int // how often each passage was embedded
	order    []string       // the passages in the order of embedding
	fail     error
	gate     chan struct{} // if not nil, each batch receives from it first
}

// patience bounds the wait for an expected event; only a failing test waits this long.
const patience = 3 * time.Minute

func newWordEmbedder(id string) *wordEmbedder {
	return &wordEmbedder{id: id, dim: 64, embedded: map[string]int{}}
}

func (e *wordEmbedder) ID() string { return e.id }
func (e *wordEmbedder) Dim() int   { return e.dim }
func (e *wordEmbedder) Expect(int) {}

func (e *wordEmbedder) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	return notestest.EmbedWords(e.id, text, e.dim), nil
}

func (e *wordEmbedder) EmbedPassages(ctx context.Context, texts []string, _ int, done func(int, []float32)) error {
	if e.gate != nil {
		select {
		case <-e.gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fail != nil {
		return e.fail
	}
	for i, text := range texts {
		e.embedded[text]++
		e.order = append(e.order, text)
		v, err := e.EmbedQuery(ctx, text)
		if err != nil {
			return err
		}
		done(i, v)
	}
	return nil
}

func (e *wordEmbedder) Batch(int) int { return 4 }

func (e *wordEmbedder) Weight(string) float64 { return 0.5 }

func (e *wordEmbedder) counts() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := map[string]int{}
	for k, v := range e.embedded {
		out[k] = v
	}
	return out
}

// world is a vault with an index that follows it.
type world struct {
	t     *testing.T
	dir   string
	state string
	store *store.Store
	vault *vault.Vault
	index *Index
	stop  func()

	shared     SharedVectors // of Options
	keepUnused int           // of the index; 0: its default
	load       func() Load   // of Options; nil: the machine's
	now        func() time.Time
	wait       func(context.Context) error
	silence    time.Duration // of the index; 0: its default
}

func newWorld(t *testing.T, e *wordEmbedder, files map[string]string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), state: t.TempDir()}
	for name, text := range files {
		w.write(name, text)
	}
	w.start(e, nil)
	t.Cleanup(func() { w.stop() })
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	full := filepath.Join(w.dir, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(w.t, os.WriteFile(full, []byte(text), 0o644))
}

func (w *world) start(e Embedder, previous func(string) (Embedder, error)) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	w.store, err = store.Open(ctx, w.state)
	require.NoError(w.t, err)
	w.vault, err = vault.New(ctx, w.store, w.dir, vault.Options{})
	require.NoError(w.t, err)
	options := Options{Now: w.now, Embedder: e, Open: previous, Load: w.load, Wait: w.wait, Shared: w.shared}
	if e == nil {
		options.Auto = &Auto{English: "english", Multilingual: "multilingual"}
	} else {
		options.Source = "source of " + e.ID()
	}
	w.index = NewIndex(w.store, w.state, options)
	w.index.silence = cmp.Or(w.silence, silence)
	if w.keepUnused > 0 {
		w.index.keepUnused = w.keepUnused
	}
	require.NoError(w.t, w.vault.Reconcile(ctx))
	w.vault.Follow(w.index) // which loads the present notes from the store
	done := make(chan error, 1)
	go func() { done <- w.index.Run(ctx) }()
	stopped := false
	w.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		assert.NoError(w.t, <-done)
		assert.NoError(w.t, w.index.Close())
		assert.NoError(w.t, w.store.Close())
	}
}

func (w *world) restart(e Embedder, previous func(string) (Embedder, error)) {
	w.t.Helper()
	w.stop()
	w.start(e, previous)
}

func (w *world) settle() {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.index.Status().State == StateReady }, patience, time.Millisecond)
}

func (w *world) find(query string) []string {
	w.t.Helper()
	found, err := w.index.Nearest(context.Background(), query, nil, 3)
	require.NoError(w.t, err)
	ids := []int64{}
	for _, h := range found {
		ids = append(ids, h.NoteID)
	}
	list, err := w.store.ByID(context.Background(), ids)
	require.NoError(w.t, err)
	var paths []string
	for _, n := range list {
		paths = append(paths, n.Path)
	}
	return paths
}

// requireConsistent checks that the searchable chunks are exactly the store's.
func (w *world) requireConsistent() {
	w.t.Helper()
	requireConsistent(w.t, w.index)
}

func requireConsistent(t *testing.T, x *Index) {
	t.Helper()
	chunks, err := x.store.chunks(context.Background())
	require.NoError(t, err)
	x.mu.RLock()
	defer x.mu.RUnlock()
	e := x.serving.entries
	have := map[string]bool{}
	for row := range e.len() {
		have[fmt.Sprint(e.note[row], e.ordinal[row], x.serving.slots.records.At(int(e.slot[row]))[:16])] = true
	}
	for note, slot := range e.leads {
		have[fmt.Sprint(note, leadOrdinal, x.serving.slots.records.At(int(slot))[:16])] = true
	}
	want := map[string]bool{}
	for _, c := range withLeads(chunks) {
		want[fmt.Sprint(c.note, c.ordinal, c.hash[:16])] = true
	}
	require.Equal(t, want, have)
}

func TestIndex_Nearest(t *testing.T) {
	e := newWordEmbedder("m1")
	w := newWorld(t, e, map[string]string{"bread.md": "flour water yeast oven", "boat.md": "plank rib keel sail", "tide.md": "moon water sea ebb"})
	w.settle()
	assert.Equal(t, "boat.md", w.find("keel and sail")[0])
	assert.Equal(t, "tide.md", w.find("moon over the sea")[0])

	allowed := &notes.IDSet{}
	meta, err := w.vault.Lookup(context.Background(), "bread", notes.Scope{})
	require.NoError(t, err)
	allowed.Add(meta.ID)
	found, err := w.index.Nearest(context.Background(), "keel", allowed, 3)
	require.NoError(t, err)
	require.Len(t, found, 1, "filters apply before ranking")
	assert.Equal(t, meta.ID, found[0].NoteID)

	w.requireConsistent()
}

func TestIndex_EmbedsOnce(t *testing.T) {
	ctx := context.Background()
	e := newWordEmbedder("m1")
	w := newWorld(t, e, map[string]string{"a.md": "# T\n\nalpha beta", "dir/b.md": "# T\n\nalpha beta", "c.md": "# C\n\ngamma"})
	w.settle()
	assert.Len(t, e.counts(), 2, "the copy shares its text")
	_, err := w.vault.Move(ctx, notes.MoveRequest{Note: "c", To: "dir/moved.md"})
	require.NoError(t, err)
	_, err = w.vault.Edit(ctx, notes.EditRequest{Note: "dir/moved", Edits: []notes.Edit{{Op: "set_front_matter", Key: "x", Value: "y"}}})
	require.NoError(t, err)
	w.settle()
	w.restart(e, nil)
	w.settle()
	w.requireConsistent()
	for text, n := range e.counts() {
		assert.Equal(t, 1, n, text)
	}
	assert.Len(t, e.counts(), 2)

	require.NoError(t, os.Remove(slotPath(w.state, "m1")))
	w.restart(e, nil)
	w.settle()
	w.requireConsistent()
	assert.Len(t, e.counts(), 2, "the cache file is made from the store again")
}

// Before the first scan has found a note, the index is not complete.
func TestIndex_FirstScan(t *testing.T) {
	w := &world{t: t, dir: t.TempDir(), state: t.TempDir()}
	scanned := make(chan struct{})
	w.wait = func(context.Context) error { <-scanned; return nil }
	w.start(newWordEmbedder("m"), nil)
	t.Cleanup(func() { w.stop() })
	<-w.index.loaded
	assert.Equal(t, Status{Model: "m", State: StateBuilding, Pending: 1}, w.index.Status())
	assert.Equal(t, notes.Coverage{State: StateBuilding}, w.index.Coverage())
	close(scanned)
	w.eventually(func() bool { return w.index.Status().State == StateReady })
	assert.Equal(t, StateReady, w.index.Coverage().State, "the vault is empty")
}

// If the notes cannot be put in order, they are embedded nevertheless.
func TestIndex_OrderThatCannotBeRead(t *testing.T) {
	e := newWordEmbedder("m")
	w := newWorld(t, e, map[string]string{"a.md": "turbines\n"})
	w.stop()
	w.wait = func(ctx context.Context) error {
		return w.store.Notes().Write(ctx, func(tx *sql.Tx) error {
			_, err := tx.Exec(`ALTER TABLE links RENAME TO away`)
			return err
		})
	}
	w.write("b.md", "bridges\n")
	w.start(e, nil)
	w.settle()
	assert.NotEmpty(t, w.find("bridges"))
}

func TestIndex_DamagedSlots(t *testing.T) {
	e := newWordEmbedder("m1")
	w := newWorld(t, e, map[string]string{"a.md": "alpha", "b.md": "beta", "c.md": "gamma"})
	w.settle()
	w.stop()
	path := slotPath(w.state, "m1")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[flat.HeaderSize+flat.ValuesAt+3] ^= 0x40 // one value of the first record
	require.NoError(t, os.WriteFile(path, data[:len(data)-5], 0o600))
	w.start(e, nil)
	w.settle()
	w.requireConsistent()
	assert.Equal(t, "c.md", w.find("gamma")[0])
	assert.Len(t, e.counts(), 3)
}

func TestIndex_ModelChange(t *testing.T) {
	old, next := newWordEmbedder("m1"), newWordEmbedder("m2")
	w := newWorld(t, old, map[string]string{"a.md": "alpha", "b.md": "beta"})
	w.settle()
	next.gate = make(chan struct{})
	w.restart(next, func(source string) (Embedder, error) {
		if source != "source of m1" {
			return nil, errors.New("unknown")
		}
		return old, nil
	})
	require.Eventually(t, func() bool { return w.index.Status().Answering == "m1" }, patience, time.Millisecond)
	assert.Equal(t, "b.md", w.find("beta")[0], "the old vectors answer")
	assert.Equal(t, notes.Coverage{State: StateReady, Coverage: 1, Passages: 2, Former: true}, w.index.Coverage())
	close(next.gate)
	w.settle()
	require.Eventually(t, func() bool { return w.index.Status().Answering == "" }, patience, time.Millisecond)
	assert.Equal(t, "b.md", w.find("beta")[0])
	assert.Len(t, next.counts(), 2)
	require.Eventually(t, func() bool {
		models, err := w.index.store.models(context.Background())
		return err == nil && len(models) == 1 && models[0].name == "m2"
	}, patience, time.Millisecond)
	require.Eventually(t, func() bool { _, err := os.Stat(slotPath(w.state, "m1")); return os.IsNotExist(err) }, patience, time.Millisecond)
}

// A model takes over when the last text without a vector is deleted.
func TestIndex_ModelChangeEndsByDeletion(t *testing.T) {
	old, next := newWordEmbedder("m1"), newWordEmbedder("m2")
	files := map[string]string{}
	for i := range old.Batch(1) + 1 {
		files[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("word%d", i)
	}
	w := newWorld(t, old, files)
	w.settle()
	next.gate = make(chan struct{}, 1)
	next.gate <- struct{}{}
	w.restart(next, func(string) (Embedder, error) { return old, nil })
	w.eventually(func() bool { return w.index.Status().Pending == 1 })
	next.mu.Lock()
	next.fail = errors.New("this text cannot be embedded")
	next.mu.Unlock()
	close(next.gate)
	w.eventually(func() bool { return w.index.Status().Trouble != "" })
	assert.Equal(t, "m1", w.index.Status().Answering)
	embedded := next.counts()
	for name, text := range files {
		if embedded[strings.TrimSuffix(name, ".md")+"\n"+text] == 0 {
			require.NoError(t, os.Remove(filepath.Join(w.dir, name)))
		}
	}
	require.NoError(t, w.vault.Reconcile(t.Context()))
	w.eventually(func() bool { return w.index.Status().Answering == "" })
	w.requireConsistent()
	w.eventually(func() bool {
		models, err := w.index.store.models(t.Context())
		return err == nil && len(models) == 1
	})
}

// A model that was given up before its vectors were complete leaves none.
func TestIndex_ModelChangeRevoked(t *testing.T) {
	old, next := newWordEmbedder("m1"), newWordEmbedder("m2")
	w := newWorld(t, old, map[string]string{"a.md": "alpha"})
	w.settle()
	next.gate = make(chan struct{})
	w.restart(next, func(string) (Embedder, error) { return old, nil })
	models := func() int {
		list, err := w.index.store.models(context.Background())
		require.NoError(t, err)
		return len(list)
	}
	require.Eventually(t, func() bool { return models() == 2 }, patience, time.Millisecond)
	w.restart(old, nil)
	w.settle()
	require.Eventually(t, func() bool { return models() == 1 }, patience, time.Millisecond)
}

func TestIndex_ChangesWhileEmbedding(t *testing.T) {
	ctx := context.Background()
	e := newWordEmbedder("m1")
	w := newWorld(t, e, map[string]string{})
	rng := rand.New(rand.NewPCG(11, 12))
	words := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa")
	const keptFrom = 10 // the notes before are also deleted
	for i := range 300 {
		n := rng.IntN(20)
		name := fmt.Sprintf("n%d.md", n)
		switch {
		case n < keptFrom && rng.IntN(2) == 0:
			if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
				continue
			}
		default:
			var b strings.Builder
			for range 1 + rng.IntN(5) {
				fmt.Fprintf(&b, "## %s\n\n%s\n\n", words[rng.IntN(10)], strings.Repeat(words[rng.IntN(10)]+" ", 200))
			}
			w.write(name, b.String())
		}
		if i%3 == 0 {
			require.NoError(t, w.vault.Reconcile(ctx))
		}
	}
	require.NoError(t, w.vault.Reconcile(ctx))
	w.settle()
	w.requireConsistent()
	once := 0
	for text, n := range e.counts() {
		title, _, _ := strings.Cut(text, "\n")
		var note int
		if _, err := fmt.Sscanf(title, "n%d > ", &note); err != nil || note < keptFrom {
			continue // a lead, embedded again when its second passage changes, or a note deleted while it was embedded
		}
		once++
		assert.Equal(t, 1, n, "%.40q", text)
	}
	assert.Positive(t, once)
	w.restart(e, nil)
	w.settle()
	w.requireConsistent()
}

// The lead of a note of several passages states its topic. Leads missing from a state are
// embedded in the background, while searches have all passages.
func TestIndex_Leads(t *testing.T) {
	ctx := context.Background()
	e := newWordEmbedder("m1")
	long := "# Boats\n\n" + strings.Repeat("boat ", 45) + strings.Repeat("beta ", 250) + "\n\n## More\n\n" + strings.Repeat("gamma ", 250)
	w := newWorld(t, e, map[string]string{"long.md": long, "short.md": strings.Repeat("boat ", 45) + strings.Repeat("beta ", 100)})
	w.settle()
	w.requireConsistent()
	nearest := func() map[string]notes.SemanticHit {
		hits, err := w.index.Nearest(ctx, "boat", nil, 10)
		require.NoError(t, err)
		require.Len(t, hits, 2)
		paths := w.find("boat")
		return map[string]notes.SemanticHit{paths[0]: hits[0], paths[1]: hits[1]}
	}
	found := nearest()
	assert.Greater(t, found["long.md"].First, found["long.md"].Near, "the lead says boat only")
	assert.InDelta(t, found["short.md"].Near, found["short.md"].First, 0, "its only passage says what it is about")

	require.NoError(t, w.store.Notes().Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM embeddings WHERE hash NOT IN (SELECT hash FROM chunks)`)
		return err
	}))
	w.stop()
	require.NoError(t, os.Remove(slotPath(w.state, "m1")))
	gated := newWordEmbedder("m1")
	gated.gate = make(chan struct{})
	w.start(gated, nil)
	require.Eventually(t, func() bool {
		c := w.index.Coverage()
		return c.State == StateReady && c.Coverage == 1
	}, patience, time.Millisecond)
	assert.Equal(t, 1, w.index.Status().Pending)
	close(gated.gate)
	w.settle()
	w.requireConsistent()
	assert.Equal(t, 1, gated.counts()["Boats\n"+strings.TrimSpace(strings.Repeat("boat ", 45))])
	assert.Equal(t, found, nearest())
}

// A hit reports the share of its note's passages without a vector.
func TestIndex_Missing(t *testing.T) {
	ctx := context.Background()
	long := strings.Repeat("boat ", 250) + "\n\n## More\n\n" + strings.Repeat("gamma ", 250)
	w := newWorld(t, newWordEmbedder("m1"), map[string]string{"long.md": long, "short.md": strings.Repeat("boat beta ", 100)})
	w.settle()
	missing := func() map[string]float64 {
		hits, err := w.index.Nearest(ctx, "boat", nil, 10)
		require.NoError(t, err)
		require.Len(t, hits, 2)
		paths := w.find("boat")
		return map[string]float64{paths[0]: hits[0].Missing, paths[1]: hits[1].Missing}
	}
	assert.Equal(t, map[string]float64{"long.md": 0, "short.md": 0}, missing())
	usual, here, err := w.index.Unrelated(ctx, "boat")
	require.NoError(t, err)
	assert.Equal(t, []notes.Spread{{Deviation: unrelatedDeviation}, {Deviation: unrelatedDeviation}}, []notes.Spread{usual, here})
	require.NoError(t, w.store.Notes().Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM embeddings WHERE hash IN (SELECT hash FROM chunks WHERE ordinal > 0)`)
		return err
	}))
	w.stop()
	require.NoError(t, os.Remove(slotPath(w.state, "m1")))
	gated := newWordEmbedder("m1")
	gated.gate = make(chan struct{})
	w.start(gated, nil)
	<-w.index.loaded
	assert.Equal(t, map[string]float64{"long.md": .75, "short.md": 0}, missing())
	close(gated.gate)
	w.settle()
	assert.Equal(t, map[string]float64{"long.md": 0, "short.md": 0}, missing())
}

func TestReset_ForgottenTexts(t *testing.T) {
	ctx := context.Background()
	e := newWordEmbedder("m1")
	w := newWorld(t, e, map[string]string{"secret.md": "hush hush", "other.md": "loud words"})
	w.settle()
	secret, err := e.EmbedQuery(ctx, "secret\nhush hush")
	require.NoError(t, err)
	values := make([]int8, e.dim)
	flat.Quantise(secret, values)
	trace := make([]byte, len(values))
	for i, v := range values {
		trace[i] = byte(v)
	}
	data, err := os.ReadFile(slotPath(w.state, "m1"))
	require.NoError(t, err)
	require.Contains(t, string(data), string(trace), "it is there before")
	_, err = w.vault.Delete(ctx, notes.DeleteRequest{Note: "secret"})
	require.NoError(t, err)
	_, err = w.vault.History().Forget(ctx, "secret", notes.Scope{})
	require.NoError(t, err)
	data, err = os.ReadFile(slotPath(w.state, "m1"))
	require.NoError(t, err)
	assert.NotContains(t, string(data), string(trace))
	assert.Equal(t, "other.md", w.find("loud")[0])
	w.requireConsistent()
	w.restart(e, nil)
	w.settle()
	w.requireConsistent()
}

// forgetting forgets a note while it embeds its text.
type forgetting struct {
	*wordEmbedder
	forget func()
	once   sync.Once
}

func (e *forgetting) EmbedPassages(ctx context.Context, texts []string, threads int, done func(int, []float32)) error {
	e.once.Do(e.forget)
	return e.wordEmbedder.EmbedPassages(ctx, texts, threads, done)
}

// The vector of a note that was forgotten while its text was being embedded is not stored. A
// copy of the note keeps its own.
func TestReset_WhileEmbedding(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		copies []string
		want   int
	}{{nil, 1}, {[]string{"copies/secret.md"}, 2}} {
		w := &world{t: t, dir: t.TempDir(), state: t.TempDir()}
		w.write("other.md", "loud words")
		w.write("secret.md", "hush hush")
		for _, name := range c.copies {
			w.write(name, "hush hush")
		}
		w.start(&forgetting{wordEmbedder: newWordEmbedder("m1"), forget: func() {
			_, err := w.vault.Delete(ctx, notes.DeleteRequest{Note: "secret.md"})
			assert.NoError(t, err)
			_, err = w.vault.History().Forget(ctx, "secret.md", notes.Scope{})
			assert.NoError(t, err)
		}}, nil)
		t.Cleanup(func() { w.stop() })
		w.settle()
		assert.Equal(t, "other.md", w.find("loud")[0])
		w.requireConsistent()
		assert.Equal(t, c.want, w.rows(), "in SQLite")
		assert.Equal(t, int64(flat.HeaderSize+c.want*flat.RecordSize(64)), w.fileSize(), "in the file")
	}
}

func TestIndex_SkipsDrawings(t *testing.T) {
	e := newWordEmbedder("a")
	encoded := "data:image/png;base64," + strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNby", 200)
	w := newWorld(t, e, map[string]string{
		"Photo.md":          "# Photo\n\nA street ![](" + encoded + ") in May.\n",
		"Map.excalidraw.md": "---\nexcalidraw-plugin: parsed\n---\n# Text Elements\nPelican ^x\n\n# Drawing\n```json\n" + strings.Repeat("{\"type\": \"rectangle\"}\n", 500) + "```\n",
	})
	w.settle()
	for text := range e.counts() {
		assert.NotContains(t, text, "iVBOR")
		assert.NotContains(t, text, "rectangle")
		assert.Less(t, len(text), 100, "%q", text)
	}
	assert.Contains(t, e.counts(), "Photo\n# Photo\n\nA street ![]( … ) in May.")
}

// slowQueries takes a second for each query.
type slowQueries struct {
	*wordEmbedder
	asked int
}

func (e *slowQueries) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	e.asked++
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Second):
		return e.wordEmbedder.EmbedQuery(ctx, text)
	}
}

// A query is embedded once for concurrent searches, and again if the first of them was
// cancelled.
func TestIndex_QueriesAreEmbeddedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &slowQueries{wordEmbedder: newWordEmbedder("w")}
		x := NewIndex(nil, "", Options{Embedder: e})
		x.serving = &space{embedder: e}
		close(x.loaded)
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		var asking sync.WaitGroup
		asking.Go(func() {
			_, _, err := x.embedQuery(short, "tides")
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
		synctest.Wait()
		for range 2 {
			asking.Go(func() {
				v, _, err := x.embedQuery(t.Context(), "tides")
				assert.NoError(t, err)
				assert.NotEmpty(t, v)
			})
		}
		asking.Wait()
		assert.Equal(t, 2, e.asked)
		_, _, err := x.embedQuery(t.Context(), "tides")
		assert.NoError(t, err)
		assert.Equal(t, 2, e.asked, "it is remembered")
	})
}

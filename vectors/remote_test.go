package vectors

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// remoteEmbedder is a fake server: it learns its dimension and can be unavailable.
type remoteEmbedder struct {
	*wordEmbedder
	learnt atomic.Int64
	away   atomic.Bool
	asked  atomic.Int64 // calls while away
}

// awayError requests a pause, as a server may.
type awayError struct{}

func (awayError) Error() string       { return "waiting for the server" }
func (awayError) Wait() time.Duration { return time.Millisecond }

func newRemote(id string) *remoteEmbedder { return &remoteEmbedder{wordEmbedder: newWordEmbedder(id)} }

func (e *remoteEmbedder) Dim() int       { return int(e.learnt.Load()) }
func (e *remoteEmbedder) Expect(dim int) { e.learnt.CompareAndSwap(0, int64(dim)) }

func (e *remoteEmbedder) answer() error {
	if e.away.Load() {
		e.asked.Add(1)
		return awayError{}
	}
	e.Expect(e.dim)
	return nil
}

func (e *remoteEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if err := e.answer(); err != nil {
		return nil, err
	}
	return e.wordEmbedder.EmbedQuery(ctx, text)
}

func (e *remoteEmbedder) EmbedPassages(ctx context.Context, texts []string, threads int, done func(int, []float32)) error {
	if err := e.answer(); err != nil {
		return err
	}
	return e.wordEmbedder.EmbedPassages(ctx, texts, threads, done)
}

func (w *world) eventually(what func() bool) {
	w.t.Helper()
	require.Eventually(w.t, what, patience, time.Millisecond)
}

func TestRun_ServerUnavailableAtStart(t *testing.T) {
	e := newRemote("r1")
	e.away.Store(true)
	w := &world{t: t, dir: t.TempDir(), state: t.TempDir()}
	w.write("boat.md", "keel sail")
	w.write("bread.md", "flour oven")
	w.start(e, nil)
	t.Cleanup(func() { w.stop() })
	w.eventually(func() bool { return w.index.Status().Trouble == "waiting for the server" })
	st := w.index.Status()
	assert.Equal(t, StateBuilding, st.State)
	assert.Equal(t, 2, st.Pending, "nobody may take this for complete")
	_, err := w.index.Nearest(t.Context(), "keel", nil, 3)
	require.ErrorIs(t, err, ErrNothingYet)
	assert.ErrorContains(t, err, "waiting for the server")

	w.write("late.md", "moon tide") // a change in the meantime
	require.NoError(t, w.vault.Reconcile(t.Context()))
	e.away.Store(false)
	w.settle()
	w.requireConsistent()
	assert.Equal(t, "boat.md", w.find("keel")[0])
	assert.Equal(t, "late.md", w.find("tide")[0])
	assert.Empty(t, w.index.Status().Trouble)
}

func TestRun_ServerUnavailableLater(t *testing.T) {
	e := newRemote("r1")
	w := &world{t: t, dir: t.TempDir(), state: t.TempDir()}
	w.write("boat.md", "keel sail")
	w.start(e, nil)
	t.Cleanup(func() { w.stop() })
	w.settle()
	e.away.Store(true)
	w.eventually(func() bool { // the success of the last batch may be reported only now
		_, err := w.index.Nearest(t.Context(), "keel", nil, 3)
		require.ErrorAs(t, err, &awayError{})
		return w.index.Status().Trouble == "waiting for the server" // though nothing is pending
	})

	next := newRemote("r1") // a new process, which knows the dimension from the store
	next.away.Store(true)
	w.restart(next, nil)
	w.settle()
	assert.Equal(t, e.dim, next.Dim())
	w.write("bread.md", "flour oven")
	require.NoError(t, w.vault.Reconcile(t.Context()))
	w.eventually(func() bool { return w.index.Status().Trouble != "" })
	assert.Equal(t, 1, w.index.Status().Pending)
	next.away.Store(false)
	w.settle()
	w.requireConsistent()
	assert.Equal(t, "bread.md", w.find("oven")[0])
}

// Status names a server that accepts the first request and does not answer.
func TestRun_SilentServer(t *testing.T) {
	e := newRemote("r1")
	e.gate = make(chan struct{})
	w := &world{t: t, dir: t.TempDir(), state: t.TempDir(), silence: time.Millisecond}
	w.write("boat.md", "keel sail")
	w.start(e, nil)
	t.Cleanup(func() { w.stop() })
	w.eventually(func() bool { return w.index.Status().Trouble == "waiting for r1: it has not answered for 1ms" })
	close(e.gate)
	w.settle()
	w.eventually(func() bool { return w.index.Status().Trouble == "" })
	assert.NotEmpty(t, w.find("keel"))
}

func TestRun_PreviousModelAnswers(t *testing.T) {
	old, next := newWordEmbedder("m1"), newRemote("r1")
	w := newWorld(t, old, map[string]string{"a.md": "alpha", "b.md": "beta"})
	w.settle()
	next.away.Store(true)
	w.restart(next, func(string) (Embedder, error) { return old, nil })
	w.eventually(func() bool { return w.index.Status().Trouble != "" })
	assert.Equal(t, "m1", w.index.Status().Answering)
	assert.Equal(t, "m1 answers", w.index.Status().Meanwhile())
	assert.Equal(t, "b.md", w.find("beta")[0])
	assert.NotEmpty(t, w.index.Status().Trouble, "that m1 answers does not end it")
	w.index.reportQuery(w.index.spaces()[0], context.DeadlineExceeded)
	w.index.reportQuery(w.index.spaces()[0], nil)
	assert.NotEmpty(t, w.index.Status().Trouble, "that m1 was late once and answers again does not end it")
	w.write("c.md", "gamma")
	require.NoError(t, w.vault.Reconcile(t.Context()))
	next.away.Store(false)
	w.settle()
	w.eventually(func() bool { return w.index.Status().Answering == "" })
	w.requireConsistent()
	assert.Equal(t, "c.md", w.find("gamma")[0])
	w.eventually(func() bool { _, err := os.Stat(slotPath(w.state, "m1")); return os.IsNotExist(err) })
}

// If the server of the previous model does not answer for a minute, the vectors of the new one
// do, as far as they exist.
func TestRun_PreviousModelUnavailable(t *testing.T) {
	old, next := newRemote("r1"), newWordEmbedder("m2")
	var later atomic.Int64
	w := &world{t: t, dir: t.TempDir(), state: t.TempDir()}
	w.now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	w.load = func() Load { return Load{Battery: -1} } // on a busy machine, Run pauses for as long as a batch seems to take
	const n, batch = 20, 4
	for i := range n {
		w.write(fmt.Sprintf("%d.md", i), fmt.Sprintf("word%d", i))
	}
	w.start(old, nil)
	t.Cleanup(func() { w.stop() })
	w.settle()
	next.gate = make(chan struct{}, 1)
	w.restart(next, func(string) (Embedder, error) { return old, nil })
	embed := func(batches int) {
		next.gate <- struct{}{}
		w.eventually(func() bool { return w.index.Status().Pending == n-batches*batch })
	}
	fail := func(query string) {
		_, err := w.index.Nearest(t.Context(), query, nil, 3)
		require.ErrorContains(t, err, "waiting for the server")
	}
	old.away.Store(true)
	fail("word1")
	embed(1)
	assert.Equal(t, "r1", w.index.Status().Answering, "it may be away for a moment")
	old.away.Store(false)
	later.Add(int64(longPause))
	embed(2)
	w.eventually(func() bool { // Run has asked it again
		w.index.mu.RLock()
		defer w.index.mu.RUnlock()
		return w.index.failing == nil
	})
	assert.NotEmpty(t, w.find("word1"))
	old.away.Store(true)
	fail("word2")
	embed(3)
	assert.Equal(t, "r1", w.index.Status().Answering, "it answered in between")
	later.Add(int64(longPause))
	next.gate <- struct{}{}
	w.eventually(func() bool { return w.index.Status().Answering == "" })
	assert.NotEmpty(t, w.find("word2"))
	assert.NotZero(t, w.index.Status().Pending)
	close(next.gate)
	w.settle()
	w.requireConsistent()
}

// A server that accepts queries and does not answer them is named after a minute.
func TestReportQuery_Late(t *testing.T) {
	var later atomic.Int64
	w := &world{t: t, dir: t.TempDir(), state: t.TempDir()}
	w.now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	w.write("a.md", "alpha")
	w.start(newRemote("r1"), nil)
	t.Cleanup(func() { w.stop() })
	w.settle()
	late := func() { w.index.reportQuery(w.index.spaces()[0], context.DeadlineExceeded) }
	late()
	assert.Empty(t, w.index.Status().Trouble, "the machine may be busy")
	later.Add(int64(longPause))
	late()
	assert.Contains(t, w.index.Status().Trouble, "waiting for r1: ")
	assert.NotEmpty(t, w.find("alpha"))
	assert.Empty(t, w.index.Status().Trouble)
}

func TestBackOff(t *testing.T) {
	var pause backOff
	var waits []time.Duration
	for range 8 {
		waits = append(waits, pause.after(errors.New("x")))
	}
	assert.Equal(t, []time.Duration{1e9, 2e9, 4e9, 8e9, 16e9, 32e9, 60e9, 60e9}, waits)
	assert.Equal(t, 5*time.Minute, pause.after(asking{5 * time.Minute}))
	assert.Equal(t, time.Minute, pause.after(asking{time.Second}))
}

type asking struct{ wait time.Duration }

func (asking) Error() string         { return "busy" }
func (a asking) Wait() time.Duration { return a.wait }

func TestSlotPath_DistinctModels(t *testing.T) {
	paths := map[string]bool{}
	for _, id := range []string{"ollama:a/b", "ollama:a:b", "ollama:a_b", "ollama_a_b", "ollama:A_b", "x"} {
		paths[slotPath("d", id)] = true
	}
	assert.Len(t, paths, 6)
	assert.Equal(t, "vectors-all-MiniLM-L6-v2-9d43732825d9.slots", slotPath("", "all-MiniLM-L6-v2-9d43732825d9"))
}

package mirror

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/pgtest"
	"notesd/notes"
)

func TestFollowed(t *testing.T) {
	var f followed
	f.reach(3)
	assert.True(t, f.has(3))
	assert.False(t, f.has(4))
	f.commit(6)
	assert.False(t, f.has(6), "batches 4 and 5 are of other nodes")
	f.commit(5)
	f.commit(4)
	assert.True(t, f.has(6))
	assert.False(t, f.has(7))
	next := f.next()
	f.reach(6)
	<-next
	assert.Empty(t, f.own)
	f.commit(9)
	assert.Equal(t, uint64(9), f.newest)
	f.reach(1)
	assert.Equal(t, uint64(1), f.newest, "another log")
	assert.False(t, f.has(9))
}

// A request from another node waits for the changes its session has seen there. If the
// database is unreachable it is rejected, unless its session has seen nothing.
func TestAwait(t *testing.T) {
	s := pgtest.Start(t)
	a, b := newNode(t, s.URL(), "team", nil), newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, b.Run(ctx)) })
	running.Go(func() { b.m.Run(ctx) })
	for _, explicit := range []bool{true, false, true, false} {
		name := rand.Text()
		_, err := a.Create(t.Context(), notes.CreateRequest{Path: name + ".md", Content: name})
		require.NoError(t, err)
		seq := a.m.Seq()
		require.NoError(t, a.m.Await(t.Context(), seq), "what it has written itself")
		if !explicit {
			seq = 0
		}
		require.NoError(t, b.m.Await(t.Context(), seq))
		_, err = b.Read(t.Context(), name, notes.Scope{})
		require.NoError(t, err)
		assert.Equal(t, a.m.Seq(), b.m.Seq())
	}
	require.NoError(t, b.m.Await(t.Context(), a.m.Seq()+100), "more than the log has")
	cancel()
	running.Wait()
	_, err := a.Create(t.Context(), notes.CreateRequest{Path: "Late.md", Content: "x"})
	require.NoError(t, err)
	b.m.patience = time.Millisecond
	err = b.m.Await(t.Context(), a.m.Seq())
	require.ErrorIs(t, err, notes.ErrUnavailable)
	assert.ErrorContains(t, err, "on another")
	s.Kill()
	require.NoError(t, b.m.Await(t.Context(), 0))
}

// While a node does not share many deletions yet, its database can still be reached: a request
// waits for the changes there.
func TestAwait_HeldDeletions(t *testing.T) {
	s := pgtest.New(t)
	files := numbered(20)
	a, b := newNode(t, s.URL(), "team", files), newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	b.m.calm = time.Hour
	for i := range 12 {
		b.delete(fmt.Sprintf("%02d.md", i))
	}
	require.ErrorIs(t, b.m.sync(t.Context(), nil, true), errDeleting)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { assert.NoError(t, b.Run(ctx)) })
	running.Go(func() { b.m.Run(ctx) })
	for range 3 {
		name := rand.Text()
		_, err := a.Create(t.Context(), notes.CreateRequest{Path: name + ".md", Content: name})
		require.NoError(t, err)
		require.NoError(t, b.m.Await(t.Context(), 0))
		_, err = b.Read(t.Context(), name, notes.Scope{})
		require.NoError(t, err)
	}
	assert.Len(t, a.files(), 23)
}

package vectors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sharedVectors is a fake of the database that nodes share.
type sharedVectors struct {
	mu     sync.Mutex
	known  map[string][]byte
	fail   error
	broken bool // vectors that it returns have another length
}

func (s *sharedVectors) Vectors(_ context.Context, model string, hashes []string) (known map[string][]byte, claimed []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known = map[string][]byte{}
	for _, h := range hashes {
		if v, ok := s.known[model+h]; !ok {
			claimed = append(claimed, h)
		} else if known[h] = v; s.broken {
			known[h] = v[2:]
		}
	}
	return known, claimed, s.fail
}

func (s *sharedVectors) Missing(_ context.Context, model string, hashes []string) (missing []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range hashes {
		if _, ok := s.known[model+h]; !ok {
			missing = append(missing, h)
		}
	}
	return missing, s.fail
}

func (s *sharedVectors) KeepVectors(_ context.Context, model string, vectors map[string][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h, v := range vectors {
		s.known[model+h] = v
	}
	return s.fail
}

func (s *sharedVectors) set(broken bool, fail error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken, s.fail = broken, fail
}

// A text is embedded by one of the nodes that share vectors, and the others find the same with
// it. Without the database, or with vectors of a wrong length, each node embeds its own texts.
func TestIndex_Shared(t *testing.T) {
	files := map[string]string{}
	for i := range 10 {
		files[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("# Note %d\n\nword%d and more", i, i)
	}
	shared := &sharedVectors{known: map[string][]byte{}}
	embed := func() (*wordEmbedder, *world) {
		e := newWordEmbedder("one")
		w := &world{t: t, dir: t.TempDir(), state: t.TempDir(), shared: shared}
		for name, text := range files {
			w.write(name, text)
		}
		w.start(e, nil)
		t.Cleanup(func() { w.stop() })
		w.settle()
		w.requireConsistent()
		return e, w
	}
	first, a := embed()
	assert.NotEmpty(t, first.counts())
	second, b := embed()
	assert.Empty(t, second.counts(), "the first node has embedded all")
	assert.Equal(t, a.find("word3"), b.find("word3"))
	files["New.md"] = "# New\n\nsomething else"
	third, _ := embed()
	assert.Len(t, third.counts(), 1)
	shared.set(true, nil)
	fourth, _ := embed()
	assert.NotEmpty(t, fourth.counts())
	shared.set(true, errors.New("the database is down"))
	fifth, _ := embed()
	assert.Equal(t, fourth.counts(), fifth.counts())
}

// Vectors that were embedded before the vault was shared are offered to other nodes once they
// are complete.
func TestIndex_SharedLater(t *testing.T) {
	w := &world{t: t, dir: t.TempDir(), state: t.TempDir()}
	for i := range offerSize + 20 {
		w.write(fmt.Sprintf("%d.md", i), fmt.Sprintf("# Note %d\n\nword%d and more", i, i))
	}
	w.start(newWordEmbedder("one"), nil)
	t.Cleanup(func() { w.stop() })
	w.settle()
	shared := &sharedVectors{known: map[string][]byte{}}
	w.shared = shared
	again := newWordEmbedder("one")
	w.restart(again, nil)
	require.Eventually(t, func() bool {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		return len(shared.known) >= offerSize+20
	}, patience, time.Millisecond)
	assert.Empty(t, again.counts())
	second := newWordEmbedder("one")
	other := &world{t: t, dir: w.dir, state: t.TempDir(), shared: shared}
	other.start(second, nil)
	t.Cleanup(func() { other.stop() })
	other.settle()
	assert.Empty(t, second.counts())
}

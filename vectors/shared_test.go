package vectors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// sharedVectors stands for the database that nodes share.
type sharedVectors struct {
	mu     sync.Mutex
	known  map[string][]byte
	fail   error
	broken bool // what it returns has another length
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

func (s *sharedVectors) KeepVectors(_ context.Context, model string, vectors map[string][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h, v := range vectors {
		s.known[model+h] = v
	}
	return s.fail
}

// A text is embedded by one of the nodes that share vectors, and the others find as
// well with it; without the database, or with what cannot be a vector of the model, each
// embeds its own.
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
		w.requireTruth()
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
	shared.broken = true
	fourth, _ := embed()
	assert.NotEmpty(t, fourth.counts())
	shared.fail = errors.New("the database is down")
	fifth, _ := embed()
	assert.Equal(t, fourth.counts(), fifth.counts())
}

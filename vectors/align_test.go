package vectors

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/vectors/flat"
	"notesd/vectors/language"
)

// A model finds a query nearer to any passage in its own language than to the one with its
// meaning in another. The aligned query is as near to all languages.
func TestSpace_Aligned(t *testing.T) {
	const dim, topics = 64, 3 * alignedFrom
	e := calibrated{newWordEmbedder("m")}
	s, err := newSpace(t.TempDir(), 1, e)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.slots.Close()) })
	random := rand.New(rand.NewPCG(1, 2))
	vector := func(topic, group int) []float32 {
		r := rand.New(rand.NewPCG(uint64(topic), 3))
		v := make([]float32, dim)
		v[0], v[group] = 2, 1 // all passages are alike, and those in one language more so
		for i := 4; i < dim; i++ {
			v[i] = float32(r.NormFloat64()+.3*random.NormFloat64()) * .1
		}
		return flat.Normalised(v)
	}
	of, groups := samples{}, []language.Group{"", language.English, "French", "German"}
	for topic := range topics {
		group := 1 + topic%3
		var key slotKey
		binary.LittleEndian.PutUint64(key[:], uint64(topic+1))
		slot, err := s.slots.add(key, vector(topic, group))
		require.NoError(t, err)
		s.entries.add(int64(topic), 0, slot)
		of[groups[group]] = append(of[groups[group]], key)
	}
	s.slots.publish()
	s.entries.grow()
	query := vector(1, 1) // the passage with this meaning is in the second language

	s.align(samples{language.English: of[language.English]})
	same, own := s.aligned(query)
	assert.Same(t, &query[0], &same[0], "there is one language")
	assert.Nil(t, own)
	assert.NotEqual(t, int64(1), s.entries.nearest(query, nil, 1)[0].note)

	few := samples{}
	for g := range of {
		few[g] = of[g][1:]
	}
	s.align(few)
	require.Empty(t, s.means, "too few passages of each")
	s.align(samples{language.English: of["French"], "French": of["French"]})
	require.Len(t, s.means, 1, "they are alike")
	s.align(of)
	require.Len(t, s.means, 3)
	got, own := s.aligned(query)
	assert.Equal(t, s.means[0], own)
	for _, mean := range s.means {
		assert.InDelta(t, dot(query, own), dot(got, mean), 1e-4)
	}
	assert.Equal(t, int64(1), s.entries.nearest(got, nil, 1)[0].note)
	hits := []notes.SemanticHit{{NoteID: 0}, {NoteID: 1}, {NoteID: 2}, {NoteID: 3}}
	s.markAcross(own, hits)
	assert.Equal(t, []notes.SemanticHit{{NoteID: 0}, {NoteID: 1, Across: true}, {NoteID: 2, Across: true}, {NoteID: 3}}, hits)

	s.embedder = newWordEmbedder("m")
	s.align(of)
	assert.Empty(t, s.means, "the model is not known to be multilingual")
}

// The languages are known whether the model was chosen or configured, and follow the notes.
func TestIndex_AlignsLanguages(t *testing.T) {
	for name, fixed := range map[string]Embedder{"auto": nil, "configured": calibrated{newWordEmbedder("multi")}} {
		t.Run(name, func(t *testing.T) {
			b := newBilingual(t)
			b.fill(alignedFrom-1, alignedFrom)
			b.start(fixed, func(string) (Embedder, error) { return calibrated{b.multilingual}, nil })
			languages := func(want int) {
				t.Helper()
				require.Eventually(t, func() bool {
					b.index.mu.RLock()
					defer b.index.mu.RUnlock()
					return b.index.serving != nil && b.index.serving.complete() && len(b.index.serving.means) == want
				}, patience, time.Millisecond)
			}
			languages(1)
			text, err := os.ReadFile(filepath.Join(b.dir, "The 0.md"))
			require.NoError(t, err)
			for i := range alignedFrom {
				b.write(fmt.Sprintf("%d/The 0.md", i), string(text))
			}
			require.NoError(t, b.vault.Reconcile(context.Background()))
			w := &worker{Index: b.index}
			_, err = w.judge(context.Background())
			require.NoError(t, err)
			assert.Len(t, w.samples[language.English], alignedFrom-1, "copies are one passage")
			b.fill(alignedFrom+10, alignedFrom)
			languages(2)
			assert.Equal(t, fixed == nil, b.index.Status().Why != "")

			b.wait = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
			b.restart(fixed, func(string) (Embedder, error) { return calibrated{b.multilingual}, nil })
			<-b.index.loaded
			b.index.mu.RLock()
			defer b.index.mu.RUnlock()
			assert.Len(t, b.index.serving.means, 2, "before the first scan")
		})
	}
}

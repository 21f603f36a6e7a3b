package vectors

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func one(int64) int { return 1 }

func drain(b *backlog, n int, last lane) (ids []int64) {
	for {
		next, _ := b.next(n, last, one)
		if len(next) == 0 {
			return ids
		}
		ids = append(ids, next...)
	}
}

func TestBacklog_Lanes(t *testing.T) {
	b := newBacklog()
	for id := range int64(6) {
		b.add(id, tails)
	}
	b.add(1, heads)
	b.add(2, edited)
	b.add(3, edited)
	b.add(3, tails) // it stays where it is
	b.add(4, heads)
	b.remove(5)
	assert.Equal(t, 5, b.len())
	ids, from := b.next(10, edited, one)
	assert.Equal(t, []int64{3, 2}, ids, "the latest first")
	assert.Equal(t, edited, from)
	ids, _ = b.next(10, edited, one)
	assert.Empty(t, ids)
	ids, from = b.next(1, tails, one)
	assert.Equal(t, []int64{4}, ids)
	assert.Equal(t, heads, from)
	assert.Equal(t, []int64{1, 0}, drain(&b, 10, tails), "and none twice")
	assert.Zero(t, b.len())
}

// Notes are taken until they have enough passages.
func TestBacklog_Passages(t *testing.T) {
	for from, want := range map[lane]int{edited: 4, heads: 10, tails: 4} {
		b := newBacklog()
		for id := range int64(20) {
			b.add(id, from)
		}
		ids, _ := b.next(10, tails, func(int64) int { return 3 })
		assert.Len(t, ids, want, "lane %d", from)
		assert.Equal(t, 20-want, b.len())
	}
}

// Of an import only the latest notes count as edited.
func TestBacklog_Import(t *testing.T) {
	b := newBacklog()
	for id := range int64(mostEdited + 3) {
		b.add(id, edited)
	}
	b.remove(1)
	ids, from := b.next(1000, tails, one)
	assert.Len(t, ids, mostEdited)
	assert.Equal(t, edited, from)
	ids, from = b.next(1000, tails, one)
	assert.Equal(t, []int64{2, 0}, ids)
	assert.Equal(t, heads, from)
}

func TestBacklog_Sort(t *testing.T) {
	b := newBacklog()
	notes := map[int64]importance{
		1: {modified: 10, linking: 9}, 2: {modified: 20}, 3: {modified: 30, linking: 2}, 4: {modified: 40}, 5: {modified: 50}, 6: {modified: 15, linking: 5},
	}
	for id := range int64(6) {
		b.add(id+1, lane(id%int64(lanes)))
	}
	b.sort(notes)
	order := []int64{5, 1, 4, 6, 3, 2}
	assert.Equal(t, order, drain(&b, 2, heads), "the newest and the most linked in turn")
	for _, id := range order {
		b.add(id, tails)
	}
	assert.Equal(t, order, drain(&b, 1, tails), "their other passages in the same order")
	b.add(1, tails)
	b.add(2, tails)
	assert.Equal(t, []int64{2, 1}, drain(&b, 1, tails), "later the last first")
}

// The first passages of all notes are embedded before the second of any, except those
// of an edited note.
func TestIndex_Order(t *testing.T) {
	e := newOrdered()
	files := map[string]string{}
	for i := range 12 {
		var b strings.Builder
		for s := range 3 {
			fmt.Fprintf(&b, "## Part %d\n\n%s\n\n", s, strings.Repeat(fmt.Sprintf("note%d part%d ", i, s), 45))
		}
		files[fmt.Sprintf("n%d.md", i)] = b.String()
	}
	w := newWorld(t, newWordEmbedder("m1"), files)
	w.settle()
	w.restart(e, nil) // another model: these notes are not edited
	e.proceed(2)      // batches of four
	w.write("edited.md", strings.ReplaceAll(files["n0.md"], "note0", "edited"))
	require.NoError(t, w.vault.Reconcile(context.Background()))
	close(e.gate)
	w.settle()
	order := e.embedded()
	require.Equal(t, 13*(3+1), len(order)) //nolint:testifylint // Len prints the texts
	at := func(note, part string) int {
		return slices.IndexFunc(order, func(text string) bool { return strings.Contains(text, note+" "+part+" ") })
	}
	last := max(at("edited", "part0"), at("edited", "part1"), at("edited", "part2"))
	assert.Less(t, last, 5*4, "an edit waits for the batches that have begun only")
	for i := range 12 {
		for j := range 12 {
			assert.Less(t, at(fmt.Sprint("note", i), "part0"), at(fmt.Sprint("note", j), "part1"))
		}
	}
}

// ordered is an embedder that records the order of the texts.
type ordered struct {
	*wordEmbedder
	texts []string
}

func newOrdered() *ordered {
	e := &ordered{wordEmbedder: newWordEmbedder("m2")}
	e.gate = make(chan struct{})
	return e
}

func (e *ordered) proceed(batches int) {
	for range batches {
		e.gate <- struct{}{}
	}
}

func (e *ordered) EmbedPassages(ctx context.Context, texts []string, threads int, done func(int, []float32)) error {
	return e.wordEmbedder.EmbedPassages(ctx, texts, threads, func(i int, v []float32) {
		e.texts = append(e.texts, texts[i])
		done(i, v)
	})
}

func (e *ordered) embedded() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.texts)
}

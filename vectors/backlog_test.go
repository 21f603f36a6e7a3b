package vectors

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
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
	b.add(3, tails) // it keeps its lane
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

// Only the latest notes of an import count as edited.
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

// The notes that answer questions can be found long before embedding is complete. For a real
// vault and questions in the format of notesd eval:
//
//	EMBED_VAULT=folder EMBED_QUESTIONS=file go test -run TestIndex_EmbedsAnswersFirst -v ./vectors
func TestIndex_EmbedsAnswersFirst(t *testing.T) {
	e := newWordEmbedder("m1")
	w := &world{t: t, dir: os.Getenv("EMBED_VAULT"), state: t.TempDir(), load: func() Load { return idle },
		wait: func(context.Context) error { return nil }}
	answers := map[string]bool{}
	if w.dir == "" {
		w.dir = t.TempDir()
		for i := range 24 {
			name := fmt.Sprintf("note %02d.md", i)
			text := ""
			for section := range 8 {
				text += fmt.Sprintf("## Section %d\n\n%s\n\n", section, strings.Repeat(fmt.Sprintf("word%dx%d of it ", i, section), 60))
			}
			w.write(name, text)
			answers[name] = i%3 == 0
		}
	} else {
		var file struct{ Queries []struct{ Expected []string } }
		data, err := os.ReadFile(os.Getenv("EMBED_QUESTIONS"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &file))
		for _, q := range file.Queries {
			for _, path := range q.Expected {
				answers[path] = true
			}
		}
	}
	w.start(e, nil)
	t.Cleanup(func() { w.stop() })
	w.settle()

	e.mu.Lock()
	defer e.mu.Unlock()
	at := map[string]int{} // position of each in the order of embedding, from 1
	for i, text := range slices.Backward(e.order) {
		at[text] = i + 1
	}
	rows, err := w.store.Rows(t.Context(), nil)
	require.NoError(t, err)
	var ids []int64
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	slices.SortFunc(ids, func(a, b int64) int { return cmp.Compare(b, a) }) // the former order of embedding
	var found, before []int                                                 // passages embedded until an answer has a vector, and the same in the former order
	seen := 0
	for part := range slices.Chunk(ids, 100) {
		list, err := w.store.ByID(t.Context(), part)
		require.NoError(t, err)
		for _, n := range list {
			if answers[n.Path] {
				found, before = append(found, firstOf(n, at)), append(before, seen+1)
			}
			seen += len(n.Chunks)
		}
	}
	require.NotEmpty(t, found)
	slices.Sort(found)
	slices.Sort(before)
	share := func(list []int, of int) float64 { return float64(list[len(list)/2]) / float64(of) }
	t.Logf("half of %d answers have a vector after %.1f %% of the passages; without an order after %.1f %%",
		len(found), 100*share(found, len(e.order)), 100*share(before, seen))
	assert.Less(t, share(found, len(e.order)), share(before, seen)/2)
}

// firstOf returns the position at which the first passage of a note was embedded.
func firstOf(n *notes.Note, at map[string]int) int {
	n.Content = n.SearchText()
	first := 0
	for _, c := range n.Chunks {
		if i := at[n.EmbedText(c)]; i > 0 && (first == 0 || i < first) {
			first = i
		}
	}
	return first
}

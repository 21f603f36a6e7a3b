package search

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/search/index"
)

// Benchmarks run on a generated vault of NOTESD_BENCH_NOTES notes (default 500) of about 7 KB
// each. The design's figures are for 10000 notes, which are 70 MB:
//
//	NOTESD_BENCH_NOTES=10000 go test -run '^$' -bench . ./search

// generated is a deterministic vault in memory whose words are distributed as in natural
// language.
type generated struct {
	notes []*notes.Note
	bytes int64
	words []string // most frequent first
}

func generate(n int) *generated {
	r := rand.New(rand.NewPCG(1, 2))
	g := &generated{}
	syllables := strings.Fields("ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu tion ing ed er")
	seen := map[string]bool{}
	for len(g.words) < 60_000 {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString(syllables[r.IntN(len(syllables))])
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			g.words = append(g.words, w)
		}
	}
	zipf := rand.NewZipf(r, 1.07, 3, uint64(len(g.words)-1))
	for i := range n {
		g.add(i, r, zipf)
	}
	return g
}

// add adds a note of sections, paragraphs and sentences.
func (g *generated) add(i int, r *rand.Rand, zipf *rand.Zipf) {
	title := g.words[r.IntN(len(g.words))] + " " + strconv.Itoa(i)
	n := &notes.Note{ID: int64(i + 1), Path: fmt.Sprintf("Folder %d/%s.md", i%40, title), Title: title, Tags: []string{g.words[i%50]}}
	var b strings.Builder
	b.WriteString("# " + title + "\n\n")
	n.Headings = append(n.Headings, notes.Heading{Level: 1, Text: title, Line: 1})
	line := 3
	size := 2000 + r.IntN(10_000)
	for b.Len() < size {
		start := b.Len()
		for range 40 + r.IntN(80) {
			b.WriteString(g.words[zipf.Uint64()])
			b.WriteString([]string{" ", " ", " ", " ", " ", " ", " ", ", ", ". ", "-"}[r.IntN(10)])
		}
		b.WriteString("\n\n")
		n.Chunks = append(n.Chunks, notes.Chunk{Ordinal: len(n.Chunks), Path: []string{title}, Start: start, End: b.Len(), LineStart: line, LineEnd: line})
		line += 2
	}
	n.Content = b.String()
	n.Size = int64(b.Len())
	g.bytes += n.Size
	g.notes = append(g.notes, n)
}

// ByID, Resolve, ResolveSearch and List make a generated vault a Store.
func (g *generated) ByID(_ context.Context, ids []int64) (out []*notes.Note, err error) {
	for _, id := range ids {
		out = append(out, g.notes[id-1])
	}
	return out, nil
}

func (g *generated) Metas(_ context.Context, ids []int64) (out []notes.Meta, err error) {
	for _, id := range ids {
		n := g.notes[id-1]
		out = append(out, notes.Meta{ID: id, Path: n.Path, Title: n.Title, Modified: n.Modified, Date: n.Date})
	}
	return out, nil
}

func (g *generated) WhyNothing(context.Context, notes.Filter) ([]string, error) { return nil, nil }

func (g *generated) Resolve(context.Context, notes.Filter) (*notes.IDSet, error) { return nil, nil }

func (g *generated) ResolveSearch(context.Context, notes.Filter) (*notes.IDSet, error) {
	return nil, nil
}

func (g *generated) List(context.Context, notes.ListQuery) (notes.ListPage, error) {
	return notes.ListPage{}, nil
}

// fill feeds the notes to the index a thousand at a time, as a vault does.
func (g *generated) fill(b testing.TB, x *index.Index) {
	const each = 1000
	for i := 0; i < len(g.notes); i += each {
		last := min(i+each, len(g.notes))
		apply(b, x, uint64(last), g.notes[i:last]...)
	}
}

func openIndex(b testing.TB, dir string) *index.Index {
	x, err := index.Open(context.Background(), dir, slog.New(slog.DiscardHandler))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, x.Close()) })
	return x
}

func apply(b testing.TB, x *index.Index, seq uint64, all ...*notes.Note) {
	changes := make([]notes.Change, len(all))
	for i, n := range all {
		changes[i] = notes.Change{Kind: notes.Modified, NoteID: n.ID, Parsed: n}
	}
	require.NoError(b, x.Apply(context.Background(), notes.Position{Store: "store", Seq: seq}, changes))
}

func benchNotes() int {
	if n, err := strconv.Atoi(os.Getenv("NOTESD_BENCH_NOTES")); err == nil {
		return n
	}
	return 500
}

func BenchmarkBuild(b *testing.B) {
	g := generate(benchNotes())
	b.SetBytes(g.bytes)
	var disk int64
	for b.Loop() {
		dir := b.TempDir()
		x := openIndex(b, dir)
		g.fill(b, x)
		b.StopTimer() // Close waits until all is saved
		require.NoError(b, x.Close())
		s, err := openIndex(b, dir).Stats()
		require.NoError(b, err)
		disk = s.Bytes
		b.StartTimer()
	}
	b.ReportMetric(float64(disk)/float64(g.bytes), "index/vault")
}

func BenchmarkSave(b *testing.B) {
	g := generate(benchNotes())
	x := openIndex(b, b.TempDir())
	g.fill(b, x)
	seq := uint64(len(g.notes))
	for b.Loop() {
		seq++
		apply(b, x, seq, g.notes[seq%uint64(len(g.notes))])
	}
}

func BenchmarkSearch(b *testing.B) {
	g := generate(benchNotes())
	x := openIndex(b, b.TempDir())
	g.fill(b, x)
	e := NewEngine(g, x, nil, EngineOptions{})
	r := rand.New(rand.NewPCG(3, 4))
	queries := make([]string, 200)
	for i := range queries {
		var words []string
		for range 1 + r.IntN(4) {
			words = append(words, g.words[r.IntN(3000)])
		}
		queries[i] = strings.Join(words, " ")
	}
	b.Run("index", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			req := newRequest(parseQuery(queries[i%len(queries)], parseTime), notes.Filter{})
			_, err := x.Rank(context.Background(), &req.plan, nil, nil, poolSize)
			require.NoError(b, err)
		}
	})
	b.Run("engine", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			_, err := e.Search(context.Background(), Query{Text: queries[i%len(queries)], Mode: ModeText})
			require.NoError(b, err)
		}
	})
}

package table

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/internal/sqlite"
	"notesd/notes"
)

// tableEmbedder embeds words as random directions of 64 dimensions. Like a server, it can be
// unavailable and has no dimension before its first answer.
type tableEmbedder struct {
	id     string
	away   bool
	dim    int
	before func() // if not nil, is called before a text is embedded
}

func (e *tableEmbedder) ID() string { return e.id }

func (e *tableEmbedder) Dim() int { return e.dim }

func (e *tableEmbedder) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	if e.away {
		return nil, errors.New("waiting for the server")
	}
	if e.before != nil {
		e.before()
	}
	if e.dim == 0 {
		e.dim = 64
	}
	return notestest.EmbedWords(e.id, text, 64), nil
}

// tableModels are models by source.
type tableModels struct {
	current, unrecorded string // sources
	models              map[string]*tableEmbedder
}

func (m *tableModels) Current() (Model, string) {
	if e := m.models[m.current]; e != nil {
		return e, m.current
	}
	return nil, ""
}

func (m *tableModels) Unrecorded() string { return m.unrecorded }

func (m *tableModels) Open(source string) (Model, error) {
	if e := m.models[source]; e != nil {
		return e, nil
	}
	return nil, errors.New("no such file")
}

// oneModel returns models with a single one of 64 dimensions.
func oneModel() *tableModels {
	return &tableModels{current: "a", unrecorded: "a", models: map[string]*tableEmbedder{"a": {id: "m", dim: 64}}}
}

func openHistory(t testing.TB, dir string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "history.db"), sqlite.HistorySchema)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// newTables opens tables whose database and caches are in dir.
func newTables(t testing.TB, dir string, opt Options) *Tables {
	t.Helper()
	tables := New(openHistory(t, dir), filepath.Join(dir, "cache"), oneModel(), opt)
	t.Cleanup(func() { require.NoError(t, tables.Close()) })
	return tables
}

func createTable(t testing.TB, tables *Tables, name string, dim int, metric Metric) {
	t.Helper()
	_, err := tables.Create(t.Context(), CreateTableRequest{Name: name, Dimension: dim, Metric: metric})
	require.NoError(t, err)
}

// tableModel is the expected content of a table.
type tableModel struct {
	metric Metric
	rows   map[string]modelledRow
}

type modelledRow struct {
	vector   []float32
	metadata map[string]any
}

// search is the brute-force reference for Tables.
func (m *tableModel) search(q []float32, where map[string]any) []Hit {
	var hits []Hit
	for id, r := range m.rows {
		if notes.Periods(nil).WhereMatches(where, r.metadata) {
			hits = append(hits, Hit{ID: id, Score: plainScore(m.metric, q, r.vector)})
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits
}

func plainScore(metric Metric, q, v []float32) float64 {
	inner, qq, vv, apart := 0.0, 0.0, 0.0, 0.0
	for i := range q {
		a, b := float64(q[i]), float64(v[i])
		inner, qq, vv, apart = inner+a*b, qq+a*a, vv+b*b, apart+(a-b)*(a-b)
	}
	switch metric {
	case Dot:
		return inner
	case L2:
		return -math.Sqrt(apart)
	}
	return inner / math.Sqrt(qq*vv)
}

// requireSame checks hits against brute force: the scores must be the same, and each hit must
// have its own.
func (m *tableModel) requireSame(t *testing.T, tables *Tables, table string, q []float32, where map[string]any, limit int) {
	t.Helper()
	got, err := tables.Search(context.Background(), Query{Table: table, Vector: q, Where: where, Limit: limit})
	require.NoError(t, err)
	want := m.search(q, where)
	want = want[:min(limit, len(want))]
	require.Len(t, got, len(want), "where %v", where)
	for i := range want {
		require.InDelta(t, want[i].Score, got[i].Score, 1e-9*math.Max(1, math.Abs(want[i].Score)), "place %d, where %v", i, where)
		r, ok := m.rows[got[i].ID]
		require.True(t, ok, "%s is no row", got[i].ID)
		require.True(t, notes.Periods(nil).WhereMatches(where, r.metadata))
		require.InDelta(t, plainScore(m.metric, q, r.vector), got[i].Score, 1e-9*math.Max(1, math.Abs(got[i].Score)))
		var metadata map[string]any
		require.NoError(t, json.Unmarshal(got[i].Metadata, &metadata))
		assert.Equal(t, r.metadata, metadata)
	}
}

func randomRow(rng *rand.Rand, dim, id int) (NewRow, modelledRow) {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64()*(1+float64(i%3)) + 0.5)
	}
	metadata := map[string]any{"group": fmt.Sprint("g", rng.IntN(5)), "n": float64(rng.IntN(1000)), "rare": rng.IntN(200) == 0}
	data, err := json.Marshal(metadata)
	if err != nil {
		panic(err) // a map of plain values
	}
	return NewRow{ID: fmt.Sprint("row ", id), Vector: v, Metadata: data}, modelledRow{v, metadata}
}

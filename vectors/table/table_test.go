package table

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/sqlite"
	"notesd/notes"
)

func TestTableChecks(t *testing.T) {
	ctx := t.Context()
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "t", 2, Cosine)
	createTable(t, tables, "dot", 2, Dot)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	rows := func(rows ...NewRow) AddRequest { return AddRequest{Table: "t", Rows: rows} }
	ok := NewRow{Vector: []float32{1, 2}}
	for name, c := range map[string]struct {
		add  AddRequest
		kind error
		want string
	}{
		"no table":      {AddRequest{Table: "u", Rows: []NewRow{ok}}, notes.ErrNotFound, "no such table"},
		"no rows":       {rows(), notes.ErrInvalid, "nothing to add"},
		"no vector":     {rows(NewRow{}), notes.ErrInvalid, "0 numbers, and the table takes 2"},
		"wrong length":  {rows(ok, ok, NewRow{Vector: []float32{1, 2, 3}}), notes.ErrInvalid, "row 3 of 3 has 3 numbers, and the table takes 2"},
		"NaN":           {rows(NewRow{Vector: []float32{1, nan}}), notes.ErrInvalid, "NaN at position 2"},
		"infinity":      {rows(NewRow{Vector: []float32{-inf, 1}}), notes.ErrInvalid, "infinite number at position 1"},
		"too large":     {rows(NewRow{Vector: []float32{3e37, 1}}), notes.ErrInvalid, "3e+37 at position 1"},
		"too small":     {rows(NewRow{Vector: []float32{1, -3e37}}), notes.ErrInvalid, "-3e+37 at position 2"},
		"zeros":         {rows(NewRow{Vector: []float32{0, 0}}), notes.ErrInvalid, "all zeros"},
		"both":          {rows(NewRow{Vector: []float32{1, 2}, Text: "x"}), notes.ErrInvalid, "both a vector and a text"},
		"text":          {rows(NewRow{Text: "x"}), notes.ErrInvalid, "text gives vectors of 64 numbers, and the table takes 2"},
		"list":          {rows(NewRow{Vector: ok.Vector, Metadata: json.RawMessage(`[1]`)}), notes.ErrInvalid, "not a JSON object"},
		"broken JSON":   {rows(NewRow{Vector: ok.Vector, Metadata: json.RawMessage(`{"a":`)}), notes.ErrInvalid, "not a JSON object"},
		"broken UTF-8":  {rows(NewRow{Vector: ok.Vector, Metadata: json.RawMessage("{\"a\":\"\xff\"}")}), notes.ErrInvalid, "not a JSON object"},
		"long metadata": {rows(NewRow{Vector: ok.Vector, Metadata: json.RawMessage(`{"a":"` + strings.Repeat("x", MaxMetadataBytes) + `"}`)}), notes.ErrInvalid, "65536 are allowed"},
		"long id":       {rows(NewRow{ID: strings.Repeat("i", 257), Vector: ok.Vector}), notes.ErrInvalid, "257 bytes"},
		"id with NUL":   {rows(NewRow{ID: "a\x00", Vector: ok.Vector}), notes.ErrInvalid, "control characters"},
		"same id":       {rows(NewRow{ID: "a", Vector: ok.Vector}, ok, NewRow{ID: "a", Vector: ok.Vector}), notes.ErrInvalid, "rows 1 and 3"},
		"too many":      {rows(make([]NewRow, MaxRowsPerCall+1)...), notes.ErrInvalid, "1001 rows"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tables.Add(ctx, c.add)
			requireSays(t, err, c.kind, c.want)
		})
	}
	infos, err := tables.List(ctx)
	require.NoError(t, err)
	assert.Equal(t, 0, infos[0].Rows+infos[1].Rows, "none of them added anything")
	_, err = tables.Add(ctx, AddRequest{Table: "dot", Rows: []NewRow{{Vector: []float32{0, 0}}}})
	require.NoError(t, err, "zeros have an inner product")
	largest := NewRow{ID: strings.Repeat("i", maxRowID), Vector: []float32{maxNumber, -maxNumber}, Metadata: json.RawMessage(`{"a":"` + strings.Repeat("x", MaxMetadataBytes-len(`{"a":""}`)) + `"}`)}
	_, err = tables.Add(ctx, AddRequest{Table: "dot", Rows: []NewRow{largest}})
	require.NoError(t, err, "all of it is within the limits")
	for _, q := range []Query{
		{Table: "t"}, {Table: "t", Vector: []float32{1}}, {Table: "t", Vector: []float32{0, 0}}, {Table: "t", Vector: []float32{nan, 1}},
		{Table: "t", Text: "x"}, {Table: "t", Text: "x", Vector: ok.Vector}, {Table: "t", Vector: ok.Vector, Where: map[string]any{"a": map[string]any{"~": 1.0}}},
	} {
		_, err := tables.Search(ctx, q)
		requireSays(t, err, notes.ErrInvalid, "")
	}
}

func requireSays(t *testing.T, err, kind error, want string) {
	t.Helper()
	var e *notes.Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, kind)
	require.ErrorContains(t, err, want)
	require.NotEmpty(t, e.Hint, "what to do next")
}

func TestTableNames(t *testing.T) {
	ctx := t.Context()
	tables := newTables(t, t.TempDir(), Options{})
	for _, name := range []string{"a", "Käse", "日本", "v1.2_x-y", strings.Repeat("é", 64), "  spaces  "} {
		createTable(t, tables, name, 1, "")
	}
	for _, name := range []string{"", "  ", "a b", "../a", "a/b", "-a", ".a", "🧀", "a\x00", "a\xff", strings.Repeat("e", 65)} {
		_, err := tables.Create(ctx, CreateTableRequest{Name: name, Dimension: 1})
		requireSays(t, err, notes.ErrInvalid, "")
	}
	_, err := tables.Create(ctx, CreateTableRequest{Name: "Ka\u0308se", Dimension: 1})
	requireSays(t, err, notes.ErrExists, "exists already")
	for _, dimension := range []int{-1, MaxDimension + 1} {
		_, err := tables.Create(ctx, CreateTableRequest{Name: "d", Dimension: dimension})
		requireSays(t, err, notes.ErrInvalid, fmt.Sprint(dimension))
	}
	info, err := tables.Create(ctx, CreateTableRequest{Name: "texts"})
	require.NoError(t, err)
	require.Equal(t, 64, info.Dimension, "that of the model")
	require.Equal(t, "m", info.Model)
	unchosen := New(openHistory(t, t.TempDir()), t.TempDir(), &tableModels{}, Options{})
	t.Cleanup(func() { require.NoError(t, unchosen.Close()) })
	_, err = unchosen.Create(ctx, CreateTableRequest{Name: "texts"})
	requireSays(t, err, notes.ErrUnavailable, "the embedding model is not chosen")
	_, err = tables.Create(ctx, CreateTableRequest{Name: "m", Dimension: 1, Metric: "hamming"})
	requireSays(t, err, notes.ErrInvalid, "hamming")
	requireSays(t, checkSize(Info{Item: Item{Dimension: 1}}, MaxTableRows+1), notes.ErrTooLarge, "5000000")
	requireSays(t, checkSize(Info{Item: Item{Dimension: 4096}}, 600_000), notes.ErrTooLarge, "524288")
}

// A call that is repeated because its answer was lost has no further effect.
func TestTables_RepeatedCalls(t *testing.T) {
	ctx := t.Context()
	tables := newTables(t, t.TempDir(), Options{})
	for range 2 {
		_, err := tables.Create(ctx, CreateTableRequest{Name: "t", Dimension: 1, RequestKey: "k1"})
		require.NoError(t, err)
	}
	add := AddRequest{Table: "t", Rows: []NewRow{{Vector: []float32{1}}, {Vector: []float32{2}}}, RequestKey: "k2"}
	first, err := tables.Add(ctx, add)
	require.NoError(t, err)
	second, err := tables.Add(ctx, add)
	require.NoError(t, err)
	assert.Equal(t, first, second)
	add.RequestKey = ""
	third, err := tables.Add(ctx, add)
	require.NoError(t, err)
	assert.NotContains(t, third, first[0])
	infos, err := tables.List(ctx)
	require.NoError(t, err)
	assert.Equal(t, 4, infos[0].Rows)
}

// Two calls with the same key at the same time have the effect and the answer of one.
func TestTables_RepeatedCallsAtOnce(t *testing.T) {
	ctx := t.Context()
	tables, models := switching(t)
	createTable(t, tables, "t", 64, Cosine)
	var both sync.WaitGroup
	twice := func(call func() error) {
		t.Helper()
		errs := make([]error, 2)
		for i := range errs {
			both.Go(func() { errs[i] = call() })
		}
		both.Wait()
		require.NoError(t, errors.Join(errs...))
	}

	var embedding sync.WaitGroup // neither call has stored its rows when the other embeds its text
	embedding.Add(2)
	models.models["one"].before = func() {
		embedding.Done()
		embedding.Wait()
	}
	ids := make(chan []string, 2)
	twice(func() error {
		added, err := tables.Add(ctx, AddRequest{Table: "t", Rows: []NewRow{{Text: "rye bread"}}, RequestKey: "add"})
		ids <- added
		return err
	})
	first := <-ids
	assert.Equal(t, first, <-ids)
	info, _, err := tables.Describe(ctx, "t", 0)
	require.NoError(t, err)
	assert.Equal(t, 1, info.Rows)

	createTable(t, tables, "many", 1, L2)
	const n = 2 * MaxRowsPerCall
	for range n / MaxRowsPerCall {
		rows := slices.Repeat([]NewRow{{Vector: []float32{1}, Metadata: json.RawMessage(`{"old": true}`)}}, MaxRowsPerCall)
		_, err := tables.Add(ctx, AddRequest{Table: "many", Rows: rows})
		require.NoError(t, err)
	}
	deleted := make(chan int, 2)
	twice(func() error {
		n, err := tables.DeleteRows(ctx, DeleteRowsRequest{Table: "many", Where: map[string]any{"old": true}, RequestKey: "delete"})
		deleted <- n
		return err
	})
	assert.Equal(t, []int{n, n}, []int{<-deleted, <-deleted})
}

// TestTables_FullDisk checks that a full disk is reported to clients.
func TestTables_FullDisk(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "t", 64, Cosine)
	require.NoError(t, tables.db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `PRAGMA max_page_count = 1`) // no page more than it has
		return err
	}))
	for what, add := range map[string]func() error{
		"table": func() error {
			_, err := tables.Create(t.Context(), CreateTableRequest{Name: fmt.Sprint("t", rand.Uint64()), Dimension: 64})
			return err
		},
		"row": func() error {
			_, err := tables.Add(t.Context(), AddRequest{Table: "t", Rows: []NewRow{{Vector: slices.Repeat([]float32{1}, 64)}}})
			return err
		},
	} {
		err := add()
		for i := 0; i < 1000 && err == nil; i++ { // until the present pages are full
			err = add()
		}
		require.ErrorIs(t, err, notes.ErrUnavailable, what)
		require.ErrorContains(t, err, "state is full", what)
	}
}

func TestTextInTables(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "t", 64, Cosine)
	_, err := tables.Add(t.Context(), AddRequest{Table: "t", Rows: []NewRow{{ID: "boat", Text: "keel sail"}, {ID: "bread", Text: "flour oven"}}})
	require.NoError(t, err)
	hits, err := tables.Search(t.Context(), Query{Table: "t", Text: "oven", Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, "bread", hits[0].ID)
}

func TestDroppedTables(t *testing.T) {
	ctx := t.Context()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	tables := newTables(t, dir, Options{Now: func() time.Time { return now }})
	fill := func(n int) {
		createTable(t, tables, "t", 1, L2)
		for range n {
			_, err := tables.Add(ctx, AddRequest{Table: "t", Rows: []NewRow{{Vector: []float32{1}}, {Vector: []float32{2}}}})
			require.NoError(t, err)
		}
		_, err := tables.Search(ctx, Query{Table: "t", Vector: []float32{1}})
		require.NoError(t, err)
		_, err = tables.Drop(ctx, "t", "")
		require.NoError(t, err)
	}
	fill(1)
	_, err := tables.Search(ctx, Query{Table: "t", Vector: []float32{1}})
	requireSays(t, err, notes.ErrNotFound, "no such table")
	now = now.Add(24 * time.Hour)
	fill(2)
	info, err := tables.Restore(ctx, "t")
	require.NoError(t, err)
	assert.Equal(t, 4, info.Rows, "the one dropped last")
	hits, err := tables.Search(ctx, Query{Table: "t", Vector: []float32{1}})
	require.NoError(t, err)
	assert.Len(t, hits, 4)
	_, err = tables.Restore(ctx, "t")
	requireSays(t, err, notes.ErrExists, "another table has the name")

	require.NoError(t, tables.Purge(ctx))
	dropped, err := tables.Dropped(ctx)
	require.NoError(t, err)
	assert.Len(t, dropped, 1)
	now = now.Add(6 * 24 * time.Hour) // the first is a week old
	require.NoError(t, tables.Purge(ctx))
	_, err = tables.Drop(ctx, "t", "")
	require.NoError(t, err)
	now = now.Add(keptDropped)
	_, err = tables.Restore(ctx, "t")
	requireSays(t, err, notes.ErrNotFound, "seven days")
	require.NoError(t, tables.Purge(ctx))
	var left int
	require.NoError(t, tables.db.Reader().QueryRowContext(ctx, `SELECT (SELECT count(*) FROM vector_tables) + (SELECT count(*) FROM vector_rows) + (SELECT count(*) FROM vector_values)`).Scan(&left))
	assert.Zero(t, left)
	files, err := os.ReadDir(filepath.Join(dir, "cache"))
	require.NoError(t, err)
	assert.Empty(t, files)
}

// Purge keeps a table whose cache file it cannot delete, so that the next one deletes both. It
// deletes the other tables.
func TestPurge_CacheNotDeleted(t *testing.T) {
	ctx := t.Context()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tables := newTables(t, t.TempDir(), Options{Now: func() time.Time { return now }})
	for _, name := range []string{"s", "t"} {
		createTable(t, tables, name, 1, L2)
		_, err := tables.Add(ctx, AddRequest{Table: name, Rows: []NewRow{{Vector: []float32{1}}}})
		require.NoError(t, err)
		_, err = tables.Drop(ctx, name, "")
		require.NoError(t, err)
	}
	now = now.Add(keptDropped)
	kept := func() []int64 {
		ids, err := sqlite.Column[int64](ctx, tables.db.Reader(), `SELECT table_id FROM vector_rows ORDER BY table_id`)
		require.NoError(t, err)
		return ids
	}
	require.Equal(t, []int64{1, 2}, kept())
	inTheWay := filepath.Join(tables.copies.path(1), "file")
	require.NoError(t, os.MkdirAll(inTheWay, 0o700))
	require.Error(t, tables.Purge(ctx))
	assert.Equal(t, []int64{1}, kept())
	require.NoError(t, os.Remove(inTheWay))
	require.NoError(t, tables.Purge(ctx))
	assert.Empty(t, kept())
	assert.NoDirExists(t, tables.copies.path(1))
}

// A copy of the state directory at any moment is consistent: no added row is missing, whatever
// the cache file contains.
func TestTables_AfterCrash(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	tables := newTables(t, dir, Options{})
	createTable(t, tables, "t", 16, Cosine)
	m := &tableModel{metric: Cosine, rows: map[string]modelledRow{}}
	rng := rand.New(rand.NewPCG(21, 22))
	for round := range 12 {
		var rows []NewRow
		for range 50 {
			row, modelled := randomRow(rng, 16, rng.IntN(300))
			if _, ok := m.rows[row.ID]; ok && len(rows) > 0 {
				continue
			}
			rows = append(rows, row)
			m.rows[row.ID] = modelled
		}
		_, err := tables.Add(ctx, AddRequest{Table: "t", Rows: rows})
		require.NoError(t, err)
		if round%2 == 0 {
			_, err = tables.Search(ctx, Query{Table: "t", Vector: rows[0].Vector})
			require.NoError(t, err)
		}
		after := t.TempDir()
		require.NoError(t, os.CopyFS(after, os.DirFS(dir)))
		damage(t, rng, filepath.Join(after, "cache"))
		copied := New(openHistory(t, after), filepath.Join(after, "cache"), nil, Options{})
		q, _ := randomRow(rng, 16, 0)
		m.requireSame(t, copied, "t", q.Vector, nil, 10)
		m.requireSame(t, copied, "t", q.Vector, map[string]any{"group": "g3"}, 10)
		require.NoError(t, copied.Close())
	}
}

// damage truncates the cache files or changes a byte in them.
func damage(t *testing.T, rng *rand.Rand, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	require.NoError(t, err)
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		switch at := rng.IntN(len(data)); rng.IntN(3) {
		case 0:
			data = data[:at]
		case 1:
			data[at] ^= 0xff
		}
		require.NoError(t, os.WriteFile(path, data, 0o600))
	}
}

// If an older history.db is restored beside a newer cache and written to, row numbers that it
// never had are not taken for those of other rows.
func TestTables_RestoredBackup(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	tables := newTables(t, dir, Options{Now: clock})
	createTable(t, tables, "t", 2, L2)
	add := func(tables *Tables, id string, x float32) {
		_, err := tables.Add(ctx, AddRequest{Table: "t", Rows: []NewRow{{ID: id, Vector: []float32{x, 0}}}})
		require.NoError(t, err)
	}
	add(tables, "old", 1)
	after := t.TempDir()
	require.NoError(t, tables.db.Backup(ctx, filepath.Join(after, "history.db")))
	add(tables, "lost", 2)
	_, err := tables.Search(ctx, Query{Table: "t", Vector: []float32{2, 0}})
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(filepath.Join(after, "cache"), os.DirFS(filepath.Join(dir, "cache"))))
	back := New(openHistory(t, after), filepath.Join(after, "cache"), nil, Options{Now: clock})
	add(back, "new", 3)
	hits, err := back.Search(ctx, Query{Table: "t", Vector: []float32{2.9, 0}})
	require.NoError(t, err)
	require.Len(t, hits, 2)
	assert.Equal(t, "new", hits[0].ID)
	assert.InDelta(t, -0.1, hits[0].Score, 1e-6)
	require.NoError(t, back.Close())
}

// Searches, changes, drops, evictions and a stop run concurrently.
func TestTables_Concurrent(t *testing.T) {
	ctx := t.Context()
	tables := newTables(t, t.TempDir(), Options{memory: 1})
	for i := range 3 {
		createTable(t, tables, fmt.Sprint("t", i), 8, Dot)
	}
	var wait sync.WaitGroup
	for w := range 6 {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 9))
			for range 40 {
				table := fmt.Sprint("t", rng.IntN(3))
				q, _ := randomRow(rng, 8, 0)
				var err error
				switch rng.IntN(4) {
				case 0:
					row, _ := randomRow(rng, 8, rng.IntN(50))
					_, err = tables.Add(ctx, AddRequest{Table: table, Rows: []NewRow{row}})
				case 1:
					_, err = tables.DeleteRows(ctx, DeleteRowsRequest{Table: table, Where: map[string]any{"group": "g1"}})
				case 2:
					tables.copies.trim(nil)
				default:
					_, err = tables.Search(ctx, Query{Table: table, Vector: q.Vector, Where: map[string]any{"group": "g2"}})
				}
				assert.NoError(t, err)
			}
		})
	}
	wait.Wait()
	require.NoError(t, tables.Close())
	_, err := tables.Search(ctx, Query{Table: "t0", Vector: make([]float32, 8)})
	requireSays(t, err, notes.ErrUnavailable, "stopping")
}

// A row that is replaced again and again is in the results of every search.
func TestSearch_RowReplacedMeanwhile(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "t", 2, Dot)
	replace := func() {
		_, err := tables.Add(t.Context(), AddRequest{Table: "t", Rows: []NewRow{{ID: "a", Vector: []float32{1, 2}, Metadata: json.RawMessage(`{"kind":"x"}`)}}})
		assert.NoError(t, err)
	}
	replace()
	var wait sync.WaitGroup
	var done atomic.Bool
	wait.Go(func() {
		for !done.Load() {
			replace()
		}
	})
	for i := range 200 {
		q := Query{Table: "t", Vector: []float32{1, 2}}
		if i%2 == 0 {
			q.Where = map[string]any{"kind": "x"}
		}
		hits, err := tables.Search(t.Context(), q)
		assert.NoError(t, err)
		assert.Len(t, hits, 1, "search %d", i)
	}
	done.Store(true)
	wait.Wait()
}

// A search does not wait for the rows that are replaced in another table.
func TestSearch_RowReplacedInOtherTable(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "a", 2, Dot)
	createTable(t, tables, "b", 2, Dot)
	tables.write.Lock()
	tables.replaced(1).Add(1)
	done := make(chan error, 1)
	go func() {
		_, err := tables.Search(t.Context(), Query{Table: "b", Vector: []float32{1, 2}})
		done <- err
	}()
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		t.Error("the search waits")
	}
	tables.write.Unlock()
}

// The next copy of the table would open the file while this one has it open, and on Windows
// it could then not replace it.
func TestCopies_TrimLeavesOutCopiesInUse(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{memory: 1})
	createTable(t, tables, "t", 4, Dot)
	addModelled(t, tables, "t", Dot, 10, 4)
	_, err := tables.Search(t.Context(), Query{Table: "t", Vector: make([]float32, 4)})
	require.NoError(t, err)
	c := tables.copies.loaded(1)
	require.NotNil(t, c)
	c.mu.RLock()
	tables.copies.trim(nil)
	assert.Same(t, c, tables.copies.loaded(1))
	assert.NotNil(t, c.file)
	c.mu.RUnlock()
	tables.copies.trim(nil)
	assert.Nil(t, tables.copies.loaded(1))
	assert.Nil(t, c.file)
}

func TestTables_UnloadIdle(t *testing.T) {
	dir := t.TempDir()
	db := openHistory(t, dir)
	synctest.Test(t, func(t *testing.T) {
		tables := New(db, filepath.Join(dir, "cache"), nil, Options{})
		_, err := tables.Create(context.Background(), CreateTableRequest{Name: "t", Dimension: 1})
		require.NoError(t, err)
		_, err = tables.Search(context.Background(), Query{Table: "t", Vector: []float32{1}})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- tables.Run(ctx) }()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.NotNil(t, tables.copies.loaded(1))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.Nil(t, tables.copies.loaded(1))
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		require.NoError(t, tables.Close())
	})
}

func TestTables_ServerUnavailable(t *testing.T) {
	e := &tableEmbedder{id: "m", away: true}
	tables := New(openHistory(t, t.TempDir()), t.TempDir(), &tableModels{current: "a", models: map[string]*tableEmbedder{"a": e}}, Options{})
	t.Cleanup(func() { require.NoError(t, tables.Close()) })
	createTable(t, tables, "fits", 64, Cosine)
	createTable(t, tables, "small", 3, Cosine)
	ask := func(table string) error {
		_, err := tables.Search(t.Context(), Query{Table: table, Text: "keel"})
		return err
	}
	err := ask("fits")
	require.ErrorIs(t, err, notes.ErrUnavailable)
	require.ErrorContains(t, err, "waiting for the server")
	e.away = false
	require.ErrorIs(t, ask("small"), notes.ErrInvalid, "learnt from the answer")
	require.NoError(t, ask("fits"))
	assert.ErrorContains(t, ask("small"), "text gives vectors of 64 numbers, and the table takes 3")
}

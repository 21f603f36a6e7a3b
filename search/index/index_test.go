package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/blevesearch/vellum"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/phrase"
	"notesd/notes"
	"notesd/search/terms"
)

func openTest(t testing.TB, dir string) *Index {
	t.Helper()
	x, err := Open(context.Background(), dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, x.Close()) })
	return x
}

// aNote returns a note with the given text.
func aNote(id int64, text string) *notes.Note {
	return &notes.Note{ID: id, Path: fmt.Sprintf("n/%d.md", id), Title: fmt.Sprintf("Note %d", id), Content: text}
}

func changed(n *notes.Note) notes.Change {
	return notes.Change{Kind: notes.Modified, NoteID: n.ID, Parsed: n}
}

func deletion(id int64) notes.Change { return notes.Change{Kind: notes.Deleted, NoteID: id} }

func at(seq uint64) notes.Position { return notes.Position{Store: "store", Seq: seq} }

// save waits until all changes are on disk.
func save(x *Index) {
	x.pending.flush()
	x.db.mu.RLock()
	defer x.db.mu.RUnlock()
	x.db.save()
}

// planOf returns a plan of words.
func planOf(text string) *Plan {
	p := &Plan{}
	for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
		for _, t := range terms.Expand(nil, text, s) {
			p.Terms = append(p.Terms, PlanTerm{Lookup: Lookup{Text: t.Text}, Weight: 1, Times: 1})
		}
	}
	return p
}

// has returns the notes that have a word.
func has(t testing.TB, x *Index, word string) []int64 {
	t.Helper()
	found, err := x.Rank(context.Background(), planOf(word), nil, nil, 10_000)
	require.NoError(t, err)
	ids := []int64{}
	for _, h := range found.Best {
		ids = append(ids, h.Note)
	}
	return ids
}

func TestIndex_Apply(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "index")
	x := openTest(t, dir)
	p, err := x.Position()
	require.NoError(t, err)
	assert.Zero(t, p)

	require.NoError(t, x.Apply(ctx, at(3), []notes.Change{changed(aNote(1, "apple")), changed(aNote(2, "apple pear")), changed(aNote(1, "plum"))}))
	assert.Equal(t, []int64{2}, has(t, x, "apple"))
	assert.Equal(t, []int64{1}, has(t, x, "plum"), "the last change of a note counts")
	require.NoError(t, x.Apply(ctx, at(5), []notes.Change{deletion(2), changed(aNote(3, "pear"))}))
	assert.Equal(t, []int64{3}, has(t, x, "pear"))
	assert.Empty(t, has(t, x, "apple"))
	require.NoError(t, x.Apply(ctx, at(5), []notes.Change{deletion(2), changed(aNote(3, "pear"))}), "twice is as once")
	require.NoError(t, x.Apply(ctx, at(9), nil), "nothing but a position")
	require.NoError(t, x.Apply(ctx, at(10), []notes.Change{deletion(77)}), "a note that it never had")
	p, err = x.Position()
	require.NoError(t, err)
	assert.Equal(t, at(10), p)
	s, err := x.Stats()
	require.NoError(t, err)
	assert.Equal(t, 2, s.Notes)
	assert.Equal(t, at(10), s.Position)
	assert.Empty(t, s.Warnings)

	require.NoError(t, x.Reset(ctx))
	p, err = x.Position()
	require.NoError(t, err)
	assert.Zero(t, p)
	assert.Empty(t, has(t, x, "plum"))

	require.NoError(t, x.Close())
	require.NoError(t, x.Close(), "idempotent")
	_, err = x.Position()
	assert.ErrorIs(t, err, ErrClosed)
	assert.ErrorIs(t, x.Apply(ctx, at(11), []notes.Change{deletion(1)}), ErrClosed)
	assert.ErrorIs(t, x.Reset(ctx), ErrClosed)
}

// Of equal scores, those of the notes that were modified last are best, whatever the ids are,
// which depend on the order in which notes were first indexed.
func TestIndex_Rank_EqualScores(t *testing.T) {
	const all, limit = 150, 20
	for name, id := range map[string]func(i int) int64{
		"ascending":  func(i int) int64 { return int64(1 + i) },
		"descending": func(i int) int64 { return int64(all - i) },
	} {
		t.Run(name, func(t *testing.T) {
			x := openTest(t, filepath.Join(t.TempDir(), "index"))
			var changes []notes.Change
			var want []int64
			for i := range all {
				n := aNote(id(i), "apple")
				n.Title, n.Path, n.Modified = "Same", fmt.Sprintf("%03d/same.md", i), time.Unix(1_700_000_000+int64(i), 0)
				changes = append(changes, changed(n))
				want = append(want, n.ID)
			}
			require.NoError(t, x.Apply(t.Context(), at(all), changes[:all/2]))
			require.NotEmpty(t, has(t, x, "apple"), "there are several segments")
			require.NoError(t, x.Apply(t.Context(), at(all), changes[all/2:]))
			r, err := x.Rank(t.Context(), planOf("apple"), nil, nil, limit)
			require.NoError(t, err)
			defer r.Release()
			slices.Reverse(want)
			var got []int64
			for _, h := range r.Best {
				got = append(got, h.Note)
			}
			assert.Equal(t, want[:limit], got)
		})
	}
}

func TestIndex_Errors(t *testing.T) {
	x := openTest(t, filepath.Join(t.TempDir(), "index"))
	boom := errors.New("boom")
	bad := notes.Change{Kind: notes.Modified, NoteID: 2, Loader: func(context.Context, int64) (*notes.Note, error) { return nil, boom }}
	require.ErrorIs(t, x.Apply(context.Background(), at(2), []notes.Change{changed(aNote(1, "apple")), bad}), boom)
	p, err := x.Position()
	require.NoError(t, err)
	assert.Zero(t, p, "not past what failed")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	assert.ErrorIs(t, x.Apply(ctx, at(2), []notes.Change{changed(aNote(1, "apple"))}), context.Canceled)
	require.NoError(t, x.Apply(context.Background(), at(2), []notes.Change{changed(aNote(1, "apple")), changed(aNote(2, "apple"))}))
	assert.Len(t, has(t, x, "apple"), 2)
}

// Suggestions are ordered by the number of notes that have them, including those after a term
// that a single note has.
func TestSuggestionsByFrequency(t *testing.T) {
	ctx := context.Background()
	x := openTest(t, filepath.Join(t.TempDir(), "index"))
	var changes []notes.Change
	for i, word := range []string{"grubb", "grubk", "grubk", "grubk", "grubn", "grubn"} {
		changes = append(changes, changed(aNote(int64(i+1), word)))
	}
	require.NoError(t, x.Apply(ctx, at(6), changes))
	p := planOf("grubx")
	p.Unknown = func(with []int) []int {
		assert.Equal(t, []int{0}, with)
		return []int{0}
	}
	found, err := x.Rank(ctx, p, nil, nil, 10)
	require.NoError(t, err)
	assert.Equal(t, []string{"grubk", "grubn", "grubb"}, p.Terms[0].Others)
	assert.Equal(t, 6, found.Total)
}

// A word that a note has with umlauts, or without them, is the same word, and other similar words
// are guesses, of less weight.
func TestSuggestions_Umlauts(t *testing.T) {
	ctx := context.Background()
	x := openTest(t, filepath.Join(t.TempDir(), "index"))
	var changes []notes.Change
	for i, words := range []string{"Müller Muellner", "Mueler Käsespätzle", "Muenchen Juxgen", "Jürgen Juergan gusts gust"} {
		changes = append(changes, changed(aNote(int64(i+1), words)))
	}
	require.NoError(t, x.Apply(ctx, at(4), changes))
	for word, want := range map[string]PlanTerm{
		"mueller":       {Others: []string{"muller"}, Weight: 1},
		"kaesespaetzle": {Others: []string{"kasespatzl"}, Weight: 1},
		"munchen":       {Others: []string{"muenchen"}, Weight: 1},
		"jurgan":        {Others: []string{"juergan"}, Weight: 1},
		"guest":         {Others: []string{"gust"}, Weight: SuggestionWeight, Guess: true},
		"jurxen":        {Others: []string{"jurgen"}, Weight: SuggestionWeight, Guess: true},
	} {
		p := planOf(word)
		p.Unknown = func([]int) []int { return []int{0} }
		_, err := x.Rank(ctx, p, nil, nil, 10)
		require.NoError(t, err)
		got := p.Terms[0]
		assert.Equal(t, want, PlanTerm{Others: got.Others, Weight: got.Weight, Guess: got.Guess}, word)
	}
}

// Several Applies become one segment at the next search.
func TestApply_BatchesSegments(t *testing.T) {
	ctx := context.Background()
	x := openTest(t, filepath.Join(t.TempDir(), "index"))
	for i := range 20 {
		require.NoError(t, x.Apply(ctx, at(uint64(i+1)), []notes.Change{changed(aNote(int64(i+1), "apple"))}))
		p, err := x.Position()
		require.NoError(t, err)
		assert.Equal(t, at(uint64(i+1)), p)
	}
	assert.Len(t, has(t, x, "apple"), 20)
	s, err := x.Stats()
	require.NoError(t, err)
	assert.Equal(t, 1, s.Segments)

	require.NoError(t, x.Apply(ctx, at(21), []notes.Change{changed(aNote(1, "pear"))}))
	require.NoError(t, x.Apply(ctx, at(22), []notes.Change{changed(aNote(1, "plum"))}))
	require.NoError(t, x.Apply(ctx, at(23), []notes.Change{deletion(2)}))
	assert.Empty(t, has(t, x, "pear"))
	assert.Equal(t, []int64{1}, has(t, x, "plum"))
	assert.Len(t, has(t, x, "apple"), 18)
	require.NoError(t, x.Apply(ctx, at(24), []notes.Change{changed(aNote(30, "quince"))}))
	require.Eventually(t, func() bool { return x.pending.to.Load() == nil }, time.Minute, 10*time.Millisecond, "the flush runs without a request")
	assert.Equal(t, []int64{30}, has(t, x, "quince"))
}

func TestBuild(t *testing.T) {
	ctx := context.Background()
	x := openTest(t, filepath.Join(t.TempDir(), "index"))
	was := debug.SetGCPercent(-1)
	debug.SetGCPercent(was)
	changes, big := manyChangesOf(400)
	require.NoError(t, x.Apply(ctx, at(400), changes))
	assert.Len(t, has(t, x, "common"), 400)
	for _, id := range []int64{1, 57, 400, big} {
		assert.Equal(t, []int64{id}, has(t, x, fmt.Sprintf("own%d", id)))
	}
	p, err := x.Position()
	require.NoError(t, err)
	assert.Equal(t, at(400), p)
	require.NoError(t, x.Close())
	assert.Equal(t, was, debug.SetGCPercent(was), "the collector is as it was")
}

// manyChangesOf returns enough text for several batches. One note is large enough for a batch.
func manyChangesOf(n int) (changes []notes.Change, big int64) {
	big = int64(n / 3)
	for i := range n {
		id := int64(i + 1)
		text := fmt.Sprintf("common own%d %s", id, strings.Repeat(fmt.Sprintf("filler%d text ", i%50), 1000))
		if id == big {
			text += strings.Repeat("0123456789abcdef ", maxSegmentText/16)
		}
		changes = append(changes, changed(aNote(id, text)))
	}
	return changes, big
}

// Whenever a build is killed, the index on disk has all notes up to its position and possibly
// later ones, and is complete after the rest was fed.
func TestBuild_KilledProcess(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "index")
	x := openTest(t, dir)
	changes, _ := manyChangesOf(300)
	copies := []string{}
	for i := 0; i < len(changes); i += 60 {
		part := changes[i : i+60]
		require.NoError(t, x.Apply(ctx, at(uint64(part[len(part)-1].NoteID)), part))
		copies = append(copies, copyIndex(t, dir))
	}
	save(x)
	copies = append(copies, copyIndex(t, dir))
	for i, dir := range copies {
		y := openTest(t, dir)
		p, err := y.Position()
		require.NoError(t, err)
		for seq := range p.Seq {
			assert.Equal(t, []int64{int64(seq + 1)}, has(t, y, fmt.Sprintf("own%d", seq+1)), "copy %d at %d", i, p.Seq)
		}
		if i == len(copies)-1 {
			assert.Equal(t, at(300), p)
		}
		require.NoError(t, y.Apply(ctx, at(300), changes[p.Seq:]))
		assert.Len(t, has(t, y, "common"), 300)
		s, err := y.Stats()
		require.NoError(t, err)
		assert.Equal(t, 300, s.Notes)
		assert.Empty(t, s.Warnings)
	}
}

// copyIndex copies the files of an open index consistently. It retries if a merge replaces
// files that root.bolt names during the copy.
func copyIndex(t *testing.T, dir string) string {
	t.Helper()
	for {
		root, err := os.ReadFile(filepath.Join(dir, "root.bolt"))
		require.NoError(t, err)
		to := filepath.Join(t.TempDir(), "index")
		err = os.CopyFS(to, os.DirFS(dir))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a merge deleted a file
		}
		require.NoError(t, err)
		copied, err := os.ReadFile(filepath.Join(to, "root.bolt"))
		require.NoError(t, err)
		after, err := os.ReadFile(filepath.Join(dir, "root.bolt"))
		require.NoError(t, err)
		if bytes.Equal(root, after) && bytes.Equal(root, copied) {
			return to
		}
	}
}

func TestOpen_DamagedIndex(t *testing.T) {
	ctx := context.Background()
	whole := filepath.Join(t.TempDir(), "index")
	x := openTest(t, whole)
	changes, _ := manyChangesOf(100)
	require.NoError(t, x.Apply(ctx, at(100), changes))
	save(x)
	require.NoError(t, x.Close())
	segments := func(dir string) []string {
		found, err := filepath.Glob(filepath.Join(dir, "*.zap"))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		return found
	}
	for name, damage := range map[string]func(t *testing.T, dir string){
		"no root":        func(t *testing.T, dir string) { truncate(t, filepath.Join(dir, "root.bolt"), 0) },
		"short root":     func(t *testing.T, dir string) { truncate(t, filepath.Join(dir, "root.bolt"), 5000) },
		"garbage root":   func(t *testing.T, dir string) { overwrite(t, filepath.Join(dir, "root.bolt"), 0, 1<<15) },
		"root is folder": func(t *testing.T, dir string) { replaceByFolder(t, filepath.Join(dir, "root.bolt")) },
		"no segment": func(t *testing.T, dir string) {
			for _, s := range segments(dir) {
				require.NoError(t, os.Remove(s))
			}
		},
		"empty segment": func(t *testing.T, dir string) {
			for _, s := range segments(dir) {
				truncate(t, s, 0)
			}
		},
		"short segment": func(t *testing.T, dir string) {
			for _, s := range segments(dir) {
				truncate(t, s, 3000)
			}
		},
		"garbage segment": func(t *testing.T, dir string) {
			for _, s := range segments(dir) {
				overwrite(t, s, 0, 1<<30)
			}
		},
		"garbage footer": func(t *testing.T, dir string) {
			for _, s := range segments(dir) {
				overwrite(t, s, -64, 64)
			}
		},
		"a file": func(t *testing.T, dir string) {
			require.NoError(t, os.RemoveAll(dir))
			require.NoError(t, os.WriteFile(dir, []byte("x"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyIndex(t, whole)
			damage(t, dir)
			y := openTest(t, dir)
			p, err := y.Position()
			require.NoError(t, err)
			s, err := y.Stats()
			require.NoError(t, err)
			assert.Zero(t, p, "everything is fed again")
			require.Len(t, s.Warnings, 1)
			assert.NotContains(t, s.Warnings[0], filepath.Dir(dir))
			entries, err := os.ReadDir(filepath.Dir(dir))
			require.NoError(t, err)
			assert.Len(t, entries, 1, "it is removed")
			require.NoError(t, y.Apply(ctx, at(100), changes))
			assert.Len(t, has(t, y, "common"), 100)
		})
	}
}

// After the process was killed, every file is read, because Bleve's goroutines end the process
// if the disk cannot read a part of one.
func TestOpen_UnreadableFile(t *testing.T) {
	const unreadable = "/proc/self/mem" // reading its start fails like reading a damaged disk
	if _, err := os.Stat(unreadable); err != nil {
		t.Skip("this system has no such file")
	}
	dir := filepath.Join(t.TempDir(), "index")
	x := openTest(t, dir)
	changes, _ := manyChangesOf(10)
	require.NoError(t, x.Apply(t.Context(), at(10), changes))
	save(x)
	killed := copyIndex(t, dir)
	require.NoError(t, x.Close())
	for dir, want := range map[string]notes.Position{killed: {}, dir: at(10)} {
		require.NoError(t, os.Symlink(unreadable, filepath.Join(dir, "000000000099.zap")))
		y := openTest(t, dir)
		p, err := y.Position()
		require.NoError(t, err)
		assert.Equal(t, want, p)
	}
}

func truncate(t *testing.T, name string, size int64) {
	t.Helper()
	require.NoError(t, os.Truncate(name, size))
}

// overwrite fills part of a file with a pattern; a negative offset counts from
// the end.
func overwrite(t *testing.T, name string, offset, n int64) {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	if offset < 0 {
		offset += int64(len(data))
	}
	for i := offset; i < min(offset+n, int64(len(data))); i++ {
		data[i] = byte(i*7 + 3)
	}
	require.NoError(t, os.WriteFile(name, data, 0o600))
}

func replaceByFolder(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, os.Remove(name))
	require.NoError(t, os.Mkdir(name, 0o700))
}

// Damage inside a segment, which Open does not check, is found by a search. The search fails,
// and the index requests to be rebuilt.
func TestIndex_DamagedSegment(t *testing.T) {
	ctx := context.Background()
	for name, search := range map[string]func() error{
		"panic": func() error { panic("slice bounds out of range") },
		"error": func() error { return errors.New("error loading roaring bitmap") },
	} {
		t.Run(name, func(t *testing.T) {
			x := openTest(t, filepath.Join(t.TempDir(), "index"))
			found := 0
			x.OnDamage(func() { found++ })
			changes, _ := manyChangesOf(100)
			require.NoError(t, x.Apply(ctx, at(100), changes))
			for range 2 {
				require.ErrorIs(t, x.db.guard(search), notes.ErrUnavailable)
			}
			assert.Equal(t, 1, found)
			p, err := x.Position()
			require.NoError(t, err)
			assert.NotZero(t, p, "otherwise the vault would not reset it")
			assert.NotEqual(t, at(0).Store, p.Store)
			s, err := x.Stats()
			require.NoError(t, err)
			assert.Len(t, s.Warnings, 1)
			require.Error(t, x.Apply(ctx, at(101), changes[:1]), "the vault asks for the position then")
			require.NoError(t, x.Reset(ctx))
			require.NoError(t, x.Apply(ctx, at(100), changes))
			assert.Len(t, has(t, x, "common"), 100)
		})
	}
}

// The segments of an index are numbered from the start again after a reset. A search that
// began before has the old ones.
func TestReset_DuringSearch(t *testing.T) {
	ctx := context.Background()
	x := openTest(t, filepath.Join(t.TempDir(), "index"))
	require.NoError(t, x.Apply(ctx, at(1), []notes.Change{changed(aNote(1, "word")), changed(aNote(2, "word"))}))
	x.pending.flush()
	s, err := x.db.snapshot()
	require.NoError(t, err)
	require.NoError(t, x.Reset(ctx))
	_, err = s.segments.of(s.IndexSnapshot)
	s.close()
	require.NoError(t, err)
	require.NoError(t, x.Apply(ctx, at(1), []notes.Change{changed(aNote(3, "word"))}))
	assert.Equal(t, []int64{3}, has(t, x, "word"))
}

// A canceled search is no sign of damage.
func TestIndex_CanceledSearch(t *testing.T) {
	x := openTest(t, filepath.Join(t.TempDir(), "index"))
	require.NoError(t, x.Apply(context.Background(), at(1), []notes.Change{changed(aNote(1, "word"))}))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := x.Rank(ctx, planOf("word"), nil, nil, 10)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []int64{1}, has(t, x, "word"))
}

func TestOpen_OtherFormatVersion(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x := openTest(t, dir)
	require.NoError(t, x.db.bleve.SetInternal(keyFormat, []byte("0")))
	save(x)
	require.NoError(t, x.Close())
	x = openTest(t, dir)
	s, err := x.Stats()
	require.NoError(t, err)
	assert.Empty(t, s.Warnings, "an upgrade is no damage")
	assert.Zero(t, s.Notes)
	entries, err := os.ReadDir(filepath.Dir(dir))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing is set aside for its owner to delete")
}

func TestOpen_LockedIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	openTest(t, dir)
	_, err := Open(context.Background(), dir, slog.New(slog.DiscardHandler))
	require.ErrorIs(t, err, ErrLocked)
	entries, err := os.ReadDir(filepath.Dir(dir))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing is set aside")
}

func TestSearchWhileApplying(t *testing.T) {
	ctx := context.Background()
	x := openTest(t, filepath.Join(t.TempDir(), "index"))
	changes, _ := manyChangesOf(200)
	require.NoError(t, x.Apply(ctx, at(200), changes))
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				_, err := x.Rank(ctx, planOf("common text"), nil, nil, 10)
				if err != nil && !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
				if _, err := x.Stats(); err != nil && !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
			}
		})
	}
	for i := range 20 {
		id := int64(i + 1)
		require.NoError(t, x.Apply(ctx, at(uint64(200+i)), []notes.Change{changed(aNote(id, fmt.Sprintf("common changed%d", i)))}))
		assert.Equal(t, []int64{id}, has(t, x, fmt.Sprintf("changed%d", i)), "visible when Apply returns")
	}
	require.NoError(t, x.Reset(ctx))
	require.NoError(t, x.Apply(ctx, at(1), changes[:1]))
	require.NoError(t, x.Close())
	close(done)
	readers.Wait()
}

// If the index cannot be saved, it is searched in memory, and there is a warning until it can.
func TestIndex_SaveError(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "index")
	x := openTest(t, dir)
	away := dir + "-away"
	require.NoError(t, os.Rename(dir, away))
	require.NoError(t, x.Apply(ctx, at(1), []notes.Change{changed(aNote(1, "apple"))}))
	assert.Equal(t, []int64{1}, has(t, x, "apple"))
	warned := func() bool {
		s, err := x.Stats()
		return err == nil && len(s.Warnings) == 1 && strings.Contains(s.Warnings[0], "cannot be saved")
	}
	require.Eventually(t, warned, time.Minute, 10*time.Millisecond)
	require.NoError(t, os.Rename(away, dir))
	assert.Eventually(t, func() bool { return !warned() }, time.Minute, 10*time.Millisecond)
}

// A Reset that failed, for example on a full disk, can be retried.
func TestReset_Error(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "state", "index")
	x := openTest(t, dir)
	require.NoError(t, x.Apply(ctx, at(1), []notes.Change{changed(aNote(1, "apple"))}))
	require.NoError(t, os.RemoveAll(filepath.Dir(dir)))
	require.NoError(t, os.WriteFile(filepath.Dir(dir), nil, 0o600))
	require.Error(t, x.Reset(ctx))
	p, err := x.Position()
	require.NoError(t, err)
	assert.NotEmpty(t, p.Store, "otherwise the vault would not reset it again")
	require.Error(t, x.Apply(ctx, at(1), []notes.Change{changed(aNote(1, "apple"))}))
	require.NoError(t, os.Remove(filepath.Dir(dir)))
	require.NoError(t, x.Reset(ctx))
	require.NoError(t, x.Apply(ctx, at(1), []notes.Change{changed(aNote(1, "apple"))}))
	assert.Equal(t, []int64{1}, has(t, x, "apple"))
}

// A small vault that is searched by one process after another is indexed only once: Close waits
// for the disk, but not for Bleve's nap, which is an hour here.
func TestClose_SavesFirstIndex(t *testing.T) {
	defer func(nap int) { PersistNap = nap }(PersistNap)
	PersistNap = 3_600_000
	dir := filepath.Join(t.TempDir(), "index")
	x := openTest(t, dir)
	var all []notes.Change
	for id := int64(1); id <= 7; id++ {
		all = append(all, changed(aNote(id, fmt.Sprintf("number%d", id))))
	}
	require.NoError(t, x.Apply(context.Background(), at(90), all))
	require.Equal(t, []int64{7}, has(t, x, "number7"))
	require.NoError(t, x.Close())

	x = openTest(t, dir)
	p, err := x.Position()
	require.NoError(t, err)
	assert.Equal(t, at(90), p)
	assert.Equal(t, []int64{7}, has(t, x, "number7"))
}

// The suggestions for a word that no note has are the terms with the fewest edits in any
// segment and field, the most frequent first.
func TestLikeTerms(t *testing.T) {
	x := openTest(t, t.TempDir())
	apply := func(seq uint64, change notes.Change) {
		require.NoError(t, x.Apply(context.Background(), at(seq), []notes.Change{change}))
		save(x) // creates a segment
	}
	apply(1, changed(aNote(1, "garden gardener lighthouse Zürich")))
	apply(2, changed(aNote(2, "garden harden lighthouses rosemary mango")))
	apply(3, changed(&notes.Note{ID: 3, Path: "n/gardens and mangos.md", Title: "gardens and mangos", Content: "lantern mangle 😀moon"}))
	apply(4, changed(aNote(4, "mangy")))
	apply(5, deletion(4))
	apply(6, changed(aNote(6, "978-0-374-27563-1 0170-5550199 0171234567 report16 AN25-0417 2026-11-23 2024 1231 20250107 1234567 00498912345678 1250000")))
	for word, want := range map[string][]string{
		"gardem":         {"garden"},         // one letter wrong
		"gaarden":        {"garden"},         // one letter added
		"gaden":          {"garden"},         // one letter missing
		"gadren":         {"garden"},         // two letters swapped
		"gaxdem":         nil,                // two edits in a short word
		"mangq":          {"mango", "mangl"}, // from names and bodies, the more frequent first, without the words of a deleted note
		"zurcih":         {"zurich"},
		"lihgthuos":      {"lighthous"}, // two edits in a long word
		"lxghtxoux":      nil,           // three edits
		"xarden":         nil,           // wrong first letter
		"gard":           {"garden"},    // a prefix
		"rosemarigarden": {"rosemari", "garden"},
		"9780374275631":  {"978-0-374-27563-1"}, // a number without its hyphens
		"20261123":       {"2026-11-23"},
		"20261124":       nil, // another day
		"01705550198":    nil,
		"an250417":       {"an25-0417"},
		"reprt16":        {"report16"},
		"report17":       nil, // another report
		"20241231":       nil, // other numbers, of which it is composed
		"2025":           {"20250107"},
		"0049301234567":  {"1234567"},
		"12345678":       {"00498912345678"},
		"49301234568":    nil,
		"250000":         nil, // an amount
		"garden2":        {"garden"},
		"garden15":       {"garden"},
	} {
		require.NoError(t, x.search(nil, func(s *snapshot) error {
			got, err := s.likeTerms(word)
			assert.Equal(t, want, got, word)
			return err
		}))
	}
}

// A nearWord accepts the terms that a comparison with each of them finds, whatever was read
// before them.
func TestNearWord(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	letters := []rune("abcéя字😀")
	random := func(least, most int) []rune {
		word := make([]rune, least+r.IntN(most-least+1))
		for i := range word {
			word[i] = letters[r.IntN(len(letters))]
		}
		return word
	}
	var terms []string
	for range 2000 {
		terms = append(terms, string(random(1, 7)))
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	var file bytes.Buffer
	b, err := vellum.New(&file, nil)
	require.NoError(t, err)
	for _, term := range terms {
		require.NoError(t, b.Insert([]byte(term), 0))
	}
	require.NoError(t, b.Close())
	dictionary, err := vellum.Load(file.Bytes())
	require.NoError(t, err)
	for range 300 {
		word, edits := random(3, 8), 1+r.IntN(2)
		want, got := []string{}, []string{}
		for _, term := range terms {
			if first, _ := utf8.DecodeRuneInString(term); first == word[0] && phrase.Distance(word, []rune(term)) <= edits {
				want = append(want, term)
			}
		}
		it, err := dictionary.Search(newNearWord(word, edits), nil, nil)
		for ; err == nil; err = it.Next() {
			term, _ := it.Current()
			got = append(got, string(term))
		}
		require.ErrorIs(t, err, vellum.ErrIteratorDone)
		assert.Equal(t, want, got, "%s, %d edits", string(word), edits)
	}
}

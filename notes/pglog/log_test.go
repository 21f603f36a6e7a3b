package pglog

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/pgtest"
	"notesd/migrations"
	"notesd/notes"
)

func open(t testing.TB, address, vault string) *Log {
	t.Helper()
	db, err := Open(address, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	l := db.Log(vault)
	t.Cleanup(func() {
		l.Close()
		require.NoError(t, db.Close())
	})
	return l
}

func create(path, text string) notes.FileChange {
	return notes.FileChange{Path: path, After: notes.Hash([]byte(text)), Data: []byte(text)}
}

func edit(path, was, is string) notes.FileChange {
	return notes.FileChange{OldPath: path, Path: path, Before: notes.Hash([]byte(was)), After: notes.Hash([]byte(is)), Data: []byte(is)}
}

func remove(path, was string) notes.FileChange {
	return notes.FileChange{OldPath: path, Before: notes.Hash([]byte(was))}
}

func move(from, to, text string) notes.FileChange {
	return notes.FileChange{OldPath: from, Path: to, Before: notes.Hash([]byte(text)), After: notes.Hash([]byte(text))}
}

var ids atomic.Int64

func commit(l *Log, changes ...notes.FileChange) (uint64, error) {
	return l.Commit(context.Background(), notes.Batch{ID: fmt.Sprint(ids.Add(1)), Kind: "edit", Author: notes.Author{Name: "Ann"}, Changes: changes})
}

// files returns the files in the log: path → text.
func files(t *testing.T, l *Log) map[string]string {
	t.Helper()
	_, all, err := l.Snapshot(t.Context())
	require.NoError(t, err)
	texts := map[string]string{}
	for _, f := range all {
		found, err := l.Contents(t.Context(), []string{f.Hash})
		require.NoError(t, err)
		texts[f.Path] = string(found[f.Hash])
	}
	return texts
}

func TestCommit(t *testing.T) {
	s := pgtest.New(t)
	long := strings.Repeat("A line that compresses well.\n", 500)
	for name, c := range map[string]struct {
		before   []notes.FileChange
		batch    []notes.FileChange
		want     map[string]string
		conflict string // path of the conflict
	}{
		"create":                         {nil, []notes.FileChange{create("A.md", "a"), create("Sub/ä.md", long)}, map[string]string{"A.md": "a", "Sub/ä.md": long}, ""},
		"empty":                          {nil, []notes.FileChange{create("A.md", "")}, map[string]string{"A.md": ""}, ""},
		"create what is there":           {[]notes.FileChange{create("A.md", "a")}, []notes.FileChange{create("A.md", "b")}, map[string]string{"A.md": "a"}, "A.md"},
		"create in another case":         {[]notes.FileChange{create("A.md", "a")}, []notes.FileChange{create("a.md", "b")}, map[string]string{"A.md": "a"}, "A.md"},
		"create two that differ in case": {nil, []notes.FileChange{create("A.md", "a"), create("a.md", "b")}, map[string]string{}, "A.md"},
		"create the same":                {[]notes.FileChange{create("A.md", "a")}, []notes.FileChange{create("A.md", "a")}, map[string]string{"A.md": "a"}, ""},
		"edit":                           {[]notes.FileChange{create("A.md", "a")}, []notes.FileChange{edit("A.md", "a", "b")}, map[string]string{"A.md": "b"}, ""},
		"edit of another version":        {[]notes.FileChange{create("A.md", "a")}, []notes.FileChange{edit("A.md", "x", "b")}, map[string]string{"A.md": "a"}, "A.md"},
		"edit of what is gone":           {nil, []notes.FileChange{edit("A.md", "x", "b")}, map[string]string{}, "A.md"},
		"edit that was made":             {[]notes.FileChange{create("A.md", "b")}, []notes.FileChange{edit("A.md", "a", "b")}, map[string]string{"A.md": "b"}, ""},
		"all or none":                    {[]notes.FileChange{create("A.md", "a")}, []notes.FileChange{create("B.md", "b"), edit("A.md", "x", "y")}, map[string]string{"A.md": "a"}, "A.md"},
		"delete":                         {[]notes.FileChange{create("A.md", "a"), create("B.md", "a")}, []notes.FileChange{remove("A.md", "a")}, map[string]string{"B.md": "a"}, ""},
		"delete of another version":      {[]notes.FileChange{create("A.md", "a")}, []notes.FileChange{remove("A.md", "x")}, map[string]string{"A.md": "a"}, "A.md"},
		"move":                           {[]notes.FileChange{create("A.md", "a")}, []notes.FileChange{move("A.md", "B.md", "a")}, map[string]string{"B.md": "a"}, ""},
		"move and edit":                  {[]notes.FileChange{create("A.md", "a")}, []notes.FileChange{{OldPath: "A.md", Path: "B.md", Before: notes.Hash([]byte("a")), After: notes.Hash([]byte("b")), Data: []byte("b")}}, map[string]string{"B.md": "b"}, ""},
		"move in case only":              {[]notes.FileChange{create("A.md", "a")}, []notes.FileChange{move("A.md", "a.md", "a")}, map[string]string{"a.md": "a"}, ""},
		"move onto a file":               {[]notes.FileChange{create("A.md", "a"), create("B.md", "b")}, []notes.FileChange{move("A.md", "B.md", "a")}, map[string]string{"A.md": "a", "B.md": "b"}, "B.md"},
		"move onto an equal file":        {[]notes.FileChange{create("A.md", "a"), create("B.md", "a")}, []notes.FileChange{move("A.md", "B.md", "a")}, map[string]string{"A.md": "a", "B.md": "a"}, "B.md"},
		"exchange of names":              {[]notes.FileChange{create("A.md", "a"), create("B.md", "b")}, []notes.FileChange{move("A.md", "B.md", "a"), move("B.md", "A.md", "b")}, map[string]string{"A.md": "b", "B.md": "a"}, ""},
		"folder":                         {[]notes.FileChange{create("F/A.md", "a"), create("F/S/B.md", "b"), create("F2.md", "c"), create("F0/x.md", "x")}, []notes.FileChange{{OldPath: "F", Path: "G", Folder: true}}, map[string]string{"G/A.md": "a", "G/S/B.md": "b", "F2.md": "c", "F0/x.md": "x"}, ""},
		"folder with rewritten links":    {[]notes.FileChange{create("F/A.md", "a"), create("C.md", "c")}, []notes.FileChange{{OldPath: "F", Path: "G", Folder: true}, edit("G/A.md", "a", "a2"), edit("C.md", "c", "c2")}, map[string]string{"G/A.md": "a2", "C.md": "c2"}, ""},
		"folder whose note changed":      {[]notes.FileChange{create("F/A.md", "z")}, []notes.FileChange{{OldPath: "F", Path: "G", Folder: true}, edit("G/A.md", "a", "a2")}, map[string]string{"F/A.md": "z"}, "F/A.md"},
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, s.URL(), name)
			if len(c.before) > 0 {
				_, err := commit(l, c.before...)
				require.NoError(t, err)
			}
			_, err := commit(l, c.batch...)
			if c.conflict == "" {
				require.NoError(t, err)
			} else {
				var conflict *notes.LogConflict
				require.ErrorAs(t, err, &conflict)
				assert.Equal(t, c.conflict, conflict.Path)
				is := c.want[c.conflict]
				assert.Equal(t, is, string(conflict.Text))
				if conflict.Hash != "" {
					assert.Equal(t, notes.Hash([]byte(is)), conflict.Hash)
				}
			}
			assert.Equal(t, c.want, files(t, l))
		})
	}
}

// While a node sends large contents, here held up in the database, other nodes can commit.
func TestCommit_SlowConnection(t *testing.T) {
	s := pgtest.New(t)
	slow, other := open(t, s.URL(), "team"), open(t, s.URL(), "team")
	_, err := commit(slow, create("A.md", "a"))
	require.NoError(t, err)
	s.Exec(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;
		CREATE TRIGGER wait AFTER INSERT ON blobs FOR EACH ROW WHEN (length(NEW.data) > 1000000) EXECUTE FUNCTION wait()`)
	holder, err := other.db.pool.Acquire(t.Context())
	require.NoError(t, err)
	_, err = holder.Exec(t.Context(), `SELECT pg_advisory_lock(1)`)
	require.NoError(t, err)
	picture := make([]byte, 2<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(picture) // never fails; it cannot be compressed
	committed := make(chan error)
	go func() {
		_, err := commit(slow, create("B.png", string(picture)))
		committed <- err
	}()
	require.Eventually(t, func() bool {
		return s.Count(`SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`) > 0
	}, time.Minute, time.Millisecond)
	_, err = commit(other, edit("A.md", "a", "changed"))
	assert.NoError(t, err)
	_, err = holder.Exec(t.Context(), `SELECT pg_advisory_unlock(1)`)
	require.NoError(t, err)
	holder.Release()
	require.NoError(t, <-committed)
	assert.Equal(t, map[string]string{"A.md": "changed", "B.png": string(picture)}, files(t, other))
}

// Concurrent commits of large and small contents, some of them the same, do not block each
// other.
func TestRacingWriters_LargeContents(t *testing.T) {
	s := pgtest.New(t)
	want := map[string]string{}
	var writing sync.WaitGroup
	for w := range 6 {
		l := open(t, s.URL(), "team")
		for i := range 10 {
			large := func(n int) string { return strings.Repeat(fmt.Sprintf("%d ", n), largeContents) }
			changes := []notes.FileChange{create(fmt.Sprintf("%d %d.md", w, i), fmt.Sprint(w, i))}
			if i%2 == 0 {
				changes = append(changes, create(fmt.Sprintf("%d %d.png", w, i), large(i)), create(fmt.Sprintf("%d %d.pdf", w, i), large(10-i)))
			}
			for _, c := range changes {
				want[c.Path] = c.After
			}
			writing.Go(func() {
				_, err := commit(l, changes...)
				assert.NoError(t, err)
			})
		}
	}
	writing.Wait()
	_, all, err := open(t, s.URL(), "team").Snapshot(t.Context())
	require.NoError(t, err)
	got := map[string]string{}
	for _, f := range all {
		got[f.Path] = f.Hash
	}
	assert.Equal(t, want, got)
}

// Concurrent writers of the same notes: each acknowledged write builds on the previous
// one, the numbers have no gaps, and a follower reads every batch once.
func TestRacingWriters(t *testing.T) {
	s := pgtest.New(t)
	const writers, rounds, paths = 4, 25, 3
	reader := open(t, s.URL(), "race")
	at, _, err := reader.Snapshot(t.Context())
	require.NoError(t, err)
	var wg sync.WaitGroup
	var acknowledged atomic.Int64
	for w := range writers {
		l := open(t, s.URL(), "race")
		rng := rand.New(rand.NewPCG(1, uint64(w)))
		wg.Go(func() {
			for i := range rounds {
				path := fmt.Sprintf("%d.md", rng.IntN(paths))
				for {
					have, err := l.Current(context.Background(), []string{path})
					if !assert.NoError(t, err) {
						return
					}
					text := fmt.Sprintf("%d of %d on %s", i, w, have[path].Hash)
					c := create(path, text)
					if was, ok := have[path]; ok {
						c.OldPath, c.Before = path, was.Hash
					}
					_, err = commit(l, c)
					var conflict *notes.LogConflict
					if err == nil {
						acknowledged.Add(1)
						break
					}
					if !assert.ErrorAs(t, err, &conflict) {
						return
					}
				}
			}
		})
	}
	wg.Wait()
	last := map[string]string{}
	seen := 0
	for {
		entries, err := reader.Changes(t.Context(), at, 7)
		require.NoError(t, err)
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			require.Equal(t, at.Seq+1, e.Seq, "numbers without gaps")
			require.Equal(t, notes.Author{Name: "Ann"}, e.Author)
			for _, c := range e.Changes {
				require.Equal(t, last[c.Path], c.Before, "a write was lost")
				last[c.Path] = c.After
			}
			at, seen = e.Position, seen+1
		}
	}
	assert.EqualValues(t, acknowledged.Load(), seen)
	assert.Equal(t, writers*rounds, seen)
}

func TestForeignPositions(t *testing.T) {
	s := pgtest.New(t)
	one, other := open(t, s.URL(), "one"), open(t, s.URL(), "other")
	empty, _, err := one.Snapshot(t.Context())
	require.NoError(t, err)
	_, err = one.Changes(t.Context(), empty, 10)
	require.NoError(t, err)
	_, err = other.Changes(t.Context(), empty, 10)
	require.ErrorIs(t, err, ErrForeign, "the beginning of another log")
	for _, l := range []*Log{one, other} {
		_, err = commit(l, create("A.md", "a"))
		require.NoError(t, err)
	}
	first, _, err := one.Snapshot(t.Context())
	require.NoError(t, err)
	_, err = one.Changes(t.Context(), first, 10)
	require.NoError(t, err)
	_, err = other.Changes(t.Context(), first, 10)
	require.ErrorIs(t, err, ErrForeign, "the same number in another log")
	_, err = one.Changes(t.Context(), Position{Seq: 7, Mark: first.Mark}, 10)
	require.ErrorIs(t, err, ErrForeign, "beyond the head")
}

// A commit whose connection is cut before the response has the outcome recorded in the
// log, and is made at most once.
func TestConnectionCutInMidCommit(t *testing.T) {
	s := pgtest.New(t)
	p := s.Proxy()
	l := open(t, p.URL(), "cut")
	direct := open(t, s.URL(), "cut")
	beginning, _, err := direct.Snapshot(t.Context())
	require.NoError(t, err)
	_, err = commit(l, create("A.md", "0"))
	require.NoError(t, err)
	text := "0"
	cuts := 0
	for i := range 40 {
		next := fmt.Sprintf("%s %d", text, i)
		p.CutAfter(1+i%12, i%2 == 0) // in the range of the commit
		_, err := commit(l, edit("A.md", text, next))
		p.CutAfter(0, false)
		have := files(t, direct)["A.md"]
		if err == nil {
			require.Equal(t, next, have, "an acknowledged write is not in the log")
		} else {
			require.NotErrorIs(t, err, notes.ErrOutcomeUnknown)
			require.Equal(t, text, have, "a write that failed is in the log: %v", err)
			cuts++
		}
		text = have
	}
	t.Log("commits that failed:", cuts, "connections cut:", p.Cuts())
	assert.NotZero(t, p.Cuts())
	at, err := direct.Changes(t.Context(), beginning, 1000)
	require.NoError(t, err)
	var batches []string
	for _, e := range at {
		batches = append(batches, e.Mark)
	}
	slices.Sort(batches)
	assert.Len(t, slices.Compact(slices.Clone(batches)), len(batches))
}

// Resolve returns the outcome of a commit by its id, after a crash of the writer.
func TestResolve(t *testing.T) {
	s := pgtest.New(t)
	l := open(t, s.URL(), "resolve")
	_, committed, err := l.Resolve(t.Context(), "none")
	require.NoError(t, err)
	assert.False(t, committed)
	want, err := l.Commit(t.Context(), notes.Batch{ID: "one", Kind: "create", Changes: []notes.FileChange{create("A.md", "a")}})
	require.NoError(t, err)
	seq, committed, err := l.Resolve(t.Context(), "one")
	require.NoError(t, err)
	assert.True(t, committed)
	assert.Equal(t, want, seq)
}

func TestListen(t *testing.T) {
	s := pgtest.New(t)
	l, other, elsewhere := open(t, s.URL(), "listen"), open(t, s.URL(), "listen"), open(t, s.URL(), "elsewhere")
	changed := make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { l.Listen(ctx, func() { changed <- struct{}{} }) })
	<-changed // connected
	_, err := commit(elsewhere, create("A.md", "a"))
	require.NoError(t, err)
	_, err = commit(other, create("A.md", "a"))
	require.NoError(t, err)
	<-changed
	cancel()
	wg.Wait()
}

// Vectors are computed once, by the node that claims their texts; an expired claim passes
// to another node.
func TestVectors(t *testing.T) {
	s := pgtest.New(t)
	a, b := open(t, s.URL(), "a"), open(t, s.URL(), "b")
	var hashes []string
	for i := range 5 {
		hashes = append(hashes, notes.Hash([]byte{byte(i)}))
	}
	slices.Sort(hashes)
	_, none, err := a.db.Vectors(t.Context(), "model", nil)
	require.NoError(t, err)
	assert.Empty(t, none)
	_, claimed, err := a.db.Vectors(t.Context(), "model", hashes[:3])
	require.NoError(t, err)
	assert.ElementsMatch(t, hashes[:3], claimed)
	found, others, err := b.db.Vectors(t.Context(), "model", hashes)
	require.NoError(t, err)
	assert.Empty(t, found)
	assert.ElementsMatch(t, hashes[3:], others)
	require.NoError(t, a.db.KeepVectors(t.Context(), "model", map[string][]byte{hashes[0]: {1, 2}}))
	found, claimed, err = b.db.Vectors(t.Context(), "model", hashes)
	require.NoError(t, err)
	assert.Equal(t, map[string][]byte{hashes[0]: {1, 2}}, found)
	assert.Empty(t, claimed)
	_, err = b.db.pool.Exec(t.Context(), `UPDATE vectors SET claimed = claimed - interval '61 seconds' WHERE hash = $1`, raw(hashes[1:2])[0])
	require.NoError(t, err)
	soon, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, claimed, err = b.db.Vectors(soon, "model", hashes[1:3])
	require.NoError(t, err)
	assert.Equal(t, hashes[1:2], claimed, "the other node had a minute")
	_, claimed, err = b.db.Vectors(t.Context(), "other model", hashes)
	require.NoError(t, err)
	assert.Len(t, claimed, 5)
	s.Exec(`UPDATE vectors SET claimed = claimed - interval '2 days'`)
	missing, err := b.db.Missing(t.Context(), "model", hashes)
	require.NoError(t, err)
	assert.ElementsMatch(t, hashes[1:], missing, "what is only claimed is missing")
	var named int
	require.NoError(t, b.db.pool.QueryRow(t.Context(), `SELECT count(*) FROM vectors WHERE claimed > now() - interval '1 day'`).Scan(&named))
	assert.Equal(t, 1, named)
}

// TestBehind queries readers of two vaults and of one without batches.
func TestBehind(t *testing.T) {
	s := pgtest.New(t)
	a, b := open(t, s.URL(), "a"), open(t, s.URL(), "b")
	for i, l := range []*Log{a, a, a, b} {
		_, err := commit(l, create(fmt.Sprintf("%d.md", i), "text"))
		require.NoError(t, err)
	}
	_, err := a.db.pool.Exec(t.Context(), `UPDATE batches SET at = now() - make_interval(hours => 10 - seq::int) WHERE vault = $1`, a.vault)
	require.NoError(t, err)
	lags, err := a.db.Behind(t.Context(), []Reader{{"a", 1}, {"none", 0}, {"b", 1}, {"a", 3}, {"a", 0}})
	require.NoError(t, err)
	require.Len(t, lags, 5)
	assert.Equal(t, []uint64{2, 0, 0, 0, 3}, []uint64{lags[0].Batches, lags[1].Batches, lags[2].Batches, lags[3].Batches, lags[4].Batches})
	assert.Equal(t, 8, int(lags[0].Age.Hours()), "of the batch after its own")
	assert.Equal(t, 9, int(lags[4].Age.Hours()))
	for _, level := range lags[1:4] {
		assert.Zero(t, level.Age)
	}
}

// An error of the database is not retried, in whatever language the server reports it.
func TestIsAnswer(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: "ERROR"}, true},
		{fmt.Errorf("x: %w", &pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR"}), true},
		{&pgconn.PgError{Severity: "SCHWERWIEGEND", SeverityUnlocalized: "FATAL"}, false},
		{pgx.ErrNoRows, true},
		{&notes.Error{Err: notes.ErrExists}, true},
		{&notes.LogConflict{}, true},
		{ErrForeign, true},
		{io.ErrUnexpectedEOF, false},
	} {
		assert.Equal(t, c.want, IsAnswer(c.err), "%v", c.err)
	}
}

// Errors whose text does not say what to do have a hint.
func TestHint(t *testing.T) {
	s := pgtest.New(t)
	s.Exec(`DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC`)
	_, err := open(t, strings.Replace(s.URL(), "user=postgres", "user=stranger", 1), "team").Head(t.Context())
	assert.Contains(t, Hint(err), "createdb --owner")
	_, err = open(t, strings.Replace(s.URL(), "user=postgres", "user=missing", 1), "team").Head(t.Context())
	assert.Contains(t, Hint(err), "store.postgres")
	l := open(t, s.URL(), "team")
	_, err = l.Head(t.Context())
	require.NoError(t, err)
	_, err = l.db.pool.Exec(t.Context(), `EXECUTE unknown`) // what a pooler in transaction mode makes of a prepared statement
	assert.Contains(t, Hint(err), "default_query_exec_mode")
	assert.Empty(t, Hint(pgx.ErrNoRows))
	assert.Empty(t, Hint(fmt.Errorf("%w: %w", &pgconn.ConnectError{}, &pgconn.PgError{Code: cannotConnectNow})))
}

// An address that is not valid is not shown, because it can contain a password.
func TestOpen_InvalidAddress(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://notes:secret@db:x/notes":                                       "it is not a URL",
		"postgres://notes:secret@db/notes?sslmode=verify-full&sslrootcert=/no.pem": "cannot be read: open /no.pem",
	} {
		_, err := Open(address, slog.New(slog.DiscardHandler))
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "secret")
	}
}

// Check creates no tables in an empty database, and rejects a newer one.
func TestCheck(t *testing.T) {
	s := pgtest.New(t)
	db, err := Open(s.URL(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, db.Check(t.Context()))
	assert.Zero(t, s.Count(`SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`))
	_, err = db.Subjects(t.Context())
	require.NoError(t, err)
	require.NoError(t, db.Check(t.Context()))
	s.Exec(`INSERT INTO notesd_schema VALUES (1000)`)
	err = db.Check(t.Context())
	require.ErrorIs(t, err, migrations.ErrNewer)
	assert.NotContains(t, err.Error(), "--state", "it would not help")
}

// A standby is not read: if it lags, it looks like an older copy of the log.
func TestStandby(t *testing.T) {
	s := pgtest.Start(t)
	l := open(t, s.URL(), "team")
	_, err := commit(l, create("A.md", "a"))
	require.NoError(t, err)
	s.Kill()
	s.RunAsStandby()
	_, err = l.Head(t.Context())
	require.ErrorContains(t, err, "standby")
	s.Kill()
	s.Run()
	head, err := l.Head(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 1, head)
}

// Contents returns as many as fit in its limit, and at least one.
func TestContents(t *testing.T) {
	l := open(t, pgtest.New(t).URL(), "contents")
	random := rand.NewChaCha8([32]byte{})
	var changes []notes.FileChange
	var hashes []string
	for _, size := range []int{contentBytes + 1, contentBytes / 2, contentBytes/2 + 1, 1} {
		data := make([]byte, size)
		_, _ = random.Read(data) // never fails
		changes = append(changes, create(fmt.Sprint(size, ".png"), string(data)))
		hashes = append(hashes, changes[len(changes)-1].After)
	}
	_, err := commit(l, changes...)
	require.NoError(t, err)
	var sizes []int
	for rest := hashes; len(rest) > 0; {
		found, err := l.Contents(t.Context(), rest)
		require.NoError(t, err)
		for _, h := range rest[:len(found)] {
			assert.Equal(t, h, notes.Hash(found[h]))
		}
		sizes, rest = append(sizes, len(found)), rest[len(found):]
	}
	assert.Equal(t, []int{1, 2, 1}, sizes)
	_, err = l.Contents(t.Context(), []string{notes.Hash(nil), hashes[3]})
	assert.ErrorContains(t, err, "the database lacks the content")
}

// A running node does not take another vault for its own when the database was replaced with
// one in which that vault has the id that its own had.
func TestReplacedDatabase(t *testing.T) {
	s := pgtest.New(t)
	one, empty := open(t, s.URL(), "one"), open(t, s.URL(), "empty")
	beginning, _, err := empty.Snapshot(t.Context())
	require.NoError(t, err)
	_, err = commit(one, create("One.md", "1"))
	require.NoError(t, err)
	at, _, err := one.Snapshot(t.Context())
	require.NoError(t, err)
	s.Exec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	want := map[string]string{}
	var others []*Log
	for _, vault := range []string{"first", "second", "third"} { // one has one of the first ids
		other := open(t, s.URL(), vault)
		_, err := commit(other, create(vault+".md", vault))
		require.NoError(t, err)
		others, want[vault+".md"] = append(others, other), vault
	}
	_, err = one.Changes(t.Context(), at, 10)
	require.Error(t, err)
	_, err = empty.Changes(t.Context(), beginning, 10)
	require.ErrorIs(t, err, errReplaced)
	_, _, err = one.Snapshot(t.Context())
	require.ErrorIs(t, err, errReplaced)
	_, err = one.Head(t.Context())
	require.ErrorIs(t, err, errReplaced)
	_, err = commit(one, create("Two.md", "2"))
	require.ErrorIs(t, err, errReplaced)
	got := map[string]string{}
	for _, other := range others {
		maps.Copy(got, files(t, other))
	}
	assert.Equal(t, want, got)
}

package vault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
	"notesd/notes/store"
)

// memoryLog is an in-memory shared log without other nodes.
type memoryLog struct {
	files    map[string]string // path → text
	batches  map[string]bool
	answer   error // error of the next commit, which is made unless this is errDown
	unknown  bool  // the log cannot be queried
	caughtUp func(paths []string)
	fetching int
}

var errDown = errors.New("the database is down")

func newMemoryLog(f *fixture) *memoryLog {
	return &memoryLog{files: f.files(), batches: map[string]bool{}}
}

func (l *memoryLog) Commit(_ context.Context, b notes.Batch) error {
	answer := l.answer
	l.answer = nil
	if errors.Is(answer, errDown) {
		return answer
	}
	next := maps.Clone(l.files)
	for _, c := range b.Changes {
		if c.Folder {
			for p, text := range l.files {
				if notes.Under(p, c.OldPath) {
					delete(next, p)
					next[c.Path+strings.TrimPrefix(p, c.OldPath)] = text
				}
			}
			continue
		}
		text := string(c.Data)
		if c.OldPath != "" {
			was, ok := next[c.OldPath]
			if !ok || notes.Hash([]byte(was)) != c.Before {
				return &notes.LogConflict{Path: c.OldPath, Hash: notes.Hash([]byte(was)), Text: []byte(was)}
			}
			if c.After == c.Before {
				text = was
			}
			delete(next, c.OldPath)
		}
		if c.Path != "" {
			if is, taken := next[c.Path]; taken {
				return &notes.LogConflict{Path: c.Path, Hash: notes.Hash([]byte(is)), Text: []byte(is)}
			}
			next[c.Path] = text
		}
	}
	l.files, l.batches[b.ID] = next, true
	return answer
}

func (l *memoryLog) Resolve(_ context.Context, id string) (bool, error) {
	if l.unknown {
		return false, errDown
	}
	return l.batches[id], nil
}

func (l *memoryLog) CatchUp(_ context.Context, paths []string) error {
	if l.caughtUp == nil {
		return errDown
	}
	l.caughtUp(paths)
	return nil
}

func (l *memoryLog) Fetching() int { return l.fetching }

// After a crash before any step of a committed write and a restart, the folder matches the
// log; repeating the request makes the change once.
func TestCrashAroundACommit(t *testing.T) {
	notestest.SkipInShort(t)
	for _, write := range crashWrites {
		if write.folders {
			continue // a database has one vault
		}
		killed := true
		for n := 0; killed; n++ {
			t.Run(fmt.Sprintf("%s/%d", write.name, n), func(t *testing.T) {
				f := crashVault(t, false)
				log := newMemoryLog(f)
				f.opt.Shared = log
				f.killAt(n)
				_, err := write.do(f)
				if killed = errors.Is(err, errKilled); !killed {
					require.NoError(t, err)
				}
				require.NoError(t, f.store.Close())
				f.open(Options{Shared: log})
				f.reconcile()
				f.agreesWith(log)
				_, err = write.do(f)
				require.NoError(t, err)
				f.reconcile()
				f.agreesWith(log)
				assert.Len(t, log.batches, 1)
				assert.LessOrEqual(t, strings.Count(fmt.Sprint(f.files()), crashMark), 2, "a symlink shows its target twice")
			})
		}
	}
}

// agreesWith requires that the folder matches the log.
func (f *fixture) agreesWith(log *memoryLog) {
	f.t.Helper()
	have := f.files()
	if target, ok := have["real/t.txt"]; ok {
		log.files["l.md"] = target // a symlink to it, which is in no log
	}
	assert.Equal(f.t, log.files, have)
}

// If the log's answer is lost, the write stays pending until the log can be queried, and is
// then completed or reverted accordingly.
func TestShared_UnknownOutcome(t *testing.T) {
	for name, committed := range map[string]bool{"committed": true, "not committed": false} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "N.md", "n\n")
			log := newMemoryLog(f)
			f.opt.Shared = log
			log.answer, log.unknown = fmt.Errorf("%w: the connection was cut", notes.ErrOutcomeUnknown), true
			write := func() (notes.Written, error) {
				return f.Edit(t.Context(), notes.EditRequest{Note: "N.md", Edits: []notes.Edit{{Op: "replace_all", Content: "new\n"}}, RequestKey: "key"})
			}
			_, err := write()
			require.ErrorIs(t, err, notes.ErrUnavailable)
			if !committed {
				log.files["N.md"] = "n\n"
				clear(log.batches)
			}
			assert.Equal(t, "n\n", f.onDisk("N.md"))
			_, err = write()
			require.ErrorIs(t, err, notes.ErrUnavailable, "its outcome is not known yet")
			f.reconcile() // without the log
			assert.Equal(t, "n\n", f.onDisk("N.md"))
			log.unknown = false
			f.reconcile()
			assert.Equal(t, log.files, f.files())
			_, err = write()
			require.NoError(t, err)
			assert.Equal(t, "new\n", f.onDisk("N.md"))
			assert.Equal(t, log.files, f.files())
			assert.Len(t, log.batches, 1)
		})
	}
}

// A write on a node that is behind is recomputed from the folder after it has caught up.
func TestShared_NodeBehind(t *testing.T) {
	f := newFixture(t, "N.md", "one\n")
	log := newMemoryLog(f)
	f.opt.Shared = log
	log.files["N.md"] = "one\ntwo\n"
	request := notes.EditRequest{Note: "N.md", Edits: []notes.Edit{{Op: "replace_text", Old: "one", New: "1"}}}
	_, err := f.Edit(t.Context(), request)
	require.ErrorIs(t, err, errDown, "it cannot catch up")
	assert.Equal(t, "one\n", f.onDisk("N.md"))
	log.caughtUp = func(paths []string) {
		assert.Contains(t, paths, "N.md")
		_, err := f.Replica().Place(t.Context(), "edit", notes.Author{Name: "Ann"}, []store.FileChange{{OldPath: "N.md", OldDisk: "N.md", NewPath: "N.md", Old: []byte("one\n"), New: []byte("one\ntwo\n")}})
		require.NoError(t, err)
	}
	_, err = f.Edit(t.Context(), request)
	require.NoError(t, err)
	assert.Equal(t, "1\ntwo\n", f.onDisk("N.md"))
	assert.Equal(t, "1\ntwo\n", log.files["N.md"])
	log.caughtUp = func([]string) {} // no-op
	log.files["N.md"] = "other\n"
	_, err = f.Edit(t.Context(), notes.EditRequest{Note: "N.md", Edits: []notes.Edit{{Op: "append", Content: "x"}}})
	require.ErrorIs(t, err, notes.ErrConflict)
	var conflict *notes.Error
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, notes.Hash([]byte("other\n")), conflict.Hash)
	assert.Contains(t, conflict.Diff, "+other")
	assert.Equal(t, "1\ntwo\n", f.onDisk("N.md"))
}

// sqlState is an error that the database's server reports with this code.
type sqlState string

func (s sqlState) Error() string    { return "FATAL (SQLSTATE " + string(s) + ")" }
func (s sqlState) SQLState() string { return string(s) }

// The error of a write distinguishes a server that is down from one that rejects the change.
func TestShared_Refused(t *testing.T) {
	f := newFixture(t)
	log := newMemoryLog(f)
	f.opt.Shared = log
	for answer, want := range map[error]string{
		errDown:           "does not respond",
		sqlState("57P03"): "does not respond", // it is starting up
		sqlState("53300"): "does not respond", // it has too many clients
		sqlState("08P01"): "does not respond", // said by a connection pooler
		sqlState("53100"): "refused the change: FATAL (SQLSTATE 53100)",
	} {
		log.answer = errors.Join(answer, errDown)
		_, err := f.Create(t.Context(), notes.CreateRequest{Path: "New.md", Content: "x"})
		require.ErrorIs(t, err, notes.ErrUnavailable)
		assert.ErrorContains(t, err, want)
	}
}

// A file that another program saves between the commit and the exchange stays. The write is
// acknowledged, since it is in the log, and the file is reported.
func TestSaveBetweenCommitAndExchange(t *testing.T) {
	f := newFixture(t, "N.md", "n\n")
	log := newMemoryLog(f)
	f.opt.Shared = log
	f.failpoint = func(step string) error {
		if step == "committed" {
			return f.writeFile("N.md", "by hand\n")
		}
		return nil
	}
	written, err := f.Edit(t.Context(), notes.EditRequest{Note: "N.md", Edits: []notes.Edit{{Op: "replace_all", Content: "new\n"}}})
	require.NoError(t, err)
	assert.Equal(t, []string{"N.md"}, written.Conflicts)
	assert.Equal(t, "by hand\n", f.onDisk("N.md"))
	assert.Equal(t, "new\n", log.files["N.md"])
	for batch := range log.batches {
		placed, err := f.Replica().Placed(t.Context(), batch)
		require.NoError(t, err)
		assert.Empty(t, placed)
	}
	entries, err := os.ReadDir(f.dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temp file is left")
	_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: written.Change})
	require.ErrorIs(t, err, notes.ErrConflict, "the change was made in no file")
}

// A committed write that was interrupted and cannot be finished before the log moves on is
// never finished later: its files follow the log.
func TestShared_InterruptedWriteOvertaken(t *testing.T) {
	f := newFixture(t, "N.md", "n\n")
	log := newMemoryLog(f)
	f.opt.Shared = log
	f.failpoint = func(step string) error {
		if step == "committed" {
			return errKilled
		}
		return nil
	}
	create := func() (notes.Written, error) {
		return f.Create(t.Context(), notes.CreateRequest{Path: "New.md", Content: "new\n", RequestKey: "key"})
	}
	_, err := create()
	require.ErrorIs(t, err, errKilled)
	require.Contains(t, log.files, "New.md")
	var batch string
	for batch = range log.batches {
	}
	require.NoError(t, f.store.Close())
	log.unknown = true
	f.open(Options{Shared: log})
	f.reconcile() // cannot query the log
	placed, err := f.Replica().Placed(t.Context(), batch)
	require.NoError(t, err)
	assert.Empty(t, placed)
	delete(log.files, "New.md") // by another node
	log.unknown = false
	f.reconcile()
	f.agreesWith(log)
	again, err := create()
	require.NoError(t, err, "the request was answered")
	assert.Equal(t, "New.md", again.Path)
	f.agreesWith(log)
	assert.Len(t, log.batches, 1)
}

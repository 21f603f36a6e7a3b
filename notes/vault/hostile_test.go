package vault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
)

// TestHostileSaves simulates an editor that saves in place, by truncating the file or by
// appending, with up to 4 ms between opening and writing, while two clients edit the same
// note. Every line that was saved or acknowledged must be in the file or in history.
//
//	HOSTILE_SAVES=10000 TEST_SEED=7 go test -timeout 30m -run HostileSaves ./notes/vault
func TestHostileSaves(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not replace what another program has open")
	}
	const perNote = 200
	saves, seed := envNumber(t, "HOSTILE_SAVES", 200), envNumber(t, "TEST_SEED", 1)
	t.Logf("HOSTILE_SAVES=%d TEST_SEED=%d", saves, seed)
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	f := newFixture(t)
	name := func(n int) string { return fmt.Sprintf("N%d.md", n) }
	for i := range saves/perNote + 1 {
		f.write(name(i), "first line\n")
	}
	f.reconcile()
	f.opt.Now, f.store.Now = time.Now, time.Now
	ctx, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { assert.NoError(t, f.Run(ctx)) })
	var done atomic.Bool
	var current atomic.Int64 // index of the note being saved; each gets perNote saves
	var mu sync.Mutex
	want := []string{"first line"}
	note := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		want = append(want, line)
	}
	var clients sync.WaitGroup
	var acknowledged, conflicts atomic.Int64
	for c := range 2 {
		clients.Go(func() {
			for i := 0; !done.Load(); i++ {
				line := fmt.Sprintf("client %d line %d", c, i)
				_, err := f.Edit(ctx, notes.EditRequest{Note: name(int(current.Load())), Edits: []notes.Edit{{Op: "append", Content: line}}})
				if err == nil {
					acknowledged.Add(1)
					note(line)
				} else {
					conflicts.Add(1)
				}
			}
		})
	}
	for i := range saves {
		current.Store(int64(i / perNote))
		full := filepath.Join(f.dir, name(i/perNote))
		line := fmt.Sprintf("editor line %d", i)
		text, flags := line+"\n", os.O_APPEND
		if rng.IntN(2) == 0 {
			old, err := os.ReadFile(full)
			require.NoError(t, err)
			text, flags = string(old)+text, os.O_TRUNC
		}
		file, err := os.OpenFile(full, os.O_WRONLY|flags, 0o644)
		require.NoError(t, err)
		for opened, gap := time.Now(), time.Duration(rng.IntN(4000))*time.Microsecond; time.Since(opened) < gap; {
			runtime.Gosched()
		}
		_, err = file.WriteString(text)
		require.NoError(t, errors.Join(err, file.Close()))
		note(line)
		f.Changed([]string{name(i / perNote)})
	}
	done.Store(true)
	clients.Wait()
	stop()
	ended.Wait() // the displaced files are read once more
	f.reconcile()
	have := map[string]bool{}
	add := func(text string) {
		for line := range strings.Lines(text) {
			have[strings.TrimSpace(line)] = true
		}
	}
	for _, text := range f.files() {
		add(text)
	}
	for _, hash := range f.column(f.store.History(), `SELECT DISTINCT hash FROM revisions WHERE hash IS NOT NULL`) {
		text, err := f.store.Blob(context.Background(), []byte(hash))
		require.NoError(t, err)
		add(string(text))
	}
	lost := 0
	for _, line := range want {
		if !have[line] {
			lost++
			t.Logf("lost: %s", line)
		}
	}
	t.Logf("%d saves, %d edits acknowledged, %d refused, %d lost", saves, acknowledged.Load(), conflicts.Load(), lost)
	assert.Zero(t, lost)
	f.requireConsistent()
}

// A program may read the new text while an edit finds that the note has changed, and write it
// back with its own after the edit was undone. What was saved before is in the history.
func TestConflict_ReadBetweenExchanges(t *testing.T) {
	f := newFixture(t, "N.md", "first\n")
	var between string
	f.failpoint = func(step string) error {
		switch step {
		case "before swap 0":
			f.write("N.md", "saved\n")
		case "read back":
			if text := f.files()["N.md"]; strings.Contains(text, "ours") {
				between = text
			}
		}
		return nil
	}
	_, err := f.Edit(t.Context(), notes.EditRequest{Note: "N", Edits: []notes.Edit{{Op: "append", Content: "ours"}}})
	require.ErrorIs(t, err, notes.ErrConflict)
	f.failpoint = nil
	assert.Contains(t, between, "ours")
	assert.Equal(t, "saved\n", f.files()["N.md"])
	f.write("N.md", between+"theirs\n")
	f.reconcile()
	assert.NotZero(t, f.revisionOf("N.md", "saved\n"))
	f.requireConsistent()
}

// After a failed read, the stored note is kept, status names it, and the read is retried.
func TestFailedReadIsNotADeletion(t *testing.T) {
	ctx := context.Background()
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.EMFILE, syscall.ENOMEM, syscall.EACCES} {
		t.Run(errno.Error(), func(t *testing.T) {
			f := newFixture(t, "N.md", "before\n", "Other.md", "see [[N]]\n")
			f.view.kinds()
			f.write("N.md", "after the save\n")
			f.failpoint = func(step string) error {
				if step == readStep+"N.md" {
					return &fs.PathError{Op: "read", Path: "N.md", Err: errno}
				}
				return nil
			}
			for range 2 {
				f.reconcile()
				assert.Empty(t, f.view.kinds(), "it is still in the index")
			}
			st, err := f.Status(ctx)
			require.NoError(t, err)
			require.Len(t, st.Skipped, 1)
			assert.Equal(t, "N.md", st.Skipped[0].Path)
			_, err = f.Read(ctx, "N.md", notes.Scope{})
			require.ErrorIs(t, err, notes.ErrUnavailable)
			require.NoError(t, f.store.Close())
			f.open(Options{}) // as when the program is restarted
			rows, err := f.store.Rows(ctx, []string{"N.md"})
			require.NoError(t, err)
			assert.Len(t, rows, 1)
			f.reconcile()
			assert.Equal(t, []string{"modify N.md"}, f.view.kinds(), "it is read again although its stat is the same")
			st, err = f.Status(ctx)
			require.NoError(t, err)
			assert.Empty(t, st.Skipped)
			page, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "N.md"})
			require.NoError(t, err)
			for _, r := range page.Revisions {
				assert.NotEqual(t, "delete", r.Operation)
			}
			f.requireConsistent()
		})
	}
}

// If the text of a displaced file cannot be saved to history, its temp file stays until it
// can.
func TestDisplacedText_CannotBeSaved(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "N.md", "original\n")
	f.leavesDisplaced("late words\n")
	f.reconcile()
	assert.Len(t, f.files(), 2, "the temp file is left")
	st, err := f.Status(ctx)
	require.NoError(t, err)
	assert.Contains(t, strings.Join(st.Warnings, "\n"), "could not be kept")
	f.execHistory(`DROP TRIGGER full`)
	f.reconcile()
	assert.Len(t, f.files(), 1)
	st, err = f.Status(ctx)
	require.NoError(t, err)
	assert.Empty(t, st.Warnings)
	assert.NotZero(t, f.revisionOf("N.md", "late words\n"), "it can be brought back")

	f.leavesDisplaced("more\n")
	temps, err := filepath.Glob(filepath.Join(f.dir, store.TempPrefix+"*"))
	require.NoError(t, err)
	require.Len(t, temps, 1)
	require.NoError(t, os.Remove(temps[0]))
	f.reconcile()
	st, err = f.Status(ctx)
	require.NoError(t, err)
	assert.Empty(t, st.Warnings, "the user has removed the file")
}

// leavesDisplaced edits N.md while another program writes a text to the displaced file, and
// the history cannot be written to until the trigger "full" is dropped.
func (f *fixture) leavesDisplaced(text string) {
	t := f.t
	f.failpoint = func(step string) error {
		if step == "finished" { // another program has the displaced file open, and the state directory's disk is full
			temps, err := filepath.Glob(filepath.Join(f.dir, store.TempPrefix+"*"))
			require.NoError(t, err)
			require.Len(t, temps, 1)
			require.NoError(t, os.WriteFile(temps[0], []byte(text), 0o644))
			f.execHistory(`CREATE TEMP TRIGGER full BEFORE INSERT ON main.revisions BEGIN SELECT RAISE(ABORT, 'full'); END`)
		}
		return nil
	}
	_, err := f.Edit(t.Context(), notes.EditRequest{Note: "N", Edits: []notes.Edit{{Op: "append", Content: "ours"}}})
	require.NoError(t, err)
	f.failpoint = nil
}

func (f *fixture) execHistory(statement string) {
	require.NoError(f.t, f.store.History().Write(f.t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(statement)
		return err
	}))
}

// A program writes to a displaced file after it was unlinked.
func TestLateWrite_UnlinkedFile(t *testing.T) {
	if !fsid.KeepsUnlinked {
		t.Skip("Windows does not replace what another program has open")
	}
	ctx := context.Background()
	f := newFixture(t, "N.md", "original\n")
	editor, err := os.OpenFile(filepath.Join(f.dir, "N.md"), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.Edit(ctx, notes.EditRequest{Note: "N", Edits: []notes.Edit{{Op: "append", Content: "ours"}}})
	require.NoError(t, err)
	_, err = editor.WriteString("late words\n")
	require.NoError(t, errors.Join(err, editor.Close()))
	f.late.readDue(ctx, f.opt.Now(), 0)
	assert.Zero(t, f.revisionOf("N.md", "original\nlate words\n"), "not yet")
	assert.Equal(t, 2*time.Second, f.late.next().Sub(f.opt.Now()))
	f.late.readDue(ctx, f.late.next(), 0)
	assert.NotZero(t, f.revisionOf("N.md", "original\nlate words\n"))
	assert.True(t, f.late.next().IsZero(), "nothing is kept open")
}

// Temp files of another notesd on the same vault are kept.
func TestTempFilesOfAnotherDaemon(t *testing.T) {
	f := newFixture(t, "N.md", "text\n")
	f.clock.now = time.Now()
	theirs := store.TempName()
	f.write(theirs, "in use\n")
	f.reconcile()
	assert.Equal(t, "in use\n", f.onDisk(theirs))
	f.clock.Advance(strangerAge + time.Minute)
	f.reconcile()
	assert.Len(t, f.files(), 1, "it was left by a crash")
}

// TestSaveAfterReadBack checks that history keeps its order if another program saves a note
// just after an edit of it has been read back from disk.
func TestSaveAfterReadBack(t *testing.T) {
	f := newFixture(t, "a.md", "one\n")
	f.failpoint = func(step string) error {
		if step == readStep+"a.md" {
			f.failpoint = nil
			f.write("a.md", "of another program\n")
		}
		return nil
	}
	_, err := f.Edit(context.Background(), notes.EditRequest{Note: "a.md", Edits: []notes.Edit{{Op: "append", Content: "two"}}})
	require.NoError(t, err)
	f.reconcile()
	f.requireConsistent()
	assert.Equal(t, []string{"of another program\n", "one\n\ntwo\n", "one\n"}, f.texts("a.md"))
}

// TestPlace_NameTaken checks that a new file from the log whose name another program takes at
// the last moment is reported as a conflict: otherwise, the mirror takes that program's file
// for a later version of the log's.
func TestPlace_NameTaken(t *testing.T) {
	f := newFixture(t)
	f.failpoint = func(step string) error {
		if step == "before swap 1" {
			f.write("b.md", "of another program\n")
		}
		return nil
	}
	done, err := f.Replica().Place(t.Context(), "edit", notes.Author{Name: "other"}, []store.FileChange{{NewPath: "a.md", New: []byte("a\n")}, {NewPath: "b.md", New: []byte("b\n")}})
	require.NoError(t, err)
	assert.Equal(t, []string{"b.md"}, done.Conflicts)
	assert.Equal(t, "of another program\n", f.onDisk("b.md"))
	f.reconcile()
	f.requireConsistent()
}

// TestDelete_Recreated checks that a note which another program creates again at the moment of
// its deletion exists in history too: otherwise, its history could be forgotten.
func TestDelete_Recreated(t *testing.T) {
	f := newFixture(t, "a.md", "one\n")
	f.failpoint = func(step string) error {
		if step == "after swap 0" {
			f.write("a.md", "again\n")
		}
		return nil
	}
	_, err := f.Delete(t.Context(), notes.DeleteRequest{Note: "a.md"})
	require.NoError(t, err)
	f.failpoint = nil
	_, retry := (&loop{v: f.Vault}).runQueue(t.Context())
	require.False(t, retry)
	f.requireConsistent()
	assert.Equal(t, []string{"again\n", "", "one\n"}, f.texts("a.md"))
	_, err = f.History().Forget(t.Context(), "a.md", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrExists)
}

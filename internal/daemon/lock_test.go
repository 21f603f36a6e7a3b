package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func acquire(t *testing.T, dir string) *Lock {
	t.Helper()
	lock, err := Acquire(context.Background(), dir, NewIdentity("1.0.0", os.Getpid()))
	require.NoError(t, err)
	t.Cleanup(func() { lock.Release() })
	return lock
}

func TestLockIsExclusive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "key")
	first := acquire(t, dir)
	require.NoError(t, first.setSocket("/x/daemon.sock"))
	_, err := Acquire(context.Background(), dir, NewIdentity("2.0.0", 1))
	require.ErrorIs(t, err, ErrLocked)
	var locked *LockedError
	require.ErrorAs(t, err, &locked)
	assert.Equal(t, os.Getpid(), locked.Holder.PID)
	assert.Equal(t, "1.0.0", locked.Holder.Version)
	assert.Equal(t, "/x/daemon.sock", locked.Holder.Socket)
	assert.WithinDuration(t, time.Now(), locked.Holder.Started, time.Minute)
	assert.ErrorContains(t, err, "1.0.0")

	require.NoError(t, first.Release())
	require.NoError(t, first.Release())
	require.ErrorIs(t, first.setSocket("late"), os.ErrClosed)
	acquire(t, dir)
}

func TestLockIgnoresWhatACrashLeft(t *testing.T) {
	dir := t.TempDir()
	// The process id exists, because it is this test's, but proves nothing.
	stale := fmt.Sprintf(`{"pid":%d,"version":"9.9.9","socket":"/gone"}%300s`, os.Getpid(), "\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, lockFile), []byte(stale), 0o600))
	acquire(t, dir)
	holder, err := ReadHolder(dir)
	require.NoError(t, err)
	assert.Equal(t, "1.0.0", holder.Version)
	assert.Empty(t, holder.Socket)
}

func TestLockWaitsForADaemonThatIsStopping(t *testing.T) {
	testLockWaits(t, func(first *Lock) error {
		return errors.Join(first.setSocket("/x/daemon.sock"), first.setClosing(false))
	})
}

func TestLockWaitsForACommand(t *testing.T) {
	testLockWaits(t, func(*Lock) error { return nil })
}

func testLockWaits(t *testing.T, prepare func(first *Lock) error) {
	dir := t.TempDir()
	first := acquire(t, dir)
	require.NoError(t, prepare(first))
	ctx, cancel := context.WithTimeout(context.Background(), 5*lockPoll)
	defer cancel()
	_, err := Acquire(ctx, dir, NewIdentity("2.0.0", 2))
	require.ErrorIs(t, err, ErrLocked)

	got := make(chan error, 1)
	go func() {
		lock, err := Acquire(context.Background(), dir, NewIdentity("2.0.0", 2))
		if err == nil {
			err = lock.Release()
		}
		got <- err
	}()
	require.NoError(t, first.Release())
	require.NoError(t, <-got)
}

func TestLockFileThatIsReplaced(t *testing.T) {
	dir := t.TempDir()
	first := acquire(t, dir)
	// The lock file is deleted. The next process must not lock the deleted file.
	require.NoError(t, os.Remove(filepath.Join(dir, lockFile)))
	second := acquire(t, dir)
	require.NoError(t, second.setSocket("/x/daemon.sock"))
	_, err := Acquire(context.Background(), dir, NewIdentity("3", 3))
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, first.Release())
	require.NoError(t, second.Release())
}

func TestReadHolderOfAnythingElse(t *testing.T) {
	dir := t.TempDir()
	_, err := ReadHolder(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, content := range []string{"", "{", "\x00\xff", "[]"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, lockFile), []byte(content), 0o600))
		_, err := ReadHolder(dir)
		require.Error(t, err, "%q", content)
		_, err = Probe(context.Background(), dir)
		require.ErrorIs(t, err, ErrNotRunning, "%q", content)
	}
}

// After Stop, no lazy connector starts a daemon until another has listened; a process
// that holds the lock for one command does not change that.
func TestStop(t *testing.T) {
	ctx := context.Background()
	stop := Hello{Wire: Wire, Version: "1.0.0", Kind: KindStop}
	missing := filepath.Join(t.TempDir(), "missing")
	pid, err := Stop(ctx, missing, stop)
	require.NoError(t, err)
	assert.Zero(t, pid)
	assert.NoDirExists(t, missing)

	s := startServer(t, echo)
	starts := 0
	c := &Connector{Dir: s.dir, Hello: Hello{Wire: Wire, Kind: KindMCP}, Lazy: true, Start: func(context.Context) error {
		starts++
		return errors.New("not in this test")
	}}
	lazily := func() error { _, err := c.Connect(ctx); return err }
	go func() {
		assert.ErrorIs(t, <-s.ended, ErrStopped)
		assert.NoError(t, s.Lock.Release())
	}()
	pid, err = Stop(ctx, s.dir, stop)
	require.NoError(t, err)
	assert.Equal(t, os.Getpid(), pid)
	require.ErrorIs(t, lazily(), ErrStopped)
	require.NoError(t, acquire(t, s.dir).Release(), "a command without a daemon")
	require.ErrorIs(t, lazily(), ErrStopped)
	assert.Zero(t, starts)

	lock := acquire(t, s.dir)
	listener, err := Listen(lock)
	require.NoError(t, err)
	require.NoError(t, errors.Join(listener.Close(), lock.Release()))
	require.ErrorContains(t, lazily(), "not in this test")
	pid, err = Stop(ctx, s.dir, stop)
	require.NoError(t, err)
	assert.Zero(t, pid, "it was not running")
	require.ErrorIs(t, lazily(), ErrStopped)
	c.Lazy = false
	require.ErrorContains(t, lazily(), "not in this test", "its client waits for an answer")
	assert.Equal(t, 2, starts)
}

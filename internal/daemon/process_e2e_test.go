package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/daemon"
)

func TestTenClientsStartOneDaemon(t *testing.T) {
	dir := stateDir(t)
	const clients = 10
	pids := make(chan int, clients)
	var all sync.WaitGroup
	for range clients {
		c := startClient(t, dir)
		all.Go(func() {
			info, err := c.initialize()
			assert.NoError(t, err)
			pids <- info.PID
		})
	}
	all.Wait()
	close(pids)
	daemon := <-pids
	require.NotZero(t, daemon)
	for pid := range pids {
		assert.Equal(t, daemon, pid)
	}
}

// TestWritesSurviveKilledDaemons kills daemons while clients write: no call fails, and
// every write happens once.
func TestWritesSurviveKilledDaemons(t *testing.T) {
	const clients, kills = 4, 8
	dir := stateDir(t)
	started := make([]*testClient, clients)
	for i := range started {
		started[i] = startClient(t, dir)
		_, err := started[i].initialize()
		require.NoError(t, err)
	}
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		defer close(done)
		for killed := 0; killed < kills; {
			<-time.After(time.Duration(rand.IntN(100)) * time.Millisecond)
			if id, err := daemon.Probe(context.Background(), dir); err == nil {
				kill(t, id.PID)
				killed++
			}
		}
	})
	var acknowledged atomic.Int64
	for i, c := range started {
		for half := range 2 { // two concurrent calls per client
			all.Go(func() {
				for n := 0; ; n++ {
					if !assert.NoError(t, c.write(fmt.Sprintf("client %d.%d call %d", i, half, n))) {
						return
					}
					acknowledged.Add(1)
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
	}
	all.Wait()
	texts, err := written(dir)
	require.NoError(t, err)
	assert.Len(t, texts, int(acknowledged.Load()), "every acknowledged write is there, and no other")
	for text, times := range texts {
		assert.Equal(t, 1, times, "%s was written more than once", text)
	}
	for _, c := range started {
		require.Eventually(t, func() bool { return c.heard("notifications/tools/list_changed") > 0 }, time.Minute, time.Millisecond, "the client is notified that it should list again")
		assert.NoError(t, c.close())
	}
	t.Logf("%d writes", acknowledged.Load())
}

func TestNewerRelayReplacesTheDaemon(t *testing.T) {
	dir := stateDir(t)
	old := startClient(t, dir, envVersion+"=1.2.0")
	info, err := old.initialize()
	require.NoError(t, err)
	require.Equal(t, "1.2.0", info.Version)

	slow := make(chan error, 1)
	go func() {
		_, err := old.call("tools/call", map[string]any{"name": "slow"})
		slow <- err
	}()
	older := startClient(t, dir, envVersion+"=1.1.9")
	info, err = older.initialize()
	require.NoError(t, err)
	assert.Equal(t, "1.2.0", info.Version, "an older relay takes the newer daemon")

	newer := startClient(t, dir, envVersion+"=1.10.0")
	info, err = newer.initialize()
	require.NoError(t, err)
	assert.Equal(t, "1.10.0", info.Version)
	require.NoError(t, <-slow, "what was in flight was finished or repeated")

	require.NoError(t, old.write("after the replacement"))
	id, err := daemon.Probe(context.Background(), dir)
	require.NoError(t, err)
	assert.Equal(t, "1.10.0", id.Version)
}

func TestDaemonThatCannotStartSaysWhy(t *testing.T) {
	for broken, want := range map[string]string{
		"config": "vault.path: it does not exist",
		"crash":  "daemon.log",
	} {
		t.Run(broken, func(t *testing.T) {
			dir := stateDir(t)
			c := startClient(t, dir, envBroken+"="+broken)
			_, err := c.initialize()
			require.ErrorContains(t, err, want)
			require.Error(t, <-c.exit)
			if broken == "crash" {
				log, err := os.ReadFile(filepath.Join(dir, "daemon.log"))
				require.NoError(t, err)
				assert.Contains(t, string(log), "a crash while starting")
			}
		})
	}
}

func TestStartGivesUp(t *testing.T) {
	dir := stateDir(t)
	t.Setenv(envBroken, "hang")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	exe, err := os.Executable()
	require.NoError(t, err)
	err = daemon.Start(ctx, exe, []string{daemonCommand, dir}, filepath.Join(dir, "daemon.log"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestStartWithoutProgram(t *testing.T) {
	dir := t.TempDir()
	err := daemon.Start(context.Background(), filepath.Join(dir, "missing"), nil, filepath.Join(dir, "log"))
	require.ErrorContains(t, err, "missing was removed while it ran")
	exe, err := os.Executable()
	require.NoError(t, err)
	err = daemon.Start(context.Background(), exe, nil, filepath.Join(dir, "no", "folder", "log"))
	require.ErrorContains(t, err, "open the log file")
}

func TestIdleDaemonEnds(t *testing.T) {
	dir := stateDir(t)
	c := startClient(t, dir, envIdle+"=100ms")
	first, err := c.initialize()
	require.NoError(t, err)
	require.NoError(t, c.close())
	require.Eventually(t, func() bool {
		_, err := daemon.Probe(context.Background(), dir)
		return errors.Is(err, daemon.ErrNotRunning)
	}, time.Minute, 10*time.Millisecond)

	again := startClient(t, dir, envIdle+"=100ms")
	second, err := again.initialize()
	require.NoError(t, err)
	assert.NotEqual(t, first.PID, second.PID)
}

package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConnectWithoutStarting(t *testing.T) {
	c := &Connector{Dir: t.TempDir(), Hello: Hello{Wire: Wire, Kind: KindCLI}}
	_, err := c.Connect(context.Background())
	require.ErrorIs(t, err, ErrNotRunning)
}

func TestConnectPassesOnWhyItDoesNotStart(t *testing.T) {
	broken := errors.New("no such vault")
	c := &Connector{Dir: t.TempDir(), Start: func(context.Context) error { return broken }}
	_, err := c.Connect(context.Background())
	require.ErrorIs(t, err, broken)
	_, err = c.Connect(context.Background())
	require.ErrorIs(t, err, broken)
}

// A daemon that is killed while it starts is started again, but not forever.
func TestConnect_DaemonKilledWhileStarting(t *testing.T) {
	s := startServer(t, echo)
	dir := t.TempDir()
	holder, err := os.ReadFile(filepath.Join(s.dir, lockFile))
	require.NoError(t, err)
	starts := 0
	c := &Connector{Dir: dir, Hello: Hello{Wire: Wire, Kind: KindMCP}, Start: func(context.Context) error {
		if starts++; starts%3 != 0 {
			return fmt.Errorf("%w: it was killed", errNoReport)
		}
		return os.WriteFile(filepath.Join(dir, lockFile), holder, 0o600) // it is listening
	}}
	conn, err := c.Connect(t.Context())
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	assert.Equal(t, 3, starts)

	require.NoError(t, os.Remove(filepath.Join(dir, lockFile)))
	c.Start = func(context.Context) error {
		starts++
		return fmt.Errorf("%w: it was killed", errNoReport)
	}
	_, err = c.Connect(t.Context())
	require.ErrorContains(t, err, "it was killed")
	assert.Equal(t, 6, starts)
}

// TestConnectToALockThatNobodyServes runs against a process that holds the lock but
// cannot be reached. The error names the process, and starts of daemons are spaced.
func TestConnectToALockThatNobodyServes(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, acquire(t, dir).setSocket("/x/daemon.sock"))
	synctest.Test(t, func(t *testing.T) {
		starts := 0
		c := &Connector{Dir: dir, Hello: Hello{Wire: Wire, Kind: KindMCP}, Start: func(ctx context.Context) error {
			starts++
			_, err := Acquire(ctx, dir, NewIdentity("1.0.0", 1))
			return err
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 5*startAgain/2)
		defer cancel()
		_, err := c.Connect(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, ErrLocked)
		assert.Equal(t, 3, starts)
	})
}

func TestConnect_WaitsForStartingDaemon(t *testing.T) {
	s := startServer(t, echo)
	dir := t.TempDir()
	turn, err := openLocked(filepath.Join(dir, startFile))
	require.NoError(t, err)
	defer turn.Close()
	c := &Connector{Dir: dir, Hello: Hello{Wire: Wire, Kind: KindMCP}, Start: func(context.Context) error {
		t.Error("it is someone else's turn")
		return nil
	}}
	connected := make(chan error, 1)
	go func() {
		conn, err := c.Connect(context.Background())
		if err == nil {
			err = conn.Close()
		}
		connected <- err
	}()
	// The daemon appears: the lock file contains its socket.
	holder, err := os.ReadFile(filepath.Join(s.dir, lockFile))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, lockFile), holder, 0o600))
	require.NoError(t, <-connected)
}

// startsNone is a successor that does not appear.
func startsNone(context.Context) error { return ErrNotRunning }

func TestConnectReplacesAnOlderDaemon(t *testing.T) {
	s := startServer(t, echo)
	older := &Connector{Dir: s.dir, Successor: startsNone, Hello: Hello{Wire: Wire, Version: "0.9.0", Kind: KindMCP}}
	conn, err := older.Connect(context.Background())
	require.NoError(t, err)
	require.NoError(t, conn.Close())

	// A daemon of another wire version cannot be used, but can be replaced.
	newer := &Connector{Dir: s.dir, Hello: Hello{Wire: Wire + 1, Version: "1.0.1", Kind: KindCLI}}
	_, err = newer.Connect(context.Background())
	require.ErrorIs(t, err, ErrIncompatible, "only where that is wanted")
	newer.Successor = startsNone
	go func() {
		assert.ErrorIs(t, <-s.ended, ErrReplaced)
		assert.NoError(t, s.Lock.Release())
	}()
	_, err = newer.Connect(context.Background())
	require.ErrorIs(t, err, ErrNotRunning)
}

func TestDialToADaemonThatIsStuck(t *testing.T) {
	dir := t.TempDir()
	ln, err := Listen(acquire(t, dir))
	require.NoError(t, err)
	defer ln.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if c, err := ln.Accept(); err == nil {
			_, _ = c.Read(make([]byte, 1)) // of the Hello, which is not answered
			cancel()
		}
	}()
	_, err = Dial(ctx, dir, Hello{Wire: Wire, Kind: KindMCP})
	require.ErrorContains(t, err, "does not answer")
}

func TestDialToADaemonThatEnds(t *testing.T) {
	dir := t.TempDir()
	ln, err := Listen(acquire(t, dir))
	require.NoError(t, err)
	defer ln.Close()
	go func() {
		if c, err := ln.Accept(); err == nil {
			c.Close()
		}
	}()
	_, err = Dial(context.Background(), dir, Hello{Wire: Wire, Kind: KindMCP})
	require.ErrorIs(t, err, ErrNotRunning)
}

func TestDialToSomethingElse(t *testing.T) {
	dir := t.TempDir()
	ln, err := Listen(acquire(t, dir))
	require.NoError(t, err)
	defer ln.Close()
	go func() {
		if c, err := ln.Accept(); err == nil {
			_, _ = c.Write([]byte("220 mail.example.org ESMTP\n"))
			defer c.Close()
			_, _ = c.Read(make([]byte, maxFrame))
		}
	}()
	_, err = Dial(context.Background(), dir, Hello{Wire: Wire, Kind: KindMCP})
	require.ErrorContains(t, err, "handshake with the daemon")
}

// TestConnect_AwaitsReplacedDaemon simulates an older daemon that holds its lock for a
// while after it was asked to stop.
func TestConnect_AwaitsReplacedDaemon(t *testing.T) {
	dir := t.TempDir()
	lock := acquire(t, dir)
	ln, err := Listen(lock)
	require.NoError(t, err)
	asked, released := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(asked)
		for _, kind := range []Kind{KindMCP, KindReplace} { // then no other is accepted: it is asked once
			conn, err := ln.Accept()
			if !assert.NoError(t, err) {
				return
			}
			var hello Hello
			assert.NoError(t, newOpening(conn).receive(&hello))
			assert.Equal(t, kind, hello.Kind)
			assert.NoError(t, newOpening(conn).send(Welcome{Identity: NewIdentity("1.0.0", os.Getpid())}))
			conn.Close()
		}
	}()
	c := &Connector{Dir: dir, Successor: startsNone, Hello: Hello{Wire: Wire, Version: "1.0.1", Kind: KindMCP}}
	go func() {
		<-asked
		released <- errors.Join(ln.Close(), lock.Release())
	}()
	_, err = c.Connect(context.Background())
	require.ErrorIs(t, err, ErrNotRunning)
	require.NoError(t, <-released)
}

package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testServer is a Server in the test process.
type testServer struct {
	*Server
	dir   string
	stop  context.CancelFunc
	ended chan error
}

// startServer serves a new state directory with handle until the test ends.
func startServer(t *testing.T, handle func(context.Context, *Session) error, set ...func(*Server)) *testServer {
	t.Helper()
	dir := t.TempDir()
	id := NewIdentity("1.0.0", os.Getpid())
	lock, err := Acquire(context.Background(), dir, id)
	require.NoError(t, err)
	ln, err := Listen(lock)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	s := &testServer{
		Server: &Server{Listener: ln, Lock: lock, Identity: id},
		dir:    dir, stop: cancel, ended: make(chan error, 1),
	}
	for _, f := range set {
		f(s.Server)
	}
	go func() { s.ended <- s.Serve(ctx, handle) }()
	t.Cleanup(func() {
		cancel()
		lock.Release()
	})
	return s
}

func (s *testServer) dial(t *testing.T, kind Kind) *Conn {
	t.Helper()
	conn, err := Dial(context.Background(), s.dir, Hello{Wire: Wire, Version: "1.0.0", Kind: kind})
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// echo answers each line with the same line.
func echo(_ context.Context, s *Session) error {
	lines := bufio.NewReader(s.Conn)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil
		}
		if _, err := s.Conn.Write(line); err != nil {
			return err
		}
	}
}

func TestServerGivesTheSessionItsHello(t *testing.T) {
	hellos := make(chan Hello, 1)
	s := startServer(t, func(ctx context.Context, s *Session) error {
		hellos <- s.Hello
		return echo(ctx, s)
	})
	hello := Hello{Wire: Wire, Version: "0.9.0", Kind: KindMCP, ReadOnly: true, Tools: []string{"search_notes"}, Scopes: []string{"read"}}
	conn, err := Dial(context.Background(), s.dir, hello)
	require.NoError(t, err)
	defer conn.Close()
	assert.Equal(t, hello, <-hellos)
	assert.Equal(t, s.Identity, conn.Daemon)
	assert.Equal(t, 1, s.Clients())

	_, err = io.WriteString(conn, "one\ntwo\n")
	require.NoError(t, err)
	lines := bufio.NewReader(conn)
	for _, want := range []string{"one\n", "two\n"} {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, want, line)
	}
}

func TestServerTakesWhatFollowsTheHelloAtOnce(t *testing.T) {
	s := startServer(t, echo)
	c := rawDial(t, s)
	_, err := io.WriteString(c, `{"wire":1,"version":"1.0.0","kind":"mcp"}`+"\nhurry\n")
	require.NoError(t, err)
	lines := bufio.NewReader(c)
	_, err = lines.ReadString('\n')
	require.NoError(t, err)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "hurry\n", line)
}

func rawDial(t *testing.T, s *testServer) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", s.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func TestServerRefusesWithTheReason(t *testing.T) {
	s := startServer(t, echo)
	for _, tt := range []struct {
		line string
		want Refusal
	}{
		{`{"wire":2,"version":"9.0.0","kind":"mcp"}`, RefusedWire},
		{`{"wire":0,"version":"9.0.0","kind":"probe"}`, RefusedWire},
		{`{"wire":1,"version":"1.0.0","kind":"other"}`, RefusedHello},
		{`{"wire":1}`, RefusedHello},
		{`garbage`, RefusedHello},
		{`{"wire":"x"}`, RefusedHello},
		{`GET / HTTP/1.1`, RefusedHello},
		{strings.Repeat("x", maxFrame+1), RefusedHello},
		{`{"wire":1,"version":"1.0.0","kind":"replace"}`, RefusedNotNewer},
		{`{"wire":1,"version":"0.9.0","kind":"replace"}`, RefusedNotNewer},
		{`{"wire":1,"version":"","kind":"replace"}`, RefusedNotNewer},
	} {
		c := rawDial(t, s)
		_, err := io.WriteString(c, tt.line+"\n")
		require.NoError(t, err)
		var w Welcome
		require.NoError(t, json.NewDecoder(c).Decode(&w), tt.line)
		assert.Equal(t, tt.want, w.Refused, tt.line)
		assert.Equal(t, s.Identity, w.Identity)
		_, err = c.Read(make([]byte, 1))
		assert.Error(t, err, "the connection is closed")
	}
	s.dial(t, KindMCP) // the next connection is accepted
}

func TestDialSaysWhatIsWrong(t *testing.T) {
	s := startServer(t, echo)
	_, err := Dial(context.Background(), s.dir, Hello{Wire: 7, Version: "0.1.0", Kind: KindMCP})
	require.ErrorIs(t, err, ErrIncompatible)
	assert.ErrorContains(t, err, "restart this program")
	_, err = Dial(context.Background(), s.dir, Hello{Wire: 7, Version: "3.0.0", Kind: KindMCP})
	require.ErrorIs(t, err, ErrIncompatible)
	assert.ErrorContains(t, err, "notesd restart starts this version")
	_, err = Dial(context.Background(), s.dir, Hello{Wire: Wire, Kind: "other"})
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, RefusedHello, refused.Reason)
	_, err = Dial(context.Background(), filepath.Join(s.dir, "nothing"), Hello{})
	require.ErrorIs(t, err, ErrNotRunning)
	assert.NoDirExists(t, filepath.Join(s.dir, "nothing"), "asking creates nothing")
}

func TestProbe(t *testing.T) {
	s := startServer(t, echo)
	id, err := Probe(context.Background(), s.dir)
	require.NoError(t, err)
	assert.Equal(t, s.Identity, id)
	s.stop()
	require.NoError(t, <-s.ended)
	_, err = Probe(context.Background(), s.dir)
	require.ErrorIs(t, err, ErrNotRunning)
}

func TestServerBoundsSessions(t *testing.T) {
	s := startServer(t, echo)
	for range maxSessions {
		s.dial(t, KindMCP)
	}
	_, err := Dial(context.Background(), s.dir, Hello{Wire: Wire, Kind: KindMCP})
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, RefusedBusy, refused.Reason)
}

// A client that does not complete its Hello in time is disconnected, even if it keeps
// sending; a client that does is not.
func TestServerWaitsForAHelloOnlySoLong(t *testing.T) {
	const wait = 200 * time.Millisecond
	s := startServer(t, echo, func(s *Server) { s.helloWait = wait })
	began := time.Now()
	var slow sync.WaitGroup
	for name, say := range map[string]func(net.Conn){
		"nothing":      func(net.Conn) {},
		"half a hello": func(c net.Conn) { _, _ = c.Write([]byte(`{"wire":1,`)) },
		"byte for byte": func(c net.Conn) {
			for {
				if _, err := c.Write([]byte(" ")); err != nil {
					return
				}
				<-time.After(wait / 20)
			}
		},
	} {
		conn, err := net.Dial("unix", s.Listener.Addr().String())
		require.NoError(t, err)
		defer conn.Close()
		slow.Go(func() { say(conn) })
		slow.Go(func() {
			_, err := io.Copy(io.Discard, conn)
			assert.True(t, err == nil || hungUp(err), "%s: %v", name, err)
			assert.GreaterOrEqual(t, time.Since(began), wait, name)
		})
	}
	var session *Conn
	for session == nil { // the greeting may take longer than the wait
		session, _ = Dial(t.Context(), s.dir, Hello{Wire: Wire, Kind: KindMCP})
	}
	defer session.Close()
	slow.Wait()
	_, err := session.Write([]byte("still here\n"))
	require.NoError(t, err)
	line, err := bufio.NewReader(session).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "still here\n", line)
}

// A client that is killed before it has read an answer is no fault; other errors are logged.
func TestServerLogsTheErrorsOfSessions(t *testing.T) {
	for name, tt := range map[string]struct {
		handle func(*Session) error
		want   string
	}{
		"killed client": {func(s *Session) error {
			for {
				if _, err := s.Conn.Write([]byte("an answer\n")); err != nil {
					return fmt.Errorf("write: %w", err)
				}
			}
		}, ""},
		"fault": {func(*Session) error { return errors.New("out of order") }, "out of order"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			ended := make(chan struct{})
			s := startServer(t, func(_ context.Context, s *Session) error {
				defer close(ended)
				return tt.handle(s)
			}, func(s *Server) {
				s.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
			})
			require.NoError(t, s.dial(t, KindMCP).Close())
			<-ended
			s.stop()
			require.NoError(t, <-s.ended)
			if tt.want == "" {
				assert.Empty(t, log.String())
			} else {
				assert.Contains(t, log.String(), tt.want)
			}
		})
	}
}

func TestServerStopsWithoutSessionsAtOnce(t *testing.T) {
	s := startServer(t, echo, func(s *Server) { s.drainWait = time.Hour })
	silent := rawDial(t, s) // without a Hello
	s.stop()
	require.NoError(t, <-s.ended)
	assert.NoFileExists(t, s.Listener.Addr().String())
	_, err := silent.Read(make([]byte, 1))
	require.Error(t, err)
	holder, err := ReadHolder(s.dir)
	require.NoError(t, err)
	assert.True(t, holder.Closing, "the next daemon may wait for the lock")
}

// TestServerLetsRelaysFinish stops a server: the relay is notified, gets its pending
// answers, and disconnects.
func TestServerLetsRelaysFinish(t *testing.T) {
	began := make(chan struct{})
	proceed := make(chan struct{})
	s := startServer(t, func(_ context.Context, s *Session) error {
		close(began)
		<-proceed
		_, err := io.WriteString(s.Conn, `{"answer":1}`+"\n")
		_, err2 := io.Copy(io.Discard, s.Conn)
		return errors.Join(err, err2)
	})
	conn := s.dial(t, KindMCP)
	<-began
	s.stop()
	_, err := net.Dial("unix", s.Listener.Addr().String())
	for err == nil { // until no connection is accepted
		_, err = net.Dial("unix", s.Listener.Addr().String())
	}
	close(proceed)
	lines := bufio.NewReader(conn)
	one, err := lines.ReadString('\n')
	require.NoError(t, err)
	two, err := lines.ReadString('\n')
	require.NoError(t, err)
	notice := fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"reason":%q}}`, ClosingMethod, ReasonStopping)
	assert.ElementsMatch(t, []string{`{"answer":1}` + "\n", notice + "\n"}, []string{one, two})
	require.NoError(t, conn.Close())
	require.NoError(t, <-s.ended)
}

// A daemon may begin to stop while it greets a client, whose first line is still the
// Welcome.
func TestServerStopsDuringAWelcome(t *testing.T) {
	greeting, proceed := make(chan struct{}), make(chan struct{})
	s := startServer(t, echo, func(s *Server) {
		s.Remarks = func(Hello) []string {
			close(greeting)
			<-proceed
			return nil
		}
	})
	c := newOpening(rawDial(t, s))
	require.NoError(t, c.send(Hello{Wire: Wire, Kind: KindMCP}))
	<-greeting
	s.stop()
	require.Eventually(t, func() bool {
		other, err := net.Dial("unix", s.Listener.Addr().String())
		if err == nil {
			other.Close()
		}
		return err != nil
	}, time.Minute, time.Millisecond, "no connection is accepted")
	for range 100 {
		runtime.Gosched() // let the server announce it
	}
	close(proceed)
	var w Welcome
	require.NoError(t, c.receive(&w))
	assert.Equal(t, s.Identity, w.Identity)
	line, err := c.in.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, ClosingMethod)
	require.NoError(t, c.Close())
	require.NoError(t, <-s.ended)
}

// TestServerCutsBeforeItCancels checks that a client sees a lost connection, after
// which it resends its requests, and never the error of cancelled work.
func TestServerCutsBeforeItCancels(t *testing.T) {
	s := startServer(t, func(ctx context.Context, s *Session) error {
		<-ctx.Done()
		_, err := io.WriteString(s.Conn, `{"error":"cancelled"}`+"\n")
		return err
	})
	conn := s.dial(t, KindCLI)
	s.stop()
	heard, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Empty(t, string(heard))
	require.NoError(t, <-s.ended)
}

func TestServerIsReplaced(t *testing.T) {
	s := startServer(t, echo)
	conn := s.dial(t, KindMCP)
	replace, err := Dial(context.Background(), s.dir, Hello{Wire: Wire, Version: "1.0.1", Kind: KindReplace})
	require.NoError(t, err)
	defer replace.Close()
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, ReasonReplaced)
	require.NoError(t, conn.Close())
	require.ErrorIs(t, <-s.ended, ErrReplaced)
}

// A process with a task of its own keeps its lock, so it must not stop serving.
func TestServer_Foreground(t *testing.T) {
	s := startServer(t, echo, func(s *Server) { s.Foreground = true })
	newer := Hello{Wire: Wire, Version: "1.0.1"}
	for _, kind := range []Kind{KindStop, KindRestart, KindReplace} {
		newer.Kind = kind
		_, err := Stop(t.Context(), s.dir, newer)
		var refused *RefusedError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, RefusedStop, refused.Reason)
		assert.ErrorContains(t, err, "end the program that started it")
	}
	newer.Kind = KindMCP
	conn, err := (&Connector{Dir: s.dir, Hello: newer, Successor: startsNone}).Connect(t.Context())
	require.NoError(t, err, "a newer client uses it")
	require.NoError(t, conn.Close())
}

func TestServerEndsWhenIdle(t *testing.T) {
	s := startServer(t, echo, func(s *Server) { s.IdleExit = time.Millisecond })
	require.ErrorIs(t, <-s.ended, ErrIdle)
}

func TestServerIsNotIdleWhileItIsUsed(t *testing.T) {
	const after = time.Minute
	synctest.Test(t, func(t *testing.T) {
		var u use
		u.add(1)
		u.add(1)
		time.Sleep(2 * after)
		u.add(-1)
		time.Sleep(2 * after)
		require.False(t, u.idle(after), "one use is left")
		u.add(-1)
		time.Sleep(after - 1)
		require.False(t, u.idle(after))
		time.Sleep(time.Nanosecond)
		require.True(t, u.idle(after))
	})
}

func TestServer_StaysWhileBusy(t *testing.T) {
	checks := 0 // read after Serve has returned
	s := startServer(t, echo, func(s *Server) {
		s.IdleExit = time.Millisecond
		s.Busy = func() bool { checks++; return checks < 4 }
	})
	require.ErrorIs(t, <-s.ended, ErrIdle)
	assert.GreaterOrEqual(t, checks, 4)
}

// TestServerLeavesNothing runs many sessions of all kinds, then checks for leaked
// goroutines and descriptors.
func TestServerLeavesNothing(t *testing.T) {
	s := startServer(t, echo)
	// The runtime opens its network descriptors once.
	require.NoError(t, s.dial(t, KindProbe).Close())
	s.stop()
	require.NoError(t, <-s.ended)
	require.NoError(t, s.Lock.Release())
	goroutines, files := runtime.NumGoroutine(), countFiles()

	s = startServer(t, echo)
	var all sync.WaitGroup
	for _, kind := range []Kind{KindMCP, KindCLI, KindStatus, KindProbe} {
		for range 25 {
			all.Go(func() {
				conn, err := Dial(context.Background(), s.dir, Hello{Wire: Wire, Kind: kind})
				if assert.NoError(t, err) {
					_, _ = io.WriteString(conn, "x\n") // probes have ended by now
					assert.NoError(t, conn.Close())
				}
			})
		}
	}
	all.Wait()
	for range 10 {
		c, err := net.Dial("unix", s.Listener.Addr().String())
		require.NoError(t, err)
		require.NoError(t, c.Close())
	}
	s.stop()
	require.NoError(t, <-s.ended)
	require.NoError(t, s.Lock.Release())
	require.Eventually(t, func() bool {
		const own = 1 // this function's
		return runtime.NumGoroutine()-own <= goroutines && countFiles() <= files
	}, time.Minute, time.Millisecond, "goroutines or descriptors are left")
}

// countFiles returns the number of open descriptors of this process, or 0 if unknown.
func countFiles() int {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

func TestServerEndsWhenItCannotBeFound(t *testing.T) {
	for name, remove := range map[string]func(s *testServer) error{
		"state directory": func(s *testServer) error { return os.RemoveAll(s.dir) },
		"socket":          func(s *testServer) error { return os.Remove(s.Listener.Addr().String()) },
		"lock file":       func(s *testServer) error { return os.Remove(filepath.Join(s.dir, lockFile)) },
		"file system": func(s *testServer) error { // after it was mounted again, the open file fails
			s.Lock.mu.Lock()
			defer s.Lock.mu.Unlock()
			return s.Lock.file.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, echo, func(s *Server) { s.lookEvery = time.Millisecond })
			require.NoError(t, remove(s))
			require.ErrorIs(t, <-s.ended, ErrDisplaced)
		})
	}
}

func TestServerLeavesItsSuccessorAlone(t *testing.T) {
	s := startServer(t, echo, func(s *Server) { s.lookEvery = time.Hour })
	path := s.Listener.Addr().String()
	require.NoError(t, os.RemoveAll(s.dir))
	lock := acquire(t, s.dir)
	next, err := Listen(lock)
	require.NoError(t, err)
	defer next.Close()
	require.Equal(t, path, next.Addr().String())
	_, err = Listen(s.Lock)
	require.ErrorIs(t, err, ErrDisplaced)
	assert.False(t, s.Lock.InPlace())
	assert.True(t, lock.InPlace())
	s.stop()
	require.NoError(t, <-s.ended)
	assert.FileExists(t, path, "the successor's socket")
}

package daemon_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"notesd/internal/daemon"
	"notesd/internal/relay"
)

// Depending on its first argument, the test binary acts as the launcher, a daemon or a
// relay.
const (
	daemonCommand = "__test-daemon"
	relayCommand  = "__test-relay"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case daemon.LaunchCommand:
			os.Exit(daemon.LaunchMain(os.Args[2:]))
		case daemonCommand:
			os.Exit(testDaemon(os.Args[2]))
		case relayCommand:
			os.Exit(testRelay(os.Args[2]))
		}
	}
	// The race detector delays the exit of a process.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// Settings of the processes, passed in the environment.
const (
	envVersion = "TEST_DAEMON_VERSION"
	envBroken  = "TEST_DAEMON_BROKEN" // how the daemon should fail to start
	envIdle    = "TEST_DAEMON_IDLE"
)

func testVersion() string {
	if v := os.Getenv(envVersion); v != "" {
		return v
	}
	return "1.0.0"
}

// testDaemon runs a daemon that keeps its notes as files in the state directory.
func testDaemon(dir string) int {
	startup := daemon.Inherited()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := serveTest(ctx, startup, dir); err != nil {
		_ = startup.Fail(err, 2)
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func serveTest(ctx context.Context, startup *daemon.Startup, dir string) error {
	switch os.Getenv(envBroken) {
	case "config":
		return errors.New("vault.path: it does not exist")
	case "crash":
		panic("a crash while starting")
	case "hang":
		<-time.After(20 * time.Second) // longer than the test waits
		return errors.New("nobody should hear this")
	}
	id := daemon.NewIdentity(testVersion(), os.Getpid())
	lock, err := daemon.Acquire(ctx, dir, id)
	if err != nil {
		return err
	}
	defer lock.Release()
	listener, err := daemon.Listen(lock)
	if err != nil {
		return err
	}
	idle := 20 * time.Second
	if d, err := time.ParseDuration(os.Getenv(envIdle)); err == nil {
		idle = d
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	server := &daemon.Server{Listener: listener, Lock: lock, Identity: id, IdleExit: idle, Logger: logger}
	if err := startup.Ready(); err != nil {
		return err
	}
	err = server.Serve(ctx, (&testHandler{dir: dir}).serve)
	if errors.Is(err, daemon.ErrIdle) || errors.Is(err, daemon.ErrReplaced) {
		return nil
	}
	return err
}

// testHandler implements as much of the protocol as a relay needs.
type testHandler struct{ dir string }

func (h *testHandler) serve(ctx context.Context, s *daemon.Session) error {
	defer s.Conn.Close()
	var calls sync.WaitGroup
	defer calls.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := bufio.NewReader(s.Conn)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil
		}
		calls.Go(func() {
			if answer := h.answer(ctx, s, line); answer != nil {
				_, _ = s.Conn.Write(append(answer, '\n')) // fails only if the client is gone
			}
		})
	}
}

// answer returns the response to one line, or nil. Calls that fail get an error
// response.
func (h *testHandler) answer(ctx context.Context, s *daemon.Session, line []byte) []byte {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name      string            `json:"name"`
			Arguments map[string]string `json:"arguments"`
			Meta      map[string]any    `json:"_meta"`
		} `json:"params"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`)
	}
	if m.ID == nil {
		return nil
	}
	var result any = struct{}{}
	var err error
	switch {
	case m.Method == "initialize":
		result = map[string]any{
			"protocolVersion": "2025-11-25",
			"capabilities":    map[string]any{"tools": map[string]any{"listChanged": true}},
			"serverInfo":      map[string]any{"pid": os.Getpid(), "version": testVersion(), "hello": s.Hello},
		}
	case m.Params.Name == "write":
		key, _ := m.Params.Meta[relay.RequestKeyMeta].(string)
		err = h.write(key, m.Params.Arguments["text"])
	case m.Params.Name == "slow":
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}
	if err != nil {
		answer = map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32603, "message": err.Error()}}
	}
	encoded, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	return encoded
}

// write performs one call: it atomically creates a file with one line. The request key
// serves as the journal: a repeated call does not write again, and the file records the
// attempts.
func (h *testHandler) write(key, text string) error {
	if key == "" {
		return errors.New("no request key")
	}
	dir := filepath.Join(h.dir, "written")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	err = os.Link(f.Name(), filepath.Join(dir, key))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// written returns the number of times each text was written.
func written(dir string) (map[string]int, error) {
	texts := map[string]int{}
	entries, err := os.ReadDir(filepath.Join(dir, "written"))
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "tmp-") {
			continue // left by a daemon that was killed
		}
		text, err := os.ReadFile(filepath.Join(dir, "written", entry.Name()))
		if err != nil {
			return nil, err
		}
		texts[string(text)]++
	}
	return texts, nil
}

// testRelay relays between standard input and output and a daemon, which it starts.
func testRelay(dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	c := testConnector(dir)
	c.Logger = logger
	relay := &relay.Relay{In: os.Stdin, Out: os.Stdout, Logger: logger, Dial: func(ctx context.Context, _ bool) (io.ReadWriteCloser, error) { return c.Connect(ctx) }}
	if err := relay.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		return 1
	}
	return 0
}

// testConnector connects to the test daemon of dir as a relay does.
func testConnector(dir string) *daemon.Connector {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	start := func(ctx context.Context) error {
		return daemon.Start(ctx, exe, []string{daemonCommand, dir}, filepath.Join(dir, "daemon.log"))
	}
	return &daemon.Connector{
		Dir:       dir,
		Hello:     daemon.Hello{Wire: daemon.Wire, Version: testVersion(), Kind: daemon.KindMCP},
		Start:     start,
		Successor: start,
	}
}

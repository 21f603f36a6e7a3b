package daemon_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"notesd/internal/daemon"
)

// testClient acts as a host: it runs a relay process and speaks JSON-RPC to it.
type testClient struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	exit chan error

	mu      sync.Mutex
	next    int
	waiting map[int]chan answer
	notes   map[string]int // notifications received, by method
}

type answer struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// startClient starts a relay process for the state directory dir, configured by its
// environment.
func startClient(t *testing.T, dir string, env ...string) *testClient {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	c := &testClient{t: t, exit: make(chan error, 1), waiting: map[int]chan answer{}, notes: map[string]int{}}
	c.cmd = exec.Command(exe, relayCommand, dir)
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stderr = testWriter{t}
	c.in, err = c.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	go func() {
		c.read(out)
		c.exit <- c.cmd.Wait()
		close(c.exit)
	}()
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		for range c.exit { // until it has ended: what it says is logged, which panics after the test
		}
	})
	return c
}

// read handles the relay's output until it ends.
func (c *testClient) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var m struct {
			answer
			ID     *int   `json:"id"`
			Method string `json:"method"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			c.t.Errorf("not a message: %q", line)
			continue
		}
		c.mu.Lock()
		if m.ID == nil {
			c.notes[m.Method]++
		} else if waiter := c.waiting[*m.ID]; waiter != nil {
			delete(c.waiting, *m.ID)
			waiter <- m.answer
		} else {
			c.t.Errorf("an answer to nothing: %s", line)
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, waiter := range c.waiting {
		delete(c.waiting, id)
		close(waiter)
	}
	c.waiting = nil
}

// call sends a request and waits for its answer.
func (c *testClient) call(method string, params any) (json.RawMessage, error) {
	c.mu.Lock()
	if c.waiting == nil {
		c.mu.Unlock()
		return nil, errors.New("the relay has ended")
	}
	c.next++
	id := c.next
	waiter := make(chan answer, 1)
	c.waiting[id] = waiter
	c.mu.Unlock()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	select {
	case a, ok := <-waiter:
		switch {
		case !ok:
			return nil, errors.New("the relay ended without an answer")
		case a.Error != nil:
			return nil, errors.New(a.Error.Message)
		}
		return a.Result, nil
	case <-time.After(time.Minute):
		return nil, fmt.Errorf("no answer to %s", line)
	}
}

// serverInfo is the server info reported by the test daemon.
type serverInfo struct {
	PID     int          `json:"pid"`
	Version string       `json:"version"`
	Hello   daemon.Hello `json:"hello"`
}

// initialize performs the handshake.
func (c *testClient) initialize() (serverInfo, error) {
	raw, err := c.call("initialize", map[string]any{"protocolVersion": "2025-11-25"})
	if err != nil {
		return serverInfo{}, err
	}
	var result struct {
		ServerInfo serverInfo `json:"serverInfo"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return serverInfo{}, err
	}
	_, err = io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return result.ServerInfo, err
}

// write calls the tool that writes text.
func (c *testClient) write(text string) error {
	_, err := c.call("tools/call", map[string]any{"name": "write", "arguments": map[string]string{"text": text}})
	return err
}

// heard returns the number of times a notification was received.
func (c *testClient) heard(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.notes[method]
}

// close stops the relay as a host does and returns its exit error.
func (c *testClient) close() error {
	c.in.Close()
	select {
	case err := <-c.exit:
		return err
	case <-time.After(time.Minute):
		return errors.New("the relay does not end")
	}
}

// testWriter writes to the test's log.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Logf("%s", p)
	return len(p), nil
}

// stateDir returns a state directory whose daemon is stopped after the test.
func stateDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() { endDaemon(t, dir) })
	return dir
}

// endDaemon stops the daemon of dir, if one runs, and waits until it has exited.
func endDaemon(t *testing.T, dir string) {
	t.Helper()
	id, err := daemon.Probe(context.Background(), dir)
	if err != nil {
		return
	}
	kill(t, id.PID)
	require.NoError(t, daemon.AwaitEnd(context.Background(), dir, id.PID))
}

// kill kills a process that this test started.
func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	require.NoError(t, err)
	if err := p.Kill(); err != nil {
		require.ErrorIs(t, err, os.ErrProcessDone)
	}
}

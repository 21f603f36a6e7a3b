package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/notestest"
	"notesd/internal/service"
)

// patience is how long a test waits for something that must happen.
const patience = 3 * time.Minute

// place is a vault with its own state.
type place struct {
	program, vault, state string
	first                 []string // arguments before those of a command, if program runs notesd
	env                   []string // settings from the host
	folders               []string // folders below vault that make up the vault; nil if vault itself does
	byEnv                 bool     // the vault is set in the host's env block
}

func newPlace(t testing.TB, files map[string]string) place {
	t.Helper()
	p := place{program: "notesd", vault: notestest.Vault(t, files), state: filepath.Join(t.TempDir(), "state")}
	require.NoError(t, configureTests(p.config()))
	t.Cleanup(func() {
		if _, err := os.Stat(p.state); err == nil {
			stopDaemon(t, p.state)
		}
	})
	return p
}

// config is the XDG configuration directory of the place.
func (p place) config() string { return filepath.Dir(p.state) }

// named returns the vault in the form of --vault.
func (p place) named() string {
	folders := config.Folders{}
	for _, name := range p.folders {
		folders[name] = filepath.Join(p.vault, name)
	}
	if len(folders) == 0 {
		return p.vault
	}
	return folders.String()
}

// command returns a process of the program that works only on the place.
func (p place) command(args ...string) *exec.Cmd {
	named, env := []string{"--vault", p.named(), "--state", p.state}, []string{"NOTESD_VAULT=", "NOTESD_STATE="}
	if p.byEnv {
		named, env = nil, []string{"NOTESD_VAULT_FOLDERS=" + p.named(), "NOTESD_STATE=" + p.state}
	}
	cmd := exec.Command(p.program, slices.Concat(p.first, args, named)...)
	cmd.Env = append(append(os.Environ(), "XDG_CONFIG_HOME="+p.config(), "XDG_STATE_HOME="+p.config()), env...)
	cmd.Env = append(cmd.Env, p.env...)
	return cmd
}

// run runs a command to completion and returns its standard output.
func (p place) run(t testing.TB, args ...string) string {
	t.Helper()
	cmd := p.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "notesd %v: %s", args, &stderr)
	return string(out)
}

// report returns the place's status.
func (p place) report(t testing.TB) service.Report {
	t.Helper()
	var r service.Report
	require.NoError(t, json.Unmarshal([]byte(p.run(t, "status", "--json")), &r))
	return r
}

// daemon returns the identity of the daemon that serves the place.
func (p place) daemon(t testing.TB) daemon.Identity {
	t.Helper()
	id, err := daemon.Probe(t.Context(), p.state)
	require.NoError(t, err)
	return id
}

// peer is a host that launched the program and exchanges JSON-RPC with it.
type peer struct {
	t      testing.TB
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr quietBuffer
	ended  chan error

	mu      sync.Mutex // held while a line is written
	nextID  int
	answers map[int]chan message
	others  chan message // notifications, and responses to unknown ids
	dropped atomic.Int64 // messages dropped because others was full
}

// quietBuffer collects the standard error of a process.
type quietBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *quietBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *quietBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// message is any JSON-RPC message.
type message struct {
	ID     *json.RawMessage `json:"id,omitempty"`
	Method string           `json:"method,omitempty"`
	Params json.RawMessage  `json:"params,omitempty"`
	Result json.RawMessage  `json:"result,omitempty"`
	Error  *rpcError        `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// launch starts the program like a host.
func (p place) launch(t testing.TB, args ...string) *peer {
	t.Helper()
	h := &peer{t: t, cmd: p.command(args...), ended: make(chan error, 1), answers: map[int]chan message{}, others: make(chan message, 1000)}
	var err error
	h.stdin, err = h.cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := h.cmd.StdoutPipe()
	require.NoError(t, err)
	h.cmd.Stderr = &h.stderr
	require.NoError(t, h.cmd.Start())
	go func() {
		h.read(stdout)
		h.ended <- h.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = h.stdin.Close()
		select {
		case <-h.ended:
		case <-time.After(patience):
			t.Error("the program did not end after its input did")
			_ = h.cmd.Process.Kill()
		}
	})
	return h
}

// read dispatches each line. Standard output is reserved for the protocol: a line that is
// not a message fails the test.
func (h *peer) read(stdout io.Reader) {
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			assert.Empty(h.t, line, "an unfinished line")
			return
		}
		var m message
		if !assert.NoError(h.t, json.Unmarshal(line, &m), "%s", line) {
			continue
		}
		var id int
		if m.ID != nil && m.Method == "" && json.Unmarshal(*m.ID, &id) == nil {
			h.mu.Lock()
			answer := h.answers[id]
			delete(h.answers, id)
			h.mu.Unlock()
			if answer != nil {
				answer <- m
				continue
			}
		}
		select {
		case h.others <- m:
		default:
			h.dropped.Add(1)
		}
	}
}

func (h *peer) write(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := io.WriteString(h.stdin, line+"\n")
	assert.NoError(h.t, err)
}

// send sends a request and returns the channel for its response.
func (h *peer) send(method string, params any) <-chan message {
	h.mu.Lock()
	h.nextID++
	id := h.nextID
	answer := make(chan message, 1)
	h.answers[id] = answer
	h.mu.Unlock()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	assert.NoError(h.t, err)
	h.write(string(line))
	return answer
}

// call sends a request and waits for its response.
func (h *peer) call(method string, params any) message {
	h.t.Helper()
	select {
	case m := <-h.send(method, params):
		return m
	case <-time.After(patience):
		require.FailNow(h.t, "no answer", "%s %v\n%s", method, params, &h.stderr)
		return message{}
	}
}

// decode decodes the result of a response.
func (h *peer) decode(m message, into any) {
	h.t.Helper()
	require.Nil(h.t, m.Error)
	require.NoError(h.t, json.Unmarshal(m.Result, into))
}

// initialize opens the session and returns the response.
func (h *peer) initialize() message {
	h.t.Helper()
	m := h.call("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "test", "version": "1"},
	})
	require.Nil(h.t, m.Error)
	h.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return m
}

// toolResult is the result of tools/call.
type toolResult struct {
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	Structured map[string]any `json:"structuredContent"`
	IsError    bool           `json:"isError"`
}

func (h *peer) tool(name string, args map[string]any) toolResult {
	h.t.Helper()
	m := h.call("tools/call", map[string]any{"name": name, "arguments": args})
	require.Nil(h.t, m.Error, "%s %v", name, args)
	var r toolResult
	h.decode(m, &r)
	return r
}

// found returns the paths found by a search.
func (h *peer) found(query string) []string {
	h.t.Helper()
	r := h.tool("search_notes", map[string]any{"query": query})
	require.False(h.t, r.IsError, "%v", r.Content)
	paths := []string{}
	for _, hit := range r.Structured["results"].([]any) {
		paths = append(paths, hit.(map[string]any)["path"].(string))
	}
	return paths
}

// end closes the program's input and returns its exit status.
func (h *peer) end() error {
	h.t.Helper()
	// A program that ended by itself has had its input closed by Wait.
	if err := h.stdin.Close(); !errors.Is(err, os.ErrClosed) {
		require.NoError(h.t, err)
	}
	select {
	case err := <-h.ended:
		h.ended <- err // for the cleanup
		return err
	case <-time.After(patience):
		require.FailNow(h.t, "the program did not end")
		return nil
	}
}

// testPoll is the interval at which tests poll.
const testPoll = 20 * time.Millisecond

// eventually waits until a condition is true.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(testPoll)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			require.FailNow(t, "never: "+what)
		}
	}
}

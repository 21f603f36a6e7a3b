package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault"
	"notesd/prompts"
	"notesd/search"
	"notesd/search/index"
)

var update = flag.Bool("update", false, "write what the tests see into testdata")

// TestTranscripts replays the sessions in testdata/transcripts. Each file contains notes
// (vault/PATH), optionally a session's options as JSON, and a transcript with these lines:
//
//	> TEXT     the client sends a line
//	< JSON     the server has sent this by the time it is idle again
//	~ 300ms    time passes
//	$ COMMAND  something happens to the vault: save PATH TEXT, fail, …; see world.do
//
// With -update, the server's lines are rewritten.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playFile(t, file) })
		})
	}
}

type transcriptOptions struct {
	Profile
	Limits  Limits
	Prompts string // the prompts folder

	PromptBytes int // limit on the notes that a prompt embeds
}

func playFile(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	files := map[string]string{}
	var opts transcriptOptions
	var script *txtar.File
	for i, f := range archive.Files {
		switch {
		case strings.HasPrefix(f.Name, "vault/"):
			files[strings.TrimPrefix(f.Name, "vault/")] = string(f.Data)
		case f.Name == "options":
			require.NoError(t, json.Unmarshal(f.Data, &opts))
		case f.Name == "transcript":
			script = &archive.Files[i]
		}
	}
	require.NotNil(t, script, "no transcript")
	w := newWorld(t, files, opts.Limits)
	if opts.Prompts != "" || opts.PromptBytes > 0 {
		w.core.SetProfile(Profile{Settings: Settings{Prompts: w.prompts(prompts.Options{Folder: opts.Prompts, Budget: opts.PromptBytes})}})
	}
	client := w.connect(t, opts.Profile)
	played := play(t, w, client, string(script.Data))
	client.close()
	assert.NotContains(t, played, secret)
	if *update {
		script.Data = []byte(played)
		require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o600))
		return
	}
	assert.Equal(t, string(script.Data), played)
}

func play(t *testing.T, w *world, client *testClient, script string) string {
	var out strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "< ") {
			continue
		}
		fmt.Fprintln(&out, line)
		switch verb, rest, _ := strings.Cut(line, " "); verb {
		case ">":
			client.send(expand(rest))
		case "~":
			d, err := time.ParseDuration(rest)
			require.NoError(t, err)
			time.Sleep(d)
		case "$":
			w.do(t, rest)
		default:
			continue
		}
		synctest.Wait()
		got := client.received()
		withdrawn := func(line string) int { return strings.Count(line, `"notifications/cancelled"`) }
		// The SDK cancels its own requests from a goroutine, in an unspecified order.
		slices.SortStableFunc(got, func(a, b string) int { return withdrawn(a) - withdrawn(b) })
		for _, line := range got {
			fmt.Fprintln(&out, "<", line)
		}
	}
	return out.String()
}

// expand replaces placeholders for text that would be unreadable in a transcript: {{nest
// 200}} is as many opening brackets, {{fill 100}} as many letters, {{half}} half a
// character.
func expand(line string) string {
	for {
		before, rest, ok := strings.Cut(line, "{{")
		if !ok {
			return line
		}
		inner, after, _ := strings.Cut(rest, "}}")
		var word string
		var n int
		_, _ = fmt.Sscanf(inner, "%s %d", &word, &n)
		switch word {
		case "nest":
			word = strings.Repeat("[", n) + strings.Repeat("]", n)
		case "fill":
			word = strings.Repeat("x", n)
		case "half":
			word = "\xc3"
		}
		line = before + word + after
	}
}

// A world is a core over a vault on disk, wired as in cmd but without goroutines of its
// own, and its log. The times of files saved through it do not depend on the clock.
type world struct {
	root     string
	vault    *stagedVault
	search   *search.Engine
	core     *Core
	log      *lockedBuffer
	notifier *Notifier
	saves    int
}

// stagedVault is a vault whose state and reads are controlled by a test.
type stagedVault struct {
	*vault.Vault
	scanning bool
	dirs     map[string]string // the vault's folders, as clients may spell them

	read func(ctx context.Context, ref string) error // what Read does first, if set
}

func (v *stagedVault) Ready() bool { return !v.scanning }

func (v *stagedVault) Status(ctx context.Context) (notes.Status, error) {
	st, err := v.Vault.Status(ctx)
	st.Dirs, st.Scanning, st.Incomplete = v.dirs, v.scanning, v.scanning
	st.Scanned, st.ToScan = st.Notes, st.Notes
	return st, err
}

func (v *stagedVault) Read(ctx context.Context, ref string, scope notes.Scope) (*notes.Note, error) {
	if v.read != nil {
		if err := v.read(ctx, ref); err != nil {
			return nil, err
		}
	}
	return v.Vault.Read(ctx, ref, scope)
}

// started is the time at which the first file of a world is saved; each further one is
// saved a minute later.
var started = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func newWorld(t testing.TB, files map[string]string, limits Limits, settings ...Settings) *world {
	w := &world{root: t.TempDir(), log: new(lockedBuffer)}
	state := t.TempDir()
	store, err := store.Open(t.Context(), state)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	index, err := index.Open(t.Context(), filepath.Join(state, "index"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, index.Close()) })
	real, err := vault.New(t.Context(), store, w.root, vault.Options{})
	require.NoError(t, err)
	real.Follow(index)
	w.vault = &stagedVault{Vault: real, dirs: map[string]string{"": "/home/ann/vault"}}
	w.search = search.NewEngine(store, index, nil, search.EngineOptions{
		Progress: func(context.Context) (bool, int) { return !w.vault.scanning, len(files) },
	})
	for _, p := range slices.Sorted(maps.Keys(files)) {
		w.write(t, p, files[p])
	}
	require.NoError(t, real.Reconcile(t.Context()))
	clientLog := NewClientLog()
	own := append(settings, Settings{})[0]
	own.Prompts = cmp.Or(own.Prompts, w.prompts(prompts.Options{}))
	w.core = New(Options{
		Version: "1.0.0-test", Title: "Test vault", Vault: w.vault, History: real.History(), Search: w.search,
		Subscriptions: store.Versions,
		Profile:       Profile{Settings: own},
		Limits:        limits,
		Log:           slog.New(bothHandlers{slog.NewTextHandler(w.log, nil), clientLog}),
		ClientLog:     clientLog,
	})
	errors := 0
	w.core.newErrorID = func() string { errors++; return fmt.Sprintf("e%d", errors) }
	head := store.Head()
	w.notifier = NewNotifier(w.core, notes.Position{Store: store.ID(), Seq: head})
	real.Follow(w.notifier)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.notifier.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	})
	return w
}

// prompts returns the catalogue of the world's notes.
func (w *world) prompts(o prompts.Options) *prompts.Catalogue {
	o.Notes, o.Search = w.vault, PromptSearch{Engine: w.search}
	if o.Folder == "" {
		o.Now = func() time.Time { return started.Add(time.Hour) }
	}
	return prompts.New(o)
}

// write writes a file with a modification time one minute after the previous one's.
func (w *world) write(t testing.TB, p, content string) {
	(&realWorld{root: w.root}).write(t, p, content)
	w.saves++
	at := started.Add(time.Duration(w.saves) * time.Minute)
	require.NoError(t, os.Chtimes(filepath.Join(w.root, p), at, at))
}

// secret is part of every error that the vault simulates, and must never be sent.
const secret = "/home/someone/vault SELECT FROM notes"

// do performs an action outside of the client's session.
func (w *world) do(t *testing.T, command string) {
	verb, rest, _ := strings.Cut(command, " ")
	switch verb {
	case "save":
		p, text, _ := strings.Cut(rest, ".md ")
		w.save(t, p+".md", text+"\n")
	case "remove":
		require.NoError(t, os.Remove(filepath.Join(w.root, rest)))
		require.NoError(t, w.vault.Reconcile(t.Context()))
	case "move":
		from, to, _ := strings.Cut(rest, " ")
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(w.root, to)), 0o700))
		require.NoError(t, os.Rename(filepath.Join(w.root, from), filepath.Join(w.root, to)))
		require.NoError(t, w.vault.Reconcile(t.Context()))
	case "fail":
		w.vault.read = func(context.Context, string) error { return errors.New(secret) }
	case "panic":
		w.vault.read = func(context.Context, string) error { panic(secret) }
	case "stall":
		w.vault.read = func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }
	case "slow":
		d, err := time.ParseDuration(rest)
		require.NoError(t, err)
		w.vault.read = func(context.Context, string) error { time.Sleep(d); return nil }
	case "log":
		w.core.log.Warn(rest)
	case "scanning":
		w.vault.scanning = true
	default:
		require.Fail(t, "unknown command", command)
	}
}

// save writes a file and reports it to the vault, as an editor and the watcher would.
func (w *world) save(t testing.TB, p, content string) {
	w.write(t, p, content)
	require.NoError(t, w.vault.Reconcile(t.Context()))
}

// connect starts a session over pipes. Closing the client waits for the session to end.
func (w *world) connect(t *testing.T, p Profile) *testClient {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	c := &testClient{out: fromClient, done: make(chan error, 1)}
	go func() { c.done <- w.core.ServeLines(context.Background(), toServer, fromServer, p) }()
	var reading sync.WaitGroup
	reading.Go(func() {
		lines := bufio.NewReader(toClient)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			c.mu.Lock()
			c.lines = append(c.lines, strings.TrimSuffix(line, "\n"))
			c.mu.Unlock()
		}
	})
	c.close = sync.OnceFunc(func() {
		_ = fromClient.Close()
		c.err = <-c.done
		_ = toClient.Close()
		reading.Wait()
	})
	t.Cleanup(c.close)
	return c
}

// A testClient sends and receives raw lines.
type testClient struct {
	out   io.Writer
	done  chan error
	err   error // of Serve, after close
	close func()

	mu    sync.Mutex
	lines []string
}

func (c *testClient) send(line string) { _, _ = io.WriteString(c.out, line+"\n") }

// received returns the lines that have arrived since its last call.
func (c *testClient) received() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := c.lines
	c.lines = nil
	return lines
}

// lockedBuffer collects a log.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// bothHandlers writes to two logs, one for people and one for clients, as in cmd.
type bothHandlers struct{ a, b slog.Handler }

func (h bothHandlers) Enabled(ctx context.Context, l slog.Level) bool {
	return h.a.Enabled(ctx, l) || h.b.Enabled(ctx, l)
}

func (h bothHandlers) Handle(ctx context.Context, r slog.Record) error {
	var err error
	for _, one := range []slog.Handler{h.a, h.b} {
		if one.Enabled(ctx, r.Level) {
			err = errors.Join(err, one.Handle(ctx, r.Clone()))
		}
	}
	return err
}

func (h bothHandlers) WithAttrs(as []slog.Attr) slog.Handler {
	return bothHandlers{h.a.WithAttrs(as), h.b.WithAttrs(as)}
}

func (h bothHandlers) WithGroup(n string) slog.Handler {
	return bothHandlers{h.a.WithGroup(n), h.b.WithGroup(n)}
}

// A client that asks for a low level is sent at most so many log records per second, in
// bursts of up to five seconds' worth.
func TestLogRecordsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, Limits{})
		client := w.connect(t, Profile{})
		client.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
		synctest.Wait()
		client.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		client.send(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"warning"}}`)
		synctest.Wait()
		client.received()
		for range 6 * logsPerSecond {
			w.core.log.Warn("one of many")
		}
		synctest.Wait()
		assert.Len(t, client.received(), 5*logsPerSecond)
		time.Sleep(time.Second)
		for range 2 * logsPerSecond {
			w.core.log.Warn("one of many")
		}
		synctest.Wait()
		assert.Len(t, client.received(), logsPerSecond)
		client.close()
	})
}

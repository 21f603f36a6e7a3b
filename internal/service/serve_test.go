package service

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/fsid"
	"notesd/internal/session"
	"notesd/mcp"
)

// served is a daemon in the test process, whose configuration file the test changes.
type served struct {
	*testing.T
	cfg     *config.Config
	file    string
	ended   chan error
	updated chan string // URIs
}

// keepZone keeps Serve from setting the time zone of the process, which timers of the tests
// read.
func keepZone(t *testing.T) { t.Setenv("TZ", "UTC") }

// serve runs a daemon with the settings in text until the test ends.
func serve(t *testing.T, text string) *served {
	t.Helper()
	keepZone(t)
	s := &served{T: t, cfg: newConfig(t), ended: make(chan error, 1), updated: make(chan string, 100)}
	s.file = filepath.Join(t.TempDir(), "notesd.toml")
	s.configure(text)
	read := func() (*config.Loaded, error) {
		return config.Load(config.Sources{File: s.file, Env: []string{"NOTESD_VAULT=" + s.cfg.Vault.Path, "NOTESD_STATE=" + s.cfg.State}})
	}
	loaded, err := read()
	require.NoError(t, err)
	s.cfg = loaded.Config
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		s.ended <- Serve(ctx, ServeOptions{Loaded: loaded, Read: read, Startup: &daemon.Startup{}, Stderr: t.Output()})
	}()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-s.ended)
		assert.NoFileExists(t, filepath.Join(s.cfg.State, "daemon.sock"))
	})
	return s
}

func (s *served) configure(text string) {
	s.Helper()
	require.NoError(s, os.WriteFile(s.file, []byte("[semantic]\nprovider = \"off\"\n"+text), 0o600))
}

// dial connects to the daemon once it is listening.
func (s *served) dial(kind daemon.Kind) *daemon.Conn {
	s.Helper()
	var conn *daemon.Conn
	require.Eventually(s, func() (ok bool) {
		var err error
		conn, err = daemon.Dial(s.Context(), s.cfg.State, HelloOf(s.cfg, kind))
		return err == nil
	}, time.Minute, time.Millisecond)
	return conn
}

// connect returns a session.
func (s *served) connect(kind daemon.Kind) *session.Session {
	s.Helper()
	opened, err := session.Open(s.Context(), s.dial(kind), "t", "1", &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { s.updated <- r.Params.URI },
	}, mcp.MethodStatus)
	require.NoError(s, err)
	return opened
}

// report returns the daemon's status.
func (s *served) report() (r Report) {
	s.Helper()
	opened := s.connect(daemon.KindStatus)
	require.NoError(s, opened.Method(s.Context(), mcp.MethodStatus, struct{}{}, &r))
	require.NoError(s, opened.Close())
	return r
}

func TestServe_Notifications(t *testing.T) {
	s := serve(t, "")
	client := s.connect(daemon.KindMCP)
	const uri = "note:///Bread.md"
	require.NoError(t, client.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}))
	require.NoError(t, os.WriteFile(filepath.Join(s.cfg.Vault.Path, "Bread.md"), []byte("rye and wheat"), 0o600))
	assert.Equal(t, uri, <-s.updated, "of a save")
	var edited any
	require.NoError(t, client.Call(t.Context(), "edit_note", map[string]any{"note": "Bread", "edits": []any{map[string]any{"op": "append", "content": "salt"}}}, &edited))
	assert.Equal(t, uri, <-s.updated, "of a tool's write")
	require.NoError(t, client.Close())
}

// Metrics and readiness need no database.
func TestServe_Metrics(t *testing.T) {
	cfg := newConfig(t)
	require.NoError(t, os.WriteFile(filepath.Join(cfg.State, "notes.db.damaged-20260102T030405.006"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(cfg.Vault.Path, "Bread.sync-conflict-20260216-101112-ABCDEFG.md"), []byte("spelt"), 0o600))
	s := New(cfg, DiscardLogs(), !Watching)
	require.NoError(t, s.Run(t.Context(), func(ctx context.Context) error {
		<-s.settled
		w := httptest.NewRecorder()
		s.serveMetrics(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil))
		checkExposition(t, w.Body.String())
		for _, line := range []string{`notesd_build_info{version="` + Version(), "notesd_vaults_open 1\n", "notesd_notes 2\n", "notesd_sessions 0\n", "notesd_embeddings_pending 0\n"} {
			assert.Contains(t, w.Body.String(), line)
		}
		assert.NotContains(t, w.Body.String(), "\nnotesd_log_up ", "it has no database")
		w = httptest.NewRecorder()
		s.serveReady(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz", nil))
		assert.JSONEq(t, `{"status":"ready"}`, w.Body.String())

		r, err := s.status(ctx)
		require.NoError(t, err)
		assert.Contains(t, strings.Join(r.Warnings, "\n"), "notes.db.damaged-20260102T030405.006 was damaged and was set aside earlier")
		assert.Contains(t, strings.Join(r.Warnings, "\n"), "Bread.sync-conflict-20260216-101112-ABCDEFG.md")
		return nil
	}))
}

// A misspelled folder protects nothing, or allows nothing.
func TestServe_MissingFolders(t *testing.T) {
	s := serve(t, "[vault]\nallow = [\"bread.md\", \"new\", \"Work\"]\nread_only_folders = [\"Jornal\", \"BREAD.md\", \"Bread.md/x\"]\n")
	require.NoError(t, os.Mkdir(filepath.Join(s.cfg.Vault.Path, "new"), 0o700))
	require.Eventually(t, func() bool { return s.report().Index.Ready }, time.Minute, time.Millisecond)
	assert.Equal(t, []string{
		`vault.read_only_folders names the folder "Bread.md/x", which does not exist`,
		`vault.read_only_folders names the folder "Jornal", which does not exist`,
		`vault.allow names the folder "Work", which does not exist`,
	}, s.report().Warnings)

	answer := make(chan int)
	_, err := fsid.InTime("folders in "+s.cfg.Vault.Path, fsid.Patience, func() (int, error) { return <-answer, nil })
	require.ErrorIs(t, err, fsid.ErrNoAnswer)
	assert.Empty(t, s.report().Warnings, "if the disk does not answer")
	close(answer)
	require.Eventually(t, func() bool { return len(s.report().Warnings) == 3 }, time.Minute, time.Millisecond)

	away := s.cfg.Vault.Path + "-away"
	require.NoError(t, os.Rename(s.cfg.Vault.Path, away))
	defer func() { assert.NoError(t, os.Rename(away, s.cfg.Vault.Path)) }()
	var r Report
	require.Eventually(t, func() bool { r = s.report(); return r.Unavailable != "" }, time.Minute, time.Millisecond)
	assert.NotContains(t, strings.Join(r.Warnings, "\n"), "which does not exist")
}

// A service that fails before its log is open logs that on Windows; elsewhere its command
// reports it on standard error.
func TestServe_FailedService(t *testing.T) {
	cfg := newConfig(t)
	lock, err := lockState(t.Context(), cfg)
	require.NoError(t, err)
	require.NoError(t, lock.Release())
	cfg.Vault.Path = t.TempDir()
	require.ErrorContains(t, Serve(t.Context(), ServeOptions{Loaded: &config.Loaded{Config: cfg}, Startup: &daemon.Startup{}, Stderr: t.Output(), Service: true}), "belongs to")
	if runtime.GOOS != "windows" {
		assert.NoFileExists(t, filepath.Join(cfg.State, DaemonLog))
		return
	}
	text, err := os.ReadFile(filepath.Join(cfg.State, DaemonLog))
	require.NoError(t, err)
	assert.Contains(t, string(text), "notesd failed")
}

// When the file changes, the daemon starts again within its process once no session of a
// shell command is open. It continues if the address for HTTP cannot be used.
func TestServe_ChangedSettings(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	s := serve(t, "")
	busy := s.connect(daemon.KindCLI)
	s.configure("[http]\naddr = \"" + taken.Addr().String() + "\"\n")
	r := s.report()
	assert.Equal(t, []string{"http.addr"}, r.Settings.Waiting)
	assert.NotContains(t, strings.Join(r.Warnings, "\n"), "HTTP listener")
	relay := s.dial(daemon.KindMCP)
	require.NoError(t, busy.Close())

	said, err := bufio.NewReader(relay).ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, said, daemon.ReasonReplaced)
	require.NoError(t, relay.Close())
	r = s.report()
	assert.Empty(t, r.Settings.Waiting)
	assert.Empty(t, r.Daemon.HTTP)
	assert.Contains(t, strings.Join(r.Warnings, "\n"), "there is no HTTP listener: listen for HTTP")
	require.Eventually(t, func() bool { return s.report().Notes == 1 }, time.Minute, time.Millisecond)

	s.configure("[http]\naddr = \"0.0.0.0:0\"\n")
	require.Eventually(t, func() bool {
		return strings.Contains(strings.Join(s.report().Warnings, "\n"), "would send your notes unencrypted. Set http.tls_cert and")
	}, time.Minute, time.Millisecond)

	s.configure("[log]\nfile = \"none/notesd.log\"\n")
	warnings := strings.Join(s.report().Warnings, "\n")
	assert.Contains(t, warnings, "is not used until it is corrected: open log file")
	assert.Contains(t, warnings, "Name another file with --log-file, or as file under [log]")
}

// At the start, a daemon that was not launched for a client reports such an address.
func TestServe_HTTPAddressInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	keepZone(t)
	cfg := newConfig(t)
	cfg.HTTP.Addr = taken.Addr().String()
	err = Serve(t.Context(), ServeOptions{Loaded: &config.Loaded{Config: cfg}, Startup: &daemon.Startup{}, Stderr: t.Output()})
	require.ErrorContains(t, err, "listen for HTTP")
}

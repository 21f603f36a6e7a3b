package service

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/fsid"
	"notesd/internal/pgtest"
	"notesd/mcp"
	"notesd/notes/store"
)

func TestMain(m *testing.M) {
	Waits.FirstScan, Waits.Mirror, Waits.Database = time.Minute, time.Minute, time.Minute
	os.Exit(pgtest.Main(m))
}

// newConfig returns the configuration of a vault with one note, without embeddings.
func newConfig(t *testing.T) *config.Config {
	t.Helper()
	dir := t.TempDir()
	cfg := config.Default()
	cfg.Vault.Path, cfg.State, cfg.Semantic.Provider = filepath.Join(dir, "vault"), filepath.Join(dir, "state"), "off"
	require.NoError(t, os.MkdirAll(cfg.Vault.Path, 0o700))
	require.NoError(t, MakePrivate(cfg.State))
	require.NoError(t, os.WriteFile(filepath.Join(cfg.Vault.Path, "Bread.md"), []byte("rye"), 0o600))
	return &cfg
}

// Without semantic search, no file of vectors remains that forgetting a note would not reach.
func TestService_DeletesVectorFilesIfOff(t *testing.T) {
	cfg := newConfig(t)
	left := filepath.Join(cfg.State, "vectors-gone.slots")
	require.NoError(t, os.WriteFile(left, []byte("vectors"), 0o600))
	s := New(cfg, DiscardLogs(), !Watching)
	require.NoError(t, s.Run(t.Context(), func(context.Context) error {
		<-s.opened
		assert.NoFileExists(t, left)
		return nil
	}))
}

// A session in memory sees the notes whether or not the vault was open when it started,
// and the service stops with its front.
func TestService_Run(t *testing.T) {
	cfg := newConfig(t)
	s := New(cfg, DiscardLogs(), !Watching)
	before, err := s.status(t.Context())
	require.NoError(t, err)
	assert.Zero(t, before.Notes)
	assert.False(t, before.Index.Ready, "nothing is open")
	assert.Equal(t, "off", before.Semantic.State)
	on := *cfg
	on.Semantic.Provider = "builtin"
	early, err := New(&on, DiscardLogs(), !Watching).status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "building", early.Semantic.State, "it is not off because it is not open yet")

	err = s.Run(t.Context(), func(ctx context.Context) error {
		return s.Converse(ctx, func(ctx context.Context, conn net.Conn) error {
			client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
			session, err := client.Connect(ctx, &sdk.IOTransport{Reader: conn, Writer: conn}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
			if err != nil {
				return err
			}
			res, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "list_notes", Arguments: map[string]any{}})
			if err != nil {
				return err
			}
			text := res.Content[0].(*sdk.TextContent).Text
			assert.Contains(t, text, "Bread.md", "the first scan was awaited")
			r, err := s.status(ctx)
			assert.NoError(t, err)
			assert.Equal(t, 1, r.Notes)
			return errors.Join(err, session.Close())
		})
	})
	require.NoError(t, err)
}

// A store that cannot be opened stops the front, and its error is returned.
func TestService_StoreCannotBeOpened(t *testing.T) {
	cfg := newConfig(t)
	require.NoError(t, os.Mkdir(filepath.Join(cfg.State, "notes.db"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(cfg.State, "notes.db", "x"), nil, 0o600))
	s := New(cfg, DiscardLogs(), !Watching)
	err := s.Run(t.Context(), func(ctx context.Context) error {
		assert.ErrorIs(t, mcp.Await(ctx, s.opened), context.Canceled)
		return nil
	})
	require.ErrorContains(t, err, "open the store")
}

// A state directory belongs to the vault that first claimed it, even after that is
// moved.
func TestClaimVault(t *testing.T) {
	cfg := newConfig(t)
	require.NoError(t, claimVault(t.Context(), cfg))
	require.NoError(t, claimVault(t.Context(), cfg))
	record, err := readVaultRecord(cfg.State)
	require.NoError(t, err)
	assert.Equal(t, fsid.RealPath(cfg.Vault.Path), record.Path)

	other := newConfig(t)
	other.State = cfg.State
	var wrong *daemon.VaultError
	require.ErrorAs(t, claimVault(t.Context(), other), &wrong)
	assert.Equal(t, record.Path, wrong.Owner)
	assert.Equal(t, ExitUsage, FailureOf(wrong).Exit)

	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(cfg.Vault.Path, moved); err != nil || record.ID == "" {
		t.Skip("the disk has no file numbers, or moves by copying: ", err)
	}
	cfg.Vault.Path = moved
	require.NoError(t, claimVault(t.Context(), cfg))

	require.NoError(t, os.WriteFile(filepath.Join(cfg.State, vaultFile), []byte("{"), 0o600))
	require.ErrorContains(t, claimVault(t.Context(), cfg), vaultFile+" cannot be read")
}

// A changed, valid file applies to new sessions, and its daemon settings wait for a
// restart.
func TestRunningSettings(t *testing.T) {
	cfg := newConfig(t)
	file := filepath.Join(t.TempDir(), "notesd.toml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	read := func() (*config.Loaded, error) {
		return config.Load(config.Sources{File: file, Env: []string{"NOTESD_VAULT=" + cfg.Vault.Path, "NOTESD_STATE=" + cfg.State}})
	}
	write("[search]\nlimit = 2\n")
	started, err := read()
	require.NoError(t, err)
	write("[search]\nlimit = 3\n")
	r := newRunningSettings(started, read)
	assert.Equal(t, 3, r.changed().Search.Limit, "changed during the start")
	assert.Nil(t, r.changed())

	write("[search]\nlimit = 4\n[history]\nkeep = 77\n")
	loaded := r.changed()
	require.NotNil(t, loaded)
	assert.Equal(t, 4, loaded.Search.Limit)
	assert.Nil(t, r.changed(), "once for each change")
	var st Report
	r.addTo(&st)
	assert.Equal(t, []string{"history.keep"}, st.Settings.Waiting)
	assert.Contains(t, st.Warnings[0], "takes effect when the daemon is idle, or at once with notesd restart")
	st = Report{Daemon: daemonStatus{PID: 7, foreground: true}}
	r.addTo(&st)
	assert.Contains(t, st.Warnings[0], "takes effect when process 7 is started again", "notesd restart refuses")

	write("[search]\nlimit = 4000\n")
	assert.Nil(t, r.changed())
	st = Report{}
	r.addTo(&st)
	assert.Contains(t, st.Warnings[len(st.Warnings)-1], "notesd.toml:2")

	require.NoError(t, os.WriteFile(filepath.Join(cfg.Vault.Path, "Diary.md"), nil, 0o600))
	write("[store]\npostgres = \"postgres://db/notes\"\n")
	assert.Nil(t, r.changed())
	assert.Nil(t, r.later(), "the daemon would not start again")
	st = Report{}
	r.addTo(&st)
	assert.Contains(t, st.Warnings[len(st.Warnings)-1], "is not used until it is corrected: the files in")
	assert.Contains(t, st.Warnings[len(st.Warnings)-1], "To share them, run")

	remarks := r.remarks(daemon.Hello{Passed: []daemon.Passed{{Key: "history.keep", Value: "200", Remark: "same"}, {Key: "history.keep", Value: "5", Remark: "other"}}})
	assert.Equal(t, []string{"other"}, remarks)
	st = Report{Clients: []mcp.Client{{Profile: mcp.Profile{Remarks: remarks}}, {}}}
	r.addTo(&st)
	assert.Equal(t, remarks, st.Settings.Ignored)
	st = Report{}
	r.addTo(&st)
	assert.Empty(t, st.Settings.Ignored)
}

// The cause of trouble, and a new API key, may be in a file other than the configuration
// file.
func TestRunningSettings_OtherFiles(t *testing.T) {
	cfg, dir := newConfig(t), t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	read := func() (*config.Loaded, error) {
		return config.Load(config.Sources{File: filepath.Join(dir, "notesd.toml"), Env: []string{"NOTESD_VAULT=" + cfg.Vault.Path, "NOTESD_STATE=" + cfg.State}})
	}
	write("notesd.toml", "")
	started, err := read()
	require.NoError(t, err)
	r := newRunningSettings(started, read)
	write("notesd.toml", "[semantic]\nprovider = \"ollama\"\napi_key_file = \"key\"\n")
	assert.Nil(t, r.changed())
	assert.Contains(t, r.trouble, "semantic.api_key_file")
	write("key", "first")
	require.NotNil(t, r.changed())
	assert.Empty(t, r.trouble)
	assert.Equal(t, config.Secret("first"), r.later().Semantic.APIKey)

	started, err = read()
	require.NoError(t, err)
	r = newRunningSettings(started, read)
	require.NotNil(t, r.changed())
	assert.Nil(t, r.later())
	write("key", "second")
	require.NotNil(t, r.changed())
	assert.Equal(t, config.Secret("second"), r.later().Semantic.APIKey)
	var st Report
	r.addTo(&st)
	assert.Equal(t, []string{"semantic.api_key"}, st.Settings.Waiting)
	assert.NotContains(t, st.Warnings[0], "second")
}

// TestRunningSettings_Zone moves the machine to another time zone.
func TestRunningSettings_Zone(t *testing.T) {
	t.Setenv("TZ", "") // restored after the test
	require.NoError(t, os.Unsetenv("TZ"))
	defer func(file string) { zoneFile = file }(zoneFile)
	zoneFile = filepath.Join(t.TempDir(), "localtime")
	move := func(hours byte) { // one zone of one type, as in tzfile(5)
		data := "TZif" + strings.Repeat("\x00", 16+4*4) + "\x00\x00\x00\x01\x00\x00\x00\x04" + string([]byte{0, 0, hours * 0x0e, hours * 0x10}) + "\x00\x00XXX\x00"
		require.NoError(t, os.WriteFile(zoneFile, []byte(data), 0o600))
	}
	move(2)
	started := &config.Loaded{Config: newConfig(t)}
	r := newRunningSettings(started, nil)
	assert.Nil(t, r.later())
	move(9)
	assert.Same(t, started, r.later())
	assert.Nil(t, newRunningSettings(started, nil).later(), "once for each change")
	move(2)
	t.Setenv("TZ", "Asia/Tokyo")
	assert.Nil(t, r.later(), "TZ names the zone")
}

func TestOpenLink(t *testing.T) {
	vault := filepath.Join(t.TempDir(), "My notes & more")
	require.NoError(t, os.MkdirAll(vault, 0o755))
	assert.Empty(t, OpenLink(vault, ""), "not an Obsidian vault")
	require.NoError(t, os.Mkdir(filepath.Join(vault, ".obsidian"), 0o755))
	links := openLinks(config.Vault{Folders: config.Folders{"mine": vault, "other": t.TempDir()}})
	assert.Equal(t, map[string]string{"mine": OpenLink(vault, "") + "{path}"}, links)
	link := OpenLink(vault, "A b/ü.md")
	u, err := url.Parse(link)
	require.NoError(t, err)
	assert.Equal(t, "obsidian", u.Scheme)
	assert.Equal(t, filepath.ToSlash(vault)+"/A b/ü.md", u.Query().Get("path"))
}

// A state that cannot be moved leaves the vault the history that it has.
func TestReplaceState_Failure(t *testing.T) {
	state, old := t.TempDir(), t.TempDir()
	history := filepath.Join(state, store.HistoryFile)
	require.NoError(t, os.WriteFile(history, []byte("mine"), 0o600))
	_, err := replaceState(state, old) // without a history, as if it were on another disk
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.FileExists(t, history)
	names, err := filepath.Glob(filepath.Join(state, "*"))
	require.NoError(t, err)
	assert.Equal(t, []string{history}, names)
}

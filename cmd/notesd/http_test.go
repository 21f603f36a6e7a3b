package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/config"
)

const httpInitialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestServeOverHTTP(t *testing.T) {
	p := newPlace(t, someNotes)
	cmd := p.serve(t, "--http", "127.0.0.1:0", "--idle-exit", "1ms")
	assert.Equal(t, filepath.Join(p.state, tokenFile), p.report(t).Daemon.TokenFile)
	url := p.report(t).Daemon.HTTP
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/mcp$`, url)

	token, err := os.ReadFile(filepath.Join(p.state, tokenFile))
	require.NoError(t, err)
	info, err := os.Stat(filepath.Join(p.state, tokenFile))
	require.NoError(t, err)
	assert.False(t, isOpenToOthers(info), "the token is the user's own")

	post := func(token string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(httpInitialize))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(body)
	}
	code, body := post(strings.TrimSpace(string(token)))
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, body, `"notesd"`)
	for _, wrong := range []string{"", "x", string(token[:8])} {
		code, _ := post(wrong)
		assert.Equal(t, http.StatusUnauthorized, code, "token %q", wrong)
	}
	require.NoError(t, terminate(cmd.Process.Pid))
	assert.Equal(t, exitDone, ended(t, cmd))
}

func TestHTTPNeedsProtection(t *testing.T) {
	for addr, want := range map[string]string{
		"0.0.0.0:8931":       "in the clear",
		"192.168.1.2:8931":   "in the clear",
		"[::]:8931":          "in the clear",
		"notes.example:8931": "in the clear",
		"8931":               "host:port",
		"127.0.0.1:8931":     "",
		"[::1]:8931":         "",
		"localhost:8931":     "",
	} {
		err := checkExposure(config.HTTP{Addr: addr})
		if want == "" {
			assert.NoError(t, err, addr)
		} else {
			assert.ErrorContains(t, err, want, addr)
		}
	}
	assert.NoError(t, checkExposure(config.HTTP{Addr: "0.0.0.0:8931", BehindProxy: true}))
	assert.NoError(t, checkExposure(config.HTTP{Addr: "0.0.0.0:8931", TLSCert: "c", TLSKey: "k"}))

	p := newPlace(t, someNotes)
	exposed := p.command("serve", "--http", "0.0.0.0:0")
	out, err := exposed.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, exitUsage, exposed.ProcessState.ExitCode(), "%s", out)
	assert.Contains(t, string(out), "http.behind_proxy")
}

func TestHTTPToken(t *testing.T) {
	dir := t.TempDir()
	made, err := readToken(filepath.Join(dir, tokenFile))
	require.NoError(t, err)
	again, err := readToken(filepath.Join(dir, tokenFile))
	require.NoError(t, err)
	assert.Equal(t, made, again, "made once")
	assert.GreaterOrEqual(t, len(made), minToken)

	name := filepath.Join(dir, "mine")
	for text, mode := range map[string]os.FileMode{"short": 0o600, "two words, but long enough\n": 0o600, "": 0o600} {
		require.NoError(t, os.WriteFile(name, []byte(text), mode))
		_, err := readToken(name)
		assert.ErrorContains(t, err, "does not hold a token", text)
	}
	require.NoError(t, os.WriteFile(name, []byte(made), 0o600))
	require.NoError(t, os.Chmod(name, 0o644))
	if info, err := os.Stat(name); err == nil && isOpenToOthers(info) {
		_, err := readToken(name)
		assert.ErrorContains(t, err, "others can read")
	}
}

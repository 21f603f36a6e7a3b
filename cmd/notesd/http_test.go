package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"notesd/internal/service"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const httpInitialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestServeOverHTTP(t *testing.T) {
	p := newPlace(t, someNotes)
	cmd := p.serve(t, "--http", "127.0.0.1:0", "--idle-exit", "1ms")
	assert.Equal(t, filepath.Join(p.state, "http-token"), p.report(t).Daemon.TokenFile)
	url := p.report(t).Daemon.HTTP
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/mcp$`, url)

	token, err := os.ReadFile(filepath.Join(p.state, "http-token"))
	require.NoError(t, err)

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
	assert.Equal(t, 1, p.report(t).Daemon.Clients, "a session over HTTP counts as a client")
	for _, wrong := range []string{"", "x", string(token[:8])} {
		code, _ := post(wrong)
		assert.Equal(t, http.StatusUnauthorized, code, "token %q", wrong)
	}
	require.NoError(t, terminate(cmd.Process.Pid))
	assert.Equal(t, service.ExitDone, ended(t, cmd))
}

func TestHTTPIsNotExposed(t *testing.T) {
	p := newPlace(t, someNotes)
	exposed := p.command("serve", "--http", "0.0.0.0:0")
	out, err := exposed.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, service.ExitUsage, exposed.ProcessState.ExitCode(), "%s", out)
	assert.Contains(t, string(out), "http.behind_proxy")
}

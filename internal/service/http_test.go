package service

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/config"
)

func TestHTTPNeedsProtection(t *testing.T) {
	for addr, want := range map[string]string{
		"0.0.0.0:8931":       "unencrypted",
		"192.168.1.2:8931":   "unencrypted",
		"[::]:8931":          "unencrypted",
		"notes.example:8931": "unencrypted",
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
}

func TestHTTPConnectionsAreLimited(t *testing.T) {
	ln, err := listenTCP(t.Context(), "127.0.0.1:0", 1)
	require.NoError(t, err)
	defer ln.Close()
	for range 2 { // both are in the kernel's queue
		conn, err := net.Dial("tcp", ln.Addr().String())
		require.NoError(t, err)
		defer conn.Close()
	}
	first, err := ln.Accept()
	require.NoError(t, err)
	var ended atomic.Bool
	accepted := make(chan error, 1)
	go func() {
		second, err := ln.Accept()
		if err == nil {
			err = second.Close()
		}
		assert.True(t, ended.Load(), "it has to wait for the first to end")
		accepted <- err
	}()
	runtime.Gosched()
	ended.Store(true)
	require.NoError(t, first.Close())
	require.NoError(t, <-accepted)
}

func TestHTTPToken(t *testing.T) {
	dir := t.TempDir()
	made, err := readToken(filepath.Join(dir, "http-token"))
	require.NoError(t, err)
	info, err := os.Stat(filepath.Join(dir, "http-token"))
	require.NoError(t, err)
	assert.False(t, isOpenToOthers(info), "the token is the user's own")
	again, err := readToken(filepath.Join(dir, "http-token"))
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

package service

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
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
	for text, mode := range map[string]os.FileMode{"short": 0o600, "two words, but long enough\n": 0o600, "": 0o600, "\ufeff" + made: 0o600} {
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
	if err := os.Chown(name, 65533, 65533); err == nil { // this process is root
		_, err := readToken(name)
		assert.NoError(t, err, "another user's file, as a container's secrets are")
	}
}

func TestURLOf(t *testing.T) {
	assert.Equal(t, "http://127.0.0.1:8931/mcp", urlOf(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8931}, nil))
	assert.Equal(t, "http://localhost:8931/mcp", urlOf(&net.TCPAddr{IP: net.IPv4zero, Port: 8931}, nil), "behind a proxy")
}

// A renewed certificate is used for new connections, and never one that does not match its
// key.
func TestHTTPCertificateIsRenewed(t *testing.T) {
	dir := t.TempDir()
	files := config.HTTP{TLSCert: filepath.Join(dir, "cert.pem"), TLSKey: filepath.Join(dir, "key.pem")}
	write := func(name string, block *pem.Block) {
		require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(block), 0o600))
	}
	issue := func(name string) (cert, key *pem.Block) {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}}
		data, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
		require.NoError(t, err)
		keyData, err := x509.MarshalPKCS8PrivateKey(private)
		require.NoError(t, err)
		return &pem.Block{Type: "CERTIFICATE", Bytes: data}, &pem.Block{Type: "PRIVATE KEY", Bytes: keyData}
	}
	cert, key := issue("first.example")
	write(files.TLSCert, cert)
	write(files.TLSKey, key)
	c, err := loadCertificate(files, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	serves := func(name string) {
		t.Helper()
		pair, err := c.get(nil)
		require.NoError(t, err)
		assert.Equal(t, []string{name}, pair.Leaf.DNSNames)
	}
	serves("first.example")
	assert.Equal(t, []string{"192.0.2.1", "first.example"}, hostNames(config.HTTP{Addr: "192.0.2.1:443"}, c))
	assert.Equal(t, "https://first.example:443/mcp", urlOf(&net.TCPAddr{IP: net.IPv6unspecified, Port: 443}, c))
	cert, key = issue("second.example")
	write(files.TLSCert, cert)
	serves("first.example")
	write(files.TLSKey, key)
	serves("second.example")
	require.NoError(t, os.Remove(files.TLSKey))
	serves("second.example")
	_, err = loadCertificate(files, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "http.tls_key")
}

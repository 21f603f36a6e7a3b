package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/hosts"
)

// An updated entry keeps what its owner has added, in particular --read-only; the
// arguments of the current setup take precedence.
func TestKeptArgs(t *testing.T) {
	own := []string{"--vault", "--state", "--config"}
	for _, c := range []struct{ had, own, want []string }{
		{nil, own, nil},
		{[]string{"mcp", "--vault", "/a"}, own, nil},
		{[]string{"mcp", "--vault", "--read-only", "--read-only"}, own, []string{"--read-only"}},
		{[]string{"mcp", "--read-only", "--vault=/a", "--tools", "search_notes,read_note", "--state", "s"}, own, []string{"--read-only", "--tools", "search_notes,read_note"}},
		{[]string{"mcp", "--read-only", "--tools", "read", "--log-level=debug"}, append(own, "--tools", "--read-only"), []string{"--log-level=debug"}},
	} {
		assert.Equal(t, c.want, keptArgs(c.had, c.own), "%v", c.had)
	}
}

func TestIsTemporary(t *testing.T) {
	assert.True(t, isTemporary("/tmp/go-build123/b001/exe/notesd"))
	assert.True(t, isTemporary("/home/ann/.cache/go-build/ab/abcd-d/notesd"))
	assert.False(t, isTemporary("/usr/local/bin/notesd"))
}

func TestEntryIsNamedAfterTheFolder(t *testing.T) {
	for folder, want := range map[string]string{
		"/home/ann/Work":        "work",
		"/home/ann/My Notes! 2": "my-notes--2",
		"/home/ann/笔记":          "vault",
		"/":                     "vault",
	} {
		assert.Equal(t, want, nameOf(filepath.FromSlash(folder)), folder)
	}
}

// The vault of an entry is determined by its arguments, its environment or the
// configuration file it names, in that order.
func TestVaultOfAnEntry(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "n.toml")
	require.NoError(t, os.WriteFile(file, []byte("[vault]\npath = \".\"\n"), 0o600))
	a := &app{env: []string{"HOME=" + dir}}
	for want, s := range map[string]hosts.Server{
		filepath.FromSlash("/a"): {Args: []string{"mcp", "--tools", "read", "--vault", "/a/"}, Env: map[string]string{"NOTESD_VAULT": "/b"}},
		filepath.FromSlash("/b"): {Args: []string{"mcp"}, Env: map[string]string{"NOTESD_VAULT": "/b"}},
		filepath.Join(dir, "in"): {Args: []string{"mcp", "--vault=~/in"}},
		dir:                      {Args: []string{"mcp", "--config", file}},
		"":                       {Args: []string{"mcp"}},
	} {
		assert.Equal(t, want, vaultOf(a.env, s))
	}
}

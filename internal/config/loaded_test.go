package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The printed settings are a configuration file with the same values.
func TestLoaded_Settings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "n.toml")
	text := "[vault]\npath = \".\"\nignore = [\"a \\\"b\\\"\"]\n\n[history]\nage = \"36h\"\nsize = \"3 MiB\"\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	src := Sources{File: file, Env: []string{"HOME=" + dir, "NOTESD_SEARCH_LIMIT=7", "NOTESD_STATE=" + t.TempDir()}}
	loaded, err := Load(src)
	require.NoError(t, err)
	all := loaded.Settings()
	require.Len(t, all, len(settings))
	found := map[string]Setting{}
	var again strings.Builder
	section := ""
	for _, e := range all {
		found[e.Key] = e
		if s, _, ok := strings.Cut(e.Key, "."); ok && s != section {
			section = s
			again.WriteString("[" + s + "]\n")
		}
		again.WriteString(e.TOML() + "\n")
	}
	assert.Equal(t, Setting{"vault.path", dir, file + ":2"}, found["vault.path"])
	assert.Equal(t, Setting{"search.limit", 7, "NOTESD_SEARCH_LIMIT"}, found["search.limit"])
	assert.Equal(t, Setting{"history.age", "36h", file + ":6"}, found["history.age"])
	assert.Equal(t, "36h10m0s", durationText(36*time.Hour+10*time.Minute))
	assert.Equal(t, Setting{"history.size", "3 MiB", file + ":7"}, found["history.size"])
	assert.Equal(t, Setting{"search.mode", "hybrid", "default"}, found["search.mode"])

	require.NoError(t, os.WriteFile(file, []byte(again.String()), 0o600))
	want, err := configOf(Load(src))
	require.NoError(t, err)
	src.Env = []string{"HOME=" + dir, "NOTESD_STATE=" + found["state"].Value.(string)}
	got, err := configOf(Load(src))
	require.NoError(t, err, again.String())
	assert.Equal(t, want, got)
}

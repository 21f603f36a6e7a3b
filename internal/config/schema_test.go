package config

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRulesAndPathsNameSettings(t *testing.T) {
	for key := range rules {
		_, ok := find(key)
		assert.True(t, ok, "a rule for %s, which is no setting", key)
	}
	for _, key := range paths {
		s, ok := find(key)
		assert.True(t, ok && s.typ == typeString, "%s is no setting that could be a path", key)
	}
	for name, key := range flagKeys {
		_, ok := find(key)
		assert.True(t, ok, "--%s sets %s, which is no setting", name, key)
	}
}

func TestDefaultsKeepTheRules(t *testing.T) {
	for _, s := range settings {
		if s.want != nil {
			assert.Empty(t, s.want(s.def), s.key)
		}
	}
}

func TestVariablesAreDistinct(t *testing.T) {
	seen := map[string]string{}
	for name, key := range shortForms {
		seen[name] = key
	}
	for _, s := range settings {
		name := variable(s.key)
		assert.NotContains(t, seen, name)
		seen[name] = s.key
	}
	assert.Equal(t, "vault.read_only", seen["NOTESD_VAULT_READ_ONLY"])
	assert.Equal(t, "state", seen["NOTESD_STATE"])
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"0": 0, "20480": 20480, "20 KiB": 20480, "16mib": 16 << 20, " 1 GB ": 1e9, "7B": 7, "3 kb": 3000,
		"9223372036854775807": math.MaxInt64,
	} {
		got, err := parseBytes(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "KiB", "1.5 GB", "-1", "1 TB", "9223372036854775807 KB", "0x10", "1 2"} {
		_, err := parseBytes(text)
		assert.Error(t, err, text)
	}
}

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{"90d": 90 * day, "0d": 0, "2w": 14 * day, "1h30m": 90 * time.Minute, "0": 0} {
		got, err := parseDuration(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "d", "90", "1.5d", "-1d", "-1h", "999999999999d", "soon"} {
		_, err := parseDuration(text)
		assert.Error(t, err, text)
	}
}

func TestSuggest(t *testing.T) {
	for unknown, want := range map[string]string{
		"vault.readonly":    "vault.read_only",
		"vualt.path":        "vault.path",
		"search.read_only":  "vault.read_only",
		"level":             "log.level",
		"semantic.threds":   "semantic.threads",
		"colour.background": "",
		"x":                 "",
	} {
		hint := suggest(unknown)
		if want == "" {
			assert.Empty(t, hint, unknown)
		} else {
			assert.Equal(t, "did you mean "+want+"?", hint, unknown)
		}
	}
}

func TestUserDirectories(t *testing.T) {
	abs := t.TempDir()
	env := environment{"HOME": abs, "APPDATA": filepath.Join(abs, "R"), "USERPROFILE": filepath.Join(abs, "U")}
	cases := []struct{ goos, config, state string }{
		{"linux", ".config", ".local/state"},
		{"freebsd", ".config", ".local/state"},
		{"darwin", "Library/Application Support", "Library/Application Support"},
		{"windows", "R", "U/.local/state"},
	}
	for _, c := range cases {
		config, err := env.userDir(c.goos, "XDG_CONFIG_HOME", configHomes)
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(abs, filepath.FromSlash(c.config)), config, c.goos)
		state, err := env.userDir(c.goos, "XDG_STATE_HOME", stateHomes)
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(abs, filepath.FromSlash(c.state)), state, c.goos)
	}
	env["XDG_CONFIG_HOME"] = "relative"
	config, err := env.userDir("linux", "XDG_CONFIG_HOME", configHomes)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(abs, ".config"), config, "a relative XDG directory is ignored")
	_, err = environment{}.userDir("windows", "XDG_CONFIG_HOME", configHomes)
	assert.ErrorIs(t, err, errNoHome)
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"My Notes": "my-notes", "日本語": "vault", "": "vault", "--a__b--": "a-b", "Zettel.kasten": "zettel-kasten",
		strings.Repeat("x", 99): strings.Repeat("x", 24),
	} {
		assert.Equal(t, want, slug(name), name)
	}
}

func TestWithoutPrefix(t *testing.T) {
	for path, want := range map[string]string{
		`\\?\C:\Notes`: `C:\Notes`, `\\?\c:\`: `c:\`, `\\?\UNC\server\share\n`: `\\server\share\n`,
		`C:\Notes`: `C:\Notes`, `\\server\share`: `\\server\share`, `\\?\Volume{1}\n`: `\\?\Volume{1}\n`, `UNC\x`: `UNC\x`,
	} {
		assert.Equal(t, want, withoutPrefix(path), path)
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte("[vault]\npath = 'x'\n"))
	f.Add([]byte("a.b = [1, {c = 2}]\n[[x]]\n[x.y]\n'\u00e9' = 1979-05-27"))
	f.Add([]byte("\ufeff\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, problems := parseFile("f.toml", data)
		for _, e := range entries {
			if !strings.HasPrefix(e.origin, "f.toml:") || strings.HasSuffix(e.origin, ":0") {
				t.Errorf("%s has the origin %q", e.key, e.origin)
			}
		}
		for _, p := range problems {
			if line := p.String(); strings.ContainsFunc(line, unicode.IsControl) {
				t.Errorf("unsafe to print: %q", line)
			}
		}
	})
}

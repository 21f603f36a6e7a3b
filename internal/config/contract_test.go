package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/config"
)

func load(t *testing.T, toml string, env ...string) (*config.Config, error) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "notesd.toml")
	require.NoError(t, os.WriteFile(file, []byte(toml), 0o600))
	return configOf(config.Load(config.Sources{File: file, Env: append(env, "HOME="+dir)}))
}

func configOf(l *config.Loaded, err error) (*config.Config, error) {
	if err != nil {
		return nil, err
	}
	return l.Config, nil
}

func TestBytes_String(t *testing.T) {
	for size, want := range map[config.Bytes]string{
		0: "0", 1: "1", 1023: "1023", 1024: "1 KiB", 1025: "1025", 20 << 10: "20 KiB",
		3 << 20: "3 MiB", 1 << 30: "1 GiB", 1<<30 + 1<<20: "1025 MiB", 2e9: "1953125 KiB",
	} {
		assert.Equal(t, want, size.String())
		if size < 1<<20 {
			continue
		}
		cfg, err := load(t, "[history]\nsize = '"+size.String()+"'\n")
		require.NoError(t, err)
		assert.Equal(t, size, cfg.History.Size, "the text is read back")
	}
}

func TestSecret_Formats(t *testing.T) {
	key := config.Secret("sk-1234")
	holder := struct{ Key config.Secret }{key}
	data, err := json.Marshal(holder)
	require.NoError(t, err)
	for _, text := range []string{
		key.String(), fmt.Sprintf("%s %v %q %#v", key, key, key, key), fmt.Sprintf("%+v %#v", holder, holder), string(data),
	} {
		assert.NotContains(t, text, "1234")
		assert.Contains(t, text, "secret")
	}
	assert.Empty(t, config.Secret("").String())
}

// Only remote hosts need allow_remote.
func TestLoad_LocalURLs(t *testing.T) {
	for host, local := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "[::1]": true, "ollama.localhost": true,
		"192.168.1.2": false, "[fe80::1]": false, "example.org": false, "localhost.example.org": false,
		"notlocalhost": false, "0.0.0.0": false,
	} {
		_, err := load(t, "[semantic]\nprovider = 'ollama'\nurl = 'http://"+host+":11434'\n")
		if local {
			require.NoError(t, err, host)
			continue
		}
		require.ErrorContains(t, err, "is another machine", host)
		_, err = load(t, "[semantic]\nprovider = 'ollama'\nallow_remote = true\nurl = 'http://"+host+":11434'\n")
		require.NoError(t, err, host)
	}
}

func TestLoad_APIKeyFiles(t *testing.T) {
	for name, c := range map[string]struct{ text, want, problem string }{
		"byte order mark": {text: "\ufeffsk-1\n", want: "sk-1"},
		"one line":        {text: "sk-1", want: "sk-1"},
		"empty":           {text: "\nsk-1\n", problem: "has no key on its first line"},
		"control":         {text: "sk\x00-1\n", problem: "is not an API key"},
		"not ASCII":       {text: "sk-é\n", problem: "is not an API key"},
	} {
		t.Run(name, func(t *testing.T) {
			key := filepath.Join(t.TempDir(), "key")
			require.NoError(t, os.WriteFile(key, []byte(c.text), 0o600))
			cfg, err := load(t, "[semantic]\nprovider = 'ollama'\napi_key_file = '"+filepath.ToSlash(key)+"'\n")
			if c.problem != "" {
				require.ErrorContains(t, err, c.problem)
				assert.NotContains(t, err.Error(), "sk-", "the text of the file is not shown")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, config.Secret(c.want), cfg.Semantic.APIKey)
		})
	}
}

func TestProblem_String(t *testing.T) {
	for _, c := range []struct {
		problem config.Problem
		want    string
	}{
		{config.Problem{Origin: "a.toml:3", Key: "search.limit", Value: "99", Detail: "must be from 1 to 50"}, "a.toml:3: search.limit = 99 must be from 1 to 50"},
		{config.Problem{Origin: "X", Detail: "is not a known variable", Hint: "did you mean Y?"}, "X: is not a known variable; did you mean Y?"},
		{config.Problem{Key: "state", Detail: "has no default"}, "state has no default"},
		{config.Problem{Origin: "a\nb", Key: "\x1b[31m", Detail: "x"}, "a b:  [31m x"},
	} {
		assert.Equal(t, c.want, c.problem.String())
		assert.Equal(t, "configuration: "+c.want, (&config.Error{Problems: []config.Problem{c.problem}}).Error())
	}
}

// Every setting can be set with its variable, using the value that Settings reports for
// its default.
func TestLoad_EveryDefaultByVariable(t *testing.T) {
	want, err := load(t, "")
	require.NoError(t, err)
	loaded, err := config.Load(config.Sources{})
	require.NoError(t, err)
	var env []string
	for _, s := range loaded.Settings() {
		value := fmt.Sprint(s.Value)
		if list, ok := s.Value.([]string); ok {
			value = strings.Join(list, ",")
		}
		env = append(env, "NOTESD_"+strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))+"="+value)
	}
	assert.Greater(t, len(env), 30)
	got, err := load(t, "", env...)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestLoad_ValueIsShortened(t *testing.T) {
	_, err := load(t, "[log]\nlevel = '"+strings.Repeat("é", 5000)+"'\n")
	require.ErrorContains(t, err, "…")
	assert.Less(t, len(err.Error()), 500)
}

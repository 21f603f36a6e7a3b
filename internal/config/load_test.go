package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// world is a machine with a home directory, a vault and a notesd.toml.
type world struct {
	t     *testing.T
	home  string
	vault string
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{t: t, home: t.TempDir()}
	w.vault = filepath.Join(w.home, "My Notes")
	require.NoError(t, os.Mkdir(w.vault, 0o700))
	t.Chdir(w.home)
	return w
}

// file writes a configuration file and returns its path.
func (w world) file(text string) string {
	w.t.Helper()
	name := filepath.Join(w.home, "notesd.toml")
	require.NoError(w.t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func (w world) env(more ...string) []string {
	return append([]string{
		"HOME=" + w.home, "USERPROFILE=" + w.home,
		"APPDATA=" + filepath.Join(w.home, "Roaming"), "LOCALAPPDATA=" + filepath.Join(w.home, "Local"),
	}, more...)
}

func (w world) load(src Sources) (*Config, error) {
	if src.Env == nil {
		src.Env = w.env()
	}
	return configOf(Load(src))
}

func configOf(l *Loaded, err error) (*Config, error) {
	if err != nil {
		return nil, err
	}
	return l.Config, nil
}

func (w world) problems(src Sources) []string {
	w.t.Helper()
	_, err := w.load(src)
	var e *Error
	require.ErrorAs(w.t, err, &e)
	var lines []string
	for _, p := range e.Problems {
		lines = append(lines, p.String())
	}
	return lines
}

func flagSet(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	flags := pflag.NewFlagSet("notesd", pflag.ContinueOnError)
	flags.String("vault", "", "")
	flags.String("state", "", "")
	flags.String("log-level", "warn", "")
	flags.Bool("read-only", false, "")
	flags.Bool("json", false, "")
	require.NoError(t, flags.Parse(args))
	return flags
}

func TestLoad_WithoutSources(t *testing.T) {
	cfg, err := configOf(Load(Sources{}))
	require.NoError(t, err)
	want := Default()
	assert.Equal(t, &want, cfg)
}

func TestLoad_Layers(t *testing.T) {
	w := newWorld(t)
	file := w.file("[log]\nlevel = 'error'\nfile = 'file.log'\n[search]\nlimit = '20'\nmode = 'text'\n")
	env := w.env("NOTESD_LOG_LEVEL=debug", "NOTESD_SEARCH_LIMIT=30")

	cfg, err := w.load(Sources{File: file})
	require.NoError(t, err)
	assert.Equal(t, Log{Level: "error", File: filepath.Join(w.home, "file.log")}, cfg.Log)
	assert.Equal(t, Search{Mode: "text", Limit: 20}, cfg.Search)

	cfg, err = w.load(Sources{File: file, Env: env})
	require.NoError(t, err)
	assert.Equal(t, "debug", cfg.Log.Level)
	assert.Equal(t, Search{Mode: "text", Limit: 30}, cfg.Search)

	cfg, err = w.load(Sources{File: file, Env: env, Flags: flagSet(t, "--log-level=info", "--json")})
	require.NoError(t, err)
	assert.Equal(t, "info", cfg.Log.Level)
	assert.Equal(t, 30, cfg.Search.Limit)

	cfg, err = w.load(Sources{File: file, Env: env, Flags: flagSet(t)})
	require.NoError(t, err)
	assert.Equal(t, "debug", cfg.Log.Level, "a flag that was not given is not a setting")
}

func TestLoad_EveryType(t *testing.T) {
	w := newWorld(t)
	file := w.file(`
vault = { path = "My Notes", ignore = ["*.tmp.md", "Archive/**", "/Archive", "1:1/**", '\[draft\]*', '[\-a]'], dates = ["published"], allow = ["Journal/"] }
limits.note_bytes = "1 MiB"
limits.result_bytes = 4096
[history]
age = "90d"
size = "2GB"
keep = 7
[http]
behind_proxy = true
`)
	cfg, err := w.load(Sources{File: file})
	require.NoError(t, err)
	assert.Equal(t, Vault{Path: w.vault, Folders: Folders{}, Ignore: []string{"*.tmp.md", "Archive/**", "/Archive", "1:1/**", `\[draft\]*`, `[\-a]`}, Dates: []string{"published"}, Allow: []string{"Journal/"}, ReadOnlyFolders: []string{}, Tools: []string{}}, cfg.Vault)
	assert.Equal(t, Bytes(1<<20), cfg.Limits.NoteBytes)
	assert.Equal(t, Bytes(4096), cfg.Limits.ResultBytes)
	assert.Equal(t, History{Keep: 7, Age: 90 * 24 * time.Hour, Size: 2e9}, cfg.History)
	assert.True(t, cfg.HTTP.BehindProxy)

	cfg, err = w.load(Sources{Env: w.env(
		"NOTESD_VAULT_IGNORE= a.md , b/** ,", "NOTESD_VAULT_READ_ONLY=yes", "NOTESD_HISTORY_AGE=2w",
		"NOTESD_LIMITS_NOTE_BYTES=64 kib", "NOTESD_HTTP_ALLOWED_ORIGINS=https://a.example,http://localhost:5173",
	)})
	require.NoError(t, err)
	assert.Equal(t, []string{"a.md", "b/**"}, cfg.Vault.Ignore)
	assert.True(t, cfg.Vault.ReadOnly)
	assert.Equal(t, 14*24*time.Hour, cfg.History.Age)
	assert.Equal(t, Bytes(64<<10), cfg.Limits.NoteBytes)
	assert.Equal(t, []string{"https://a.example", "http://localhost:5173"}, cfg.HTTP.AllowedOrigins)
}

func TestLoad_AllProblems(t *testing.T) {
	w := newWorld(t)
	file := w.file(`[vault]
raed_only = true
path = [3]
[limits]
result_bytes = "many"
note_bytes = 1
[lgo]
level = "info"
[search]
limit = 10.5
log.level = "loud"
[history]
age = "soon"
`)
	got := w.problems(Sources{
		File:  file,
		Env:   w.env("NOTESD_SERACH_MODE=text", "NOTESD_SEARCH_MODE=fuzzy", "NOTESD_HTTP_ADDR=localhost"),
		Flags: flagSet(t, "--vault", "nowhere", "--log-level", "\x1b[31mred"),
	})
	assert.Equal(t, []string{
		file + `:2: vault.raed_only is not a known key; did you mean vault.read_only?`,
		file + `:3: vault.path = [3] must be one value, not a list`,
		file + `:5: limits.result_bytes = "many" must be a size such as 20480, "20 KiB" or "16 MB"`,
		file + `:6: limits.note_bytes = 1 must be from 1024 to 1073741824 bytes`,
		file + `:8: lgo.level is not a known key; did you mean log.level?`,
		file + `:10: search.limit = 10.5 must be a whole number`,
		file + `:11: search.log.level is not a known key; did you mean log.level?`,
		file + `:13: history.age = "soon" must be a duration such as "90d", "12w" or "36h"`,
		`NOTESD_HTTP_ADDR: http.addr = "localhost" must be an address such as "127.0.0.1:8931"`,
		`NOTESD_SEARCH_MODE: search.mode = "fuzzy" must be hybrid, text or semantic`,
		`--log-level: log.level = "\x1b[31mred" must be debug, info, warn or error`,
		`--vault: vault.path = ` + show(filepath.Join(w.home, "nowhere")) + ` cannot be opened: it does not exist; name an existing folder of notes`,
	}, got)

	_, err := w.load(Sources{File: file})
	assert.ErrorContains(t, err, "configuration: 8 problems:\n  "+file+":2: ")
}

func TestLoad_FileMistakes(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"control characters in a key", "\"\\u001b[31mx\" = 1", " [31mx is not a known key"},
		{"syntax", "[vault]\npath = ", ":2:"},
		{"path of Windows", `vault.path = "C:\Users\ann\Notes"`, `:1:19: is not TOML: invalid hexadecimal digit in unicode escape sequence; put text with a backslash in single quotes, such as 'C:\Users\you\Notes'`},
		{"another path of Windows", `vault.path = "D:\Work"`, `escape character U+0057 'W'; put text with a backslash in single quotes`},
		{"text without quotes", "[vault]\npath = ~/Notes", `at start of value; put text in quotes, such as "~/Notes"`},
		{"binary", "\x00\xff\xfe", ": is not TOML"},
		{"section as a setting", "vault = '~/Notes'", `:1: vault = "~/Notes" is a section, not a setting; write its keys under [vault]`},
		{"setting as a section", "\n[vault.path]\nx = 1", ":2: vault.path is a setting, not a section"},
		{"array of tables", "[[vault]]\npath = 'x'", `vault = [{"path":"x"}] is a section, not a setting`},
		{"list of numbers", "[vault]\nallow = [1]", `vault.allow = [1] must be a list of strings`},
		{"list of text and numbers", "[vault]\nallow = ['a b', 1]", `vault.allow = ["a b",1] must be a list of strings`},
		{"string for a list", "[vault]\nignore = 'a'", `vault.ignore = "a" must be a list of strings`},
		{"string for a bool", "[vault]\nread_only = 'yse'", `read_only = "yse" must be true or false`},
		{"bad glob", "[vault]\nignore = ['[']", `must be glob patterns for names or paths in the vault, such as "*.tmp.md" or "Archive/**", unlike "["`},
		{"folder outside", "[vault]\nallow = ['ok', '../x']", `must be folders inside the vault, written from its root with "/", such as "work/Journal", unlike "../x"`},
		{"pattern in the home folder", "[vault]\nignore = ['~/Notes/Private/**']", "must be glob patterns"},
		{"pattern with a dot", "[vault]\nignore = ['./Private']", "must be glob patterns"},
		{"pattern on a drive", "[vault]\nignore = ['C:/Notes/Private/**']", "must be glob patterns"},
		{"pattern beside the vault", "[vault]\nignore = ['../Private']", "must be glob patterns"},
		{"pattern for the home folder", "[vault]\nignore = ['~']", "must be glob patterns"},
		{"pattern for the vault", "[vault]\nignore = ['/']", "must be glob patterns"},
		{"pattern after a space", "[vault]\nignore = [' ~/x']", "must be glob patterns"},
		{"pattern for a drive", "[vault]\nignore = ['C:/']", "must be glob patterns"},
		{"pattern on a drive, with backslashes", "[vault]\nignore = ['C:\\Notes\\Private']", "must be glob patterns"},
		{"pattern with a backslash", "[vault]\nignore = ['Archive\\2024']", "must be glob patterns"},
		{"pattern of a Windows path", "[vault]\nignore = ['Archive\\**']", "must be glob patterns"},
		{"pattern above the root", "[vault]\nignore = ['/../x']", "must be glob patterns"},
		{"pattern in the home folder after a slash", "[vault]\nignore = ['/~/x']", "must be glob patterns"},
		{"pattern with a dot after a slash", "[vault]\nignore = ['/./x']", "must be glob patterns"},
		{"blank pattern", "[vault]\nignore = ['  ']", "must be glob patterns"},
		{"half of a glob", "[vault]\nignore = ['{a']", `unlike "{a"`},
		{"prompts outside", "[prompts]\nfolder = '../x'", "must be a folder inside the vault, or an absolute path"},
		{"negative size", "[history]\nsize = -1", "history.size = -1 must be a size"},
		{"huge size", "[history]\nsize = '99999999999 GiB'", "must be a size"},
		{"huge number", "[history]\nkeep = 9223372036854775807", "must be from 1 to 1000000"},
		{"number beyond an int", "[history]\nkeep = '99999999999999999999'", "must be from 1 to 1000000"},
		{"short age", "[history]\nage = '10m'", `history.age = "10m" must be a day or more`},
		{"negative age", "[history]\nage = '-1h'", "must be a duration"},
		{"date", "[log]\nlevel = 2026-01-01", "log.level = 2026-01-01 must be debug"},
		{"remote model", "[semantic]\nurl = 'https://api.example.com/v1'", "is another machine; set semantic.allow_remote"},
		{"openai without model", "[semantic]\nprovider = 'openai'\nurl = 'http://[::1]:8080'", `semantic.model = "" must be set when semantic.provider is openai`},
		{"openai without a URL", "[semantic]\nprovider = 'openai'\nmodel = 'm'", `semantic.url = "" must be set when semantic.provider is openai`},
		{"key without TLS", "[semantic]\nprovider = 'openai'\nmodel = 'm'\nurl = 'http://api.example/v1'\nallow_remote = true\napi_key_file = 'notesd.toml'", "in the clear; use https"},
		{"absolute folder", "[vault]\nallow = ['/x']", "must be folders inside the vault"},
		{"folder with a backslash", "[vault]\nallow = ['a\\b']", "must be folders inside the vault"},
		{"folder with a drive", "[vault]\nread_only_folders = ['C:/Notes/Journal']", "must be folders inside the vault"},
		{"folder in the home folder", "[vault]\nread_only_folders = ['~/Notes/Journal']", "must be folders inside the vault"},
		{"folder with a dot", "[vault]\nread_only_folders = ['./Journal']", "must be folders inside the vault"},
		{"folder with two slashes", "[vault]\nallow = ['a//b']", "must be folders inside the vault"},
		{"the whole vault", "[vault]\nread_only_folders = ['.']", "must be folders inside the vault"},
		{"the home folder", "[vault]\nallow = ['~']", "must be folders inside the vault"},
		{"no folder", "[vault]\nread_only_folders = ['']", "must be folders inside the vault"},
		{"vault in a database", "[store]\nvault = 'a/b'", "must be a name such as"},
		{"no vault in a database", "[store]\nvault = ''", "must be a name such as"},
		{"URL with a query", "[semantic]\nurl = 'http://localhost/v1?a=b'", "without a user, a query or a fragment"},
		{"port", "[http]\naddr = 'localhost:99999'", "must be an address"},
		{"list for a setting", "[log]\nlevel = ['info']", "must be one value, not a list"},
		{"model file is not there", "[semantic]\nmodel = '~/m'", "cannot be opened: it does not exist"},
		{"no model", "[semantic]\nmodel = 'off'", `semantic.provider = "off" turns semantic search off`},
		{"a URL with a password", "[semantic]\nurl = 'http://me:pw@localhost'", "without a user, a query or a fragment"},
		{"a name that only looks local", "[semantic]\nurl = 'http://localhost.example'", "is another machine"},
		{"no key file", "[semantic]\nprovider = 'ollama'\napi_key_file = 'missing'", "semantic.api_key_file = "},
		{"no URL", "[semantic]\nurl = '127.0.0.1:11434'", "must be a URL"},
		{"half of TLS", "[http]\ntls_cert = 'notesd.toml'", "http.tls_key are a pair"},
		{"no key", "[http]\ntls_cert = 'notesd.toml'\ntls_key = 'missing'", "http.tls_key = "},
		{"certificate folder", "[http]\ntls_cert = 'My Notes'\ntls_key = 'notesd.toml'", "is a folder; name a file in it"},
		{"no certificate", "[http]\ntls_cert = 'missing'\ntls_key = 'notesd.toml'", "http.tls_cert = "},
		{"token folder", "[http]\ntoken_file = 'My Notes'", "is a folder; name a file in it"},
		{"home folder", "[log]\nfile = '~'", "is a folder; name a file in it"},
		{"log folder", "[log]\nfile = 'My Notes'", "is a folder; name a file in it"},
		{"origin with a path", "[http]\nallowed_origins = ['https://a.example/x']", "must be origins"},
		{"vault is a file", "[vault]\npath = 'notesd.toml'", "is not a folder"},
		{"state in the vault", "state = 'My Notes/.notesd/new'\n[vault]\npath = 'My Notes'", "lies inside the vault"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.load(Sources{File: w.file(c.text)})
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestLoad_WhichFile(t *testing.T) {
	w := newWorld(t)
	_, err := w.load(Sources{File: "missing.toml"})
	assert.ErrorContains(t, err, filepath.Join(w.home, "missing.toml")+": cannot be read")
	_, err = w.load(Sources{File: "My Notes"})
	assert.ErrorContains(t, err, "cannot be read")

	xdg := filepath.Join(w.home, "xdg")
	require.NoError(t, os.MkdirAll(filepath.Join(xdg, "notesd"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(xdg, "notesd", "notesd.toml"), []byte("\ufefflog.level = 'warn'\r\n"), 0o600))
	cfg, err := w.load(Sources{Env: w.env("XDG_CONFIG_HOME=" + xdg)})
	require.NoError(t, err)
	assert.Equal(t, "warn", cfg.Log.Level)

	cfg, err = w.load(Sources{})
	require.NoError(t, err, "the user's file need not exist")
	assert.Equal(t, "info", cfg.Log.Level)
}

func TestLoad_RelativePaths(t *testing.T) {
	w := newWorld(t)
	elsewhere := filepath.Join(w.home, "etc")
	require.NoError(t, os.Mkdir(elsewhere, 0o700))
	file := filepath.Join(elsewhere, "n.toml")
	require.NoError(t, os.WriteFile(file, []byte("state = 'st'\n[vault]\npath = '~/My Notes'\n[prompts]\nfolder = '~/p'\n"), 0o600))
	cfg, err := w.load(Sources{File: file, Env: w.env("NOTESD_LOG_FILE=n.log")})
	require.NoError(t, err)
	assert.Equal(t, w.vault, cfg.Vault.Path)
	assert.Equal(t, filepath.Join(elsewhere, "st"), cfg.State)
	assert.Equal(t, filepath.Join(w.home, "n.log"), cfg.Log.File)
	assert.Equal(t, filepath.Join(w.home, "p"), cfg.Prompts.Folder)
}

// A prompts folder in the vault may be given as an absolute path, also through a link.
func TestLoad_PromptsFolder(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.MkdirAll(filepath.Join(w.vault, "Meta", "Prompts"), 0o700))
	link := filepath.Join(w.home, "link")
	if err := os.Symlink(w.vault, link); err != nil && runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	elsewhere := filepath.Join(w.home, "Prompts")
	for folder, want := range map[string]string{
		filepath.Join(w.vault, "Meta", "Prompts"):       "Meta/Prompts",
		filepath.Join(w.vault, "Meta", "Prompts") + "/": "Meta/Prompts",
		filepath.Join(link, "Meta", "Prompts"):          "Meta/Prompts",
		"~/My Notes/Prompts to come":                    "Prompts to come",
		"Meta/Prompts":                                  "Meta/Prompts",
		"./Meta/Prompts/":                               "Meta/Prompts",
		elsewhere:                                       elsewhere,
		"":                                              "",
	} {
		cfg, err := w.load(Sources{Env: w.env("NOTESD_PROMPTS_FOLDER="+folder, "NOTESD_VAULT="+w.vault)})
		require.NoError(t, err)
		assert.Equal(t, want, cfg.Prompts.Folder, "%q", folder)
		cfg, err = w.load(Sources{Env: w.env("NOTESD_PROMPTS_FOLDER="+folder, "NOTESD_VAULT=mine="+w.vault)})
		require.NoError(t, err)
		if filepath.IsAbs(folder) && want != elsewhere {
			assert.Equal(t, "mine/"+want, cfg.Prompts.Folder, "%q", folder)
		}
	}
}

// A working directory that was deleted matters only to relative paths.
func TestLoad_DeletedWorkingDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not delete a working directory")
	}
	w := newWorld(t)
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.Remove(dir))
	load := func(vault string) (*Loaded, error) {
		return Load(Sources{Env: w.env("NOTESD_VAULT=" + vault)})
	}
	for _, vault := range []string{w.vault, "~/My Notes", "mine=" + w.vault} {
		cfg, err := load(vault)
		require.NoError(t, err)
		assert.Equal(t, []string{w.vault}, slices.Collect(maps.Values(cfg.Vault.Dirs())))
	}
	_, err := load("My Notes")
	require.EqualError(t, err, `configuration: NOTESD_VAULT: vault.path = "My Notes" is relative to the working directory, which does not exist`)
	_, err = load("mine=Notes")
	require.EqualError(t, err, `configuration: NOTESD_VAULT: vault.folders = "mine=Notes" is relative to the working directory, which does not exist`)
}

func TestLoad_MissingTokenFile(t *testing.T) {
	w := newWorld(t)
	cfg, err := w.load(Sources{File: w.file("[http]\ntoken_file = 'token'\naddr = ':8931'")})
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(w.home, "token"), cfg.HTTP.TokenFile)
}

func TestLoad_ModelPath(t *testing.T) {
	w := newWorld(t)
	cfg, err := w.load(Sources{File: w.file("[semantic]\nmodel = 'notesd.toml'")})
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(w.home, "notesd.toml"), cfg.Semantic.Model)
	for _, name := range []string{Auto, English, Multilingual} {
		cfg, err = w.load(Sources{File: w.file("[semantic]\nmodel = '" + name + "'")})
		require.NoError(t, err)
		assert.Equal(t, name, cfg.Semantic.Model, "a model in the program")
	}
	cfg, err = w.load(Sources{File: w.file("[semantic]\nprovider = 'ollama'\nmodel = 'all-minilm'")})
	require.NoError(t, err)
	assert.Equal(t, "all-minilm", cfg.Semantic.Model)
}

func TestLoad_APIKey(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.WriteFile(filepath.Join(w.home, "key"), []byte("sk-from-file \r\nsecond line\n"), 0o600))
	file := w.file("[semantic]\nprovider = 'ollama'\napi_key_file = 'key'\n")
	cfg, err := w.load(Sources{File: file})
	require.NoError(t, err)
	assert.Equal(t, Secret("sk-from-file"), cfg.Semantic.APIKey)
	cfg, err = w.load(Sources{File: file, Env: w.env("NOTESD_SEMANTIC_API_KEY=sk-from-env")})
	require.NoError(t, err)
	assert.Equal(t, Secret("sk-from-env"), cfg.Semantic.APIKey)
	for _, shown := range []string{fmt.Sprint(cfg.Semantic), fmt.Sprintf("%+v %#v", cfg.Semantic, cfg.Semantic)} {
		assert.NotContains(t, shown, "sk-from")
	}
	data, err := json.Marshal(cfg)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "sk-from")

	cfg, err = w.load(Sources{Env: w.env("NOTESD_SEMANTIC_API_KEY=sk-x")})
	require.NoError(t, err)
	assert.Empty(t, cfg.Semantic.APIKey, "the built-in model asks for none")
	assert.Equal(t, []string{"NOTESD_SEMANTIC_API_KEY: is not an API key: it must be one word of printable ASCII characters"},
		w.problems(Sources{Env: w.env("NOTESD_SEMANTIC_PROVIDER=ollama", "NOTESD_SEMANTIC_API_KEY=sk x")}))
	assert.Equal(t, []string{`NOTESD_SEMANTIC_URL: semantic.url = "http://lan.example:11434" would carry the API key over the network in the clear; use https`},
		w.problems(Sources{Env: w.env("NOTESD_SEMANTIC_PROVIDER=ollama", "NOTESD_SEMANTIC_API_KEY=sk-x",
			"NOTESD_SEMANTIC_URL=http://lan.example:11434", "NOTESD_SEMANTIC_ALLOW_REMOTE=true")}))
}

func TestVaultVariables(t *testing.T) {
	w := newWorld(t)
	cfg, err := w.load(Sources{Env: w.env("NOTESD_VAULT=My Notes", "NOTESD_VAULT_PATH=My Notes", "NOTESD_LOG_LEVEL=")})
	require.NoError(t, err)
	assert.Equal(t, w.vault, cfg.Vault.Path)
	assert.Equal(t, "info", cfg.Log.Level, "a variable set to nothing is unset")

	got := w.problems(Sources{Env: w.env("NOTESD_VAULT=My Notes", "NOTESD_VAULT_PATH=.")})
	assert.Equal(t, []string{`NOTESD_VAULT and NOTESD_VAULT_PATH: vault.path = "My Notes" and "." has two different values; unset one of the variables`}, got)
}

func TestStateDir(t *testing.T) {
	w := newWorld(t)
	link := filepath.Join(w.home, "link")
	if err := os.Symlink(w.vault, link); err != nil && runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	env := w.env("XDG_STATE_HOME=" + filepath.Join(w.home, "state"))
	want, err := newEnvironment(env).stateDir(Vault{Path: w.vault})
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(w.home, "state", "notesd"), filepath.Dir(want))
	assert.Regexp(t, `^my-notes-[0-9a-f]{12}$`, filepath.Base(want))

	for _, spelling := range []string{link, w.vault + string(filepath.Separator), filepath.Join(w.vault, "..", "My Notes")} {
		got, err := newEnvironment(env).stateDir(Vault{Path: spelling})
		require.NoError(t, err)
		assert.Equal(t, want, got, spelling)
	}
	cfg, err := w.load(Sources{Env: append(env, "NOTESD_VAULT="+link)})
	require.NoError(t, err)
	assert.Equal(t, want, cfg.State)

	require.NoError(t, os.Rename(w.vault, w.vault+" away"))
	for _, spelling := range []string{w.vault, link} {
		got, err := newEnvironment(env).stateDir(Vault{Path: spelling})
		require.NoError(t, err)
		assert.Equal(t, want, got, "an unmounted vault keeps its state")
	}
	if runtime.GOOS != "windows" {
		// Another name would hide the history of every vault.
		for vault, want := range map[string]string{"/nonexistent/My Notes": "my-notes-eedf9c766b5e", "a=/nonexistent/x,b=/nonexistent/y": "a-b-8e0aad85aadb"} {
			got, err := newEnvironment(env).stateDir(ParseVault(vault))
			require.NoError(t, err)
			assert.Equal(t, want, filepath.Base(got))
		}
	}
	_, err = environment{}.stateDir(Vault{Path: w.vault})
	require.ErrorIs(t, err, errNoHome)
}

func TestLoad_TierVariable(t *testing.T) {
	w := newWorld(t)
	loaded, err := Load(Sources{Env: w.env("NOTESD_BERT_TIER=purego", "NOTESD_VAULT="+w.vault)})
	require.NoError(t, err)
	assert.Empty(t, loaded.Unknown)
}

func TestLoad_UnmountedVault(t *testing.T) {
	w := newWorld(t)
	env := w.env("XDG_STATE_HOME="+filepath.Join(w.home, "state"), "NOTESD_VAULT="+w.vault)
	cfg, err := w.load(Sources{Env: env})
	require.NoError(t, err)
	require.NoError(t, os.Remove(w.vault))
	_, err = w.load(Sources{Env: env})
	require.ErrorContains(t, err, "cannot be opened")
	require.NoError(t, os.MkdirAll(cfg.State, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(cfg.State, "notes.db"), nil, 0o600))
	away, err := w.load(Sources{Env: env})
	require.NoError(t, err, "its disk is not mounted: the daemon says so and waits")
	assert.Equal(t, cfg.State, away.State)
}

func TestLoad_StateInVaultByLink(t *testing.T) {
	w := newWorld(t)
	link := filepath.Join(w.home, "link")
	if err := os.Symlink(w.vault, link); err != nil && runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	_, err := w.load(Sources{Flags: flagSet(t, "--vault", "My Notes", "--state", "link/.state")})
	assert.ErrorContains(t, err, "lies inside the vault")
	_, err = w.load(Sources{Flags: flagSet(t, "--vault", "My Notes", "--state", "My Notes 2")})
	assert.NoError(t, err, "a neighbour whose name begins like the vault's")
}

func TestPassed_AndChanged(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "notesd.toml")
	require.NoError(t, os.WriteFile(file, []byte("[semantic]\nprovider = \"off\"\n[vault]\nignore = [\"A/**\"]\n"), 0o600))
	read := func(env ...string) *Loaded {
		t.Helper()
		loaded, err := Load(Sources{File: file, Env: append(env, "XDG_STATE_HOME="+dir)})
		require.NoError(t, err)
		return loaded
	}
	client := read("NOTESD_VAULT_IGNORE=B,C/**", "NOTESD_HISTORY_AGE=90d", "NOTESD_SEARCH_LIMIT=3", "NOTESD_LOG_LEVEL=warn")
	passed := client.Passed()
	require.Len(t, passed, 2, "the limit is the session's, the log's level the process's")
	assert.Equal(t, "history.age", passed[0].Key)
	assert.Contains(t, passed[0].Remark, `Add age = "90d" under [history] to `+file)
	assert.Equal(t, "vault.ignore", passed[1].Key)
	assert.Contains(t, passed[1].Remark, "NOTESD_VAULT_IGNORE has no effect")
	assert.Contains(t, passed[1].Remark, `ignore = ["B", "C/**"] under [vault]`)
	assert.Equal(t, 3, client.Search.Limit)

	before := read()
	assert.Empty(t, before.Passed())
	sessions, daemons := before.Changed(read())
	assert.Empty(t, append(sessions, daemons...))
	require.NoError(t, os.WriteFile(file, []byte("[semantic]\nprovider = \"ollama\"\n[search]\nlimit = 2\n"), 0o600))
	sessions, daemons = before.Changed(read())
	assert.Equal(t, []string{"search.limit"}, sessions)
	assert.Equal(t, []string{"semantic.provider", "vault.ignore"}, daemons)
}

func TestPassed_APIKey(t *testing.T) {
	dir := t.TempDir()
	file, keyFile := filepath.Join(dir, "notesd.toml"), filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(keyFile, []byte("sk-one\n"), 0o600))
	write := func(more string) {
		t.Helper()
		text := "[semantic]\nprovider = \"openai\"\nurl = \"https://api.example/v1\"\nmodel = \"m\"\nallow_remote = true\n" + more
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	read := func(env ...string) *Loaded {
		t.Helper()
		loaded, err := Load(Sources{File: file, Env: append(env, "XDG_STATE_HOME="+dir)})
		require.NoError(t, err)
		return loaded
	}
	write("")
	one, two, none := read(APIKeyVariable+"=sk-one"), read(APIKeyVariable+"=sk-two"), read()
	passed := one.Passed()
	require.Len(t, passed, 1)
	assert.Contains(t, passed[0].Remark, APIKeyVariable+" has no effect: the daemon, which all clients share, was started with another key")
	assert.Contains(t, passed[0].Remark, "under [semantic] to "+file)
	assert.Equal(t, passed[0].Value, one.Text(passed[0].Key))
	assert.NotContains(t, fmt.Sprint(passed), "sk-one")
	assert.NotEqual(t, passed[0].Value, two.Text(passed[0].Key))
	assert.NotEqual(t, passed[0].Value, none.Text(passed[0].Key))
	assert.Empty(t, none.Passed())

	write("api_key_file = \"" + filepath.ToSlash(keyFile) + "\"\n")
	daemon := read()
	assert.Empty(t, daemon.Passed())
	assert.Equal(t, passed[0].Value, daemon.Text(passed[0].Key), "the daemon has this key from the file")
}

// A list without items, such as that of two empty variables, would allow every folder.
func TestLoad_ListWithoutItems(t *testing.T) {
	w := newWorld(t)
	for _, list := range []string{",", " , ", " "} {
		assert.Equal(t, []string{`NOTESD_VAULT_ALLOW: vault.allow = ` + show(list) + ` must be a list such as "a,b"; unset it for none`}, w.problems(Sources{Env: w.env("NOTESD_VAULT_ALLOW=" + list)}))
	}
	none, err := fromText("", typeStrings) // of a flag
	require.NoError(t, err)
	assert.Empty(t, none)
}

func TestLoad_RetiredKeys(t *testing.T) {
	w := newWorld(t)
	file := w.file("[limits]\ncalls_per_second = 3\nwrites_per_second = 4\nping = \"0s\"\n")
	loaded, err := Load(Sources{File: file})
	require.NoError(t, err)
	require.Len(t, loaded.Unknown, 2)
	assert.Equal(t, file+":3: limits.writes_per_second is no longer a setting and has no effect", loaded.Unknown[0].String())
	assert.Empty(t, loaded.Passed(), "no client passed it")
	assert.Equal(t, 3, loaded.Limits.CallsPerSecond)
}

// An unknown variable is a warning that suggests the nearest setting.
func TestLoad_UnknownVariables(t *testing.T) {
	w := newWorld(t)
	loaded, err := Load(Sources{Env: w.env("NOTESD_SERACH_MODE=text", "NOTESD_SHA256=abc", "NOTESD_VAULT_READONLY=1", "NOTESD_TOOLS=reader", "NOTESD_ALLOW=Public", "NOTESD_THREADS=1")})
	require.NoError(t, err)
	assert.Equal(t, []Problem{
		{Origin: "NOTESD_SERACH_MODE", Detail: "is not a known variable and has no effect", Hint: "the nearest setting is NOTESD_SEARCH_MODE"},
		{Origin: "NOTESD_SHA256", Detail: "is not a known variable and has no effect"},
		{Origin: "NOTESD_THREADS", Detail: "is not a known variable and has no effect", Hint: "the nearest setting is NOTESD_SEMANTIC_THREADS"},
	}, loaded.Unknown)
	assert.Equal(t, "hybrid", loaded.Search.Mode)
	assert.True(t, loaded.Vault.ReadOnly, "underscores do not distinguish names")
	assert.Equal(t, []string{"reader"}, loaded.Vault.Tools)
	assert.Equal(t, []string{"Public"}, loaded.Vault.Allow)
	assert.Equal(t, "NOTESD_VAULT_READONLY", loaded.Origin("vault.read_only"))
	passed := loaded.Passed()
	require.Len(t, passed, 2, "only what resembles a setting")
	assert.Equal(t, loaded.Unknown[0].String(), passed[0].Remark)
}

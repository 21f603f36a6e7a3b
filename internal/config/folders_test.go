package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/config"
)

// loadFolders loads a configuration with the folders Work, Notes and Notes/in beside
// it. A flag starts with "--vault=".
func loadFolders(t *testing.T, toml string, outside ...string) (*config.Loaded, string, error) {
	t.Helper()
	home := t.TempDir()
	home, err := filepath.EvalSymlinks(home)
	require.NoError(t, err)
	t.Chdir(home)
	for _, name := range []string{"Work", "Notes/in", "a=b", "state"} {
		require.NoError(t, os.MkdirAll(filepath.Join(home, name), 0o755))
	}
	file := filepath.Join(home, "notesd.toml")
	require.NoError(t, os.WriteFile(file, []byte(toml), 0o600))
	src := config.Sources{File: file, Env: []string{"HOME=" + home, "USERPROFILE=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state")}}
	for _, s := range outside {
		if vault, ok := strings.CutPrefix(s, "--vault="); ok {
			src.Flags = pflag.NewFlagSet("", pflag.ContinueOnError)
			src.Flags.String("vault", "", "")
			require.NoError(t, src.Flags.Set("vault", vault))
			continue
		}
		src.Env = append(src.Env, s)
	}
	loaded, err := config.Load(src)
	return loaded, home, err
}

func TestLoad_Folders(t *testing.T) {
	const table = "[vault]\nfolders = { work = '~/Work', 'My notes' = 'Notes' }\n"
	for name, c := range map[string]struct {
		toml    string
		outside []string
		path    string
		folders map[string]string
	}{
		"inline table":      {toml: table, folders: map[string]string{"work": "Work", "My notes": "Notes"}},
		"table":             {toml: "[vault.folders]\nwork = 'Work'\nhome = '~/Notes'\n", folders: map[string]string{"work": "Work", "home": "Notes"}},
		"variable":          {outside: []string{"NOTESD_VAULT_FOLDERS=work=~/Work, home=Notes"}, folders: map[string]string{"work": "Work", "home": "Notes"}},
		"short variable":    {outside: []string{"NOTESD_VAULT=work=~/Work,home=Notes"}, folders: map[string]string{"work": "Work", "home": "Notes"}},
		"flag":              {outside: []string{"--vault=work=Work,home=Notes"}, folders: map[string]string{"work": "Work", "home": "Notes"}},
		"flag over table":   {toml: table, outside: []string{"--vault=Work"}, path: "Work"},
		"flag over path":    {toml: "[vault]\npath = 'Notes'\n", outside: []string{"--vault=work=Work"}, folders: map[string]string{"work": "Work"}},
		"variable replaces": {toml: table, outside: []string{"NOTESD_VAULT_FOLDERS=home=Notes"}, folders: map[string]string{"home": "Notes"}},
		"a path with =":     {outside: []string{"--vault=a=b"}, path: "a=b"},
		"empty":             {toml: "[vault]\npath = 'Notes'\nfolders = {}\n", path: "Notes"},
	} {
		t.Run(name, func(t *testing.T) {
			loaded, home, err := loadFolders(t, c.toml, c.outside...)
			require.NoError(t, err)
			want := config.Folders{}
			for name, dir := range c.folders {
				want[name] = filepath.Join(home, dir)
			}
			assert.Equal(t, want, loaded.Vault.Folders)
			if c.path != "" {
				c.path = filepath.Join(home, c.path)
			}
			assert.Equal(t, c.path, loaded.Vault.Path)
			assert.True(t, loaded.Vault.IsSet())

			for _, s := range loaded.Settings() {
				if s.Key == "vault.folders" {
					printed, _, err := loadFolders(t, "[vault]\n"+s.TOML()+"\n")
					require.NoError(t, err)
					assert.Equal(t, want, printed.Vault.Folders, "as notesd config prints them")
				}
			}

			again, _, err := loadFolders(t, "", "--vault="+loaded.Vault.String())
			require.NoError(t, err)
			assert.Equal(t, loaded.Vault, again.Vault, "String is what --vault accepts")
			assert.Equal(t, loaded.Vault.ID(), again.Vault.ID())
		})
	}
}

func TestLoad_FoldersWithProblems(t *testing.T) {
	for name, c := range map[string]struct{ toml, want string }{
		"missing":           {"folders = { a = 'Nope' }", " cannot be opened: it does not exist"}, // a long path is truncated
		"one in the other":  {"folders = { a = 'Notes', b = 'Notes/in' }", "one of them is in the other"},
		"the reverse":       {"folders = { a = 'Notes/in', b = 'Notes' }", "one of them is in the other"},
		"a file":            {"folders = { a = 'notesd.toml' }", "is not a folder"},
		"twice":             {"folders = { a = 'Notes', b = '~/Notes' }", "one of them is in the other"},
		"names by case":     {"folders = { Work = 'Notes', work = 'Work' }", "differ in more than case"},
		"names by form":     {"folders = { 'é' = 'Notes', 'e\u0301' = 'Work' }", "differ in more than case"},
		"name with a slash": {"folders = { 'a/b' = 'Notes' }", "must have names"},
		"hidden name":       {"folders = { '.a' = 'Notes' }", "must have names"},
		"name with a dot":   {"folders = { 'a.' = 'Notes' }", "must have names"},
		"name of a note":    {"folders = { 'a.md' = 'Notes' }", "must have names"},
		"empty name":        {"folders = { '' = 'Notes' }", "must have names"},
		"a comma":           {"folders = { a = 'Notes, old' }", "must not have a comma"},
		"no path":           {"folders = { a = ' ' }", "must have a path"},
		"no table":          {"folders = ['Notes']", "must be a table of folders"},
		"no text":           {"folders = { a = 1 }", "must be a table of folders"},
		"and a path":        {"path = 'Work'\nfolders = { a = 'Notes' }", "is a second vault beside vault.path"},
		"in a database":     {"folders = { a = 'Notes' }\n[store]\npostgres = 'postgres://db/n'\nvault = 'team'", "cannot be in a database"},
		"daily":             {"daily = 'b'\nfolders = { a = 'Notes' }", "is the name of no folder"},
		"state in one":      {"folders = { a = 'Notes' }\n[log]\nlevel='info'", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := loadFolders(t, "[vault]\n"+c.toml+"\n")
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
	_, _, err := loadFolders(t, "state = 'Notes/s'\n[vault]\nfolders = { a = 'Work', b = 'Notes' }\n")
	require.ErrorContains(t, err, "lies inside the vault")
	_, _, err = loadFolders(t, "", "NOTESD_VAULT_FOLDERS=Notes")
	require.ErrorContains(t, err, "must name folders")
	_, _, err = loadFolders(t, "", "--vault=a=Work,a=Notes")
	require.ErrorContains(t, err, "names the folder a twice")
}

// All spellings of a vault's folders have the same state directory, and other folders
// have another.
func TestLoad_StateOfFolders(t *testing.T) {
	loaded, home, err := loadFolders(t, "[vault]\nfolders = { work = '~/Work', home = 'Notes' }\n")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(filepath.Join(home, "Work"), filepath.Join(home, "L")))
	again := func(vault string) string {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.String("vault", "", "")
		require.NoError(t, flags.Set("vault", vault))
		l, err := config.Load(config.Sources{Env: []string{"HOME=" + home, "USERPROFILE=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state")}, Flags: flags})
		require.NoError(t, err)
		return l.State
	}
	assert.Equal(t, loaded.State, again("home=~/Notes,work=L"))
	assert.Contains(t, filepath.Base(loaded.State), "home-work-")
	for _, other := range []string{"home=Notes", "home=Notes,job=Work", "home=Work,work=Notes", "home=Notes,work=Work,c=a=b"} {
		assert.NotEqual(t, loaded.State, again(other), other)
	}
}

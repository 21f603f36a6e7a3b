package config

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No output contains the password of a database.
func TestStore_Password(t *testing.T) {
	dir := t.TempDir()
	for _, address := range []string{"postgres://ann:hunter2@db/notes", "postgres://db/notes?user=ann&password=hunter2"} {
		loaded, err := Load(Sources{Env: []string{"HOME=" + dir, "NOTESD_VAULT=" + dir, "NOTESD_STORE_POSTGRES=" + address, "NOTESD_STATE=" + t.TempDir()}})
		require.NoError(t, err)
		assert.Equal(t, address, string(loaded.Store.Postgres))
		printed := fmt.Sprint(loaded.Settings(), loaded.Config.Store, loaded.Text("store.postgres"))
		for _, s := range loaded.Settings() {
			printed += s.TOML()
		}
		assert.Contains(t, printed, "ann")
		assert.NotContains(t, printed, "hunter2")
	}
	file := filepath.Join(dir, "n.toml")
	for _, line := range []string{`postgres = "mysql://ann:hunter2@db/notes"`, `postgres = "ann:hunter2@db"`, "postgres = 5"} {
		require.NoError(t, os.WriteFile(file, []byte("[store]\n"+line+"\n"), 0o600))
		_, err := Load(Sources{File: file, Env: []string{"HOME=" + dir}})
		require.ErrorContains(t, err, "store.postgres")
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

// A vault in a database without a folder of the user's has its own folder in the state
// directory, distinct for each vault and database.
func TestStore_OwnFolder(t *testing.T) {
	dir := t.TempDir()
	load := func(env ...string) *Config {
		cfg, err := configOf(Load(Sources{Env: append([]string{"HOME=" + dir, "XDG_STATE_HOME=" + dir}, env...)}))
		require.NoError(t, err)
		return cfg
	}
	one := load("NOTESD_STORE_POSTGRES=postgres://ann:secret@db/notes")
	assert.True(t, one.HasOwnFolder())
	assert.Equal(t, filepath.Join(one.State, "notes"), one.Vault.Path)
	assert.Equal(t, one.State, load("NOTESD_STORE_POSTGRES=postgres://ann:changed@db/notes").State)
	assert.NotEqual(t, one.State, load("NOTESD_STORE_POSTGRES=postgres://ann@db/notes", "NOTESD_STORE_VAULT=other").State)
	assert.NotEqual(t, one.State, load("NOTESD_STORE_POSTGRES=postgres://ann@db/other").State)
	launched := load("NOTESD_STORE_POSTGRES=postgres://ann@db/notes", "NOTESD_VAULT="+one.Vault.Path, "NOTESD_STATE="+one.State) // as the daemon does
	assert.True(t, launched.HasOwnFolder())
	assert.False(t, load("NOTESD_STORE_POSTGRES=postgres://ann@db/notes", "NOTESD_VAULT="+dir, "NOTESD_STATE="+t.TempDir()).HasOwnFolder())
	assert.Empty(t, load().Vault.Path)
}

// A database in a configuration file is asked for by the vault that the file names.
func TestStore_Unasked(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "notesd.toml")
	database := "[store]\npostgres = 'postgres://ann@db/notes'\n"
	for name, c := range map[string]struct {
		file    string
		env     []string
		unasked bool
	}{
		"another vault":           {"[vault]\npath = '" + filepath.Dir(dir) + "'\n" + database, []string{"NOTESD_VAULT=" + dir}, true},
		"no vault":                {database, []string{"NOTESD_VAULT=" + dir}, true},
		"the file's vault":        {"[vault]\npath = '" + dir + "'\n" + database, nil, false},
		"the file's vault passed": {"[vault]\npath = '" + dir + "'\n" + database, []string{"NOTESD_VAULT=" + dir}, false},
		"database passed":         {"", []string{"NOTESD_VAULT=" + dir, "NOTESD_STORE_POSTGRES=postgres://ann@db/notes"}, false},
		"no folder":               {database, nil, false},
		"no database":             {"", []string{"NOTESD_VAULT=" + dir}, false},
	} {
		require.NoError(t, os.WriteFile(file, []byte(c.file), 0o600))
		loaded, err := Load(Sources{File: file, Env: append(c.env, "HOME="+dir, "NOTESD_STATE="+t.TempDir())})
		require.NoError(t, err, name)
		assert.Equal(t, c.unasked, loaded.Store.Unasked, name)
	}
}

package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

var errNoHome = errors.New("neither an XDG directory nor a home directory is set")

// stateDir returns the default state directory of a vault: notesd/<folder name>-<hash
// of the real path> in the user's state directory. Every spelling of a vault's path
// gives the same directory, and vaults of the same name get different ones. A vault of
// several folders has one state directory.
func (e environment) stateDir(vault Vault) (string, error) {
	id := vault.ID()
	name := strings.Join(slices.Sorted(maps.Keys(vault.Folders)), "-")
	if vault.Path != "" {
		name = filepath.Base(id)
	}
	base, err := e.userDir(runtime.GOOS, "XDG_STATE_HOME", stateHomes)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(base, "notesd", slug(name)+"-"+hex.EncodeToString(sum[:6])), nil
}

// DefaultFile returns the path of the notesd.toml that is read in an environment if no file is
// named, or "".
func DefaultFile(environ []string) string { return newEnvironment(environ).defaultFile() }

func (e environment) defaultFile() string {
	base, err := e.userDir(runtime.GOOS, "XDG_CONFIG_HOME", configHomes)
	if err != nil {
		return ""
	}
	return filepath.Join(base, "notesd", "notesd.toml")
}

// place is a directory below the one that a variable contains.
type place struct {
	variable string
	below    string
}

// Directories of a user's configuration and state by GOOS, used if the XDG variable is
// not set. "" is the default for other systems, as in the XDG specification.
var (
	configHomes = map[string]place{
		"darwin":  {"HOME", "Library/Application Support"},
		"windows": {"APPDATA", ""},
		"":        {"HOME", ".config"},
	}
	stateHomes = map[string]place{
		"darwin":  {"HOME", "Library/Application Support"},
		"windows": {"USERPROFILE", ".local/state"}, // in AppData, Claude Desktop's package gives a daemon files of its own
		"":        {"HOME", ".local/state"},
	}
)

func (e environment) userDir(goos, xdg string, homes map[string]place) (string, error) {
	if dir := e[xdg]; filepath.IsAbs(dir) { // the XDG specification ignores relative paths
		return dir, nil
	}
	home, ok := homes[goos]
	if !ok {
		home = homes[""]
	}
	if e[home.variable] == "" {
		return "", errNoHome
	}
	return filepath.Join(e[home.variable], filepath.FromSlash(home.below)), nil
}

var errRelative = errors.New("is relative to the working directory, which does not exist")

// expand makes a path absolute. "~" is the home directory, and relative paths are
// resolved against dir. If dir is "", they remain relative.
func (l *loader) expand(path, dir string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home := l.env.home(); home != "" {
			path = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	if runtime.GOOS == "windows" {
		path = withoutPrefix(path)
	}
	return path
}

// withoutPrefix returns a Windows path without the prefix \\?\, which some programs add: a
// folder must have the same state directory with and without it.
func withoutPrefix(path string) string {
	if share, ok := strings.CutPrefix(path, `\\?\UNC\`); ok {
		return `\\` + share
	}
	if rest, ok := strings.CutPrefix(path, `\\?\`); ok && len(rest) > 2 && rest[1:3] == `:\` {
		return rest
	}
	return path
}

// home returns the user's home directory, or "".
func (e environment) home() string {
	if runtime.GOOS == "windows" {
		return e["USERPROFILE"]
	}
	return e["HOME"]
}

// slug converts a name to a short path element of ASCII letters and digits. It helps
// users to recognize a state directory; the hash makes the path unique.
func slug(name string) string {
	const most = 24 // the path of a Unix socket is limited to about 100 bytes
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(name) {
		if b.Len() >= most {
			break
		}
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(r)
		} else {
			dash = true
		}
	}
	if b.Len() == 0 {
		return "vault"
	}
	return b.String()
}

// reason returns the cause of a file system error, worded alike on every system and
// without the path, which the message already contains.
func reason(err error) string {
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.As(err, &path):
		return path.Err.Error()
	}
	return err.Error()
}

package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

var errNoHome = errors.New("neither an XDG directory nor a home directory is set")

// StateDir returns the directory that holds what notesd keeps about a vault:
// notesd/<folder name>-<hash of the real path> in the user's state directory,
// so that every way to spell the path of a vault leads to the same state and
// two vaults of one name do not share it. Nothing is created. environ is as
// os.Environ gives it.
func StateDir(vault string, environ []string) (string, error) {
	return newEnvironment(environ).stateDir(vault)
}

func (e environment) stateDir(vault string) (string, error) {
	resolved, err := filepath.Abs(RealPath(vault))
	if err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	base, err := e.userDir(runtime.GOOS, "XDG_STATE_HOME", stateHomes)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(resolved))
	return filepath.Join(base, "notesd", slug(filepath.Base(resolved))+"-"+hex.EncodeToString(sum[:6])), nil
}

// configDir returns the directory of the user's notesd.toml.
func (e environment) configDir() (string, error) {
	base, err := e.userDir(runtime.GOOS, "XDG_CONFIG_HOME", configHomes)
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "notesd"), nil
}

// place is a directory named by a variable, and what follows it.
type place struct {
	variable string
	below    string
}

// Where each system keeps a user's configuration and state, when the XDG
// variable is not set. Elsewhere than on macOS and Windows: the XDG defaults.
var (
	configHomes = map[string]place{
		"darwin":  {"HOME", "Library/Application Support"},
		"windows": {"APPDATA", ""},
		"":        {"HOME", ".config"},
	}
	stateHomes = map[string]place{
		"darwin":  {"HOME", "Library/Application Support"},
		"windows": {"LOCALAPPDATA", ""}, // not the roaming profile: an index is of this machine
		"":        {"HOME", ".local/state"},
	}
)

func (e environment) userDir(goos, xdg string, homes map[string]place) (string, error) {
	if dir := e[xdg]; filepath.IsAbs(dir) { // the specification has relative ones ignored
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

// home returns the user's home directory, or "".
func (e environment) home() string {
	if runtime.GOOS == "windows" {
		return e["USERPROFILE"]
	}
	return e["HOME"]
}

// expand makes a path absolute: "~" is the home directory, and a relative
// path is relative to dir.
func (l *loader) expand(path, dir string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home := l.env.home(); home != "" {
			path = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// plainPath refuses what no system accepts in a path.
func plainPath(path string) error {
	if strings.ContainsRune(path, 0) {
		return errors.New("must be a path without NUL characters")
	}
	return nil
}

// slug makes a short, plain part of a path from any name. It is for people
// who look into the state directory; the hash beside it tells vaults apart.
func slug(name string) string {
	const most = 24 // a Unix socket's whole path has about 100 bytes
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

// reason is an error's cause in the same words on every system, without the
// path that the message has already named.
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

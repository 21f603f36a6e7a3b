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
	"unicode"

	"golang.org/x/text/unicode/norm"
)

var errNoHome = errors.New("neither an XDG directory nor a home directory is set")

// stateDir returns the default state directory of a vault:
// notesd/<folder name>-<hash of the real path> in the user's state directory.
// Every spelling of a vault's path gives the same directory, and two vaults of
// the same name get different ones. Several folders have one for all of them.
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

// configDir returns the directory of the user's notesd.toml.
func (e environment) configDir() (string, error) {
	base, err := e.userDir(runtime.GOOS, "XDG_CONFIG_HOME", configHomes)
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "notesd"), nil
}

// place is a directory below the one that a variable names.
type place struct {
	variable string
	below    string
}

// Directories of a user's configuration and state by GOOS, for when the XDG
// variable is not set. "" stands for the other systems and has the XDG defaults.
var (
	configHomes = map[string]place{
		"darwin":  {"HOME", "Library/Application Support"},
		"windows": {"APPDATA", ""},
		"":        {"HOME", ".config"},
	}
	stateHomes = map[string]place{
		"darwin":  {"HOME", "Library/Application Support"},
		"windows": {"LOCALAPPDATA", ""}, // not the roaming profile: the index belongs to this machine
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

// home returns the user's home directory, or "".
func (e environment) home() string {
	if runtime.GOOS == "windows" {
		return e["USERPROFILE"]
	}
	return e["HOME"]
}

// expand makes a path absolute. "~" is the home directory, and a relative path
// is relative to dir.
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

// plainPath returns an error for a path that no system accepts.
func plainPath(path string) error {
	if strings.ContainsRune(path, 0) {
		return errors.New("must be a path without NUL characters")
	}
	return nil
}

// slug makes a short path element of ASCII letters and digits from a name. It
// helps users to recognize a state directory; the hash makes the name unique.
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

// reason returns the cause of a file system error without the path, which the
// message names already, and in the same words on every system.
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

// listedPath returns an existing path with each element as its directory lists
// it. On file systems that ignore case or normalization, as on most Macs, a folder
// has several spellings, which must all give the same state directory.
func listedPath(path string) string {
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(listedPath(dir), listedName(dir, filepath.Base(path), listNames))
}

// listedName returns the name under which dir lists an entry, or name if that
// cannot be determined.
func listedName(dir, name string, list func(dir string) ([]string, error)) string {
	info, err := os.Lstat(filepath.Join(dir, name))
	if err != nil || !answersTo(dir, info, otherSpellings(name)) {
		return name
	}
	names, err := list(dir)
	if err != nil || slices.Contains(names, name) {
		return name
	}
	for _, listed := range names {
		if strings.EqualFold(norm.NFC.String(listed), norm.NFC.String(name)) && answersTo(dir, info, []string{listed}) {
			return listed
		}
	}
	return name
}

func listNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// answersTo reports whether one of the names in dir refers to the entry.
func answersTo(dir string, entry os.FileInfo, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		info, err := os.Lstat(filepath.Join(dir, name))
		return err == nil && os.SameFile(info, entry)
	})
}

// otherSpellings returns variants of name that refer to the same entry only on a
// file system that ignores case or normalization.
func otherSpellings(name string) []string {
	flipped := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
	return slices.DeleteFunc([]string{flipped, norm.NFC.String(name), norm.NFD.String(name)}, func(other string) bool { return other == name })
}

// RealPath resolves symbolic links in the existing part of an absolute path.
func RealPath(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return listedPath(resolved)
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(RealPath(parent), filepath.Base(path))
}

// within reports whether path is root or below it.
func within(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

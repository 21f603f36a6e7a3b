package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"notesd/internal/fsid"
	"notesd/notes"
)

// Folders are the folders of one vault: absolute paths by name. In variables and flags
// they have the form "NAME=DIR,NAME=DIR".
type Folders map[string]string

// String returns the folders in the form used in variables and flags.
func (f Folders) String() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		all = append(all, name+"="+f[name])
	}
	return strings.Join(all, ",")
}

// IsSet reports whether a vault is configured.
func (v Vault) IsSet() bool { return v.Path != "" || len(v.Folders) > 0 }

// Dirs returns the folders of the vault by name. The only folder of a vault with a path
// is named "".
func (v Vault) Dirs() map[string]string {
	if v.Path != "" {
		return map[string]string{"": v.Path}
	}
	return v.Folders
}

// String returns the vault in the form that --vault accepts.
func (v Vault) String() string {
	if v.Path != "" {
		return v.Path
	}
	return v.Folders.String()
}

// ParseVault parses the result of [Vault.String].
func ParseVault(s string) Vault {
	if f, err := parseFolders(s); err == nil {
		return Vault{Folders: f}
	}
	return Vault{Path: s}
}

// ID identifies the vault by the real paths of its folders, in the form of String.
func (v Vault) ID() string {
	real := Vault{Folders: Folders{}}
	for name, dir := range v.Dirs() {
		if dir = fsid.RealPath(dir); name == "" {
			real.Path = dir
		}
		real.Folders[name] = dir
	}
	return real.String()
}

// Title returns the name of the vault's folder, or the names of its folders.
func (v Vault) Title() string {
	if v.Path != "" {
		return filepath.Base(v.Path)
	}
	return strings.Join(slices.Sorted(maps.Keys(v.Folders)), ", ")
}

// Place returns the folder that contains the note at a path in the vault, and the path
// within that folder.
func (v Vault) Place(notePath string) (dir, in string) {
	if v.Path != "" {
		return v.Path, notePath
	}
	name, in, _ := strings.Cut(notePath, "/")
	return v.Folders[name], in
}

// namesFolders matches text that starts with a name and "=". No absolute path does.
var namesFolders = regexp.MustCompile(`^[^/\\=,:~.][^/\\=,:]*=`)

// isFolders reports whether the value of vault.path lists several folders. An existing
// folder with that path takes precedence.
func (l *loader) isFolders(value, dir string) bool {
	if !namesFolders.MatchString(value) {
		return false
	}
	_, err := os.Stat(l.expand(value, dir))
	return err != nil
}

// parseFolders parses "NAME=DIR,NAME=DIR". Paths cannot contain commas.
func parseFolders(s string) (Folders, error) {
	f := Folders{}
	for item := range strings.SplitSeq(s, ",") {
		if !namesFolders.MatchString(strings.TrimSpace(item)) {
			return nil, errors.New(`must name folders, such as "work=~/Work,home=~/Notes"`)
		}
		name, dir, _ := strings.Cut(item, "=")
		name = strings.TrimSpace(name)
		if _, twice := f[name]; twice {
			return nil, fmt.Errorf("names the folder %s twice", name)
		}
		f[name] = dir
	}
	return f, nil
}

// folderName matches a name that is valid on every system and in every kind of link.
var folderName = regexp.MustCompile(`^[\pL\pN_][\pL\pM\pN _.&'()+-]*$`)

// nameWanted describes valid names.
const nameWanted = `names of letters, digits, spaces and . _ - & ' ( ) +, that differ in more than case, such as "work"`

// resolved returns the folders with absolute paths and names in NFC.
func (f Folders) resolved(expand func(string) string) (Folders, error) {
	all, keys := Folders{}, map[string]bool{}
	for name, dir := range f {
		name = notes.Nfc(name)
		key := notes.Key(name)
		if !folderName.MatchString(name) || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") || !filepath.IsLocal(name) || notes.IsNoteName(name) || len(name) > 100 || keys[key] {
			return nil, fmt.Errorf("must have %s, unlike %q", nameWanted, name)
		}
		if strings.TrimSpace(dir) == "" {
			return nil, fmt.Errorf("must have a path for %q", name)
		}
		if all[name] = expand(strings.TrimSpace(dir)); !filepath.IsAbs(all[name]) {
			return nil, errRelative
		}
		if strings.Contains(all[name], ",") { // commas separate the folders of a list
			return nil, fmt.Errorf("must not have a comma in the path of %q", name)
		}
		keys[key] = true
	}
	return all, nil
}

// checkFolders reports folders that are missing, unless the vault is known, or nested in
// one another.
func (l *loader) checkFolders(v Vault, known bool) {
	key := "vault.folders"
	if v.Path != "" {
		key = "vault.path"
	}
	dirs := v.Dirs()
	names := slices.Sorted(maps.Keys(dirs))
	for i, name := range names {
		info, err := fsid.Info(dirs[name])
		switch {
		case err != nil && !known:
			l.blame(key, dirs[name], "cannot be opened: "+reason(err), "name an existing folder of notes")
		case err == nil && !info.IsDir():
			l.blame(key, dirs[name], "is not a folder", "name the folder that holds the notes")
		}
		for _, other := range names[:i] {
			_, in := fsid.Below(dirs[other], dirs[name])
			_, holds := fsid.Below(dirs[name], dirs[other])
			if in || holds {
				l.blame(key, dirs[name], fmt.Sprintf("is the folder %q, or one of them is in the other", dirs[other]), "name folders beside one another")
			}
		}
	}
	if _, ok := v.Folders[v.Daily]; len(v.Folders) > 0 && v.Daily != "" && !ok {
		l.blame("vault.daily", v.Daily, "is the name of no folder", "vault.folders names "+strings.Join(names, ", "))
	}
}

package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// spelled returns an existing path as the disk lists it. Where names are
// compared without regard to case or normalization, as on most Macs, a folder
// answers to several, and all must lead to one state.
func spelled(path string) string {
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(spelled(dir), spelledIn(dir, filepath.Base(path), listNames))
}

// spelledIn returns the listed name of an entry of dir, or name if that cannot
// be found out.
func spelledIn(dir, name string, list func(dir string) ([]string, error)) string {
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

// answersTo reports whether an entry of dir can be reached by one of the names.
func answersTo(dir string, entry os.FileInfo, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		info, err := os.Lstat(filepath.Join(dir, name))
		return err == nil && os.SameFile(info, entry)
	})
}

// otherSpellings are names that mean the same as name on a disk that compares
// them loosely, and on no other.
func otherSpellings(name string) []string {
	flipped := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
	return slices.DeleteFunc([]string{flipped, norm.NFC.String(name), norm.NFD.String(name)}, func(other string) bool { return other == name })
}

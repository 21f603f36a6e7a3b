package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

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

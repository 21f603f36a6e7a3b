package fsid

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// RealPath returns an absolute path with symbolic links resolved and each element spelled
// as its directory lists it, as far as the path exists and its disk answers.
func RealPath(path string) string {
	real, err := InTime(path, Patience, func() (string, error) {
		resolved, err := filepath.EvalSymlinks(path)
		if err == nil {
			resolved = listedPath(resolved)
		}
		return resolved, err
	})
	switch {
	case err == nil:
		return real
	case errors.Is(err, ErrNoAnswer):
		return readLinks(path)
	case errors.Is(err, fs.ErrNotExist):
		path = readLinks(path) // to a disk that is not mounted
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(RealPath(parent), filepath.Base(path))
}

// readLinks resolves the symbolic links of a path up to the disk that does not answer or is
// not mounted, so that a link to that disk leads to the same path as when it answers.
func readLinks(path string) string {
	const most = 40
	for range most {
		next, ok := readLink(path)
		if !ok {
			break
		}
		path = next
	}
	return path
}

// readLink replaces the first symbolic link in a path by its target, unless a disk before it
// does not answer.
func readLink(path string) (string, bool) {
	for end := 1; end <= len(path); end++ {
		if end < len(path) && !os.IsPathSeparator(path[end]) {
			continue
		}
		target, err := InTime("link "+path[:end], time.Second, func() (string, error) {
			// EvalSymlinks does not follow a junction or a mount point on Windows, which Readlink reads.
			if info, err := os.Lstat(path[:end]); err != nil || info.Mode()&fs.ModeSymlink == 0 {
				return "", errors.Join(err, fs.ErrInvalid)
			}
			return os.Readlink(path[:end])
		})
		switch {
		case errors.Is(err, ErrNoAnswer):
			return path, false
		case err != nil:
			continue // not a link
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path[:end]), target)
		}
		return filepath.Join(target, path[end:]), true
	}
	return path, false
}

// Below reports whether path is folder or something below it, and returns the path
// relative to folder, spelled as the disk lists it; "." for folder itself. Both paths
// must be absolute but need not exist.
func Below(folder, path string) (rest string, ok bool) {
	folder, path = RealPath(folder), RealPath(path)
	for at := path; ; at = filepath.Dir(at) {
		if SameFolder(at, folder) {
			rest, err := filepath.Rel(at, path)
			return rest, err == nil
		}
		if filepath.Dir(at) == at {
			return "", false
		}
	}
}

// SameFolder reports whether two paths lead to the same folder. It compares the paths first,
// because the folder may be unmounted, and the identities, because it may be mounted twice.
func SameFolder(a, b string) bool {
	if a == b {
		return true
	}
	infoA, err := Info(a)
	if err != nil {
		return false
	}
	infoB, err := Info(b)
	return err == nil && os.SameFile(infoA, infoB)
}

// listedPath returns an existing path with each element spelled as its directory lists
// it. On file systems that ignore case or normalization, as on most Macs, a folder has
// several spellings, which must all map to the same state directory.
func listedPath(path string) string {
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(listedPath(dir), listedName(dir, filepath.Base(path), listNames))
}

// listedName returns the name under which dir lists an entry, or name if that cannot be
// determined.
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
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }() // only read from
	return folder.Readdirnames(-1)
}

// answersTo reports whether one of the names in dir refers to the entry.
func answersTo(dir string, entry os.FileInfo, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		info, err := os.Lstat(filepath.Join(dir, name))
		return err == nil && os.SameFile(info, entry)
	})
}

// Folds reports whether another spelling of name also refers to a file, as on a disk that
// ignores case. Otherwise a file with this name is spelled so.
func Folds(root *os.Root, name string) bool {
	dir, base := filepath.Split(name)
	return slices.ContainsFunc(otherSpellings(base), func(other string) bool {
		_, err := root.Lstat(dir + other)
		return err == nil
	})
}

// otherSpellings returns variants of name that refer to the same entry only on a file
// system that ignores case or normalization.
func otherSpellings(name string) []string {
	flip := func(last rune) string {
		return strings.Map(func(r rune) rune {
			switch {
			case r > last:
				return r
			case unicode.IsUpper(r):
				return unicode.ToLower(r)
			}
			return unicode.ToUpper(r)
		}, name)
	}
	flipped := flip(unicode.MaxASCII) // file systems differ in the case of other letters, such as ı and µ
	if flipped == name {
		flipped = flip(unicode.MaxRune)
	}
	return slices.DeleteFunc([]string{flipped, norm.NFC.String(name), norm.NFD.String(name)}, func(other string) bool { return other == name })
}

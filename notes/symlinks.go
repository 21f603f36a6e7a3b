package notes

import (
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// symlinks are the notes, and what could be notes, that lead to other files of
// the vault. What happens to such a file is reported under its own name only,
// so they are looked at whenever anything is.
type symlinks struct {
	mu    sync.Mutex
	paths map[string]bool // as the file system spells them
}

// maxSymlinksLooked bounds what they may cost each time; in a vault with more
// of them they wait for a look at everything.
const maxSymlinksLooked = 1000

// found remembers the symlinks that a look found, and when that was a look at
// the whole vault no others.
func (s *symlinks) found(paths []string, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if whole || s.paths == nil {
		s.paths = map[string]bool{}
	}
	for _, p := range paths {
		s.paths[p] = true
	}
}

// with returns places and the symlinks that are not among them.
func (s *symlinks) with(places []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.paths) == 0 || len(s.paths) > maxSymlinksLooked {
		return places
	}
	out := slices.Clone(places)
	given := map[string]bool{}
	for _, p := range places {
		given[p] = true
	}
	for p := range s.paths {
		if !given[p] {
			out = append(out, p)
		}
	}
	return out
}

// realPath returns the file inside the vault that diskPath leads to, through
// any symlinks. It reports false when there is none.
func realPath(root *os.Root, diskPath string) (string, bool) {
	rest := strings.Split(diskPath, "/")
	at, followed := "", 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if at == "" {
				return "", false
			}
			if at = path.Dir(at); at == "." {
				at = ""
			}
			continue
		}
		next := path.Join(at, name)
		info, err := root.Lstat(next)
		if err != nil {
			return "", false
		}
		if info.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := root.Readlink(next)
		if followed++; err != nil || path.IsAbs(target) || followed > maxSymlinks {
			return "", false
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at, true
}

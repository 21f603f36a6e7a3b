package mcp

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"

	"notesd/notes"
)

// filePath returns the path that a file URI names on the operating system goos:
//
//	file:///home/ann/My%20notes     /home/ann/My notes
//	file:///c%3A/notes              c:\notes
//	file://server/share/notes       \\server\share\notes
//
// The last two are for Windows. A URI of another scheme or machine names none.
func filePath(uri, goos string) (path string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !strings.HasPrefix(u.Path, "/") || strings.ContainsRune(u.Path, 0) {
		return "", false
	}
	local := u.Host == "" || strings.EqualFold(u.Host, "localhost")
	if goos != "windows" {
		return filepath.Clean(u.Path), local
	}
	path = strings.ReplaceAll(u.Path, "/", `\`)
	if !local {
		return `\\` + u.Host + path, true
	}
	path = path[1:]
	if len(path) < 2 || path[1] != ':' {
		return "", false // no drive
	}
	if len(path) == 2 {
		path += `\` // C: alone is the drive's current folder
	}
	return path, true
}

// A place is where a folder lies in relation to the vault.
type place int

const (
	outside place = iota
	inside        // it is a folder of the vault
	around        // it is the vault, or holds it
)

// locate returns where dir lies, and which folder of the vault it is when it is
// inside. Paths are compared by what they lead to, so neither symbolic links
// nor the letter case or Unicode form in which they are written matter where
// the disk does not mind.
func locate(vault, dir string) (folder string, p place) {
	vault, dir = realPath(vault), realPath(dir)
	if _, ok := below(dir, vault); ok {
		return "", around
	}
	if rest, ok := below(vault, dir); ok {
		return norm.NFC.String(filepath.ToSlash(rest)), inside
	}
	return "", outside
}

// realPath resolves symbolic links, in as much of the path as exists.
func realPath(path string) string {
	rest := ""
	for at := filepath.Clean(path); ; {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(found, rest)
		}
		parent := filepath.Dir(at)
		if parent == at {
			return filepath.Clean(path)
		}
		rest = filepath.Join(filepath.Base(at), rest)
		at = parent
	}
}

// below returns the way from a folder down to path, when path is the folder or
// within it.
func below(folder, path string) (rest string, ok bool) {
	for at := path; ; {
		if samePath(at, folder) {
			return rest, true
		}
		parent := filepath.Dir(at)
		if parent == at {
			return "", false
		}
		rest = filepath.Join(filepath.Base(at), rest)
		at = parent
	}
}

func samePath(a, b string) bool {
	if a == b {
		return true
	}
	infoA, err := os.Stat(a)
	if err != nil {
		return false
	}
	infoB, err := os.Stat(b)
	return err == nil && os.SameFile(infoA, infoB)
}

// spelled returns the folder as the vault spells it, which on a disk that does
// not mind letter case may differ from how the client does.
func spelled(vault, folder string, known []notes.FolderCount) string {
	for _, k := range known {
		if k.Folder == folder {
			return folder
		}
	}
	for _, k := range known {
		if strings.EqualFold(k.Folder, folder) && samePath(filepath.Join(vault, filepath.FromSlash(k.Folder)), filepath.Join(vault, filepath.FromSlash(folder))) {
			return k.Folder
		}
	}
	return folder
}

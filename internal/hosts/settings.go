package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"notesd/internal/atomicfile"
	"notesd/internal/fsid"
)

// ErrReadOnly means that the owner of a settings file has made it read-only.
var ErrReadOnly = errors.New("the file is read-only")

// ErrChanged means that another program, such as the host, has written a settings file since
// it was read.
var ErrChanged = errors.New("another program has just changed the file")

// A SyntaxError means that a settings file does not parse, or uses a form that cannot be
// edited. Its text includes the file and, if the parser reports it, the line.
type SyntaxError struct {
	File string
	Err  error
}

func (e *SyntaxError) Error() string { return e.File + ": " + e.Err.Error() }

// Settings are a host's settings as of Read.
type Settings struct {
	File    string
	Text    []byte            // empty if there is no file
	Servers map[string]Server // by name, those of other programs included; one with a URL has no command

	host Host
}

// Read reads the host's settings. A missing file counts as empty; one that does not parse
// is a *SyntaxError.
func (h Host) Read(e Env) (*Settings, error) {
	s := &Settings{File: h.File(e), host: h}
	if s.File == "" {
		return nil, fmt.Errorf("this user has no home directory, so %s has no settings", h.Title)
	}
	var err error
	if s.Text, err = os.ReadFile(s.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	read := readJSON
	if h.toml {
		read = readTOML
	}
	if s.Servers, err = read(bytes.TrimPrefix(s.Text, bom), h.servers); err != nil {
		return nil, &SyntaxError{s.File, err}
	}
	return s, nil
}

// Set returns the text with the server under a name. Other members of an existing entry
// are preserved. The text is unchanged if the entry already has these values.
func (s *Settings) Set(name string, server Server) ([]byte, error) {
	return s.edit(func(text []byte) ([]byte, error) {
		if s.host.toml {
			return setTOML(text, s.host.servers, name, server)
		}
		return setJSON(text, s.host.servers, name, server, s.host.stdio)
	})
}

// Remove returns the text without the entry with a name, which must exist.
func (s *Settings) Remove(name string) ([]byte, error) {
	return s.edit(func(text []byte) ([]byte, error) {
		if s.host.toml {
			return removeTOML(text, s.host.servers, name)
		}
		return removeJSON(text, s.host.servers, name)
	})
}

// bom is the byte order mark that some Windows editors write.
var bom = []byte("\ufeff")

// edit applies change to the text with line feeds, preserving the file's byte order mark
// and line ends.
func (s *Settings) edit(change func(text []byte) ([]byte, error)) ([]byte, error) {
	old, marked := bytes.CutPrefix(s.Text, bom)
	lf, crlf := []byte("\n"), []byte("\r\n")
	lines := bytes.Count(old, crlf)
	windows := lines > 0 && lines == bytes.Count(old, lf)
	if windows {
		old = bytes.ReplaceAll(old, crlf, lf)
	}
	text, err := change(old)
	if err != nil {
		return nil, &SyntaxError{s.File, err}
	}
	if windows {
		text = bytes.ReplaceAll(text, lf, crlf)
	}
	if marked {
		text = append(slices.Clone(bom), text...)
	}
	return text, nil
}

// Write replaces the file atomically and returns the path of the backup, or "" if there
// was no file. It writes through a symbolic link, even to a missing file. For a read-only
// file it returns ErrReadOnly, and for one that has changed since it was read ErrChanged.
func (s *Settings) Write(text []byte, now time.Time) (backup string, err error) {
	name := fsid.RealPath(s.File)
	if info, err := os.Stat(name); err == nil {
		if info.Mode()&0o200 == 0 {
			return "", fmt.Errorf("%s: %w", name, ErrReadOnly)
		}
	} else if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", fmt.Errorf("write the settings: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(name), ".notesd-*")
	if err != nil {
		return "", fmt.Errorf("write the settings: %w", err)
	}
	_, err = temp.Write(text)
	err = errors.Join(err, keepAttributes(temp, name), temp.Sync(), temp.Close())
	if err == nil {
		backup, err = s.backUp(name, now)
	}
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		return backup, fmt.Errorf("write the settings: %w", errors.Join(err, os.Remove(temp.Name())))
	}
	return backup, nil
}

// backUp writes a backup with an unused name, if there is a file, which must have the text that
// was read.
func (s *Settings) backUp(name string, now time.Time) (string, error) {
	text, err := os.ReadFile(name)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case err != nil && !missing:
		return "", err
	case !bytes.Equal(text, s.Text):
		return "", ErrChanged
	case missing:
		return "", nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".before-notesd-"+now.Format("20060102-150405")+"-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	return f.Name(), errors.Join(err, keepAttributes(f, name), f.Close())
}

// keepAttributes gives f the mode and, where permitted, the owner of the file with a name, if
// there is one: root may change a user's settings.
func keepAttributes(f *os.File, name string) error {
	like, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = like.Close() }() // only read from
	return atomicfile.CopyAttributes(f, like)
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// registerAll registers a server with one host after the other. One that fails
// keeps none of the others from theirs, and is among the registrations, too.
func registerAll(chosen []host, e hostEnv, name string, s server, print bool) ([]registration, error) {
	var done []registration
	var failures []*failure
	for _, h := range chosen {
		r, err := h.register(e, name, s, print)
		if err != nil {
			f := failureOf(err)
			r.Action, r.Error = failed, f.Message
			failures = append(failures, f)
		}
		done = append(done, r)
	}
	return done, oneFailure(failures)
}

// oneFailure is the first of several with what all of them say.
func oneFailure(all []*failure) error {
	if len(all) == 0 {
		return nil
	}
	one := *all[0]
	for _, f := range all[1:] {
		one.Message += "\n" + f.Message
	}
	return &one
}

// register puts the server into the host's settings.
func (h host) register(e hostEnv, name string, s server, print bool) (registration, error) {
	r := registration{Host: h.name, File: h.file(e), title: h.title}
	if r.File == "" {
		return r, &failure{Code: "failed", Message: "this user has no home directory, so " + h.title + " has no settings"}
	}
	text, err := os.ReadFile(r.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("read the settings of %s: %w", h.title, err)
	}
	with, had, err := h.set(text, name, h.entry(s))
	if kept := keptArgs(had); err == nil && len(kept) > 0 {
		s.Args = append(slices.Clone(s.Args), kept...)
		with, had, err = h.set(text, name, h.entry(s))
	}
	if err != nil {
		return r, &failure{
			Code:    "invalid",
			Message: fmt.Sprintf("the settings of %s in %s cannot be changed: %v", h.title, r.File, err),
			Hint:    "Nothing in the file was changed. Mend it, and run notesd setup again.",
		}
	}
	switch {
	case had == nil:
		r.Action = registered
	case bytes.Equal(with, text):
		r.Action = unchanged
	case !strings.Contains(string(had), "notesd"):
		return r, &failure{Code: "conflict", Message: fmt.Sprintf("%s has another server called %q in %s", h.title, name, r.File), Hint: "Choose another name with --name."}
	default:
		r.Action = updated
	}
	if print {
		r.Text = string(with)
		return r, nil
	}
	if r.Action == unchanged {
		return r, nil
	}
	r.Backup, err = replaceSettings(r.File, text, with, time.Now())
	return r, err
}

var (
	argsArray  = regexp.MustCompile(`"?\bargs"?[ \t]*[:=][ \t]*(\[(?:[\s,]|#[^\n]*|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')*\])`)
	argsString = regexp.MustCompile(`#[^\n]*|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'`)
)

// keptArgs are the arguments of an entry that its owner has added: a server that
// was to be read-only stays so.
func keptArgs(had []byte) []string {
	m := argsArray.FindSubmatch(had)
	if m == nil {
		return nil
	}
	var kept []string
	setsValue := false
	for _, quoted := range argsString.FindAllString(string(m[1]), -1) {
		arg := strings.Trim(quoted, "'")
		if unquoted, err := strconv.Unquote(quoted); err == nil {
			arg = unquoted
		}
		option, _, joined := strings.Cut(arg, "=")
		switch {
		case quoted[0] == '#':
		case setsValue:
			setsValue = false
		case slices.Contains([]string{"--vault", "--state", "--config"}, option): // setup's own
			setsValue = !joined
		case arg != "mcp":
			kept = append(kept, arg)
		}
	}
	return kept
}

// set returns the settings with the server, with the line ends that they had.
func (h host) set(text []byte, name string, s server) (with, had []byte, err error) {
	set := setJSONServer
	if h.toml {
		set = setTOMLServer
	}
	with, had, err = set(text, h.servers, name, s)
	if lines := bytes.Count(text, []byte("\n")); lines > 0 && lines == bytes.Count(text, []byte("\r\n")) {
		with = bytes.ReplaceAll(bytes.ReplaceAll(with, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	}
	return with, had, err
}

// replaceSettings writes a program's settings, which it may have open, as a whole
// or not at all, and keeps what was there. A symbolic link stays one. Settings
// that their owner has made read-only are left alone.
func replaceSettings(name string, old, text []byte, now time.Time) (backup string, err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
		if mode&0o200 == 0 {
			return "", &failure{
				Code:    "permission",
				Message: name + " is read-only",
				Hint:    "Allow writing to it, or take the settings from notesd setup --print.",
			}
		}
		backup = name + ".before-notesd-" + now.Format("20060102-150405")
		if err := os.WriteFile(backup, old, mode); err != nil {
			return "", fmt.Errorf("back the settings up: %w", err)
		}
	} else if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", fmt.Errorf("write the settings: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(name), ".notesd-*")
	if err != nil {
		return backup, fmt.Errorf("write the settings: %w", err)
	}
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		return backup, errors.Join(fmt.Errorf("write the settings: %w", err), removeIfThere(temp.Name()))
	}
	return backup, nil
}

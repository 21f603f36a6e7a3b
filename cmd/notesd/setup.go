package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"notesd/internal/config"
)

// registration is what setup has done for one host, or would do.
type registration struct {
	Host   string `json:"host"`
	File   string `json:"file"`
	Action string `json:"action"` // registered, updated, unchanged; with --print: what would be done
	Backup string `json:"backup,omitempty"`
	Text   string `json:"text,omitempty"` // of the file, with --print

	title string
}

// The actions of a registration.
const (
	registered = "registered"
	updated    = "updated"
	unchanged  = "unchanged"
)

func setupCommand(a *app) *cobra.Command {
	var name string
	var print bool
	cmd := &cobra.Command{
		Use:   "setup [flags] [HOST…]",
		Short: "Register with the programs that use MCP",
		Long: `Register notesd, for one vault, with the programs that use MCP: claude-desktop,
claude-code, cursor, vscode, codex; without a name, with those that are installed.
Their settings are backed up first, and nothing else in them is changed.`,
		Example: `  notesd setup --vault ~/Notes claude-desktop
  notesd setup --vault ~/Notes --print vscode`,
		RunE: func(cmd *cobra.Command, names []string) error {
			cfg, err := a.settings(cmd)
			if err != nil {
				return err
			}
			chosen, err := chooseHosts(a.hostEnv(), names)
			if err != nil {
				return err
			}
			s, err := a.server(cfg)
			if err != nil {
				return err
			}
			var done []registration
			for _, h := range chosen {
				r, err := h.register(a.hostEnv(), name, s, print)
				if err != nil {
					return err
				}
				done = append(done, r)
			}
			if a.json {
				return a.out.json(map[string]any{"hosts": done})
			}
			a.printRegistrations(done, print)
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "name", "notes", "what the host calls it; a `name` for each vault")
	cmd.Flags().BoolVar(&print, "print", false, "print the settings as they would be, and change nothing")
	a.jsonFlag(cmd)
	return cmd
}

// chooseHosts returns the named hosts, or the installed ones.
func chooseHosts(e hostEnv, names []string) ([]host, error) {
	var chosen []host
	for _, name := range names {
		i := slices.IndexFunc(hosts, func(h host) bool { return h.name == name })
		if i < 0 {
			return nil, usagef("There are "+hostNamesText()+".", "there is no host %q", name)
		}
		chosen = append(chosen, hosts[i])
	}
	if len(names) > 0 {
		return chosen, nil
	}
	for _, h := range hosts {
		if h.installed(e) {
			chosen = append(chosen, h)
		}
	}
	if len(chosen) == 0 {
		return nil, &failure{Code: "not_found", Message: "none of the programs that use MCP was found here", Hint: "Name one of " + hostNamesText() + "."}
	}
	return chosen, nil
}

func hostNamesText() string {
	var names []string
	for _, h := range hosts {
		names = append(names, h.name)
	}
	return strings.Join(names, ", ")
}

// server is how hosts launch this program for the configured vault.
func (a *app) server(cfg *config.Config) (server, error) {
	exe, err := os.Executable()
	if err != nil {
		return server{}, fmt.Errorf("find this program: %w", err)
	}
	s := server{Command: exe, Args: []string{"mcp", "--vault", cfg.Vault.Path}}
	if a.stateFlag != "" {
		s.Args = append(s.Args, "--state", cfg.State)
	}
	if a.configFile != "" {
		file, err := filepath.Abs(a.configFile)
		if err != nil {
			return server{}, err
		}
		s.Args = append(s.Args, "--config", file)
	}
	return s, nil
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
	if err != nil {
		return r, &failure{Code: "invalid", Message: fmt.Sprintf("the settings of %s in %s cannot be changed: %v", h.title, r.File, err), Hint: "Put it in by hand; --print shows what is missing."}
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

func (h host) set(text []byte, name string, s server) (with, had []byte, err error) {
	if h.toml {
		return setTOMLServer(text, h.servers, name, s)
	}
	return setJSONServer(text, h.servers, name, s)
}

// replaceSettings writes a program's settings, which it may have open, as a whole
// or not at all, and keeps what was there. A symbolic link stays one.
func replaceSettings(name string, old, text []byte, now time.Time) (backup string, err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
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

func (a *app) printRegistrations(done []registration, print bool) {
	for i, r := range done {
		if print {
			if i > 0 {
				fmt.Fprintln(a.out)
			}
			a.note(fmt.Sprintf("%s, %s:", r.title, r.File))
			fmt.Fprint(a.out, a.out.plain(r.Text))
			continue
		}
		fmt.Fprintf(a.out, "%s: %s in %s\n", a.out.bold(r.title), r.Action, a.out.path(a.out.line(r.File)))
		if r.Backup != "" {
			a.note("what was there is kept as " + r.Backup)
		}
	}
	if !print {
		a.note("Restart what is running. Each has a server for this vault now.")
	}
}

// launched is how a host launches the server called name, if it has one that is
// notesd.
func (h host) launched(e hostEnv) map[string]server {
	text, err := os.ReadFile(h.file(e))
	if err != nil {
		return nil
	}
	if h.toml {
		return tomlServers(text, h.servers)
	}
	doc, _ := decodeJSONC(text).(map[string]any)
	all, _ := doc[h.servers].(map[string]any)
	found := map[string]server{}
	for name, v := range all {
		var s server
		if data, err := json.Marshal(v); err == nil && json.Unmarshal(data, &s) == nil && isNotesd(s.Command) {
			found[name] = s
		}
	}
	return found
}

func isNotesd(command string) bool {
	return strings.TrimSuffix(filepath.Base(filepath.FromSlash(command)), ".exe") == "notesd"
}

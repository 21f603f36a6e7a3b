package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"notesd/internal/config"
)

// registration is what setup has done for one host, or would do.
type registration struct {
	Host   string `json:"host"`
	File   string `json:"file"`
	Action string `json:"action"` // registered, updated, unchanged, failed; with --print: what would be done
	Error  string `json:"error,omitempty"`
	Backup string `json:"backup,omitempty"`
	Text   string `json:"text,omitempty"` // of the file, with --print

	title string
}

// The actions of a registration.
const (
	registered = "registered"
	updated    = "updated"
	unchanged  = "unchanged"
	failed     = "failed"
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
			done, failure := registerAll(chosen, a.hostEnv(), name, s, print)
			if !a.json {
				a.printRegistrations(done, print)
				return failure
			}
			return errors.Join(a.out.json(map[string]any{"hosts": done}), failure)
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

// isTemporary reports whether a program lies where "go run" builds them.
func isTemporary(exe string) bool {
	return strings.Contains(filepath.ToSlash(exe), "/go-build")
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
	if isTemporary(exe) {
		return server{}, &failure{
			Code:    "failed",
			Message: "this notesd is of go run, and is gone afterwards",
			Hint:    "Build one that stays: go build -o notesd ./cmd/notesd. Then run its setup.",
		}
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

func (a *app) printRegistrations(done []registration, print bool) {
	done = slices.DeleteFunc(done, func(r registration) bool { return r.Action == failed })
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
	if !print && len(done) > 0 {
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

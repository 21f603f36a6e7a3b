package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"notesd/internal/config"
	"notesd/internal/hosts"
	"notesd/internal/service"
)

// registration is the result of setup for one host.
type registration struct {
	Host   string `json:"host"`
	File   string `json:"file"`
	Name   string `json:"name,omitempty"` // of the entry
	Action string `json:"action"`         // with --print: what would be done
	Note   string `json:"note,omitempty"` // why the name is not the usual one
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
	removed    = "removed"
	absent     = "absent" // there was nothing to remove
	failed     = "failed"
)

// usualName is the default name of an entry, unless another server uses it.
const usualName = "notes"

// setup is one run of the command.
type setup struct {
	app    *app
	name   string // as requested; "" to choose one
	vault  string
	server hosts.Server
	own    []string // flags that setup sets; all others are left to the user
	print  bool
	remove bool
}

func setupCommand(a *app) *cobra.Command {
	s := &setup{app: a}
	var readOnly bool
	cmd := &cobra.Command{
		Use:   "setup [flags] [HOST…]",
		Short: "Register notesd with AI assistants",
		Long: `Register notesd for a vault with AI assistants: claude-desktop, claude-code,
cursor, vscode, codex, gemini; without a name, with all that are installed.
Their settings are backed up first, and nothing else is changed. A second vault
gets its own entry.`,
		Example: `  notesd setup --vault ~/Notes claude-desktop
  notesd setup --vault ~/Work --name work --read-only --print vscode`,
		ValidArgsFunction: completeWords(setupNames()...),
		RunE: func(cmd *cobra.Command, names []string) error {
			chosen, err := chooseHosts(hostEnv(a.env), names)
			if err != nil {
				return err
			}
			if err := s.prepare(cmd, readOnly); err != nil {
				return err
			}
			done, failure := s.all(chosen)
			return errors.Join(a.result(map[string]any{"hosts": done}, func() { s.report(done) }), failure)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.name, "name", "", "the `name` of the entry (notes; for another vault notes-FOLDER)")
	flags.BoolVar(&readOnly, "read-only", false, "let it offer only tools that read")
	flags.String("tools", "", "let it offer only these tools; a `list` as for notesd mcp")
	completes(cmd, "tools", completeTools)
	flags.BoolVar(&s.remove, "remove", false, "remove the entry for this vault, or the one named by --name")
	flags.BoolVar(&s.print, "print", false, "print the resulting settings without changing anything")
	return cmd
}

// prepare sets the vault and the command line for hosts.
func (s *setup) prepare(cmd *cobra.Command, readOnly bool) error {
	if s.remove && s.name != "" {
		return nil // the name suffices; the vault may no longer exist
	}
	cfg, err := s.app.settings(cmd)
	if dir, _ := cmd.Flags().GetString("vault"); err != nil && s.remove && dir != "" { // the vault may no longer exist
		if abs, absErr := filepath.Abs(dir); absErr == nil && !isVault(abs) {
			s.vault = abs
			return nil
		}
	}
	if err != nil {
		return err
	}
	s.vault = cfg.Vault.String()
	if s.remove {
		return nil
	}
	s.server, err = s.app.server(cfg)
	if err != nil {
		return err
	}
	s.own = []string{"--vault", "--state", "--config"}
	add := func(flag string, value ...string) {
		if cmd.Flags().Changed(strings.TrimPrefix(flag, "--")) {
			s.own = append(s.own, flag)
			s.server.Args = append(append(s.server.Args, flag), value...)
		}
	}
	if readOnly {
		add("--read-only")
	} else if cmd.Flags().Changed("read-only") {
		s.own = append(s.own, "--read-only") // --read-only=false removes the flag
	}
	add("--tools", strings.Join(cfg.Vault.Tools, ","))
	add("--log-level", cfg.Log.Level)
	add("--log-file", cfg.Log.File)
	return nil
}

// server returns the command line for hosts to launch, for the configured vault.
func (a *app) server(cfg *config.Config) (hosts.Server, error) {
	exe, err := program()
	if err != nil {
		return hosts.Server{}, fmt.Errorf("find this program: %w", err)
	}
	if isTemporary(exe) {
		return hosts.Server{}, &service.Failure{
			Code:    "failed",
			Message: `this notesd was built by "go run" and will be deleted when it exits`,
			Hint:    "Build one that stays: go build -o notesd ./cmd/notesd. Then run its setup.",
		}
	}
	withState := a.loaded.IsPassed("state") || hostEnv(a.env).Variable("XDG_STATE_HOME") != ""
	return hosts.Server{Command: exe, Args: append([]string{"mcp"}, a.placeArgs(cfg, withState)...)}, nil
}

// program returns the path of this program, which may be that of a link: after an upgrade, a
// package manager deletes the version that the link pointed to. On Linux, os.Executable
// returns the target. A relay asks first at its start, and keeps the answer.
var program = sync.OnceValues(func() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	target, err := os.Stat(exe)
	if err != nil {
		return exe, nil //nolint:nilerr // an upgrade has deleted it
	}
	if called, err := exec.LookPath(os.Args[0]); err == nil {
		if info, err := os.Stat(called); err == nil && os.SameFile(info, target) {
			return filepath.Abs(called)
		}
	}
	return exe, nil
})

// placeArgs returns the flags for the vault, for the state directory if withState is set, and
// for the configuration file if it is not the one that a program without the variables of
// this shell reads.
func (a *app) placeArgs(cfg *config.Config, withState bool) []string {
	args := []string{"--vault", cfg.Vault.String()}
	if withState {
		args = append(args, "--state", cfg.State)
	}
	_, err := os.Stat(a.loaded.File)
	if a.configFile != "" || err == nil && a.loaded.File != config.DefaultFile(append(slices.Clip(a.env), "XDG_CONFIG_HOME=")) {
		args = append(args, "--config", a.loaded.File)
	}
	return args
}

// isTemporary reports whether the program was built by "go run".
func isTemporary(exe string) bool {
	return strings.Contains(filepath.ToSlash(exe), "/go-build")
}

func hostEnv(vars []string) hosts.Env { return hosts.Env{Vars: vars, OS: runtime.GOOS} }

func setupNames() []string {
	var names []string
	for _, h := range hosts.All {
		names = append(names, h.Name)
	}
	return names
}

// chooseHosts returns the named hosts, or all installed ones.
func chooseHosts(e hosts.Env, names []string) ([]hosts.Host, error) {
	known := strings.Join(setupNames(), ", ")
	var chosen []hosts.Host
	for _, name := range names {
		i := slices.Index(setupNames(), name)
		if i < 0 {
			return nil, service.Usagef("There are "+known+".", "there is no host %q", name)
		}
		chosen = append(chosen, hosts.All[i])
	}
	if len(names) > 0 {
		return chosen, nil
	}
	for _, h := range hosts.All {
		if h.Installed(e) {
			chosen = append(chosen, h)
		}
	}
	if len(chosen) == 0 {
		return nil, &service.Failure{Code: "not_found", Message: "no AI assistant was found on this machine", Hint: "Name one of " + known + "."}
	}
	return chosen, nil
}

// all sets up each host. A failure for one is recorded in its registration and does not
// stop the others.
func (s *setup) all(chosen []hosts.Host) ([]registration, error) {
	var done []registration
	var failures []*service.Failure
	for _, h := range chosen {
		r, err := s.one(h)
		if err != nil {
			f := s.failure(h, err)
			r.Action, r.Error = failed, f.Message
			failures = append(failures, f)
		}
		done = append(done, r)
	}
	if len(failures) == 0 {
		return done, nil
	}
	first := *failures[0]
	for _, f := range failures[1:] {
		first.Message += "\n" + f.Message
	}
	return done, &first
}

func (s *setup) failure(h hosts.Host, err error) *service.Failure {
	if f, ok := errors.AsType[*service.Failure](err); ok {
		return f
	}
	f := &service.Failure{
		Code:    service.FailureOf(err).Code,
		Message: fmt.Sprintf("the settings of %s cannot be changed: %v", h.Title, err),
		Hint:    "Nothing in the file was changed. Correct this, and run notesd setup again.",
	}
	if _, ok := errors.AsType[*hosts.SyntaxError](err); ok {
		f.Code = "invalid"
	}
	if errors.Is(err, hosts.ErrReadOnly) || errors.Is(err, fs.ErrPermission) {
		f.Code, f.Hint = "permission", "Allow writing to it, or take the settings from notesd setup --print."
	}
	return f
}

// one edits the settings of one host.
func (s *setup) one(h hosts.Host) (registration, error) {
	r := registration{Host: h.Name, File: h.File(hostEnv(s.app.env)), title: h.Title}
	settings, err := h.Read(hostEnv(s.app.env))
	if err != nil {
		return r, err
	}
	edit := s.register
	if s.remove {
		edit = s.unregister
	}
	text, err := edit(h, settings, &r)
	if err != nil || s.print || r.Action == unchanged || r.Action == absent {
		if s.print {
			r.Text = string(text)
		}
		return r, err
	}
	r.Backup, err = settings.Write(text, time.Now())
	if errors.Is(err, hosts.ErrChanged) {
		return s.one(h)
	}
	return r, err
}

// register returns the settings with the entry, and records the action in r.
func (s *setup) register(h hosts.Host, settings *hosts.Settings, r *registration) ([]byte, error) {
	servers := settings.Servers
	if err := s.choose(h, servers, r); err != nil {
		return nil, err
	}
	server := s.server
	old, there := servers[r.Name]
	server.Args = append(slices.Clone(server.Args), keptArgs(old.Args, s.own)...)
	text, err := settings.Set(r.Name, server)
	switch {
	case !there:
		r.Action = registered
	case string(text) == string(settings.Text):
		r.Action = unchanged
	default:
		r.Action = updated
	}
	return text, err
}

// choose sets the name of the entry: the requested one, that of the existing entry for
// the same vault, or an unused one. It never replaces an entry of another program, or of
// another vault that exists.
func (s *setup) choose(h hosts.Host, servers map[string]hosts.Server, r *registration) error {
	if s.name != "" {
		r.Name = s.name
		had, there := servers[r.Name]
		if !there {
			return nil
		}
		if !had.IsNotesd() {
			return &service.Failure{Code: "conflict", Message: fmt.Sprintf("%s has another server called %q in %s", h.Title, r.Name, r.File), Hint: "Choose another name with --name."}
		}
		if vault := vaultOf(s.app.env, had); !sameFolder(vault, s.vault) && isVault(vault) {
			return &service.Failure{
				Code:    "conflict",
				Message: fmt.Sprintf("the server %q of %s serves %s", r.Name, h.Title, vault),
				Hint:    fmt.Sprintf("Choose another name with --name, or remove that one first: notesd setup --remove --name %s %s", r.Name, h.Name),
			}
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if servers[name].IsNotesd() && sameFolder(vaultOf(s.app.env, servers[name]), s.vault) {
			r.Name = name
			return nil
		}
	}
	r.Name = usualName
	for n := 1; ; n++ {
		had, taken := servers[r.Name]
		if !taken {
			return nil
		}
		if n == 1 {
			r.Note = fmt.Sprintf("%q is another server there; --name chooses another name", usualName)
			if had.IsNotesd() {
				r.Note = fmt.Sprintf("%q still serves %s; notesd setup --remove --name %s %s removes it", usualName, vaultOf(s.app.env, had), usualName, h.Name)
			}
		}
		r.Name = usualName + "-" + nameOf(strings.ReplaceAll(config.ParseVault(s.vault).Title(), ", ", "-"))
		if n > 1 {
			r.Name += fmt.Sprintf("-%d", n)
		}
	}
}

// nameOf derives a server name from a folder name. Hosts allow letters, digits, - and _.
func nameOf(folder string) string {
	name := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_') {
			return unicode.ToLower(r)
		}
		return '-'
	}, filepath.Base(folder))
	if name = strings.Trim(name, "-"); name == "" {
		return "vault"
	}
	return name
}

// unregister returns the settings without the entry with the given name, or without all
// entries for the vault.
func (s *setup) unregister(h hosts.Host, settings *hosts.Settings, r *registration) ([]byte, error) {
	var names []string
	for name, server := range settings.Servers {
		if s.name != "" && name == s.name || s.name == "" && server.IsNotesd() && sameFolder(vaultOf(s.app.env, server), s.vault) {
			names = append(names, name)
		}
	}
	if r.Action = absent; len(names) == 0 {
		return settings.Text, nil
	}
	slices.Sort(names)
	if s.name != "" && !settings.Servers[s.name].IsNotesd() {
		return nil, &service.Failure{Code: "conflict", Message: fmt.Sprintf("the server %q of %s does not launch notesd", s.name, h.Title), Hint: "notesd setup removes entries of notesd only."}
	}
	rest := *settings
	for _, name := range names {
		text, err := rest.Remove(name)
		if err != nil {
			return nil, err
		}
		rest.Text = text
	}
	r.Name, r.Action = strings.Join(names, ", "), removed
	return rest.Text, nil
}

// keptArgs returns the existing arguments that setup preserves, such as a --read-only
// that the user added. own lists the flags that setup sets; all except --read-only have a
// value.
func keptArgs(had, own []string) []string {
	var kept []string
	skip := false
	for _, arg := range had {
		option, _, joined := strings.Cut(arg, "=")
		switch {
		case skip:
			skip = false
		case slices.Contains(own, option):
			skip = !joined && option != "--read-only"
		case arg != "mcp":
			kept = append(kept, arg)
		}
	}
	return kept
}

// vaultOf returns the vault served by an entry in a host with the variables vars, or ""
// if unknown.
func vaultOf(vars []string, s hosts.Server) string {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	vault := flags.String("vault", "", "")
	file := flags.String("config", "", "")
	_ = flags.Parse(s.Args) // other flags do not matter
	env := slices.Clone(vars)
	for name, value := range s.Env {
		env = append(env, name+"="+value)
	}
	if *vault == "" {
		*vault = hostEnv(env).Variable("NOTESD_VAULT")
	}
	several := len(config.ParseVault(*vault).Folders) > 0
	if several {
		env = append(env, "NOTESD_VAULT="+*vault)
	}
	if *vault == "" || several {
		cfg, err := config.Load(config.Sources{File: *file, Env: env})
		if err != nil {
			return ""
		}
		return cfg.Vault.String()
	}
	if rest, home := strings.CutPrefix(*vault, "~"); home {
		return hostEnv(vars).Home(rest)
	}
	return filepath.Clean(*vault)
}

// isVault reports whether any folder of the vault exists.
func isVault(vault string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(config.ParseVault(vault).Dirs())), isFolder)
}

func (s *setup) report(done []registration) {
	out := s.app.out
	changed := false
	for i, r := range done {
		switch {
		case r.Action == failed:
			continue
		case s.print:
			if i > 0 {
				fmt.Fprintln(out)
			}
			s.app.note(fmt.Sprintf("%s, %s:", r.title, r.File))
			fmt.Fprint(out, out.plain(r.Text))
			continue
		case r.Action == absent:
			fmt.Fprintf(out, "%s: nothing to remove in %s\n", out.bold(r.title), out.path(r.File))
		case r.Action == removed:
			fmt.Fprintf(out, "%s: removed %q from %s\n", out.bold(r.title), out.line(r.Name), out.path(r.File))
		case r.Action == unchanged:
			fmt.Fprintf(out, "%s: %q is up to date in %s\n", out.bold(r.title), out.line(r.Name), out.path(r.File))
		default:
			fmt.Fprintf(out, "%s: %s as %q in %s\n", out.bold(r.title), r.Action, out.line(r.Name), out.path(r.File))
		}
		if r.Note != "" {
			s.app.note(r.Note)
		}
		if r.Backup != "" {
			s.app.note("the previous settings are kept as " + r.Backup)
		}
		changed = changed || r.Backup != "" || r.Action == registered
	}
	if changed {
		s.app.note("Restart these programs if they are running: they read their settings at the start.")
	}
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/fsid"
	"notesd/internal/hosts"
	"notesd/internal/service"
	"notesd/watcher"
)

// check is one result of the doctor command.
type check struct {
	Name  string `json:"name"`
	State string `json:"state"` // ok, note, problem
	Text  string `json:"text"`
	Do    string `json:"do,omitempty"` // what to do about it
}

// The states of a check.
const (
	fine    = "ok"
	remark  = "note"    // works, but could be better
	problem = "problem" // does not work
)

// lowSpace is the free space on the state's disk below which doctor warns: enough for a
// few index rebuilds of a large vault.
const lowSpace = 1 << 30

func doctorCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor [flags]",
		Short: "Find problems and explain how to fix them",
		Long: `Check the configuration, the vault, the state, the database of a team vault, the
model, the daemon, the HTTP address, the index, the watcher and the entries in
the settings of AI assistants, and explain how to fix any problem. The exit code
is 1 if there is a problem.`,
		Example: `  notesd doctor
  notesd doctor --json | jq '.checks[] | select(.state == "problem")'`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks := a.examine(cmd)
			if err := a.result(map[string]any{"checks": checks}, func() { a.printChecks(checks) }); err != nil {
				return err
			}
			if slices.ContainsFunc(checks, func(c check) bool { return c.State == problem }) {
				return errProblems
			}
			return nil
		},
	}
}

// noNotes is the advice for a vault without notes.
const noNotes = "notesd finds no notes in the folder; --vault names another one."

// errProblems makes doctor exit with code 1 after printing the problems.
var errProblems = &service.Failure{Code: "problems", Message: "a check found a problem; see above"}

// examine runs all checks, except those that depend on a failed one.
func (a *app) examine(cmd *cobra.Command) []check {
	cfg, err := a.settings(cmd)
	if err != nil {
		c := failing("configuration", err)
		c.Text = strings.TrimPrefix(c.Text, "configuration: ")
		return append([]check{c}, checkHosts(a.env, "")...)
	}
	checks := []check{{Name: "configuration", State: fine, Text: "valid"}}
	for _, name := range slices.Sorted(maps.Keys(cfg.Vault.Dirs())) {
		checks = append(checks, checkVaultFolder(cfg, name))
	}
	checks = append(checks, checkState(cfg))
	checks = append(checks, checkDatabase(cmd.Context(), cfg)...)
	at, inUse := len(checks), ""
	err = a.connect(cmd, daemon.KindStatus, service.Watching, func(ctx context.Context, c *client) error {
		r, err := c.untilCounted(ctx, countWait)
		if err == nil {
			checks = append(checks, checkReport(r, c.daemon != nil)...)
			if c.daemon == nil { // whose report has the reason
				checks = append(checks, checkHTTP(ctx, cfg)...)
			}
			inUse = r.Semantic.Model
		}
		return err
	})
	if err != nil {
		checks = append(checks, failing("index", err))
	}
	checks = slices.Insert(checks, at, checkModel(cfg.Semantic, inUse)...)
	checks = append(checks, a.checkService(cmd.Context(), cfg)...)
	return append(checks, checkHosts(a.env, cfg.Vault.String())...)
}

// failing returns the check that found an error.
func failing(name string, err error) check {
	f := service.FailureOf(err)
	return check{name, problem, f.Message, f.Hint}
}

// checkVaultFolder checks the folder of the named vault, or of the only one if name is
// "".
func checkVaultFolder(cfg *config.Config, name string) check {
	dir := cfg.Vault.Dirs()[name]
	c := check{Name: strings.TrimSpace("vault " + name), State: fine, Text: dir}
	if _, err := fsid.InTime(dir, fsid.Patience, func() ([]os.DirEntry, error) { return os.ReadDir(dir) }); err != nil {
		c.State, c.Text, c.Do = problem, fmt.Sprintf("cannot be read: %v", err), "Make the folder available to this user, or name another one with --vault."
		return c
	}
	if !cfg.Vault.ReadOnly && !slices.Contains(cfg.Vault.ReadOnlyFolders, name) && !service.MayWrite(dir) {
		c.State, c.Text, c.Do = remark, dir+" cannot be written to", "Allow this user to write there, or set vault.read_only."
	}
	return c
}

func checkState(cfg *config.Config) check {
	c := check{Name: "state", State: fine, Text: cfg.State}
	err := service.MakePrivate(cfg.State)
	if err == nil {
		err = tryWrite(cfg.State)
	}
	if err != nil {
		c.State, c.Text, c.Do = problem, fmt.Sprintf("%s cannot be written to: %v", cfg.State, err), "Free some space or allow this user to write there, or choose another place with --state."
		return c
	}
	if kind := watcher.RemoteFileSystem(cfg.State); kind != "" {
		c.State, c.Text, c.Do = remark, fmt.Sprintf("%s is on a file system (%s) that may not be on a local disk", cfg.State, kind),
			"Databases can be slow or damaged on a network disk: choose a local one with --state."
	}
	if free, known := service.FreeSpace(cfg.State); known && free < lowSpace {
		c.State, c.Text, c.Do = remark, fmt.Sprintf("%s has %s left", cfg.State, size(free)), "Free some space, or choose another place with --state."
	}
	return c
}

// checkDatabase checks the database of a team's vault, if one is configured.
func checkDatabase(ctx context.Context, cfg *config.Config) []check {
	if cfg.Store.Postgres == "" {
		return nil
	}
	db, err := service.OpenDatabase(cfg, service.DiscardLogs().Logger)
	if err == nil {
		err = errors.Join(db.Check(ctx), db.Close())
	}
	if err != nil {
		return []check{failing("database", err)}
	}
	return []check{{Name: "database", State: fine, Text: "responds"}}
}

// checkHTTP checks the HTTP listener that the next daemon opens, if one is configured.
func checkHTTP(ctx context.Context, cfg *config.Config) []check {
	if cfg.HTTP.Addr == "" {
		return nil
	}
	if err := service.CheckHTTP(ctx, cfg); err != nil {
		return []check{failing("http", err)}
	}
	return []check{{Name: "http", State: fine, Text: cfg.HTTP.Addr + " can be used"}}
}

// probeSize is more than a file system stores without allocating space.
const probeSize = 1 << 20

// tryWrite writes a file in a folder and removes it, because neither the mode of the folder
// nor the free space shows a quota or a failing disk.
func tryWrite(dir string) error {
	f, err := os.CreateTemp(dir, "doctor-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeSize))
	return cmp.Or(err, f.Sync(), f.Close(), os.Remove(f.Name()))
}

// checkReport returns the checks of a status report.
func checkReport(r service.Report, daemon bool) []check {
	running := check{Name: "daemon", State: fine, Text: "not running; the next client starts one"}
	if daemon {
		running.Text = fmt.Sprintf("process %d, version %s", r.Daemon.PID, r.Version)
		if r.Version != service.Version() {
			running.State = remark
			running.Text += ", while this is " + service.Version()
			running.Do = "notesd restart starts this version."
		}
	}
	index := check{Name: "index", State: fine, Text: indexText(r)}
	switch {
	case r.Unavailable != "":
		index = check{"index", problem, "the vault cannot be used: " + r.Unavailable, cmp.Or(r.Remedy, "The notes stay indexed. Make the folder available again.")}
	case r.Trouble != "":
		index = check{"index", problem, "changes on disk cannot be indexed: " + r.Trouble, "notesd tries again; until then results may be out of date."}
	case r.Index.Ready && r.Notes == 0:
		index.State, index.Do = remark, noNotes
	case !r.Index.Ready:
		index.State, index.Do = remark, "Until it is built, results are incomplete and say so."
	}
	checks := []check{running, index, checkMeaning(r, daemon), checkWatcher(r.Watcher)}
	if r.Skipped.Total > 0 {
		checks = append(checks, check{"skipped", remark, count(r.Skipped.Total, "file") + " cannot be read as a note", "notesd status names them, with the reason."})
	}
	for _, w := range r.Warnings {
		if !checked(r, w) {
			checks = append(checks, check{Name: "warning", State: remark, Text: w})
		}
	}
	return checks
}

// checked reports whether another check already covers a warning.
func checked(r service.Report, warning string) bool {
	for _, said := range []string{r.Semantic.Trouble, r.Trouble, r.Unavailable} {
		if said != "" && strings.Contains(warning, said) {
			return true
		}
	}
	return false
}

func checkWatcher(w watcher.Status) check {
	c := check{Name: "watcher", State: fine, Text: fmt.Sprintf("%s, %s", w.State, count(w.Directories+w.Polled, "folder"))}
	if w.State == watcher.StateLost || w.State == watcher.StateDegraded {
		c.State = remark
	}
	return c
}

// checkHosts checks the entries of the installed hosts of the user with these variables.
// vault is the configured vault, or "".
func checkHosts(vars []string, vault string) []check {
	var checks []check
	for _, h := range hosts.All {
		if !h.Installed(hostEnv(vars)) {
			continue
		}
		settings, err := h.Read(hostEnv(vars))
		if err != nil {
			checks = append(checks, check{h.Name, problem, fmt.Sprintf("the settings of %s cannot be read: %v", h.Title, err), "Correct the file: " + h.Title + " may not read it either."})
			continue
		}
		mine, any := false, false
		for _, name := range slices.Sorted(maps.Keys(settings.Servers)) {
			s := settings.Servers[name]
			if !s.IsNotesd() {
				continue
			}
			any = true
			serves := vaultOf(vars, s)
			mine = mine || sameFolder(serves, vault)
			checks = append(checks, checkServer(h, name, s, serves))
		}
		switch run := "Run " + setupLine(h, vault, "") + "."; {
		case vault == "": // the command needs one
		case !any:
			checks = append(checks, check{h.Name, remark, h.Title + " does not launch notesd", run})
		case !mine:
			checks = append(checks, check{h.Name, remark, h.Title + " does not launch notesd for this vault", run})
		}
	}
	return checks
}

// checkServer checks one entry of a host.
func checkServer(h hosts.Host, name string, s hosts.Server, vault string) check {
	c := check{Name: h.Name, State: fine, Text: fmt.Sprintf("%s launches %s as %q for %s", h.Title, s.Command, name, vault)}
	run := setupLine(h, vault, name)
	again := "Run " + run + " with the vault it should serve"
	worse := func(state, what, do string) check {
		c.State, c.Text, c.Do = state, c.Text+what, do
		return c
	}
	path, err := exec.LookPath(s.Command)
	switch {
	case err != nil && errors.Is(err, fs.ErrPermission):
		return worse(problem, "; the program cannot be executed", "Make it executable, or run "+run+".")
	case err != nil && !isVault(vault):
		return worse(problem, "; the program does not exist", again+".")
	case err != nil:
		return worse(problem, "; the program does not exist", "Run "+run+".")
	case vault == "":
		c.Text = fmt.Sprintf("%s launches %s as %q", h.Title, s.Command, name)
		return worse(problem, ", which names no vault that can be found", again+".")
	case !isVault(vault):
		return worse(problem, "; the vault is not a folder", again+", or notesd setup --remove --name "+quoted(name)+" "+h.Name+".")
	case !filepath.IsAbs(s.Command) && h.Desktop:
		return worse(remark, "; desktop programs may not find a command without its folder", "Run "+run+", which writes "+path+".")
	}
	return c
}

// setupLine returns the command that registers notesd with a host: for the vault if it
// exists, and in the entry with the name unless that is "".
func setupLine(h hosts.Host, vault, name string) string {
	line := "notesd setup"
	if isVault(vault) {
		line += " --vault " + quoted(vault)
	}
	if name != "" {
		line += " --name " + quoted(name)
	}
	return line + " " + h.Name
}

func (o *output) printChecks(checks []check) {
	signs := map[string]string{fine: "✓", remark: o.out.mark("!"), problem: o.out.red("✗")}
	for _, c := range checks {
		fmt.Fprintf(o.out, "%s %s %s\n", signs[c.State], o.out.bold(fmt.Sprintf("%-14s", c.Name)), o.out.line(c.Text))
		if c.Do != "" {
			fmt.Fprintf(o.out, "  %14s %s\n", "", o.out.line(c.Do))
		}
	}
}

// checkModel verifies the checksum of the built-in model in use, reading all of it;
// opening a model checks only its structure. inUse is the ID of the model that "auto" has
// chosen, or "" if unknown.
func checkModel(s config.Semantic, inUse string) []check {
	if s.Provider != "builtin" {
		return nil
	}
	c := check{Name: "model", State: fine}
	m, where, err := service.Builtin(service.BuiltinSource(s.Model))
	if s.AutoModel() && err == nil && inUse != "" && inUse != m.ID() {
		m, where, err = service.Builtin(config.Multilingual)
	}
	if err == nil {
		c.Text = fmt.Sprintf("%s, %s, runs on %s", m.Name(), where, m.Tier())
		err = m.Verify()
	}
	if err != nil {
		c = failing("model", service.ModelFailure(s.Model, err))
	}
	if m != nil {
		_ = m.Close() // it was only read from
	}
	return []check{c}
}

// checkMeaning returns the check of semantic search.
func checkMeaning(r service.Report, daemon bool) check {
	c := check{Name: "meaning", State: fine, Text: semanticText(r)}
	switch {
	case r.Semantic.Trouble != "":
		return check{"meaning", problem, r.Semantic.Trouble, "Until then " + r.Semantic.Meanwhile() + "."}
	case daemon:
	case !r.Counted() || r.Semantic.Pending > 0:
		c.State, c.Do = remark, "A daemon embeds the rest while it runs; notesd index --wait does it now."
	}
	return c
}

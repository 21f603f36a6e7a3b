package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"notesd"
	"notesd/internal/config"
	"notesd/internal/fsid"
	"notesd/internal/service"
	"notesd/mcp"
)

func configCommand(a *app) *cobra.Command {
	var example bool
	cmd := &cobra.Command{
		Use:   "config [flags]",
		Short: "Print the settings and their origins",
		Long: `Print every setting in effect with its origin: the configuration file and line,
an environment variable, a flag or the default. The output is a valid
configuration file; so is that of --example, which documents every setting.`,
		Example: `  notesd config --vault ~/Notes
  notesd config --example > ~/.config/notesd/notesd.toml`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if example {
				return a.result(map[string]any{"example": notesd.ExampleConfig}, func() { fmt.Fprint(a.out, notesd.ExampleConfig) })
			}
			loaded, err := config.Load(config.Sources{File: a.configFile, Env: a.env, Flags: cmd.Flags()})
			if err != nil {
				return err
			}
			a.warn(loaded)
			all := loaded.Settings()
			return a.result(map[string]any{"settings": all}, func() { a.printSettings(all) })
		},
	}
	cmd.Flags().BoolVar(&example, "example", false, "print a documented example with the defaults")
	return cmd
}

func (o *output) printSettings(all []config.Setting) {
	const column = 36 // of the origins
	section := ""
	for _, e := range all {
		if s, _, ok := strings.Cut(e.Key, "."); ok && s != section {
			section = s
			fmt.Fprintf(o.out, "\n%s\n", o.out.bold("["+s+"]"))
		}
		line := o.out.line(e.TOML())
		origin := o.out.dim("# " + e.Origin)
		if e.Origin != "default" {
			origin = o.out.mark("# " + e.Origin)
		}
		fmt.Fprintf(o.out, "%-*s %s\n", column, line, origin)
	}
}

// settings loads the configuration for a command that needs a vault.
func (a *app) settings(cmd *cobra.Command) (*config.Config, error) {
	cfg, err := a.configuration(cmd)
	if err != nil {
		return nil, err
	}
	if cfg.Vault.IsSet() {
		return cfg, nil
	}
	vault := obsidianVault()
	if vault != "" && looks[cmd.Name()] {
		a.note("No vault is configured; this is " + vault + ", which has a .obsidian folder.")
		if err := cmd.Flags().Set("vault", vault); err != nil {
			return nil, err
		}
		return a.configuration(cmd)
	}
	f := &service.Failure{
		Code:    "config",
		Message: "no vault is configured",
		Hint: fmt.Sprintf("Name the folder of your notes with --vault DIR, with the variable NOTESD_VAULT, or as path under [vault] in %s.",
			cmp.Or(a.loaded.File, "notesd.toml")),
	}
	if vault != "" {
		f.Hint = fmt.Sprintf("This folder is in an Obsidian vault: %s --vault %s", cmd.CommandPath(), quoted(vault))
	}
	return nil, f
}

// configured adapts a function that needs a vault to a cobra RunE.
func (a *app) configured(run func(cmd *cobra.Command, args []string, cfg *config.Config) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cfg, err := a.settings(cmd)
		if err != nil {
			return err
		}
		return run(cmd, args, cfg)
	}
}

// looks lists the commands that neither change notes nor start a server. Without a
// configured vault they use the Obsidian vault around the working directory; other
// commands require an explicit vault.
var looks = map[string]bool{
	"search": true, "why": true, "related": true, "read": true, "list": true, "links": true, "history": true, "export": true,
	"index": true, "status": true, "doctor": true,
}

// obsidianVault returns the Obsidian vault that contains the working
// directory, or "".
func obsidianVault() string {
	dir, err := os.Getwd()
	for err == nil {
		if isFolder(filepath.Join(dir, ".obsidian")) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return ""
}

// quoted returns a path quoted for a shell.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t'\"$&()*;<>?`|~#") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// configuration loads the configuration. A daemon launched for a client ignores that
// client's variables, because it also serves other clients, except for an API key, which
// may not be set anywhere else.
func (a *app) configuration(cmd *cobra.Command) (*config.Config, error) {
	env := a.env
	if a.startup.Launched() {
		env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
			return strings.HasPrefix(kv, "NOTESD_") && !strings.HasPrefix(kv, config.APIKeyVariable+"=") && !strings.HasPrefix(kv, "NOTESD_STORE_")
		})
	}
	a.read = func() (*config.Loaded, error) {
		loaded, err := config.Load(config.Sources{File: a.configFile, Env: env, Flags: cmd.Flags()})
		if err != nil {
			return nil, err
		}
		if err := (mcp.Profile{Tools: loaded.Vault.Tools}).Validate(); err != nil {
			return nil, &service.Failure{Code: "config", Message: loaded.Origin("vault.tools") + ": " + err.Error()}
		}
		return loaded, nil
	}
	loaded, err := a.read()
	if err != nil {
		return nil, err
	}
	a.loaded = loaded
	a.warn(loaded)
	return loaded.Config, nil
}

// serveOptions returns the options of a server in this process.
func (a *app) serveOptions() service.ServeOptions {
	return service.ServeOptions{Loaded: a.loaded, Read: a.read, Startup: a.startup, Stderr: a.err}
}

// warn prints the variables that look like settings but are not.
func (o *output) warn(loaded *config.Loaded) {
	for _, unknown := range loaded.Unknown {
		o.remark(unknown.String())
	}
}

// remark prints remarks on this process's settings.
func (o *output) remark(remarks ...string) {
	for _, remark := range remarks {
		o.note(remark + ".")
	}
}

// isFolder reports whether a folder is there, or may be, on a disk that does not answer.
func isFolder(name string) bool {
	info, err := fsid.Info(name)
	return err == nil && info.IsDir() || errors.Is(err, fsid.ErrNoAnswer)
}

// sameFolder reports whether two paths refer to the same folder.
func sameFolder(a, b string) bool {
	return a != "" && b != "" && fsid.SameFolder(filepath.Clean(a), filepath.Clean(b))
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"notesd/internal/config"
	"notesd/internal/service"
	"notesd/notes/pglog"
)

// teamVerbs maps the verbs of notesd team to their arguments and implementation.
var teamVerbs = map[string]struct {
	args []string
	do   func(*subjects, context.Context, []string) error
}{
	"add":     {[]string{"NAME"}, (*subjects).add},
	"renew":   {[]string{"NAME"}, (*subjects).renew},
	"revoke":  {[]string{"NAME"}, (*subjects).revoke},
	"list":    {nil, (*subjects).list},
	"grant":   {[]string{"NAME", "VAULT[/FOLDER]", "reader or writer"}, (*subjects).grant},
	"ungrant": {[]string{"NAME", "VAULT[/FOLDER]"}, (*subjects).ungrant},
}

// subjects manages who may use the vaults in a database.
type subjects struct {
	*app
	db  *pglog.Database
	new bool // a grant may create the vault
}

// withDatabase adapts a function that needs a database, but no folder, to a cobra RunE.
func (a *app) withDatabase(run func(cmd *cobra.Command, args []string, cfg *config.Config) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cfg, err := a.configuration(cmd)
		if err != nil {
			return err
		}
		if cfg.Store.Postgres == "" {
			return service.Usagef(`Set postgres = "postgres://user@host/database" under [store] in notesd.toml, or NOTESD_STORE_POSTGRES.`, "no database is configured")
		}
		return run(cmd, args, cfg)
	}
}

func teamCommand(a *app) *cobra.Command {
	t := &subjects{app: a}
	cmd := &cobra.Command{
		Use:   "team [flags] VERB [NAME [VAULT[/FOLDER] [ROLE]]]",
		Short: "Manage access to team vaults",
		Long: `Manage the subjects (people and programs) that may use the vaults in the
database of store.postgres over HTTP, at /v/VAULT/mcp of any node:

  add NAME                                   create a subject, print its token
  grant NAME VAULT[/FOLDER] reader|writer    allow it to read, or to write too
  ungrant NAME VAULT[/FOLDER]                withdraw a grant
  renew NAME                                 print a new token, void the old one
  revoke NAME                                remove it, its token and its grants
  list                                       list all subjects with their grants

Tokens are printed once and never stored. Running nodes apply changes within
seconds.`,
		Example: `  notesd team add ann
  notesd team grant --new ann research/Plans writer`,
		Args: func(cmd *cobra.Command, args []string) error {
			const verbs = "Use add, grant, ungrant, renew, revoke or list."
			if len(args) == 0 {
				return service.Usagef(verbs, "team needs a verb")
			}
			verb, ok := teamVerbs[args[0]]
			if !ok {
				return service.Usagef(verbs, "team has no verb %q", args[0])
			}
			return takes(append([]string{"VERB"}, verb.args...)...)(cmd, args)
		},
		ValidArgsFunction: completeWords("add", "grant", "ungrant", "renew", "revoke", "list"),
		RunE: a.withDatabase(func(cmd *cobra.Command, args []string, cfg *config.Config) (err error) {
			if t.db, err = service.OpenDatabase(cfg, service.DiscardLogs().Logger); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, t.db.Close()) }()
			return teamVerbs[args[0]].do(t, cmd.Context(), args[1:])
		}),
	}
	cmd.Flags().BoolVar(&t.new, "new", false, "with grant: create the vault if it does not exist")
	return cmd
}

func (t *subjects) add(ctx context.Context, args []string) error {
	token, err := t.db.AddSubject(ctx, args[0])
	return t.print(err, map[string]any{"name": args[0], "token": token}, token)
}

func (t *subjects) renew(ctx context.Context, args []string) error {
	token, err := t.db.RenewToken(ctx, args[0])
	return t.print(err, map[string]any{"name": args[0], "token": token}, token)
}

func (t *subjects) revoke(ctx context.Context, args []string) error {
	err := t.db.RemoveSubject(ctx, args[0])
	return t.print(err, map[string]any{"name": args[0]}, "revoked "+args[0])
}

func (t *subjects) grant(ctx context.Context, args []string) error {
	g := grantOf(args[1])
	switch args[2] {
	case "reader":
	case "writer":
		g.Writer = true
	default:
		return service.Usagef("Use reader or writer.", "there is no role %q", args[2])
	}
	err := t.db.Grant(ctx, args[0], g, t.new)
	err = t.print(err, map[string]any{"name": args[0], "grant": g}, fmt.Sprintf("%s is a %s of %s", args[0], args[2], g))
	if err != nil || g.Folder == "" {
		return err
	}
	covers, err := t.db.Covers(ctx, g)
	if err == nil && !covers {
		t.note(fmt.Sprintf("the vault %s has no files in %q yet; if that is misspelled, ungrant it", g.Vault, g.Folder))
	}
	return err
}

func (t *subjects) ungrant(ctx context.Context, args []string) error {
	g := grantOf(args[1])
	err := t.db.Ungrant(ctx, args[0], g)
	return t.print(err, map[string]any{"name": args[0], "grant": g}, fmt.Sprintf("%s no longer has a grant for %s", args[0], g))
}

func (t *subjects) list(ctx context.Context, _ []string) error {
	subjects, err := t.db.Subjects(ctx)
	var lines []string
	for _, s := range subjects {
		var grants []string
		for _, g := range s.Grants {
			role := "reader"
			if g.Writer {
				role = "writer"
			}
			grants = append(grants, role+" of "+g.String())
		}
		lines = append(lines, strings.TrimSpace(s.Name+"  "+strings.Join(grants, ", ")))
	}
	if len(lines) == 0 {
		lines = []string{"there are no subjects; notesd team add creates one"}
	}
	return t.print(err, map[string]any{"subjects": subjects}, strings.Join(lines, "\n"))
}

// print prints a result, unless err is not nil, which it returns.
func (t *subjects) print(err error, result map[string]any, text string) error {
	if err != nil {
		return err
	}
	return t.resultLine(result, text)
}

// grantOf parses VAULT[/FOLDER].
func grantOf(text string) pglog.Grant {
	vault, folder, _ := strings.Cut(text, "/")
	return pglog.Grant{Vault: vault, Folder: folder}
}

func mirrorCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mirror [flags] [DIR]",
		Short: "Keep a folder in sync with a team vault",
		Long: `Serve the folder DIR, or vault.path, like "notesd serve", and keep it in sync
with the vault in the PostgreSQL database of store.postgres until stopped. DIR
is created if necessary. Its files are added to the vault; if both have a note
with the same path, the folder's version is kept beside it.`,
		Example: `  notesd mirror ~/Team
  NOTESD_STORE_POSTGRES=postgres://ann@db/notes notesd mirror ~/Team`,
		Args: takes("[DIR]"),
		RunE: a.withDatabase(func(cmd *cobra.Command, args []string, cfg *config.Config) (err error) {
			if len(args) > 0 {
				if err := os.MkdirAll(args[0], 0o750); err != nil {
					return service.Usagef("Name a folder that you may write to.", "the folder cannot be created: %v", err)
				}
				if err := cmd.Flags().Set("vault", args[0]); err != nil {
					return err
				}
				if cfg, err = a.configuration(cmd); err != nil {
					return err
				}
			}
			if cfg.HasOwnFolder() {
				return service.Usagef("Name it as DIR, with --vault, or as path under [vault] in notesd.toml.", "mirror needs a folder")
			}
			cfg.Store.Unasked = false
			return service.Serve(cmd.Context(), a.serveOptions())
		}),
	}
	cmd.Flags().String("http", "", "also serve MCP over HTTP at `addr`, such as 127.0.0.1:8931")
	return cmd
}

func importCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "import DIR",
		Short: "Import a folder into a team vault",
		Long: `Import the files of the folder DIR once into the vault in the PostgreSQL
database of store.postgres; the folder is not changed and not kept in sync.
Nothing in the vault is overwritten: a file that the vault has with other
content is skipped and reported. Hidden and ignored files are skipped.`,
		Example: `  notesd import ~/Notes
  NOTESD_STORE_VAULT=research notesd import --json ~/Papers | jq .left`,
		Args: takes("DIR"),
		RunE: a.withDatabase(func(cmd *cobra.Command, args []string, cfg *config.Config) error {
			done, err := service.Import(cmd.Context(), cfg, args[0])
			if done.Place == "" { // nothing was started
				return err
			}
			return errors.Join(err, a.result(done, func() {
				for _, p := range done.Left {
					fmt.Fprintf(a.out, "! %s  %s\n", a.out.plain(p.Path), p.Reason)
				}
				a.note(fmt.Sprintf("added %s to the %s; %d were there already, %d were skipped", count(done.Added, "file"), done.Place, done.Unchanged, len(done.Left)))
			}))
		}),
	}
}

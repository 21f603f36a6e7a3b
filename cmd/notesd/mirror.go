package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"notesd/internal/service"
)

func mirrorCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mirror DIR",
		Short: "Keep a folder in step with a team's vault",
		Long: `Serve the folder DIR, as "notesd serve" does, and keep it in step with the
vault in the PostgreSQL database of store.postgres, both ways, until it is
stopped. DIR is created if it does not exist. What it has is added to the vault;
where both have a note of one name, the folder's version is kept beside it.`,
		Example: `  notesd mirror ~/Team
  NOTESD_STORE_POSTGRES=postgres://ann@db/notes notesd mirror ~/Team`,
		Args: takes("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o750); err != nil {
				return service.Usagef("Name a folder that you may write to.", "the folder cannot be made: %v", err)
			}
			if err := cmd.Flags().Set("vault", args[0]); err != nil {
				return err
			}
			cfg, err := a.settings(cmd)
			if err != nil {
				return err
			}
			if cfg.Store.Postgres == "" {
				return service.NoDatabase()
			}
			return service.Serve(cmd.Context(), cfg, a.serveOptions())
		},
	}
	cmd.Flags().String("http", "", "also serve MCP over HTTP at `addr`, as in 127.0.0.1:8931")
	return cmd
}

func importCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import DIR",
		Short: "Add a folder of notes to a team's vault",
		Long: `Add the files of the folder DIR to the vault in the PostgreSQL database of
store.postgres, once: the folder stays as it is, and is not kept in step.
Nothing in the vault is written over; a file is left out, and named, if the
vault has another with its name. Hidden and ignored files are left out.`,
		Example: `  notesd import ~/Notes
  NOTESD_STORE_VAULT=research notesd import --json ~/Papers | jq .left`,
		Args: takes("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.settings(cmd)
			if err != nil {
				return err
			}
			done, err := service.Import(cmd.Context(), cfg, args[0], service.DiscardLogs().Logger)
			if done.Place == "" { // nothing was begun
				return err
			}
			if a.json {
				return errors.Join(err, a.out.json(done))
			}
			for _, p := range done.Left {
				fmt.Fprintf(a.out, "! %s  %s\n", a.out.plain(p.Path), p.Reason)
			}
			a.note(fmt.Sprintf("added %s to the %s, which had %d already; %d left out", count(done.Added, "file"), done.Place, done.Unchanged, len(done.Left)))
			return err
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

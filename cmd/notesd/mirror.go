package main

import (
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

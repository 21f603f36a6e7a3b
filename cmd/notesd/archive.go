package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"notesd/internal/config"
	"notesd/internal/service"
)

func exportCommand(a *app) *cobra.Command {
	var asOf string
	cmd := &cobra.Command{
		Use:   "export --as-of TIME DIR",
		Short: "Export the notes as they were at a given time",
		Long: `Export the notes as they were at a given time to another folder, which must be
empty or not exist. TIME is a date, a date with a time of day, a period such as
"last week", of which the end counts, or an age: 36h, 90m.`,
		Example: `  notesd export --as-of 2026-01-31 ~/notes-in-january
  notesd export --as-of 2h /tmp/before-the-accident`,
		Args: takes("DIR"),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if asOf == "" {
				return service.Usagef("Write it as in --as-of 2026-01-31 or --as-of 36h.", "export needs --as-of TIME")
			}
			dir, err := filepath.Abs(dirs[0])
			if err != nil {
				return fmt.Errorf("find %s: %w", dirs[0], err)
			}
			return runOwner(cmd, a, service.MethodExport, service.OwnerParams{AsOf: asOf, Dir: dir}, func(done service.Exported) {
				fmt.Fprintf(a.out, "%s, as of %s, in %s\n", count(done.Notes, "note"), done.AsOf.Local().Format(time.DateTime), a.out.line(dir))
			})
		},
	}
	cmd.Flags().StringVar(&asOf, "as-of", "", "the `time`: a date, a date with a time of day, or an age")
	return cmd
}

func forgetCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "forget NOTE",
		Short: "Erase a deleted note and its history",
		Long: `Erase a deleted note: all its versions, the data derived from them, and damaged
databases that were set aside. NOTE is its path or an unambiguous name; all
deleted notes that ever had that path are erased. This cannot be undone.`,
		Example: `  notesd forget Private/Letter.md
  notesd forget --json Private/Letter.md`,
		Args: takes("NOTE"),
		RunE: func(cmd *cobra.Command, names []string) error {
			return runOwner(cmd, a, service.MethodForget, service.OwnerParams{Note: names[0]}, func(done service.Forgotten) {
				for _, p := range done.Paths {
					fmt.Fprintf(a.out, "forgotten: %s\n", a.out.path(p))
				}
				for _, name := range done.SetAside {
					fmt.Fprintf(a.out, "removed: %s, which had been set aside\n", a.out.line(name))
				}
				fmt.Fprintf(a.out, "removed: %s\n", count(done.Versions, "version"))
			})
		},
	}
}

func backupCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "backup DIR",
		Short: "Back up the history and the vector tables",
		Long: `Copy the history of the notes and the vector tables to a new folder, which is
safe while notesd runs. Back up the notes themselves like any other files. To
restore, stop notesd and copy history.db to the state directory, which "notesd
status" prints.`,
		Example: `  notesd backup ~/backups/notes-2026-01-31
  notesd backup --json /mnt/usb/notesd`,
		Args: takes("DIR"),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			dir, err := filepath.Abs(dirs[0])
			if err != nil {
				return fmt.Errorf("find %s: %w", dirs[0], err)
			}
			return runOwner(cmd, a, service.MethodBackup, service.OwnerParams{Dir: dir}, func(m service.Manifest) {
				fmt.Fprintf(a.out, "%s in %s\n", size(m.Bytes), a.out.line(dir))
			})
		},
	}
}

func adoptCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "adopt STATE",
		Short: "Take over the history of a renamed vault",
		Long: `Take over the history, the vector tables and the index of a vault that was
renamed or moved. A vault that is moved within its disk keeps them
automatically; if notesd cannot be sure, "notesd status" suggests the state
directory to pass as STATE. The history that the vault has now is set aside.`,
		Example: `  notesd adopt ~/.local/state/notesd/notes-0123456789ab
  notesd adopt --vault ~/Renamed ~/.local/state/notesd/notes-0123456789ab`,
		Args: takes("STATE"),
		RunE: a.configured(func(cmd *cobra.Command, dirs []string, cfg *config.Config) error {
			old, err := filepath.Abs(dirs[0])
			if err != nil {
				return fmt.Errorf("find %s: %w", dirs[0], err)
			}
			aside, err := service.Adopt(cmd.Context(), cfg, old)
			if err != nil {
				return err
			}
			return a.result(map[string]any{"vault": cfg.Vault.String(), "state": cfg.State, "adopted": old, "set_aside": aside}, func() {
				fmt.Fprintf(a.out, "taken over: %s\nIts history, vectors and tables are now those of %s.\n", a.out.line(old), a.out.line(cfg.Vault.String()))
				if aside != "" {
					a.note(fmt.Sprintf("The history until now is set aside as %s; delete it when it is not wanted.", aside))
				}
			})
		}),
	}
}

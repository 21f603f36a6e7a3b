package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/service"
)

func exportCommand(a *app) *cobra.Command {
	var asOf string
	cmd := &cobra.Command{
		Use:   "export --as-of TIME DIR",
		Short: "Write the folder of notes as it was",
		Long: `Write the notes as they were at a moment into another folder, which must be
empty or not exist. TIME is a date or "last week", of which the end counts, a
date with a time, or how long ago: 36h, 90m.`,
		Example: `  notesd export --as-of 2026-01-31 ~/notes-in-january
  notesd export --as-of 2h /tmp/before-the-accident`,
		Args: takes("DIR"),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if err := needs(cmd, "as-of"); err != nil {
				return err
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
	cmd.Flags().StringVar(&asOf, "as-of", "", "the moment: a date, a date with a `time`, or an age")
	return cmd
}

func forgetCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "forget NOTE",
		Short: "Remove every trace of a deleted note",
		Long: `Remove every trace of a deleted note: its versions, what was derived from them,
and damaged databases that were set aside. NOTE is its path, or a name that fits
no other; all deleted notes that ever had the path go. This cannot be undone.`,
		Example: `  notesd forget Private/Letter.md
  notesd forget --json Private/Letter.md`,
		Args: takes("NOTE"),
		RunE: func(cmd *cobra.Command, names []string) error {
			return runOwner(cmd, a, service.MethodForget, service.OwnerParams{Note: names[0]}, func(done service.Forgotten) {
				for _, p := range done.Paths {
					fmt.Fprintf(a.out, "forgotten: %s\n", a.out.path(a.out.line(p)))
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
		Short: "Copy what the notes alone cannot rebuild",
		Long: `Copy the history of the notes, and the tables of vectors, into a new folder,
also while notesd runs. Back the notes themselves up as you do other files. To
restore, put history.db into the state directory ("notesd status") while
nothing runs.`,
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
		Short: "Take over the history of a vault that was renamed",
		Long: `Take over what was kept of a vault that was renamed or moved: its history, its
tables of vectors and its index. A vault that was moved on its disk keeps them
by itself; where there is doubt, "notesd status" names the state directory that
may be meant, STATE. The history that the vault has by now is set aside.`,
		Example: `  notesd adopt ~/.local/state/notesd/notes-0123456789ab
  notesd adopt --vault ~/Renamed ~/.local/state/notesd/notes-0123456789ab`,
		Args: takes("STATE"),
		RunE: a.configured(func(cmd *cobra.Command, dirs []string, cfg *config.Config) error {
			old, err := filepath.Abs(dirs[0])
			if err != nil {
				return fmt.Errorf("find %s: %w", dirs[0], err)
			}
			aside, err := service.Adopt(cmd.Context(), cfg, helloOf(a.loaded, daemon.KindStatus), old)
			if err != nil {
				return err
			}
			return a.result(map[string]any{"vault": cfg.Vault.String(), "state": cfg.State, "adopted": old, "set_aside": aside}, func() {
				fmt.Fprintf(a.out, "taken over: %s\nIts history, vectors and tables are now those of %s.\n", a.out.line(old), a.out.line(cfg.Vault.Path))
				if aside != "" {
					a.note(fmt.Sprintf("The history until now is set aside as %s; delete it when it is not wanted.", aside))
				}
			})
		}),
	}
}

func tablesCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "tables [restore NAME]",
		Short: "List tables of vectors, or restore one",
		Long: `List the tables of vectors that assistants or you have made, and the dropped
ones that can be restored; or restore one, for seven days after it was dropped.`,
		Example: `  notesd tables
  notesd tables restore embeddings`,
		Args: func(_ *cobra.Command, words []string) error {
			if len(words) == 0 || len(words) == 2 && words[0] == "restore" {
				return nil
			}
			return service.Usagef("See notesd tables -h.", "tables takes no argument, or restore NAME")
		},
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 2 {
				return runOwner(cmd, a, service.MethodRestoreTable, service.OwnerParams{Table: words[1]}, func(l service.TableLine) {
					fmt.Fprintf(a.out, "%s is back, with %s\n", a.out.line(l.Name), count(l.Rows, "vector"))
				})
			}
			return runOwner(cmd, a, service.MethodTables, service.OwnerParams{}, a.printTables)
		},
	}
}

func (o *output) printTables(all service.Tables) {
	for _, l := range all.Tables {
		state := ""
		if l.Dropped != nil {
			state = "  dropped; can be restored until " + l.RestorableUntil.Local().Format("2006-01-02 15:04")
		}
		fmt.Fprintf(o.out, "%s  %s of %d, %s%s\n", o.out.bold(o.out.line(l.Name)), count(l.Rows, "vector"), l.Dimension, l.Metric, o.out.dim(state))
	}
	o.note(count(len(all.Tables), "table"))
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"notesd/notes/vault"
)

// What a backup has: the database of history and tables, and what it is.
const (
	backupHistory  = "history.db"
	backupManifest = "backup.json"
)

// manifest says of what a backup is one. It is written last, so a backup without
// it was interrupted.
type manifest struct {
	Version string    `json:"version"` // of notesd
	Vault   string    `json:"vault"`
	State   string    `json:"state"`
	Time    time.Time `json:"time"`
	Bytes   int64     `json:"bytes"`
}

func backupCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
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
			return a.withClient(cmd, func(ctx context.Context, c *client) error {
				var m manifest
				if err := c.ask(ctx, methodBackup, ownerParams{Dir: dir}, &m); err != nil {
					return err
				}
				if a.json {
					return a.out.json(m)
				}
				_, err = fmt.Fprintf(a.out, "%s in %s\n", size(m.Bytes), a.out.line(dir))
				return err
			})
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

// backUp writes a backup of the vault's state into dir, which must be empty or
// not exist.
func (s *service) backUp(ctx context.Context, vault *vault.Vault, dir string) (m manifest, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return m, fmt.Errorf("make the folder: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return m, fmt.Errorf("read the folder: %w", err)
	}
	if len(entries) > 0 {
		return m, &failure{Code: "exists", Message: fmt.Sprintf("%s is not empty", dir), Hint: "Name a folder that does not exist yet; a backup replaces nothing."}
	}
	history := filepath.Join(dir, backupHistory)
	if err := vault.Store().Backup(ctx, history); err != nil {
		return m, errors.Join(fmt.Errorf("copy the history: %w", err), removeIfThere(history))
	}
	if err := os.Chmod(history, 0o600); err != nil {
		return m, err
	}
	info, err := os.Stat(history)
	if err != nil {
		return m, err
	}
	m = manifest{Version: version(), Vault: vault.Root(), State: s.cfg.State, Time: time.Now().UTC().Truncate(time.Second), Bytes: info.Size()}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, err
	}
	return m, os.WriteFile(filepath.Join(dir, backupManifest), append(text, '\n'), 0o600)
}

func removeIfThere(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

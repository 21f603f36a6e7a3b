package service

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"notesd/notes/store"
)

// Manifest describes a backup. It is written last: a backup without one is incomplete.
type Manifest struct {
	Version string    `json:"version"` // of notesd
	Vault   string    `json:"vault"`
	State   string    `json:"state"`
	Time    time.Time `json:"time"`
	Bytes   int64     `json:"bytes"`
}

// backupManifest is a file of a backup, beside the database of history and tables.
const backupManifest = "backup.json"

// backUp writes a backup of the vault's state to dir, which must be empty or not exist.
func (s *Service) backUp(ctx context.Context, dir string) (m Manifest, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return m, fmt.Errorf("make the folder: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return m, fmt.Errorf("read the folder: %w", err)
	}
	if len(entries) > 0 {
		return m, &Failure{Code: "exists", Message: fmt.Sprintf("%s is not empty", dir), Hint: "Name a folder that does not exist yet; a backup replaces nothing."}
	}
	history := filepath.Join(dir, store.HistoryFile)
	if err := s.vault.Store().Backup(ctx, history); err != nil {
		_ = os.Remove(history) // best effort: it may be incomplete or missing
		return m, fmt.Errorf("copy the history: %w", err)
	}
	if err := os.Chmod(history, 0o600); err != nil {
		return m, err
	}
	info, err := os.Stat(history)
	if err != nil {
		return m, err
	}
	m = Manifest{Version: Version(), Vault: s.vault.Root(), State: s.cfg.State, Time: time.Now().UTC().Truncate(time.Second), Bytes: info.Size()}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, err
	}
	return m, writeDurably(filepath.Join(dir, backupManifest), append(text, '\n'))
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/notes/vault"
)

// vaultFile records in a state directory which vault the state belongs to. It is
// a file of its own because it must outlive a rebuilt notes.db, and because it
// is read before any database is opened.
const vaultFile = "vault.json"

// vaultRecord is the content of vaultFile.
type vaultRecord struct {
	Path string `json:"path"`         // absolute, without symbolic links
	ID   string `json:"id,omitempty"` // notes.FolderID; "" when it is not known
}

// readVaultRecord returns which vault a state directory belongs to; the zero
// record when nothing says so.
func readVaultRecord(state string) (vaultRecord, error) {
	var r vaultRecord
	data, err := os.ReadFile(filepath.Join(state, vaultFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, &failure{Code: "state", Message: fmt.Sprintf("%s cannot be read: %v", filepath.Join(state, vaultFile), err), Hint: "Delete that file; the next start writes it."}
	}
	return r, nil
}

// claimVault makes the configured vault the one that the state belongs to, or
// returns a *daemon.VaultError when it belongs to another. A folder with the
// recorded ID is the recorded vault at another path. The caller holds the lock
// of the state directory.
func claimVault(cfg *config.Config) error {
	recorded, err := readVaultRecord(cfg.State)
	if err != nil {
		return err
	}
	now := vaultRecord{Path: config.RealPath(cfg.Vault.Path), ID: vault.FolderID(cfg.Vault.Path)}
	switch {
	case recorded.Path == now.Path && (recorded.ID != "" || now.ID == ""):
		return nil // whether the folder at this path has been replaced is for the scan to judge
	case recorded.Path != "" && recorded.Path != now.Path && (now.ID == "" || recorded.ID != now.ID):
		return &daemon.VaultError{State: cfg.State, Owner: recorded.Path, Vault: now.Path}
	}
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	name := filepath.Join(cfg.State, vaultFile)
	if err := errors.Join(os.WriteFile(name+".new", append(data, '\n'), 0o600), os.Rename(name+".new", name)); err != nil {
		return fmt.Errorf("record the vault: %w", err)
	}
	return nil
}

// claimed returns the lock once the state is known to belong to the configured
// vault, and releases it otherwise.
func claimed(cfg *config.Config, lock *daemon.Lock) (*daemon.Lock, error) {
	if err := claimVault(cfg); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return lock, nil
}

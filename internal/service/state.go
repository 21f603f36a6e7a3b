package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"notesd/internal/atomicfile"
	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/notes/vault"
)

// MakePrivate makes the state directory, or takes others' permissions from it.
func MakePrivate(dir string) error {
	if _, err := daemon.SecureStateDir(dir); err != nil {
		return unusableState(err)
	}
	return nil
}

// unusableState adds to the failure of a state directory what to do about it.
func unusableState(err error) error {
	return &Failure{Code: "state", Message: err.Error(), Hint: "Name a folder that you may write to with --state DIR or with the variable NOTESD_STATE."}
}

// lockProblem is the error of a lock, with what to do where the state directory
// cannot be written to.
func lockProblem(err error) error {
	if atomicfile.IsReadOnlyDisk(err) || errors.Is(err, fs.ErrPermission) {
		return unusableState(err)
	}
	return err
}

// lockState takes the lock of the state directory. It does not wait for a
// process that serves.
func lockState(ctx context.Context, cfg *config.Config) (*daemon.Lock, error) {
	if err := MakePrivate(cfg.State); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		lock, err := daemon.Acquire(ctx, cfg.State, identity())
		if err == nil {
			return claimed(cfg, lock)
		}
		var locked *daemon.LockedError
		if !errors.As(err, &locked) || locked.Holder.Socket != "" {
			return nil, lockProblem(err)
		}
		select {
		case <-time.After(turnPoll):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// lockPatience is how long a server waits for a command that has the vault to
// itself just now; one that takes longer serves others meanwhile.
const lockPatience = 20 * time.Second

// DialOrLock returns a connection to the vault's daemon or, if none runs, the
// lock with which this process may serve the vault itself.
func DialOrLock(ctx context.Context, cfg *config.Config, hello daemon.Hello) (*daemon.Conn, *daemon.Lock, error) {
	if err := MakePrivate(cfg.State); err != nil {
		return nil, nil, err
	}
	turn, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	for {
		conn, err := daemon.Dial(turn, cfg.State, hello)
		if err == nil || !errors.Is(err, daemon.ErrNotRunning) {
			return conn, nil, err
		}
		lock, err := daemon.Acquire(turn, cfg.State, identity())
		if err == nil {
			lock, err = claimed(cfg, lock)
			return nil, lock, err
		}
		if !errors.Is(err, daemon.ErrLocked) {
			return nil, nil, lockProblem(err)
		}
		select { // for a command that has the vault, or a daemon that is not up yet
		case <-time.After(turnPoll):
		case <-turn.Done():
			return nil, nil, err
		}
	}
}

// turnPoll is how often a command looks whether the one before it is done.
const turnPoll = 20 * time.Millisecond

// turnTimeout is how long a command waits for one that has the vault to itself;
// a first index of a large vault may be among those.
const turnTimeout = time.Minute

// TakeOver stops the vault's daemon, if one runs, and takes its lock.
func TakeOver(ctx context.Context, cfg *config.Config, hello daemon.Hello) (*daemon.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	for {
		conn, lock, err := DialOrLock(ctx, cfg, hello)
		if conn == nil {
			return lock, err
		}
		pid := conn.Daemon.PID
		if err := errors.Join(conn.Close(), Terminate(pid)); err != nil {
			return nil, fmt.Errorf("stop the daemon (process %d): %w", pid, err)
		}
		select { // until it has said that it is closing
		case <-time.After(turnPoll):
		case <-ctx.Done():
			return nil, fmt.Errorf("stop the daemon (process %d): %w", pid, ctx.Err())
		}
	}
}

// derivedFiles are what the state directory has that can be built again from the
// notes. The history is not among them.
var derivedFiles = []string{indexDir, "notes.db", "notes.db-wal", "notes.db-shm", "notes.db.closed"}

// DiscardDerived removes from a state directory what can be built again from the
// notes.
func DiscardDerived(dir string) error {
	for _, name := range derivedFiles {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("discard the old index: %w", err)
		}
	}
	return nil
}

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
		return r, &Failure{Code: "state", Message: fmt.Sprintf("%s cannot be read: %v", filepath.Join(state, vaultFile), err), Hint: "Delete that file; the next start writes it."}
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

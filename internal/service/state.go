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

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/sqlite"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// lockState acquires the lock of the state directory for the configured vault.
func lockState(ctx context.Context, cfg *config.Config) (*daemon.Lock, error) {
	if err := prepare(cfg); err != nil {
		return nil, err
	}
	lock, err := daemon.Acquire(ctx, cfg.State, identity())
	if err != nil {
		return nil, err
	}
	return claimed(ctx, cfg, lock)
}

// TakeOver stops the vault's daemon, if one runs, and acquires its lock. It reports whether
// one ran.
func TakeOver(ctx context.Context, cfg *config.Config) (lock *daemon.Lock, ran bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, takeOverTimeout)
	defer cancel()
	for {
		conn, lock, err := DialOrLock(ctx, cfg, HelloOf(cfg, daemon.KindStatus), nil)
		if conn == nil {
			return lock, ran, err
		}
		ran = true
		// The daemon waits for its sessions, and this connection is one. Other clients
		// may start another daemon in the meantime, hence the loop.
		if err := conn.Close(); err != nil {
			return nil, ran, err
		}
		if _, err := daemon.Stop(ctx, cfg.State, HelloOf(cfg, daemon.KindRestart)); err != nil {
			return nil, ran, err
		}
	}
}

// takeOverTimeout bounds TakeOver while other clients keep starting daemons.
const takeOverTimeout = time.Minute

// DialOrLock returns a connection to the vault's daemon or, if none runs, the lock that
// entitles this process to serve the vault. If successor is not nil, it starts a daemon in
// place of one of an older program.
func DialOrLock(ctx context.Context, cfg *config.Config, hello daemon.Hello, successor func(context.Context) error) (*daemon.Conn, *daemon.Lock, error) {
	if err := prepare(cfg); err != nil {
		return nil, nil, err
	}
	var lock *daemon.Lock
	daemons := daemon.Connector{Dir: cfg.State, Hello: hello, Successor: successor, Start: func(ctx context.Context) (err error) {
		if lock, err = daemon.Acquire(ctx, cfg.State, identity()); err == nil {
			err = errLockTaken
		}
		return err
	}}
	conn, err := daemons.Connect(ctx)
	if lock != nil {
		lock, err = claimed(ctx, cfg, lock)
		return nil, lock, err
	}
	return conn, nil, err
}

// errLockTaken ends the search for a daemon: this process is to serve the vault.
var errLockTaken = errors.New("this process has the lock")

// prepare creates the state directory, and the vault's own folder in it if the vault
// has no other.
func prepare(cfg *config.Config) error {
	err := MakePrivate(cfg.State)
	if err == nil && cfg.HasOwnFolder() {
		err = os.MkdirAll(cfg.Vault.Path, 0o700)
	}
	return err
}

// MakePrivate creates the state directory, or makes an existing one accessible only to
// the user.
func MakePrivate(dir string) error {
	if _, err := daemon.SecureStateDir(dir); err != nil {
		return &Failure{Code: "state", Message: err.Error(), Hint: stateHint}
	}
	return nil
}

// claimed returns the lock if the state belongs to the configured vault, and releases
// it otherwise. A new state directory inherits the state of the vault's former name.
func claimed(ctx context.Context, cfg *config.Config, lock *daemon.Lock) (*daemon.Lock, error) {
	if err := claimVault(ctx, cfg); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	inherit(ctx, cfg)
	return lock, nil
}

// claimVault records the configured vault as the owner of the state, or returns a
// *daemon.VaultError if another vault owns it. A folder with the recorded ID is the
// recorded vault at a new path, and folders may have been added to a vault of several.
// A folder with another ID at the recorded path is the recorded vault if it has most of
// its notes, as after a disk got a new device number.
// The caller must hold the lock of the state directory.
func claimVault(ctx context.Context, cfg *config.Config) error {
	recorded, err := readVaultRecord(cfg.State)
	if err != nil {
		return err
	}
	now := recordOf(cfg.Vault)
	switch {
	case recorded.Path == now.Path && (recorded.ID == now.ID || now.ID == ""):
		return nil
	case recorded.Path == now.Path && recorded.ID != "" && hasHistory(cfg.State) && !isStateOf(ctx, cfg.State, cfg.Vault.Path):
		return nil // the scan detects a mount point or a replaced folder
	case recorded.isIn(now):
	case recorded.Path != "" && recorded.Path != now.Path && (now.ID == "" || recorded.ID != now.ID):
		return &daemon.VaultError{State: cfg.State, Owner: recorded.Path, Vault: now.Path}
	}
	data, err := json.Marshal(now)
	if err == nil {
		err = writeDurably(filepath.Join(cfg.State, vaultFile), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("record the vault: %w", err)
	}
	return nil
}

// writeDurably writes a file so that its name never refers to an incomplete one, even after a
// loss of power.
func writeDurably(name string, data []byte) error {
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// vaultFile records which vault a state directory belongs to. It is a separate file
// because it outlives a rebuilt notes.db and is read before any database is opened.
const vaultFile = "vault.json"

// vaultRecord is the content of vaultFile.
type vaultRecord struct {
	Path string `json:"path"`         // absolute, without symbolic links
	ID   string `json:"id,omitempty"` // from disk.FolderID; "" if unknown

	Folders config.Folders `json:"folders,omitempty"` // of a vault with several folders; Path is then "NAME=PATH,…"
}

// recordOf returns the record of the configured vault.
func recordOf(vault config.Vault) vaultRecord {
	r := vaultRecord{Path: vault.ID()}
	if vault.Path != "" {
		r.ID = disk.FolderID(vault.Path)
		return r
	}
	r.Folders = config.ParseVault(r.Path).Folders
	return r
}

// isIn reports whether other contains each of the folders under the same name. It is
// false for a vault of one folder.
func (r vaultRecord) isIn(other vaultRecord) bool {
	for name, dir := range r.Folders {
		if other.Folders[name] != dir {
			return false
		}
	}
	return len(r.Folders) > 0
}

// isThere reports whether the recorded vault, or one of its folders, exists.
func (r vaultRecord) isThere() bool {
	for _, dir := range config.ParseVault(r.Path).Dirs() {
		if isThere(dir) {
			return true
		}
	}
	return false
}

// readVaultRecord returns the vault that a state directory belongs to, or the zero
// record if none is recorded.
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

// derivedFiles lists the files in the state directory that can be rebuilt from the
// notes. The history cannot.
var derivedFiles = []string{indexDir, "notes.db", "notes.db-wal", "notes.db-shm", "notes.db.closed"}

// DiscardDerived removes the files that can be rebuilt from the notes. It removes nothing, and
// returns [sqlite.ErrNewer], if the history is of a newer version.
func DiscardDerived(ctx context.Context, dir string) error {
	history := filepath.Join(dir, store.HistoryFile)
	if _, err := os.Stat(history); err == nil {
		db, err := sqlite.Open(ctx, history, sqlite.HistorySchema)
		if err == nil {
			err = db.Close()
		}
		if errors.Is(err, sqlite.ErrNewer) { // the store, opened next, salvages a damaged one
			return err
		}
	}
	for _, name := range derivedFiles {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("discard the old index: %w", err)
		}
	}
	return nil
}

package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/fsid"
	"notesd/notes/store"
)

// An orphan is the state directory of a vault that no longer exists.
type orphan struct {
	state string
	vault string // former path of the vault
	same  bool   // whether it is the configured vault under a former name
}

// addOrphans warns of states that may belong to this vault: the same folder under
// another name, or a vault whose notes are mostly in this one. It searches once, after
// the first scan.
func (r *reporter) addOrphans(ctx context.Context) {
	if !r.s.vault.Ready() {
		return
	}
	r.s.orphansOnce.Do(func() {
		r.s.orphans = slices.DeleteFunc(orphans(r.s.cfg), func(o orphan) bool { return !o.same && !r.s.vault.Store().HasMostOf(ctx, o.state) })
	})
	for _, o := range r.s.orphans {
		if hasHistory(o.state) { // otherwise adopted or deleted since
			r.Warnings = append(r.Warnings, o.warning(r.s.vault.Root()))
		}
	}
}

// warning returns a warning about the orphan, with the command that adopts it.
func (o orphan) warning(vault string) string {
	adopt := fmt.Sprintf("notesd adopt --vault %q %q", vault, o.state)
	if o.same {
		return fmt.Sprintf("this folder was %s, and the history of that time is kept apart. To take it over, run: %s", o.vault, adopt)
	}
	return fmt.Sprintf("%s is not there, and most of its notes are in this vault. If it was moved here, take its history over with: %s", o.vault, adopt)
}

// inherit moves the state of the vault's former name into its state directory if that
// is new and the match is certain: exactly one state records this folder's ID under a
// path that no longer exists, and most of its notes are unchanged files of the folder.
// The ID alone does not suffice, because file systems reuse inode numbers. A vault of
// several folders inherits the state that it had before folders were added. If the
// match is uncertain or the state cannot be moved, status and doctor suggest adopting
// it. The caller must hold the lock of cfg.State.
func inherit(ctx context.Context, cfg *config.Config) {
	if hasHistory(cfg.State) {
		return
	}
	same := slices.DeleteFunc(orphans(cfg), func(o orphan) bool { return !o.same })
	if len(cfg.Vault.Folders) > 0 {
		same = ofFewer(cfg)
	}
	if len(same) != 1 {
		return
	}
	former := *cfg
	former.Vault = config.ParseVault(same[0].vault)
	if _, err := daemon.Stop(ctx, same[0].state, HelloOf(&former, daemon.KindRestart)); err != nil {
		return
	}
	lock, err := daemon.Acquire(ctx, same[0].state, identity())
	if err != nil {
		return
	}
	if (len(cfg.Vault.Folders) > 0 || isStateOf(ctx, same[0].state, cfg.Vault.Path)) && moveState(same[0].state, cfg.State) == nil {
		defer func() { _ = os.RemoveAll(same[0].state) }() // only locks and logs are left
	}
	_ = lock.Release() // the state was moved, or status will suggest it
}

// orphans returns the states whose vaults no longer exist.
func orphans(cfg *config.Config) []orphan {
	var found []orphan
	now, records := recordOf(cfg.Vault), others(cfg)
	for _, state := range slices.Sorted(maps.Keys(records)) {
		if record := records[state]; record.Path != "" && !record.isThere() {
			found = append(found, orphan{state: state, vault: record.Path, same: now.ID != "" && record.ID == now.ID})
		}
	}
	return found
}

// ofFewer returns the states of vaults with a subset of the configured vault's folders,
// limited to those with the most folders.
func ofFewer(cfg *config.Config) []orphan {
	now, most := recordOf(cfg.Vault), 0
	var found []orphan
	for state, record := range others(cfg) {
		if !record.isIn(now) || len(record.Folders) < most {
			continue
		}
		if len(record.Folders) > most {
			found, most = nil, len(record.Folders)
		}
		found = append(found, orphan{state: state, vault: record.Path, same: true})
	}
	return found
}

// others returns the vaults recorded in the other state directories, by directory. It
// skips states that have no history or cannot be read.
func others(cfg *config.Config) map[string]vaultRecord {
	dir := filepath.Dir(cfg.State)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	records := map[string]vaultRecord{}
	for _, e := range entries {
		state := filepath.Join(dir, e.Name())
		if record, err := readVaultRecord(state); err == nil && state != cfg.State && hasHistory(state) {
			records[state] = record
		}
	}
	return records
}

// isStateOf reports whether most notes in a state are unchanged files of the folder.
// The state must not be in use.
func isStateOf(ctx context.Context, state, folder string) bool {
	s, err := store.Open(ctx, state) // opening and closing checkpoints the write-ahead logs of a crash
	if err != nil {
		return false
	}
	is, err := s.IsOf(ctx, folder)
	return errors.Join(err, s.Close()) == nil && is
}

// Adopt moves the content of the state directory old into the configured one. It
// returns the name under which it kept the previous history. The history is moved
// first, because everything else can be rebuilt after a crash.
func Adopt(ctx context.Context, cfg *config.Config, old string) (aside string, err error) {
	if err := adoptable(cfg, old); err != nil {
		return "", err
	}
	conn, lock, err := DialOrLock(ctx, cfg, HelloOf(cfg, daemon.KindStatus), nil)
	if err != nil {
		return "", err
	}
	if conn != nil {
		return "", errors.Join(&Failure{Code: "locked", Message: "a daemon serves the vault", Hint: "Close the programs that use it, run notesd stop, and try again."}, conn.Close())
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if !hasHistory(old) {
		return "", nil // DialOrLock has just inherited it
	}
	oldLock, err := daemon.Acquire(ctx, old, identity())
	if err != nil {
		return "", err
	}
	for _, state := range []string{old, cfg.State} { // checkpoints the write-ahead logs of a crash
		store, err := store.Open(ctx, state)
		if err != nil {
			return "", errors.Join(err, oldLock.Release())
		}
		if err := store.Close(); err != nil {
			return "", errors.Join(err, oldLock.Release())
		}
	}
	aside, err = replaceState(cfg.State, old)
	if err = errors.Join(err, oldLock.Release()); err != nil {
		return "", err
	}
	return aside, os.RemoveAll(old)
}

// replaceState moves the vault's files from old to state, and returns the name under which it
// kept the history of state. If the history of old cannot be moved, as between disks, state
// keeps its own.
func replaceState(state, old string) (aside string, err error) {
	history := filepath.Join(state, store.HistoryFile)
	aside = history + ".replaced-" + time.Now().UTC().Format("20060102T150405.000")
	if err := os.Rename(history, aside); err != nil {
		return "", err
	}
	err = moveState(old, state)
	if err != nil && !hasHistory(state) {
		err = errors.Join(err, os.Rename(aside, history))
	}
	return aside, err
}

// adoptable returns an error unless old is the state of a vault that no longer exists.
func adoptable(cfg *config.Config, old string) error {
	record, err := readVaultRecord(old)
	now := recordOf(cfg.Vault)
	switch {
	case err != nil:
		return err
	case record.Path == "" || !hasHistory(old):
		return &Failure{Code: "not_found", Message: old + " is not the state directory of a vault", Hint: "notesd status names the one that may be taken over."}
	case fsid.RealPath(old) == fsid.RealPath(cfg.State):
		return &Failure{Code: "conflict", Message: "it is the state of this vault already"}
	case record.isThere() && record.Path != now.Path && !record.isIn(now) && !now.isIn(record):
		return &Failure{Code: "conflict", Message: fmt.Sprintf("%s is the state of %s, which is still there", old, record.Path), Hint: "Only the state of a vault that is gone can be taken over."}
	}
	return nil
}

// ofTheState matches files that belong to a state directory rather than to its vault:
// locks, sockets and logs.
var ofTheState = regexp.MustCompile(`^(daemon\.lock|start\.lock|vault\.json(\.new)?|.*\.sock|notesd\.log.*)$`)

// moveState moves the vault's files, its history first.
func moveState(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	names := []string{store.HistoryFile}
	for _, e := range entries {
		if e.Name() != store.HistoryFile && !ofTheState.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(to, name)); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

func hasHistory(state string) bool { return isThere(filepath.Join(state, store.HistoryFile)) }

// isThere reports whether the file exists, or true if that cannot be determined.
func isThere(name string) bool {
	_, err := fsid.InTime(name, fsid.Patience, func() (fs.FileInfo, error) { return os.Lstat(name) })
	return !errors.Is(err, fs.ErrNotExist)
}

package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"notesd/internal/config"
	"notesd/internal/mirror"
	"notesd/notes"
	"notesd/notes/pglog"
)

// openMirror opens the mirror that keeps the vault's folder in sync with its database.
// It does not wait for the database.
func (s *Service) openMirror(ctx context.Context) (err error) {
	var db *pglog.Database
	o := mirror.Options{Author: notes.Author{Name: userName()}, History: historyLimits(s.cfg), Log: s.logs.Logger, Patience: Waits.Mirror}
	if s.team != nil {
		db, o.Placed = s.team.db, s.core.FilesChanged // this vault has no watcher
	} else {
		if err := checkAsked(s.cfg); err != nil {
			return err
		}
		if db, err = OpenDatabase(s.cfg, o.Log); err != nil {
			return err
		}
		s.closers = append(s.closers, db.Close)
	}
	if s.mirror.Mirror, err = mirror.Open(ctx, s.cfg.State, db.Log(s.cfg.Store.Vault), o); err != nil {
		return fmt.Errorf("open the mirror: %w", err)
	}
	s.closers = append(s.closers, s.mirror.Close)
	return nil
}

// checkAsked returns a failure if the vault's files would be shared for the first time
// although no file, variable or command names the vault together with the database: the
// database may be in the configuration file of all vaults, and the vault may be private.
func checkAsked(cfg *config.Config) error {
	if !cfg.Store.Unasked || isThere(filepath.Join(cfg.State, mirror.File)) {
		return nil
	}
	entries, err := os.ReadDir(cfg.Vault.Path)
	if err != nil {
		return nil //nolint:nilerr // the vault reports it
	}
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }) {
		return nil
	}
	return &Failure{
		Code:    "config",
		Message: "the files in " + notes.Quote(cfg.Vault.Path) + " are not in the database of store.postgres, and would be shared with everyone who uses it",
		Hint:    "To share them, run: notesd mirror FOLDER. To keep them private, use a configuration file without store.postgres (--config).",
	}
}

// Import adds the files in dir to the configured vault in the database. See
// [mirror.Import].
func Import(ctx context.Context, cfg *config.Config, dir string) (done mirror.Imported, err error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is a file")
	}
	if err != nil {
		return done, Usagef("Name a folder of notes.", "%s cannot be imported: %v", notes.Quote(dir), err)
	}
	log := DiscardLogs().Logger
	db, err := OpenDatabase(cfg, log)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	temp, err := os.MkdirTemp("", "notesd-import-")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	return mirror.Import(ctx, dir, temp, db.Log(cfg.Store.Vault), mirror.ImportOptions{
		Ignore: cfg.Vault.Ignore, MaxNoteBytes: int64(cfg.Limits.NoteBytes), Author: notes.Author{Name: userName()}, Log: log,
	})
}

// OpenDatabase returns the database of store.postgres, which must be set. It connects on
// first use.
func OpenDatabase(cfg *config.Config, log *slog.Logger) (*pglog.Database, error) {
	db, err := pglog.Open(string(cfg.Store.Postgres), log)
	if err != nil {
		return nil, &Failure{Code: "config", Message: "store.postgres: " + err.Error(), Hint: "Correct it in notesd.toml."}
	}
	return db, nil
}

func historyLimits(cfg *config.Config) notes.HistoryLimits {
	return notes.HistoryLimits{Revisions: cfg.History.Keep, Age: cfg.History.Age, Bytes: int64(cfg.History.Size)}
}

// userName returns the author recorded for changes made in this machine's folder.
func userName() string {
	host, _ := os.Hostname() // "" if unknown
	name := "user"
	if u, err := user.Current(); err == nil {
		name = u.Username[strings.LastIndexByte(u.Username, '\\')+1:] // on Windows, the domain comes first
	}
	return name + "@" + host
}

func (r *reporter) addMirror(ctx context.Context) error {
	if r.s.mirror.Mirror == nil {
		if file := filepath.Join(r.s.cfg.State, mirror.File); isThere(file) {
			r.Warnings = append(r.Warnings, "the folder was in step with a database and is not now, as store.postgres is not set; to leave that for good, delete "+file)
		}
		return nil
	}
	st, err := r.s.mirror.Status(ctx)
	if err != nil {
		return err
	}
	r.Shared = &st
	if st.Error != "" {
		r.Warnings = append(r.Warnings, "the folder and the database are not in step: "+st.Error)
	}
	if !st.Replaced.IsZero() {
		r.Warnings = append(r.Warnings, "the database was replaced with another or an older copy of the vault, found at "+st.Replaced.Format(time.DateTime)+"; every file was compared, and both versions are kept where they differ")
	}
	for _, problem := range st.Problems {
		r.Warnings = append(r.Warnings, "not in the database, or another version: "+problem)
	}
	for _, name := range st.Conflicts {
		if notes.IsNoteName(name) {
			continue // counted with those of sync programs
		}
		r.Warnings = append(r.Warnings, "changed here and elsewhere; what this folder had is in "+notes.Quote(name))
	}
	return nil
}

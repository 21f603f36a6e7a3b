package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"notesd/internal/fsid"
	"notesd/internal/sqlite"
	"notesd/notes"
)

// Files accesses the lists of other files in the vault: attachments, skipped files and
// symlinks.
type Files struct{ s *Store }

// Files returns the store's lists of other files. Files are identified by their paths.
func (s *Store) Files() Files { return Files{s} }

// Record updates the lists of attachments and skipped files to match the scan, and
// writes only if they differ. Entries for files that the scan did not find are kept if
// unknown reports that their folder could not be read.
func (f Files) Record(ctx context.Context, p Scan, unknown func(name string) bool) error {
	if err := f.recordSymlinks(ctx, p, unknown); err != nil {
		return err
	}
	wantFiles, wantSkipped := map[string]string{}, map[string]Skipped{}
	for _, a := range p.Attachments {
		wantFiles[a.Path] = a.DiskPath
	}
	for _, k := range p.Skipped {
		wantSkipped[k.Path] = k
	}
	haveFiles, haveSkipped, err := f.have(ctx, p)
	if err != nil {
		return err
	}
	for name, diskPath := range haveFiles {
		if unknown(name) && wantFiles[name] == "" {
			wantFiles[name] = diskPath
		}
	}
	for name, k := range haveSkipped {
		if _, found := wantSkipped[name]; !found && unknown(name) {
			wantSkipped[name] = k
		}
	}
	for _, name := range p.Kept {
		if k, ok := haveSkipped[name]; ok {
			wantSkipped[name] = k
		}
	}
	filesGone, filesNew := difference(haveFiles, wantFiles)
	skippedGone, skippedNew := difference(haveSkipped, wantSkipped)
	if len(filesGone)+len(filesNew)+len(skippedGone)+len(skippedNew) == 0 {
		return nil
	}
	return f.s.notes.Write(ctx, func(tx *sql.Tx) error {
		if err := execAll(ctx, tx, `DELETE FROM skipped WHERE path IN (SELECT value FROM json_each(?))`, sqlite.List(skippedGone)); err != nil {
			return err
		}
		for _, name := range skippedNew {
			if err := insertSkipped(ctx, tx, wantSkipped[name]); err != nil {
				return err
			}
		}
		return f.write(ctx, tx, filesGone, filesNew, wantFiles)
	})
}

// difference returns the keys to remove from have and those to write to turn it into
// want.
func difference[V comparable](have, want map[string]V) (gone, changed []string) {
	for k := range have {
		if _, ok := want[k]; !ok {
			gone = append(gone, k)
		}
	}
	for k, v := range want {
		if have[k] != v {
			changed = append(changed, k)
		}
	}
	return gone, changed
}

// AddSkipped adds skipped files to the list.
func (f Files) AddSkipped(ctx context.Context, skipped []Skipped) error {
	if len(skipped) == 0 {
		return nil
	}
	return f.s.notes.Write(ctx, func(tx *sql.Tx) error {
		for _, k := range skipped {
			if err := insertSkipped(ctx, tx, k); err != nil {
				return err
			}
		}
		return nil
	})
}

// insertSkipped adds a skipped file to the list.
func insertSkipped(ctx context.Context, tx *sql.Tx, k Skipped) error {
	return execAll(ctx, tx, `INSERT OR REPLACE INTO skipped (path, reason, size, mtime, ctime) VALUES (?, ?, ?, ?, ?)`,
		k.Path, k.Reason, k.Stat.Size, k.Stat.Mtime, k.Stat.Ctime)
}

// write updates the attachments, and resolves the links that name one of them.
func (f Files) write(ctx context.Context, tx *sql.Tx, gone, changed []string, diskPaths map[string]string) error {
	if err := execAll(ctx, tx, `DELETE FROM attachments WHERE path IN (SELECT value FROM json_each(?))`, sqlite.List(gone)); err != nil {
		return err
	}
	keys := make([]string, 0, len(gone)+len(changed))
	for _, name := range gone {
		keys = append(keys, notes.Key(path.Base(name)))
	}
	for _, name := range changed {
		k := notes.Key(path.Base(name))
		keys = append(keys, k)
		if err := execAll(ctx, tx, `INSERT INTO attachments (path, disk_path, name_key) VALUES (?, ?, ?)
			ON CONFLICT (path) DO UPDATE SET disk_path = excluded.disk_path`, name, diskPaths[name], k); err != nil {
			return err
		}
	}
	return f.s.resolve(ctx, tx, linksWithKeys, sqlite.List(keys))
}

// MoveFolder changes the paths of the attachments in a folder that an operation has moved,
// so that the next operation finds them there.
func (f Files) MoveFolder(ctx context.Context, folder FileChange) error {
	return f.s.notes.Write(ctx, func(tx *sql.Tx) error {
		keys, err := sqlite.Column[string](ctx, tx, `UPDATE OR REPLACE attachments
			SET path = ?2 || substr(path, length(?1) + 1), disk_path = ?4 || substr(disk_path, length(?3) + 1)
			WHERE path > ?1 || '/' AND path < ?1 || '0' RETURNING name_key`,
			folder.OldPath, folder.NewPath, folder.OldDisk, folder.NewDisk)
		if err != nil {
			return err
		}
		return f.s.resolve(ctx, tx, linksWithKeys, sqlite.List(keys))
	})
}

// linksWithKeys selects the links whose target ends with one of the names in a list.
const linksWithKeys = `(SELECT DISTINCT value FROM json_each(?)) k CROSS JOIN links l ON l.target_key = k.value`

// have returns the stored attachments and skipped files that the scan covers.
func (f Files) have(ctx context.Context, p Scan) (attachments map[string]string, skipped map[string]Skipped, err error) {
	from, args := ` FROM %s f`, []any(nil)
	if !p.Whole {
		var scanned []string
		for _, name := range p.Scanned {
			scanned = append(scanned, name, name+TwinMark)
		}
		from, args = ` FROM json_each(?) j CROSS JOIN %s f ON f.path = j.value OR (f.path > j.value || '/' AND f.path < j.value || '0')`, []any{sqlite.List(scanned)}
	}
	err = f.s.notes.Read(ctx, func(tx *sql.Tx) error {
		if attachments, err = sqlite.Map[string, string](ctx, tx, `SELECT f.path, f.disk_path`+fmt.Sprintf(from, "attachments"), args...); err != nil {
			return err
		}
		skipped, err = selectSkipped(ctx, tx, fmt.Sprintf(from, "skipped"), args...)
		return err
	})
	return attachments, skipped, err
}

func selectSkipped(ctx context.Context, q sqlite.Querier, from string, args ...any) (map[string]Skipped, error) {
	skipped := map[string]Skipped{}
	err := sqlite.ForEach(ctx, q, `SELECT f.path, f.reason, f.size, f.mtime, f.ctime`+from, args, func(rows *sql.Rows) error {
		var k Skipped
		err := rows.Scan(&k.Path, &k.Reason, &k.Stat.Size, &k.Stat.Mtime, &k.Stat.Ctime)
		skipped[k.Path] = k
		return err
	})
	return skipped, err
}

// PassedOver returns the skipped files by path, so that unchanged ones are not read
// again.
func (f Files) PassedOver(ctx context.Context) (map[string]Skipped, error) {
	return selectSkipped(ctx, f.s.notes.Reader(), ` FROM skipped f`)
}

// Skipped returns the first skipped files, by path, and their total number.
func (f Files) Skipped(ctx context.Context, limit int) (list []notes.Skipped, total int, err error) {
	err = f.s.notes.Read(ctx, func(tx *sql.Tx) error {
		if total, err = sqlite.First[int](ctx, tx, `SELECT count(*) FROM skipped`); err != nil {
			return err
		}
		list, err = sqlite.All(ctx, tx, func(k *notes.Skipped) []any { return []any{&k.Path, &k.Reason} }, `SELECT path, reason FROM skipped ORDER BY path LIMIT ?`, limit)
		return err
	})
	return append([]notes.Skipped{}, list...), total, err
}

// Scan is the result of a scan, apart from notes.
type Scan struct {
	Attachments []File
	Skipped     []Skipped
	Kept        []string          // skipped files that are unchanged
	Scanned     []string          // the scanned paths; nil for the whole vault
	Whole       bool              // covers the whole vault
	Targets     map[string]string // where symlinks lead
}

// Skipped is a skipped file with its stat, by which a change is detected.
type Skipped struct {
	notes.Skipped
	Stat fsid.Stat
}

// File is a file found by a walk.
type File struct {
	Path     string // NFC: the note's name
	DiskPath string // as the file system spells it
	Stat     fsid.Stat
}

func (f *File) columns() []any { return []any{&f.Path, &f.DiskPath} }

// TwinMark distinguishes a skipped file from the note whose path is the same in NFC.
const TwinMark = " (other Unicode form)"

// symlinksSetting is the setting that maps the path of each symlink to that of its
// target, folded.
const symlinksSetting = "symlinks"

// recordSymlinks stores the symlinks found by the scan, before any note is read through
// one.
func (f Files) recordSymlinks(ctx context.Context, p Scan, unknown func(name string) bool) error {
	have := map[string]string{}
	if err := f.s.Setting(ctx, symlinksSetting, &have); err != nil {
		return err
	}
	want := maps.Clone(have)
	maps.DeleteFunc(want, func(name, _ string) bool {
		looked := p.Whole || slices.ContainsFunc(p.Scanned, func(place string) bool { return notes.Under(name, place) })
		return looked && !unknown(name)
	})
	for name, target := range p.Targets {
		want[name] = notes.Key(target)
	}
	if maps.Equal(have, want) {
		return nil
	}
	err := f.s.history.Write(ctx, func(tx *sql.Tx) error {
		const add = `INSERT OR IGNORE INTO symlinks (path, target) SELECT key, value FROM json_each(?)`
		return errors.Join(execAll(ctx, tx, add, jsonText(have)), execAll(ctx, tx, add, jsonText(want)))
	})
	if err != nil {
		return err
	}
	return f.s.SaveSetting(ctx, symlinksSetting, want)
}

// Symlinks returns the path of each symlink with the folded path of its target.
func (f Files) Symlinks(ctx context.Context) (targets map[string]string, err error) {
	return targets, f.s.Setting(ctx, symlinksSetting, &targets)
}

// Under returns the paths of the attachments below the folder.
func (f Files) Under(ctx context.Context, folder string) ([]string, error) {
	return sqlite.Column[string](ctx, f.s.notes.Reader(), `SELECT path FROM attachments WHERE path > ?1 || '/' AND path < ?1 || '0' ORDER BY path`, folder)
}

// Linked returns the attachment at this path, ignoring case if there is no exact match, that a
// note within the scope links to or that is a canvas or base. If there is none, file is zero
// and others has the paths of such attachments with the same file name.
func (f Files) Linked(ctx context.Context, name string, scope notes.Scope) (file File, others []string, err error) {
	where, args := filterSQL(notes.Filter{Scope: scope.Read})
	args = append([]any{notes.Key(path.Base(name))}, args...)
	var folded File
	err = f.s.notes.Read(ctx, func(tx *sql.Tx) error {
		return sqlite.ForEach(ctx, tx, `SELECT a.path, a.disk_path FROM attachments a WHERE a.name_key = ? AND (`+isCanvas+` OR EXISTS
			(SELECT 1 FROM links l JOIN notes n ON n.id = l.note WHERE l.attachment = a.id AND `+where+`)) ORDER BY a.path`, args, func(rows *sql.Rows) error {
			var found File
			err := rows.Scan(found.columns()...)
			switch {
			case err != nil || !scope.CanRead(found.Path):
			case found.Path == name:
				file = found
			case notes.Key(found.Path) == notes.Key(name):
				folded = found
			case len(others) < maxCandidates:
				others = append(others, found.Path)
			}
			return err
		})
	})
	if file.Path == "" {
		file = folded
	}
	return file, others, err
}

// LinkedBy returns the attachments that a note links to, without duplicates, in
// the order of their first links.
func (f Files) LinkedBy(ctx context.Context, note int64) ([]File, error) {
	return sqlite.All(ctx, f.s.notes.Reader(), (*File).columns, `SELECT a.path, a.disk_path FROM links l JOIN attachments a ON a.id = l.attachment
		WHERE l.note = ? GROUP BY a.id ORDER BY min(l.ordinal)`, note)
}

// isCanvas matches the paths of canvases and bases.
const isCanvas = `(path LIKE '%.canvas' OR path LIKE '%.base')`

// Canvases returns the canvases and bases of the vault, which name notes by path.
func (f Files) Canvases(ctx context.Context) ([]File, error) {
	return sqlite.All(ctx, f.s.notes.Reader(), (*File).columns, `SELECT path, disk_path FROM attachments WHERE `+isCanvas+` ORDER BY path`)
}

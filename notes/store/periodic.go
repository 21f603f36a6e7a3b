package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
	"unicode"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// periods returns the periods that filters name at the current time, for one goroutine.
func (s *Reader) periods() notes.Periods { return s.calendar().Filter(s.Now()) }

// PeriodicPath returns the path, existing or not, of the periodic note that ref names,
// and its period; "" if ref names no period, or the scope may not read that path.
// Obsidian's settings determine the location; without them, the newest daily notes of
// the vault do.
func (s *Reader) PeriodicPath(ctx context.Context, ref string, scope notes.Scope) (p string, period notes.Period, err error) {
	if _, ok := s.Period(ref, s.Now()); !ok {
		return "", period, nil
	}
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		p, period, err = s.periodicPath(ctx, tx, ref, scope)
		return err
	})
	return p, period, err
}

func (s *Reader) periodicPath(ctx context.Context, tx *sql.Tx, ref string, scope notes.Scope) (string, notes.Period, error) {
	folder := s.DailyFolder(scope)
	periodic := s.AppOf(folder).Periodic
	period, ok := periodic.Parse(ref, s.Now())
	if !ok {
		return "", period, nil
	}
	named, configured := periodic.Notes[period.Unit]
	if !configured {
		daily, err := dailyNames(ctx, tx, folder, scope)
		if err != nil {
			return "", period, err
		}
		if day, ok := periodic.Notes[notes.Day]; ok {
			daily = day.NameFormat
		}
		if named.NameFormat = daily; period.Unit != notes.Day {
			named.Format = notes.DefaultNames[period.Unit] // beside the daily notes
			named.Weeks = periodic.Weeks
		}
	}
	p, err := notes.CleanPath(named.Path(period))
	if err == nil && !configured && isTitle(ref, period.Unit) {
		p, err = sqlite.First[string](ctx, tx, `SELECT path FROM notes WHERE path_key = ?`, notes.Key(p)) // "" if it is missing
	}
	if !scope.CanRead(p) {
		p = "" // the caller may not know of the folder
	}
	return p, period, err
}

// isTitle reports whether the name of a month or quarter, such as "Q1 2026" or "March 2026", is
// rather the title of a new note.
func isTitle(ref string, unit notes.Unit) bool {
	return (unit == notes.Month || unit == notes.Quarter) && strings.Contains(ref, " ") && strings.ContainsFunc(ref, unicode.IsLetter) && strings.ContainsFunc(ref, unicode.IsDigit)
}

// sampledDays is the number of newest daily notes from which their naming is inferred.
const sampledDays = 100

// dailyNames returns the most common naming among the newest daily notes of a folder that
// the scope may read.
func dailyNames(ctx context.Context, tx *sql.Tx, folder string, scope notes.Scope) (notes.NameFormat, error) {
	const isDay = `[0-9][0-9][0-9][0-9][-_][0-9][0-9][-_][0-9][0-9].md`
	const inRoam = `[A-Z]* [0-9]*[dht], [0-9][0-9][0-9][0-9].md`
	type names struct{ folder, format string }
	seen := map[names]int{}
	where, args := filterSQL(notes.Filter{Folder: folder, Scope: scope.Read})
	days, err := sqlite.Column[string](ctx, tx, `SELECT n.path FROM notes n WHERE (n.path GLOB '`+isDay+`' OR n.path GLOB '*/`+isDay+`' OR substr(n.path, -9, 2) = ', ' AND (n.path GLOB '`+inRoam+`' OR n.path GLOB '*/`+inRoam+`')) AND `+where+` ORDER BY n.date DESC LIMIT ?`, append(args, sampledDays)...)
	for _, p := range days {
		if day, ok := (&notes.DateRules{}).Named(p); ok {
			f := notes.NamesLike(p, day)
			seen[names{f.Folder, f.Format}]++
		}
	}
	best := names{folder: folder, format: notes.DefaultNames[notes.Day]}
	for n, count := range seen {
		if count > seen[best] || count == seen[best] && n.folder < best.folder {
			best = n
		}
	}
	return notes.NameFormat{Folder: best.folder, Format: best.format}, err
}

// lookupPeriodic finds the note of the period that name describes. If it is missing,
// the [*notes.Error] has the path that it would have.
func (s *Reader) lookupPeriodic(ctx context.Context, tx *sql.Tx, name string, scope notes.Scope, canRead func(p string) bool) (notes.Meta, error) {
	p, period, err := s.periodicPath(ctx, tx, name, scope)
	if err != nil || p == "" {
		return notes.Meta{}, err
	}
	metas, err := selectMetas(ctx, tx, `n.path_key = ?`, notes.Key(p))
	if err != nil {
		return notes.Meta{}, err
	}
	for _, m := range metas {
		if canRead(m.Path) {
			return m, nil
		}
	}
	days := ""
	if period.Unit != notes.Day {
		days = fmt.Sprintf("For the notes of its days, use list_notes after=%s before=%s. ", period.Start.Format(time.DateOnly), period.End().Format(time.DateOnly))
	}
	return notes.Meta{}, &notes.Error{Op: "find", Path: name, Err: notes.ErrNotFound,
		Detail: fmt.Sprintf("there is no note of that %s yet; it would be %s", period.Unit, notes.Quote(p)),
		Hint:   days + "Appending to it (edit_note) creates it, from the vault's template if it has one. So does create_note with this title."}
}

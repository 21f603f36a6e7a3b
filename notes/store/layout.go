package store

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"notesd/internal/markdown/tasks"
	"notesd/notes"
)

// Layout is the folders of a vault and what their apps say. Package vault sets the
// fields before it calls a method, and what the apps say at each scan.
type Layout struct {
	Several []string          // their names, each a first path segment; nil: the vault is one folder
	Roots   map[string]string // their names by absolute path, as configured and without symlinks; "" is the vault
	Apps    atomic.Pointer[map[string]App]
	Aside   atomic.Pointer[notes.AsideRules]
	Daily   atomic.Pointer[string] // the folder of periodic notes, of several

	// The folders that Logseq writes, and the titles of its journals, see [Store.SetLogseq].
	logseq atomic.Pointer[map[string]notes.NameFormat]
}

// App is what the app says that a folder of the vault is made with.
type App struct {
	Logseq   *Logseq // nil: Logseq does not write the folder
	NewNotes string  // where in the folder the app puts a new note; "" is there
	Periodic *notes.Periodic
	Tasks    *tasks.Settings // of the Tasks plugin; nil without it
	Aside    *notes.AsideRules
}

// Logseq says how Logseq names pages.
type Logseq struct {
	Lowbar   bool   // a/b is a___b.md; else a%2Fb.md, as in graphs from before 2022
	Journals string // the format, for package moment, of their titles
}

// FolderOf returns the folder of the vault that a path lies in; "" for the only one.
func (l *Layout) FolderOf(p string) string {
	if len(l.Several) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(p, "/")
	return name
}

// AppOf returns what holds for the note at a path.
func (l *Layout) AppOf(p string) App {
	a := (*l.Apps.Load())[l.FolderOf(p)]
	if a.Periodic == nil {
		a.Periodic = &notes.Periodic{}
	}
	return a
}

// PageTitle returns the title by which links of Logseq name the note at a path; "" where
// Logseq does not write the folder, and for other files.
func (l *Layout) PageTitle(p string) string {
	journals, ok := (*l.logseq.Load())[l.FolderOf(p)]
	if !ok || !notes.IsNoteName(p) {
		return ""
	}
	return notes.LogseqTitle(notes.BaseName(p), journals)
}

// otherName returns what links may call the note at a path besides its name; "" for
// nothing.
func (l *Layout) otherName(p string) string {
	if title := l.PageTitle(p); title != "" || !notes.IsNoteName(p) {
		return title
	}
	if folder := FolderOfIndex(p); folder != "" {
		return path.Base(folder)
	}
	return notes.ZettelID(notes.BaseName(p))
}

// pageKeys returns the [LinkKey] of the files in a folder of the vault that may hold
// Logseq's page of this title.
func (l *Layout) pageKeys(folder, title string) []string {
	var keys []string
	if journals, ok := (*l.logseq.Load())[folder]; ok {
		for _, name := range notes.LogseqNames(title, journals) {
			keys = append(keys, notes.Key(name))
		}
	}
	return keys
}

// tasksOf returns the settings of tasks for the note at a path.
func (l *Layout) tasksOf(p string) *tasks.Settings { return l.AppOf(p).Tasks }

// Period reads the words that name a period, with the weeks of the vault's calendar.
func (l *Layout) Period(words string, now time.Time) (notes.Period, bool) {
	return l.AppOf(l.DailyFolder(notes.Scope{})).Periodic.Parse(words, now)
}

// Moment reads a time, an age like 36h, a weekday that has passed, or a period: of that
// the last moment, now if it has not ended, or the first.
func (l *Layout) Moment(text string, now time.Time, last bool) (time.Time, bool) {
	if p, ok := l.AppOf(l.DailyFolder(notes.Scope{})).Periodic.ParsePast(text, now); ok {
		switch {
		case !last || p.Start.After(now):
			return p.Start, true
		case p.End().After(now):
			return now, true
		}
		return p.End().Add(-1), true
	}
	if at, ok := notes.ParseDate(text); ok {
		return at.In(now.Location()), true
	}
	age, err := time.ParseDuration(text)
	return now.Add(-age), err == nil && age >= 0
}

// DailyFolder returns the folder of periodic notes, of a vault's several: Daily, or
// if the scope does not have it the first with such notes, or the first.
func (l *Layout) DailyFolder(scope notes.Scope) string {
	folders := slices.DeleteFunc(slices.Clone(l.Several), func(folder string) bool {
		return scope.Read != nil && !scope.CanRead(folder) && !slices.ContainsFunc(scope.Read, func(read string) bool { return notes.Under(notes.FolderKey(read), notes.Key(folder)) })
	})
	switch {
	case len(l.Several) == 0:
		return ""
	case len(folders) == 0:
		return l.Several[0]
	case slices.Contains(folders, *l.Daily.Load()):
		return *l.Daily.Load()
	}
	for _, folder := range folders {
		if _, ok := l.AppOf(folder).Periodic.Notes[notes.Day]; ok {
			return folder
		}
	}
	return folders[0]
}

// InVault makes a link of Obsidian's or of the file system's, and the absolute path
// of one of the vault's folders or below it, a reference in the vault. A slash at its
// end stays.
func (l *Layout) InVault(ref string) string {
	app, ref := notes.AppVault(ref), notes.AppRef(ref)
	for _, root := range slices.Sorted(maps.Keys(l.Roots)) {
		name := l.Roots[root]
		if !filepath.IsAbs(ref) {
			if name != "" && notes.Key(filepath.Base(root)) == notes.Key(app) {
				return path.Join(name, ref)
			}
			continue
		}
		if rel, err := filepath.Rel(root, ref); err == nil && filepath.IsLocal(rel) {
			in := path.Join(name, filepath.ToSlash(rel))
			if strings.HasSuffix(ref, "/") {
				in += "/"
			}
			return in
		}
	}
	return ref
}

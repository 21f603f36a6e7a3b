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

// Layout describes the folders of a vault and the settings of the apps that write them.
// Package vault sets the fields before it calls any method, and updates the settings at
// each scan.
type Layout struct {
	Several []string          // folder names, each a first path segment; nil if the vault is one folder
	Roots   map[string]string // folder names by absolute path, as configured and with symlinks resolved; "" is the vault
	Apps    atomic.Pointer[map[string]App]
	Exclude atomic.Pointer[notes.Exclusions]
	Daily   atomic.Pointer[string] // of several folders, the one with the periodic notes

	// The folders that Logseq writes, with the formats of their journal titles; see
	// [Store.SetLogseq].
	logseq atomic.Pointer[map[string]notes.NameFormat]
}

// App holds the settings of the app that writes a folder of the vault.
type App struct {
	Logseq   *Logseq // nil if Logseq does not write the folder
	NewNotes string  // subfolder for new notes; "" is the folder itself
	Periodic *notes.Periodic
	Tasks    *tasks.Settings // settings of the Tasks plugin; nil without it
	Exclude  *notes.Exclusions
}

// Logseq holds the settings by which Logseq names pages.
type Logseq struct {
	Lowbar   bool   // a/b is stored as a___b.md, otherwise as a%2Fb.md, as in graphs from before 2022
	Journals string // format of journal titles, for package moment
}

// FolderOf returns the folder of the vault that contains a path; "" if the vault is one
// folder.
func (l *Layout) FolderOf(p string) string {
	if len(l.Several) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(p, "/")
	return name
}

// AppOf returns the settings that apply to the note at a path.
func (l *Layout) AppOf(p string) App {
	a := (*l.Apps.Load())[l.FolderOf(p)]
	if a.Periodic == nil {
		a.Periodic = &notes.Periodic{}
	}
	return a
}

// PageTitle returns the title by which Logseq links refer to the note at a path; "" if
// Logseq does not write its folder, and for other files.
func (l *Layout) PageTitle(p string) string {
	journals, ok := (*l.logseq.Load())[l.FolderOf(p)]
	if !ok || !notes.IsNoteName(p) {
		return ""
	}
	return notes.LogseqTitle(notes.BaseName(p), journals)
}

// otherName returns the name, besides its file name, by which links may refer to the
// note at a path, or "".
func (l *Layout) otherName(p string) string {
	if title := l.PageTitle(p); title != "" || !notes.IsNoteName(p) {
		return title
	}
	if folder := FolderOfIndex(p); folder != "" {
		return path.Base(folder)
	}
	return notes.ZettelID(notes.BaseName(p))
}

// pageKeys returns the [LinkKey] of each file in a folder of the vault that may be the
// Logseq page with this title.
func (l *Layout) pageKeys(folder, title string) []string {
	var keys []string
	if journals, ok := (*l.logseq.Load())[folder]; ok {
		for _, name := range notes.LogseqNames(title, journals) {
			keys = append(keys, notes.Key(name))
		}
	}
	return keys
}

// tasksOf returns the task settings for the note at a path.
func (l *Layout) tasksOf(p string) *tasks.Settings { return l.AppOf(p).Tasks }

// calendar returns the settings by which words name periods.
func (l *Layout) calendar() *notes.Periodic { return l.AppOf(l.DailyFolder(notes.Scope{})).Periodic }

// Period parses words that name a period, with the weeks of the vault's calendar.
func (l *Layout) Period(words string, now time.Time) (notes.Period, bool) {
	return l.calendar().Parse(words, now)
}

// DuePeriod is Period for a date on which something is due; see [notes.Periodic.ParseDue].
func (l *Layout) DuePeriod(words string, now time.Time) (notes.Period, bool) {
	return l.calendar().ParseDue(words, now)
}

// PastPeriod is Period for a date that has passed; see [notes.Periodic.ParsePast].
func (l *Layout) PastPeriod(words string, now time.Time) (notes.Period, bool) {
	return l.calendar().ParsePast(words, now)
}

// ageWords rewrites an age in words for [time.ParseDuration].
var ageWords = strings.NewReplacer("an hour", "1h", "a minute", "1m", " hours", "h", " hour", "h", " minutes", "m", " minute", "m", " ago", "")

// Moment parses a time, an age such as 36h or "3 hours ago", a past weekday, or a period. For a period,
// it returns the first moment, or if last is set, the last one, which is now for a
// period that has not ended.
func (l *Layout) Moment(text string, now time.Time, last bool) (time.Time, bool) {
	if p, ok := l.PastPeriod(text, now); ok {
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
	age, err := time.ParseDuration(ageWords.Replace(text))
	return now.Add(-age), err == nil && age >= 0
}

// DailyFolder returns the folder with the periodic notes: Daily, or if that is outside
// the scope, the first folder in scope with settings for daily notes, or the first.
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

// InVault converts an obsidian:// or file: link, or an absolute path in one of the
// vault's folders, in any Unicode form, to a path in the vault. A trailing slash is kept.
// Other references are returned unchanged, except for the backslashes of a path on Windows.
func (l *Layout) InVault(ref string) string { return l.inVault(filepath.ToSlash(ref)) }

// inVault is InVault for a reference that may also be a title, which may contain backslashes.
func (l *Layout) inVault(ref string) string {
	ref, app := notes.AppRef(ref)
	for _, root := range slices.Sorted(maps.Keys(l.Roots)) {
		name := l.Roots[root]
		if !filepath.IsAbs(ref) {
			if name != "" && notes.Key(filepath.Base(root)) == notes.Key(app) {
				return path.Join(name, ref)
			}
			continue
		}
		if rel, err := filepath.Rel(notes.Nfc(root), notes.Nfc(ref)); err == nil && filepath.IsLocal(rel) {
			in := path.Join(name, filepath.ToSlash(rel))
			if strings.HasSuffix(ref, "/") {
				in += "/"
			}
			return in
		}
	}
	return ref
}

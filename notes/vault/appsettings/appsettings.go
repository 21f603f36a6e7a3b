// Package appsettings reads the settings of Obsidian, its plugins and Logseq in a vault's folder:
// how they name periodic notes and pages, where they create notes, which statuses tasks have, and
// which notes they exclude from searches.
package appsettings

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"notesd/internal/markdown/tasks"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// Files are the paths of the files that [Read] reads.
var Files = []string{
	".obsidian/app.json", ".obsidian/daily-notes.json", ".obsidian/templates.json",
	".obsidian/plugins/calendar/data.json", ".obsidian/plugins/obsidian-tasks-plugin/data.json",
	".obsidian/plugins/periodic-notes/data.json", ".obsidian/plugins/templater-obsidian/data.json",
	"logseq/config.edn",
}

// Read returns the settings in a folder of the vault. folder is its name if the vault has several
// folders, which the paths in the settings then begin with, otherwise "".
func Read(root *os.Root, folder string) store.App {
	periodic := readPeriodic(root, folder)
	logseq, newNotes := readLogseq(root)
	if logseq == nil {
		newNotes = readNewNotes(root)
	}
	return store.App{Logseq: logseq, NewNotes: newNotes, Periodic: periodic, Tasks: readTaskSettings(root), Exclude: readExclusions(root, folder, periodic.Templates)}
}

// readAppFile reads one of Obsidian's JSON files. If the file is missing or invalid, as while
// it is being written, the result is zero.
func readAppFile[T any](root *os.Root, name string) T {
	var settings, none T
	data, _, err := disk.Read(root, path.Join(".obsidian", name), maxAppFile)
	if err != nil || json.Unmarshal(data, &settings) != nil {
		return none
	}
	return settings
}

var (
	logseqComments = regexp.MustCompile(`;[^\n]*`)
	logseqPages    = regexp.MustCompile(`:pages-directory\s+"([^"\\]+)"`)
	logseqLowbar   = regexp.MustCompile(`:file/name-format\s+:triple-lowbar`)
	logseqJournals = regexp.MustCompile(`:journal/page-title-format\s+"([^"\\]+)"`)

	// logseqTokens converts the tokens of Logseq's date formats to those of package moment.
	logseqTokens = strings.NewReplacer("yyyy", "YYYY", "dd", "DD", "do", "Do", "d", "D", "EEEE", "dddd", "EEE", "ddd", "E", "ddd", "年", "[年]", "月", "[月]", "日", "[日]")
)

// readNewNotes returns the folder in which Obsidian creates notes by default.
func readNewNotes(root *os.Root) string {
	app := readAppFile[struct{ NewFileLocation, NewFileFolderPath string }](root, "app.json")
	if folder, err := notes.CleanPath(strings.Trim(app.NewFileFolderPath, "/")); err == nil && app.NewFileLocation == "folder" {
		return folder
	}
	return ""
}

// readLogseq returns how Logseq names pages, and the folder in which it creates them. l is
// nil if the folder is not a Logseq graph.
func readLogseq(root *os.Root) (l *store.Logseq, pages string) {
	const config = "logseq/config.edn"
	if _, err := root.Stat(config); err != nil {
		return nil, ""
	}
	data, _, _ := disk.Read(root, config, maxAppFile) // an unreadable file has the defaults
	data = logseqComments.ReplaceAll(data, nil)
	l, pages = &store.Logseq{Lowbar: logseqLowbar.Match(data), Journals: "MMM Do, YYYY"}, "pages"
	if m := logseqPages.FindSubmatch(data); m != nil {
		pages = strings.Trim(string(m[1]), "/")
	}
	if m := logseqJournals.FindSubmatch(data); m != nil {
		l.Journals = logseqTokens.Replace(string(m[1]))
	}
	return l, pages
}

// readPeriodic returns the app's naming and templates of periodic notes. Obsidian's core
// settings for daily notes apply unless the Periodic Notes plugin makes them.
func readPeriodic(root *os.Root, folder string) *notes.Periodic {
	below := func(p string) string {
		if p = strings.Trim(p, "/"); p == "" {
			return folder
		}
		return path.Join(folder, p)
	}
	p := &notes.Periodic{Notes: map[notes.Unit]notes.PeriodicNotes{}}
	core := readAppFile[struct{ Folder, DateFormat, TimeFormat string }](root, "templates.json")
	p.DateFormat, p.TimeFormat = core.DateFormat, core.TimeFormat
	if core.Folder = strings.Trim(core.Folder, "/"); core.Folder != "" {
		p.Templates = below(core.Folder)
	}
	calendar := readAppFile[struct {
		WeekStart, LocaleOverride                              string
		WeeklyNoteFormat, WeeklyNoteFolder, WeeklyNoteTemplate string
	}](root, "plugins/calendar/data.json")
	p.SetWeeks(calendar.LocaleOverride, calendar.WeekStart)
	add := func(unit notes.Unit, n notes.PeriodicNotes) {
		if n.Format == "" {
			n.Format = notes.DefaultNames[unit]
		}
		p.SetLanguage(n.Format, func() []string { return namesBelow(root, strings.Trim(n.Folder, "/")) })
		n.Folder, n.Weeks = below(n.Folder), p.Weeks
		if n.Template != "" {
			n.Template = below(n.Template)
		}
		p.Notes[unit] = n
	}
	daily := readAppFile[notes.PeriodicNotes](root, "daily-notes.json")
	if daily != (notes.PeriodicNotes{}) { // otherwise the default, which applies to all folders
		add(notes.Day, daily)
	}
	weekly := notes.PeriodicNotes{NameFormat: notes.NameFormat{Folder: calendar.WeeklyNoteFolder, Format: calendar.WeeklyNoteFormat}, Template: calendar.WeeklyNoteTemplate}
	if weekly != (notes.PeriodicNotes{}) {
		add(notes.Week, weekly)
	}
	type periodic struct {
		notes.PeriodicNotes
		Enabled bool
	}
	plugin := readAppFile[struct{ Daily, Weekly, Monthly, Quarterly, Yearly periodic }](root, "plugins/periodic-notes/data.json")
	for unit, n := range map[notes.Unit]periodic{
		notes.Day: plugin.Daily, notes.Week: plugin.Weekly, notes.Month: plugin.Monthly, notes.Quarter: plugin.Quarterly, notes.Year: plugin.Yearly,
	} {
		if n.Enabled {
			add(unit, n.PeriodicNotes)
		}
	}
	return p
}

// maxNames bounds the files read to detect the language in which periodic notes are named.
const maxNames = 1000

// namesBelow returns the paths, without extension, of the first notes below a folder.
func namesBelow(root *os.Root, folder string) (names []string) {
	seen, top := 0, cmp.Or(folder, ".")
	_ = fs.WalkDir(root.FS(), top, func(p string, d fs.DirEntry, err error) error { // an unreadable folder has no names
		switch seen++; {
		case err != nil || seen > maxNames:
			return fs.SkipAll
		case d.IsDir() && p != top && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case notes.IsNoteName(p):
			names = append(names, notes.Nfc(notes.Stem(strings.TrimPrefix(p, folder+"/"))))
		}
		return nil
	})
	return names
}

// DateRules returns the date rules for a vault: the user's front matter keys, and the
// app's names of periodic notes.
func DateRules(apps map[string]store.App, daily string, keys []string) *notes.DateRules {
	r := &notes.DateRules{Version: notes.DateRulesVersion, Keys: keys, Weeks: apps[daily].Periodic.Weeks, Zone: notes.LocalZone()}
	for _, folder := range slices.Sorted(maps.Keys(apps)) {
		for _, unit := range []notes.Unit{notes.Day, notes.Week, notes.Month, notes.Quarter, notes.Year} {
			if n, ok := apps[folder].Periodic.Notes[unit]; ok {
				r.Names = append(r.Names, n.NameFormat)
			}
		}
	}
	r.Compile()
	return r
}

// readTaskSettings returns the settings of the Tasks plugin, or nil without it.
func readTaskSettings(root *os.Root) *tasks.Settings {
	type status struct {
		Symbol string `json:"symbol"`
		Next   string `json:"nextStatusSymbol"`
		Type   string `json:"type"`
	}
	plugin := readAppFile[*struct {
		Filter    string `json:"globalFilter"`
		Format    string `json:"taskFormat"`
		Done      *bool  `json:"setDoneDate"`
		Cancelled *bool  `json:"setCancelledDate"`
		NextBelow bool   `json:"recurrenceOnNextLine"`
		Created   bool   `json:"setCreatedDate"`
		Remove    bool   `json:"removeScheduledDateOnRecurrence"`
		Statuses  struct {
			Core   []status `json:"coreStatuses"`
			Custom []status `json:"customStatuses"`
		} `json:"statusSettings"`
	}](root, "plugins/obsidian-tasks-plugin/data.json")
	if plugin == nil {
		return nil
	}
	isOff := func(b *bool) bool { return b != nil && !*b }
	s := &tasks.Settings{Dates: tasks.Emoji, NoDone: isOff(plugin.Done), NoCancelled: isOff(plugin.Cancelled), Filter: plugin.Filter, NextBelow: plugin.NextBelow,
		Created: plugin.Created, NoScheduled: plugin.Remove}
	if plugin.Format == "dataview" {
		s.Dates = tasks.Dataview
	}
	for _, st := range slices.Concat(plugin.Statuses.Core, plugin.Statuses.Custom) {
		if len(s.Statuses) < maxStatuses {
			s.Statuses = append(s.Statuses, tasks.MarkStatus{Mark: st.Symbol, Next: st.Next, Status: tasks.PluginStatus(st.Type)})
		}
	}
	return s
}

// maxStatuses bounds the statuses of the Tasks plugin.
const maxStatuses = 200

// maxAppFile bounds the size of an app's settings file.
const maxAppFile = 1 << 20

// readExclusions returns the rules for a folder of the vault, including that of its templates.
func readExclusions(root *os.Root, folder, templates string) *notes.Exclusions {
	r := &notes.Exclusions{}
	below := ""
	if folder != "" {
		below = notes.Key(folder) + "/"
	}
	templater := readAppFile[struct {
		Folder string `json:"templates_folder"`
	}](root, "plugins/templater-obsidian/data.json")
	if templates != "" {
		r.Prefixes = append(r.Prefixes, notes.Key(templates)+"/")
	}
	if k := notes.FolderKey(templater.Folder); k != "" {
		r.Prefixes = append(r.Prefixes, below+k+"/")
	}
	app := readAppFile[struct {
		Filters []string `json:"userIgnoreFilters"`
	}](root, "app.json")
	for _, filter := range app.Filters[:min(notes.MaxExclusions, len(app.Filters))] {
		if n := len(filter); n > 2 && filter[0] == '/' && filter[n-1] == '/' {
			if pattern, err := regexp.Compile(filter[1 : n-1]); err == nil { // otherwise it is valid only in JavaScript
				r.Patterns = append(r.Patterns, notes.ExclusionPattern{Folder: folder, Regexp: pattern})
			}
		} else if filter != "" && filter != "/" {
			r.Prefixes = append(r.Prefixes, below+notes.Key(filter))
		}
	}
	return r
}

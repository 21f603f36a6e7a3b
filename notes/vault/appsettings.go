package vault

import (
	"encoding/json"
	"os"
	"path"
	"reflect"
	"regexp"
	"strings"

	"notesd/notes"
)

// readAppFile reads a JSON file of Obsidian's into v. One that is not there,
// or is being written, says nothing.
func readAppFile(root *os.Root, name string, v any) {
	data, _, err := readOnce(root, path.Join(".obsidian", name), maxAppFile)
	if err != nil || json.Unmarshal(data, v) != nil {
		reflect.ValueOf(v).Elem().SetZero()
	}
}

// readDateRules returns the rules for a vault: the user's keys, and how the app
// names periodic notes.
func readDateRules(root *os.Root, keys []string) *notes.DateRules {
	r := &notes.DateRules{Version: notes.DateRulesVersion, Keys: keys}
	add := func(f notes.NameFormat, otherwise string) {
		if f.Format == "" {
			f.Format = otherwise
		}
		f.Folder = strings.Trim(f.Folder, "/")
		r.Names = append(r.Names, f)
	}
	var daily notes.NameFormat
	readAppFile(root, "daily-notes.json", &daily)
	if daily.Format != "" { // else the default, which holds everywhere
		add(daily, "")
	}
	type periodic struct {
		notes.NameFormat
		Enabled bool `json:"enabled"`
	}
	var plugin struct{ Daily, Weekly, Monthly, Quarterly, Yearly periodic }
	readAppFile(root, "plugins/periodic-notes/data.json", &plugin)
	for _, p := range []struct {
		periodic
		otherwise string
	}{
		{plugin.Daily, "YYYY-MM-DD"}, {plugin.Weekly, "gggg-[W]ww"}, {plugin.Monthly, "YYYY-MM"},
		{plugin.Quarterly, "YYYY-[Q]Q"}, {plugin.Yearly, "YYYY"},
	} {
		if p.Enabled {
			add(p.NameFormat, p.otherwise)
		}
	}
	r.Compile()
	return r
}

// maxAppFile bounds a settings file of the app that the vault is made with.
const maxAppFile = 1 << 20

// readAside returns the rules for a vault.
func readAside(root *os.Root) *notes.AsideRules {
	r := &notes.AsideRules{}
	var core struct{ Folder string }
	readAppFile(root, "templates.json", &core)
	var templater struct {
		Folder string `json:"templates_folder"`
	}
	readAppFile(root, "plugins/templater-obsidian/data.json", &templater)
	for _, folder := range []string{core.Folder, templater.Folder} {
		if k := notes.FolderKey(folder); k != "" {
			r.Prefixes = append(r.Prefixes, k+"/")
		}
	}
	var app struct {
		Filters []string `json:"userIgnoreFilters"`
	}
	readAppFile(root, "app.json", &app)
	for _, filter := range app.Filters[:min(notes.MaxAside, len(app.Filters))] {
		if n := len(filter); n > 2 && filter[0] == '/' && filter[n-1] == '/' {
			if pattern, err := regexp.Compile(filter[1 : n-1]); err == nil { // else it is one that only JavaScript knows
				r.Patterns = append(r.Patterns, pattern)
			}
		} else if filter != "" && filter != "/" {
			r.Prefixes = append(r.Prefixes, notes.Key(filter))
		}
	}
	return r
}

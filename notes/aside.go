package notes

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// asideRules are the places whose notes do not answer searches: folders of
// templates, and what the user has excluded in Obsidian's settings. They are
// read, listed and linked as others are.
type asideRules struct {
	prefixes []string // of folded paths
	patterns []*regexp.Regexp
}

// maxAside bounds how many places Obsidian's settings may exclude.
const maxAside = 200

// readAside returns the rules for a vault.
func readAside(root *os.Root) *asideRules {
	r := &asideRules{}
	var core struct{ Folder string }
	readAppFile(root, "templates.json", &core)
	var templater struct {
		Folder string `json:"templates_folder"`
	}
	readAppFile(root, "plugins/templater-obsidian/data.json", &templater)
	for _, folder := range []string{core.Folder, templater.Folder} {
		if k := folderKey(folder); k != "" {
			r.prefixes = append(r.prefixes, k+"/")
		}
	}
	var app struct {
		Filters []string `json:"userIgnoreFilters"`
	}
	readAppFile(root, "app.json", &app)
	for _, filter := range app.Filters[:min(maxAside, len(app.Filters))] {
		if n := len(filter); n > 2 && filter[0] == '/' && filter[n-1] == '/' {
			if pattern, err := regexp.Compile(filter[1 : n-1]); err == nil { // else it is one that only JavaScript knows
				r.patterns = append(r.patterns, pattern)
			}
		} else if filter != "" && filter != "/" {
			r.prefixes = append(r.prefixes, key(filter))
		}
	}
	return r
}

func (r *asideRules) isZero() bool { return r == nil || len(r.prefixes)+len(r.patterns) == 0 }

// forFilter returns the rules that hold for a filter: those that cover a place which
// the filter names do not.
func (r *asideRules) forFilter(f Filter) *asideRules {
	places := slices.Concat(f.Paths, f.Scope, []string{f.Folder, f.Glob})
	places = slices.DeleteFunc(places, func(p string) bool { return strings.Trim(p, "/ ") == "" })
	if r.isZero() || len(places) == 0 {
		return r
	}
	named := func(covers func(place string) bool) bool {
		return slices.ContainsFunc(places, func(p string) bool { return covers(strings.Trim(p, "/ ") + "/") })
	}
	return &asideRules{
		prefixes: slices.DeleteFunc(slices.Clone(r.prefixes), func(prefix string) bool {
			return named(func(p string) bool { return strings.HasPrefix(key(p), prefix) })
		}),
		patterns: slices.DeleteFunc(slices.Clone(r.patterns), func(pattern *regexp.Regexp) bool { return named(pattern.MatchString) }),
	}
}

func (r *asideRules) equal(other *asideRules) bool {
	return slices.Equal(r.prefixes, other.prefixes) &&
		slices.EqualFunc(r.patterns, other.patterns, func(a, b *regexp.Regexp) bool { return a.String() == b.String() })
}

// matches reports whether the note at p is aside.
func (r *asideRules) matches(p string) bool {
	k := key(p)
	return slices.ContainsFunc(r.prefixes, func(prefix string) bool { return strings.HasPrefix(k, prefix) }) ||
		slices.ContainsFunc(r.patterns, func(pattern *regexp.Regexp) bool { return pattern.MatchString(p) })
}

// searchable is the set of all notes that are not aside, as of a change.
type searchable struct {
	mu    sync.Mutex
	rules *asideRules
	head  uint64
	set   *IDSet
}

// ResolveSearch is Resolve for a search: templates and what Obsidian excludes
// are left out unless the filter names their place.
func (s *Store) ResolveSearch(ctx context.Context, f Filter) (*IDSet, error) {
	all := s.aside.Load()
	f.aside = all.forFilter(f)
	if f.aside.isZero() {
		f.aside = nil
		return s.Resolve(ctx, f)
	}
	if rest := f; rest.aside == all {
		if rest.aside = nil; rest.IsZero() {
			return s.allSearchable(ctx, f)
		}
	}
	return s.Resolve(ctx, f)
}

// allSearchable keeps the set of the most frequent filter until a note changes.
func (s *Store) allSearchable(ctx context.Context, f Filter) (*IDSet, error) {
	c := &s.searchable
	c.mu.Lock()
	defer c.mu.Unlock()
	head := s.head.Load()
	if c.set != nil && c.head == head && c.rules == f.aside {
		return c.set, nil
	}
	set, err := s.Resolve(ctx, f)
	if err == nil {
		c.set, c.head, c.rules = set, head, f.aside
	}
	return set, err
}

package notes

import (
	"regexp"
	"slices"
	"strings"
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

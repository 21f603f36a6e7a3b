package notes

import (
	"regexp"
	"slices"
	"strings"
)

// Exclusions match the notes that searches and lists of tasks leave out: those in folders of
// templates, and those excluded in Obsidian's settings. These notes can still be read, listed
// and linked, and a filter that names their place finds them (see [Exclusions.ForFilter]).
type Exclusions struct {
	Prefixes []string // prefixes of folded paths
	Patterns []ExclusionPattern
}

// ExclusionPattern is a pattern for paths, within Folder if the vault has several.
type ExclusionPattern struct {
	Folder string
	*regexp.Regexp
}

// MatchString reports whether the path matches the pattern.
func (e ExclusionPattern) MatchString(p string) bool {
	in, ok := p, true
	if e.Folder != "" {
		in, ok = strings.CutPrefix(p, e.Folder+"/")
	}
	return ok && e.Regexp.MatchString(in)
}

// MaxExclusions is the limit for the number of places excluded in Obsidian's settings.
const MaxExclusions = 200

// IsZero reports whether the rules match nothing.
func (r *Exclusions) IsZero() bool { return r == nil || len(r.Prefixes)+len(r.Patterns) == 0 }

// matches reports whether the note at p is excluded.
func (r *Exclusions) matches(p string) bool {
	k := Key(p)
	return slices.ContainsFunc(r.Prefixes, func(prefix string) bool { return strings.HasPrefix(k, prefix) }) ||
		slices.ContainsFunc(r.Patterns, func(pattern ExclusionPattern) bool { return pattern.MatchString(p) })
}

// ForFilter returns the rules that apply to a filter: those for a place that the filter
// names do not.
func (r *Exclusions) ForFilter(f Filter) *Exclusions {
	places := slices.Concat(f.Paths, f.Scope, []string{f.Folder, f.Glob})
	places = slices.DeleteFunc(places, func(p string) bool { return strings.Trim(p, "/ ") == "" })
	if r.IsZero() || len(places) == 0 {
		return r
	}
	named := func(covers func(place string) bool) bool {
		return slices.ContainsFunc(places, func(p string) bool { return covers(strings.Trim(p, "/ ") + "/") })
	}
	return &Exclusions{
		Prefixes: slices.DeleteFunc(slices.Clone(r.Prefixes), func(prefix string) bool {
			return named(func(p string) bool { return strings.HasPrefix(Key(p), prefix) })
		}),
		Patterns: slices.DeleteFunc(slices.Clone(r.Patterns), func(pattern ExclusionPattern) bool { return named(pattern.MatchString) }),
	}
}

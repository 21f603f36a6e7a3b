package notes

import (
	"regexp"
	"slices"
	"strings"
)

// AsideRules are the places whose notes do not answer searches: folders of
// templates, and what the user has excluded in Obsidian's settings. They are
// read, listed and linked as others are.
type AsideRules struct {
	Prefixes []string // of folded paths
	Patterns []AsidePattern
}

// AsidePattern is a pattern of the paths in a folder of the vault, of several.
type AsidePattern struct {
	Folder string
	*regexp.Regexp
}

// MatchString reports whether the path matches the pattern.
func (a AsidePattern) MatchString(p string) bool {
	in, ok := p, true
	if a.Folder != "" {
		in, ok = strings.CutPrefix(p, a.Folder+"/")
	}
	return ok && a.Regexp.MatchString(in)
}

// MaxAside bounds how many places Obsidian's settings may exclude.
const MaxAside = 200

// IsZero reports whether no place is aside.
func (r *AsideRules) IsZero() bool { return r == nil || len(r.Prefixes)+len(r.Patterns) == 0 }

// Equal reports whether both rules cover the same places.
func (r *AsideRules) Equal(other *AsideRules) bool {
	return slices.Equal(r.Prefixes, other.Prefixes) &&
		slices.EqualFunc(r.Patterns, other.Patterns, func(a, b AsidePattern) bool { return a.Folder == b.Folder && a.String() == b.String() })
}

// matches reports whether the note at p is aside.
func (r *AsideRules) matches(p string) bool {
	k := Key(p)
	return slices.ContainsFunc(r.Prefixes, func(prefix string) bool { return strings.HasPrefix(k, prefix) }) ||
		slices.ContainsFunc(r.Patterns, func(pattern AsidePattern) bool { return pattern.MatchString(p) })
}

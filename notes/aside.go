package notes

import (
	"regexp"
	"slices"
	"strings"
)

// AsideRules match the notes that are excluded from searches: those in folders of
// templates, and those excluded in Obsidian's settings. They can still be read, listed
// and linked.
type AsideRules struct {
	Prefixes []string // prefixes of folded paths
	Patterns []AsidePattern
}

// AsidePattern is a pattern for paths, within Folder if the vault has several.
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

// MaxAside is the limit for the number of places excluded in Obsidian's settings.
const MaxAside = 200

// IsZero reports whether the rules match nothing.
func (r *AsideRules) IsZero() bool { return r == nil || len(r.Prefixes)+len(r.Patterns) == 0 }

// matches reports whether the note at p is aside.
func (r *AsideRules) matches(p string) bool {
	k := Key(p)
	return slices.ContainsFunc(r.Prefixes, func(prefix string) bool { return strings.HasPrefix(k, prefix) }) ||
		slices.ContainsFunc(r.Patterns, func(pattern AsidePattern) bool { return pattern.MatchString(p) })
}

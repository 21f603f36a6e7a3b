package notes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// Filter selects notes. The zero value matches all; every field that is set must hold.
// It is resolved to a set of note IDs, which search and vectors apply before ranking.
type Filter struct {
	Folder      string   // vault-relative; notes in it and below
	Glob        string   // matches the path: * within a segment, ** across, ? one character, [a-z]; without '/', the file name
	Paths       []string // prefixes of the path, any of them (path: in a query)
	Tags        []string // all of them; a tag also matches its nested tags (a matches a/b)
	NotTags     []string // none of them
	NotPaths    []string
	After       time.Time      // Date at or after
	Before      time.Time      // Date before
	HasTodo     bool           // with an open task
	NotEmpty    bool           // of at least one byte
	Where       map[string]any // conditions on the fields of [Note.Values]: {"status":"open","due":{"lt":"2026-02-01"},"or":[{"people":{"has":"Ann"}},{"file.name":"Plan"}]}; see [CheckWhere]
	Orphans     bool           // with no links to or from other notes
	BrokenLinks bool           // with a link to a missing note, heading or block
	Scope       []string       // folders that the caller may read; nil means all

	Exclude *Exclusions // exclude notes that match these
}

// IsZero reports whether the filter matches every note.
func (f Filter) IsZero() bool {
	return f.Folder == "" && f.Glob == "" && len(f.Paths) == 0 && len(f.NotPaths) == 0 &&
		len(f.Tags) == 0 && len(f.NotTags) == 0 && f.After.IsZero() && f.Before.IsZero() &&
		!f.HasTodo && !f.NotEmpty && len(f.Where) == 0 && !f.Orphans && !f.BrokenLinks && f.Scope == nil && f.Exclude == nil
}

// IDSet is a set of note IDs.
type IDSet struct {
	words []uint64
	n     int
}

// Add adds id, which must not be negative, to the set.
func (s *IDSet) Add(id int64) {
	w := int(id >> 6)
	for w >= len(s.words) {
		s.words = append(s.words, 0)
	}
	if bit := uint64(1) << (id & 63); s.words[w]&bit == 0 {
		s.words[w] |= bit
		s.n++
	}
}

// Has reports whether id is in the set. A nil set means "no filter" and contains every
// ID.
func (s *IDSet) Has(id int64) bool {
	if s == nil {
		return true
	}
	w := int(id >> 6)
	return w >= 0 && w < len(s.words) && s.words[w]&(1<<(id&63)) != 0
}

// Len returns the number of IDs in the set.
func (s *IDSet) Len() int { return s.n }

// Check returns an [*Error] with [ErrInvalid] if the filter is invalid or has too many
// conditions.
func (f Filter) Check() error {
	if n := len(f.Paths) + len(f.NotPaths) + len(f.Tags) + len(f.NotTags); n > MaxConditions {
		return &Error{Op: "filter", Err: ErrInvalid, Detail: fmt.Sprintf("there are %d tags and paths to filter by; at most %d are allowed", n, MaxConditions),
			Hint: "Use fewer of them."}
	}
	if len(f.Glob) > maxGlobBytes {
		return &Error{Op: "filter", Err: ErrInvalid, Detail: fmt.Sprintf("the glob has %d bytes; at most %d are allowed", len(f.Glob), maxGlobBytes), Hint: "Shorten it."}
	}
	if f.Glob != "" && !doublestar.ValidatePattern(f.Glob) {
		return &Error{Op: "filter", Path: f.Glob, Err: ErrInvalid, Detail: "the glob is malformed",
			Hint: "Use * within a name, ** across folders, ? for one character, [a-z], {a,b}."}
	}
	if braces := strings.Count(f.Glob, "{"); braces > maxBraces || braces*strings.Count(f.Glob, ",") > maxAlternatives {
		return &Error{Op: "filter", Path: f.Glob, Err: ErrInvalid, Detail: fmt.Sprintf("the glob has too many alternatives: at most %d {a,b} are allowed, and that number times the number of commas may be %d", maxBraces, maxAlternatives),
			Hint: "Use fewer of them, or several calls."}
	}
	return CheckWhere(f.Where)
}

// Matcher returns a function that applies the parts of the filter that SQL does not: the glob, the
// exclusions, and the conditions on fields. Front matter alone decides on a note without inline
// fields if no condition names a field that [Note.Values] adds, which takes most of the time.
func (f Filter) Matcher(periods Periods) func(n *Note) bool {
	glob := Key(f.Glob)
	fields, _ := WhereFields(f.Where)
	namesAdded := slices.ContainsFunc(fields, isAdded)
	return func(n *Note) bool {
		if glob != "" && !globMatches(glob, n.Path) || f.Exclude != nil && f.Exclude.matches(n.Path) {
			return false
		}
		values := n.FrontMatter
		if len(f.Where) > 0 && (namesAdded || len(n.Inline) > 0) {
			values = n.Values()
		}
		return periods.WhereMatches(f.Where, values)
	}
}

// MatchesPath reports whether a path matches the folder, paths and scope of the filter.
func (f Filter) MatchesPath(p string) bool {
	k := Key(p)
	begins := func(prefix string) bool { return strings.HasPrefix(k, Key(strings.TrimPrefix(prefix, "/"))) }
	return (f.Scope == nil || InAny(p, f.Scope)) && Under(k, FolderKey(f.Folder)) &&
		(len(f.Paths) == 0 || slices.ContainsFunc(f.Paths, begins)) && !slices.ContainsFunc(f.NotPaths, begins)
}

// MatchesNote applies the whole filter, except conditions on links, to a parsed note.
func (f Filter) MatchesNote(n *Note, periods Periods) bool {
	has := func(tag string) bool {
		k := Key(strings.TrimPrefix(tag, "#"))
		return slices.ContainsFunc(n.Tags, func(t string) bool { return Under(Key(t), k) })
	}
	lacks := func(tag string) bool { return !has(tag) }
	switch {
	case !f.MatchesPath(n.Path), slices.ContainsFunc(f.Tags, lacks), slices.ContainsFunc(f.NotTags, has),
		!f.After.IsZero() && n.Date.Before(f.After), !f.Before.IsZero() && !n.Date.Before(f.Before), f.HasTodo && n.OpenTasks == 0, f.NotEmpty && n.Size == 0:
		return false
	}
	return f.Matcher(periods)(n)
}

// NeedsGo reports whether SQL alone cannot evaluate the filter.
func (f Filter) NeedsGo() bool {
	return f.Glob != "" || len(f.Where) > 0 || f.Exclude != nil && len(f.Exclude.Patterns) > 0
}

// globMatches reports whether a glob matches the path, or the file name if the glob has
// no '/', ignoring case.
func globMatches(glob, path string) bool {
	subject := Key(path)
	if !strings.Contains(glob, "/") {
		subject = subject[strings.LastIndexByte(subject, '/')+1:]
	}
	return doublestar.MatchUnvalidated(glob, subject)
}

// Limits of the cost of a glob per note. Each {a,b} multiplies the combinations that are
// tried, and a '*' before it the positions.
const (
	maxGlobBytes    = 1024
	maxBraces       = 4
	maxAlternatives = 32 // commas times braces
)

package notes

import "time"

// Filter selects notes. The zero value selects all; every field that is set
// must hold. It is resolved once, in SQL, to a set of note ids
// ([Store.Resolve]), which search and vectors then apply before they rank.
type Filter struct {
	Folder      string   // vault-relative; notes in it and below
	Glob        string   // over the path: * within a segment, ** across, ? one character, [a-z]; without '/', over the file name
	Paths       []string // prefixes of the path, any of them (a query's path:)
	Tags        []string // all of them; a tag also selects its nested tags (a selects a/b)
	NotTags     []string // none of them
	NotPaths    []string
	After       time.Time      // Date at or after
	Before      time.Time      // Date before
	HasTodo     bool           // with an open task
	Where       map[string]any // over front matter: {"status":"open","due":{"lt":"2026-02-01"},"people":{"has":"Ann"}}
	Orphans     bool           // no note links to it and it links to none
	BrokenLinks bool           // with a link that resolves to nothing
	Scope       []string       // folders that the caller may read; nil: everywhere

	aside *asideRules // leave out what these match
}

// IsZero reports whether the filter selects every note.
func (f Filter) IsZero() bool {
	return f.Folder == "" && f.Glob == "" && len(f.Paths) == 0 && len(f.NotPaths) == 0 &&
		len(f.Tags) == 0 && len(f.NotTags) == 0 && f.After.IsZero() && f.Before.IsZero() &&
		!f.HasTodo && len(f.Where) == 0 && !f.Orphans && !f.BrokenLinks && f.Scope == nil && f.aside == nil
}

// IDSet is a set of note ids.
type IDSet struct {
	words []uint64
	n     int
}

// Add puts id, which must not be negative, into the set.
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

// Has reports whether id is in the set. A nil set holds every id: it stands
// for "no filter".
func (s *IDSet) Has(id int64) bool {
	if s == nil {
		return true
	}
	w := int(id >> 6)
	return w >= 0 && w < len(s.words) && s.words[w]&(1<<(id&63)) != 0
}

// Len returns the number of ids in the set.
func (s *IDSet) Len() int { return s.n }

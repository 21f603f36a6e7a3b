package notes

import "slices"

// Scope limits what a caller may access.
type Scope struct {
	Read     []string // folders; nil means all
	Write    []string // folders; nil means all that it may read
	ReadOnly bool
	NoWrite  []string // exceptions from Write
}

// CanRead reports whether the scope permits reading the note at p.
func (s Scope) CanRead(p string) bool { return s.Read == nil || InAny(p, s.Read) }

// CanWrite reports whether the scope permits changing the note at p.
func (s Scope) CanWrite(p string) bool {
	return !s.ReadOnly && s.CanRead(p) && (s.Write == nil || InAny(p, s.Write)) && !InAny(p, s.NoWrite)
}

// InAny reports whether the path is in one of the folders.
func InAny(p string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return Under(Key(p), FolderKey(f)) })
}

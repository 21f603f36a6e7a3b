package notes

import "slices"

// Scope bounds what one caller may touch.
type Scope struct {
	Read     []string // folders; nil: everywhere
	Write    []string // folders; nil: wherever it may read
	ReadOnly bool
	NoWrite  []string // folders that it may not change, of those that it may
}

// CanRead reports whether the scope lets its caller see the note at p.
func (s Scope) CanRead(p string) bool { return s.Read == nil || InAny(p, s.Read) }

// CanWrite reports whether the scope lets its caller change the note at p.
func (s Scope) CanWrite(p string) bool {
	return !s.ReadOnly && s.CanRead(p) && (s.Write == nil || InAny(p, s.Write)) && !InAny(p, s.NoWrite)
}

// InAny reports whether the path lies in one of the folders.
func InAny(p string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return Under(Key(p), FolderKey(f)) })
}

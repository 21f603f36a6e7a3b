//go:build !linux

package vectors

// lowerPriority: there is no niceness for one thread here; half of the
// processors are left to the rest.
func lowerPriority() {}

//go:build !linux

package vectors

// lowerPriority does nothing: these systems have no priority per thread. Embedding
// uses half of the processors.
func lowerPriority() {}

// newSystemLoad returns a function that reports an unknown load.
func newSystemLoad() func() Load { return func() Load { return Load{Pressure: -1, Battery: -1} } }

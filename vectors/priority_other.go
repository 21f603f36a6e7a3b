//go:build !linux

package vectors

// lowerPriority does nothing: these systems have no priority per thread. Embedding
// uses half of the processors.
func lowerPriority() {}

//go:build !darwin

package watcher

// openTree is nil on systems without a separate source for whole trees.
var openTree func(root string) (*source, error)

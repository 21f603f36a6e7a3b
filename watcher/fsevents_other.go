//go:build !darwin

package watcher

// openTree is nil where openSource opens the only kind of source.
var openTree func(root string) (*source, error)

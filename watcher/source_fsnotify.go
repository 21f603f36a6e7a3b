//go:build !windows

package watcher

import "github.com/fsnotify/fsnotify"

// openSource opens a source and drains it until Close.
func openSource(string) (*source, error) {
	fsw, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return drainSource(fsw, fsw.Events, fsw.Errors), nil
}

//go:build !windows

package watcher

import "github.com/fsnotify/fsnotify"

// openSource opens an fsnotify source.
func openSource(string) (*source, error) {
	fsw, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return drainSource(fsw, fsw.Events, fsw.Errors), nil
}

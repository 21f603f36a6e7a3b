//go:build !windows

package watcher

import "github.com/fsnotify/fsnotify"

// openSource opens a source and starts draining it; Close ends that.
func openSource() (*source, error) {
	fsw, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return drainSource(fsw, fsw.Events, fsw.Errors), nil
}

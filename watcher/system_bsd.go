//go:build dragonfly || freebsd || netbsd || openbsd

package watcher

// RemoteFileSystem returns "": this system is not asked.
func RemoteFileSystem(string) string { return "" }

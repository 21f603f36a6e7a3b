//go:build dragonfly || freebsd || netbsd || openbsd

package watcher

func remoteFileSystem(string) string { return "" }

//go:build !unix

package service

import "io/fs"

// isOpenToOthers returns false: the mode of a file does not show it on this
// system.
func isOpenToOthers(fs.FileInfo) bool { return false }

// MayWrite returns true: only an attempt would show it on this system.
func MayWrite(string) bool { return true }

// FreeSpace returns false.
func FreeSpace(string) (bytes int64, known bool) { return 0, false }

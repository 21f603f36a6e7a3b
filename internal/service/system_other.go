//go:build !unix

package service

import "io/fs"

// isOpenToOthers returns false: file modes do not express it on this system.
func isOpenToOthers(fs.FileInfo) bool { return false }

// MayWrite returns true: this system reports it only on an attempt to write.
func MayWrite(string) bool { return true }

// FreeSpace reports that the free space is unknown.
func FreeSpace(string) (bytes int64, known bool) { return 0, false }

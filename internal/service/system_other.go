//go:build !unix

package service

import (
	"io/fs"
	"math"
)

// isOpenToOthers returns false: file modes do not express it on this system.
func isOpenToOthers(fs.FileInfo) bool { return false }

// MayWrite returns true: this system reports it only on an attempt to write.
func MayWrite(string) bool { return true }

// openFiles returns no limit.
func openFiles() uint64 { return math.MaxUint64 }

// FreeSpace reports that the free space is unknown.
func FreeSpace(string) (bytes int64, known bool) { return 0, false }

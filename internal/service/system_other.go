//go:build !unix

package service

import (
	"io/fs"
	"os"
)

// Terminate ends a process, which cannot be asked to stop here. Nothing is lost
// by it: that is what a crash would do.
func Terminate(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// isOpenToOthers reports false: a file's mode does not tell here.
func isOpenToOthers(fs.FileInfo) bool { return false }

// MayWrite reports true: only trying would tell.
func MayWrite(string) bool { return true }

// FreeSpace reports false: it is not known here.
func FreeSpace(string) (bytes int64, known bool) { return 0, false }

package fsid

import (
	"os"
	"syscall"
)

// ErrNotDirectory is the error when a file is where a folder of the path was.
const ErrNotDirectory = syscall.ENOTDIR

// SpelledSo reports whether a file of exactly this name exists, given that a
// file answers to it. Linux file systems tell names apart by their bytes.
func SpelledSo(*os.Root, string) bool { return true }

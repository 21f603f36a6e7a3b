package notes

import (
	"os"
	"syscall"
)

// errNotDirectory: a file is where a folder of the path was.
const errNotDirectory = syscall.ENOTDIR

// spelledSo reports whether a file of exactly this name exists, given that a
// file answers to it. Linux file systems tell names apart by their bytes.
func spelledSo(*os.Root, string) bool { return true }

//go:build !linux && !darwin && !windows

package fsid

import "io/fs"

// Without these numbers, size, mtime and hash alone tell files apart.

func sysStat(fs.FileInfo) (ctime, inode int64) { return 0, 0 }

func IdentityOf(fs.FileInfo) Identity { return Identity{} }

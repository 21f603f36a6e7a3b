//go:build unix

package bert

import (
	"math"
	"os"
	"syscall"
)

// contents maps a file read-only.
func contents(f *os.File, size int64) (data []byte, unmap func() error, err error) {
	if size == 0 || size > math.MaxInt {
		return nil, func() error { return nil }, nil // Open rejects it
	}
	data, err = syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}

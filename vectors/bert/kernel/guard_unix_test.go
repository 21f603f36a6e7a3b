//go:build unix

package kernel

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// guarded returns memory whose end is followed by a page that cannot be read.
func guarded(t *testing.T, size int) []byte {
	page := syscall.Getpagesize()
	size = (size + page - 1) / page * page
	data, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	require.NoError(t, syscall.Mprotect(data[size:], syscall.PROT_NONE))
	return data[:size:size]
}

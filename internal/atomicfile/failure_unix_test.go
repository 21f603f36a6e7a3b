//go:build unix

package atomicfile_test

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"notesd/internal/atomicfile"
)

func TestKindsOfFailure(t *testing.T) {
	wrap := func(errno syscall.Errno) error {
		return fmt.Errorf("save: %w", errors.Join(errors.New("other"), &os.PathError{Op: "write", Path: "a.md", Err: errno}))
	}
	for errno, want := range map[syscall.Errno]struct{ full, readOnly bool }{
		syscall.ENOSPC: {full: true},
		syscall.EDQUOT: {full: true},
		syscall.EROFS:  {readOnly: true},
		syscall.EACCES: {},
		syscall.EIO:    {},
	} {
		assert.Equal(t, want.full, atomicfile.IsDiskFull(wrap(errno)), errno)
		assert.Equal(t, want.readOnly, atomicfile.IsReadOnlyDisk(wrap(errno)), errno)
		assert.False(t, atomicfile.IsHeldElsewhere(wrap(errno)), errno)
	}
	assert.False(t, atomicfile.IsDiskFull(nil))
	assert.False(t, atomicfile.IsReadOnlyDisk(nil))
}

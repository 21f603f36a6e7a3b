package disk

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// The error for a folder that cannot be opened contains the reason but not the path.
func TestUnavailable(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.ENOENT: "does not exist", syscall.EACCES: "is not readable", syscall.EPERM: "the system does not let notesd read", syscall.EMFILE: "too many files are open", syscall.ENFILE: "too many files are open",
		errReplaced: "another folder is where the vault was", syscall.EIO: "cannot be opened (input/output error)",
	} {
		err := Unavailable(&fs.PathError{Op: "open", Path: "/secret/vault", Err: cause})
		require.ErrorIs(t, err, notes.ErrUnavailable)
		assert.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "secret")
	}
}

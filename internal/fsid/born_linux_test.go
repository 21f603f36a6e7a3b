package fsid

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A system that cannot tell is no failure; a disk that fails is one.
func TestBirthOf(t *testing.T) {
	st := &unix.Statx_t{Mask: unix.STATX_BTIME, Btime: unix.StatxTimestamp{Sec: 2, Nsec: 1}}
	for err, want := range map[error]int64{nil: 2e9 + 1, unix.ENOSYS: 0, unix.EPERM: 0} {
		got, failed := birthOf(st, err)
		require.NoError(t, failed)
		assert.Equal(t, want, got)
	}
	got, err := birthOf(&unix.Statx_t{}, nil)
	require.NoError(t, err)
	assert.Zero(t, got, "not recorded")
	_, err = birthOf(st, unix.EIO)
	require.ErrorIs(t, err, unix.EIO)
}

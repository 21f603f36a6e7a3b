package index

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInParallel(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 100} {
		calls := make([]atomic.Int32, n)
		require.NoError(t, InParallel(n, func(worker, part int) error {
			assert.Less(t, worker, maxWorkers)
			calls[part].Add(1)
			return nil
		}))
		for i := range calls {
			assert.EqualValues(t, 1, calls[i].Load(), "part %d of %d", i, n)
		}
	}
	broken := errors.New("broken")
	assert.ErrorIs(t, InParallel(9, func(_, part int) error {
		if part == 5 {
			return broken
		}
		return nil
	}), broken)
	for part := range 4 {
		assert.Panics(t, func() {
			_ = InParallel(4, func(_, i int) error {
				if i == part {
					panic("broken")
				}
				return nil
			})
		}, "on the calling goroutine, where it can be recovered")
	}
}

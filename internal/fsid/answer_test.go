package fsid

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const patience = 10 * time.Second
		blocked := make(chan struct{})
		hangs := func() (int, error) { <-blocked; return 1, nil }
		works := func() (int, error) { return 2, nil }

		start := time.Now()
		_, err := InTime("disk", patience, hangs)
		require.ErrorIs(t, err, ErrNoAnswer)
		assert.Equal(t, patience, time.Since(start))

		start = time.Now()
		_, err = InTime("disk", patience, works)
		require.ErrorIs(t, err, ErrNoAnswer, "no call is added to one that hangs")
		assert.Zero(t, time.Since(start))
		got, err := InTime("another", patience, works)
		require.NoError(t, err)
		assert.Equal(t, 2, got)

		time.Sleep(time.Minute)
		got, err = InTime("disk", patience, works)
		require.NoError(t, err, "the disk may have been remounted")
		assert.Equal(t, 2, got)
		time.Sleep(2 * patience)
		_, err = InTime("disk", patience, works)
		require.NoError(t, err, "it was")

		close(blocked)
		synctest.Wait()
		got, err = InTime("disk", patience, works)
		require.NoError(t, err, "the disk answers again")
		assert.Equal(t, 2, got)
	})
}

package index

import (
	"runtime/debug"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The collector's target is lower during builds and afterwards what it was.
func TestBuildTarget(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(250))
	target := func() int {
		now := debug.SetGCPercent(100)
		debug.SetGCPercent(now)
		return now
	}
	first, second := beginBuild(), beginBuild()
	first()
	endBuilds()
	assert.Equal(t, buildGC, target(), "another build is running")
	second()
	endBuilds()
	assert.Equal(t, 250, target())
}

// The buffers that a build has left in pools are freed after it, too.
func TestBuildFreesPools(t *testing.T) {
	end := beginBuild()
	var pool sync.Pool
	pool.Put(new(int))
	end()
	endBuilds()
	assert.Nil(t, pool.Get())
}

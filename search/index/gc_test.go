package index

import (
	"math"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A build neither exceeds the memory limit of the process nor leaves another one behind.
func TestBuildMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	for limit, during := range map[int64]int64{100 << 20: 100 << 20, math.MaxInt64: buildMemory} {
		debug.SetMemoryLimit(limit)
		end := beginBuild()
		assert.Equal(t, during, debug.SetMemoryLimit(-1))
		end()
		endBuilds()
		assert.Equal(t, limit, debug.SetMemoryLimit(-1))
	}
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

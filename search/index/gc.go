package index

import (
	"runtime/debug"
	"sync"
	"time"
)

// The collector's target while building: the live heap is small and the
// garbage large, and memory given back late counts as used. A build is many
// Applies; the target returns to what it was some time after the last.
const (
	buildGC    = 60
	buildPause = time.Second
)

// buildMemory is what the process is to keep within while it builds, in bytes,
// softly: near it the collector works more and returns pages at once. Mapped
// files come on top.
const buildMemory = 300 << 20

// builds is the one place of the process that changes the collector's target.
var builds struct {
	sync.Mutex
	running int
	lowered bool
	was     int   // the target to return to
	limit   int64 // and the soft limit
	pause   *time.Timer
}

// beginBuild lowers the collector's target, until some time after the returned
// function is called.
func beginBuild() (end func()) {
	builds.Lock()
	defer builds.Unlock()
	builds.running++
	if !builds.lowered {
		builds.lowered = true
		builds.was = debug.SetGCPercent(buildGC)
		builds.limit = debug.SetMemoryLimit(buildMemory)
	}
	return func() {
		builds.Lock()
		defer builds.Unlock()
		if builds.running--; builds.running > 0 {
			return
		}
		if builds.pause == nil {
			builds.pause = time.AfterFunc(buildPause, endBuilds)
		} else {
			builds.pause.Reset(buildPause)
		}
	}
}

// endBuilds puts the target back and gives memory back to the system, unless
// there is a build.
func endBuilds() {
	builds.Lock()
	defer builds.Unlock()
	if builds.running == 0 && builds.lowered {
		builds.lowered = false
		debug.SetGCPercent(builds.was)
		debug.SetMemoryLimit(builds.limit)
		debug.FreeOSMemory()
	}
}

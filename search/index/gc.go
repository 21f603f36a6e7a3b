package index

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// The garbage collector's target during a build: the live heap is small and there is much
// garbage, and memory released late counts as used. A build consists of many Applies; the
// target is restored some time after the last.
const (
	buildGC    = 60
	buildPause = time.Second
)

// builds is the only code in the process that changes the collector's target.
var builds struct {
	sync.Mutex
	running int
	lowered bool
	was     int // the target to restore
	pause   *time.Timer
}

// beginBuild lowers the collector's target until some time after end is called.
func beginBuild() (end func()) {
	builds.Lock()
	defer builds.Unlock()
	builds.running++
	if !builds.lowered {
		builds.lowered = true
		builds.was = debug.SetGCPercent(buildGC)
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

// endBuilds restores the target and returns memory to the system, unless a build is running.
func endBuilds() {
	builds.Lock()
	defer builds.Unlock()
	if builds.running == 0 && builds.lowered {
		builds.lowered = false
		debug.SetGCPercent(builds.was)
		runtime.GC() // a buffer in a sync.Pool is freed by the second collection
		debug.FreeOSMemory()
	}
}

package watcher

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

// cpuTime returns the CPU time that the process has used.
func cpuTime(t testing.TB) time.Duration {
	var created, exited, kernel, user windows.Filetime
	require.NoError(t, windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user))
	ticks := func(f windows.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return time.Duration(ticks(kernel)+ticks(user)) * 100 // 100 ns each
}

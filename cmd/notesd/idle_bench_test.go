package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkIdle measures the CPU time of an idle daemon, with a client connected that
// watches a note, over IDLE_SECONDS (default 2).
//
//	BENCH_NOTES=10000 IDLE_SECONDS=60 go test -run '^$' -bench Idle -benchtime 1x ./cmd/notesd
func BenchmarkIdle(b *testing.B) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		b.Skip("SKIPPED: no /proc to measure with")
	}
	seconds := 2
	if text := os.Getenv("IDLE_SECONDS"); text != "" {
		var err error
		seconds, err = strconv.Atoi(text)
		require.NoError(b, err, "IDLE_SECONDS")
	}
	m := newBench(b)
	m.run(b, "index")
	h := m.launch(b, "mcp", "--log-level", "error")
	h.initialize()
	h.ready()
	require.Nil(b, h.call("resources/subscribe", map[string]any{"uri": "notes://recent"}).Error)
	pid := m.daemon(b).PID
	<-time.After(2 * time.Second) // the first garbage collections and index merges
	var used, relay time.Duration
	for b.Loop() {
		was, relayWas := processorTime(b, pid), processorTime(b, h.cmd.Process.Pid)
		<-time.After(time.Duration(seconds) * time.Second)
		used += processorTime(b, pid) - was
		relay += processorTime(b, h.cmd.Process.Pid) - relayWas
	}
	b.ReportMetric(float64(used.Milliseconds())/float64(b.N), "cpu-ms")
	b.ReportMetric(float64(relay.Milliseconds())/float64(b.N), "relay-cpu-ms")
	b.ReportMetric(float64(seconds), "s")
	b.ReportMetric(0, "ns/op")
	require.NoError(b, h.end())
}

// processorTime returns the user and system time of a process, in ticks of 10 ms.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(b, err)
	_, after, ok := strings.Cut(string(text), ") ") // the name may contain spaces
	require.True(b, ok)
	fields := strings.Fields(after)
	user, err := strconv.Atoi(fields[11])
	require.NoError(b, err)
	system, err := strconv.Atoi(fields[12])
	require.NoError(b, err)
	return time.Duration(user+system) * 10 * time.Millisecond
}

package main

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"notesd/internal/config"
	"notesd/internal/notestest"
	"notesd/internal/service"
)

// The benchmarks measure the built program as a host uses it, over pipes, with text
// search only; semantic search has its own benchmarks. The vault is generated, with 500
// notes or BENCH_NOTES (10000 are the 70 MB of the design's table), or is a copy of the
// folder BENCH_VAULT:
//
//	BENCH_NOTES=10000 go test -run '^$' -bench . ./cmd/notesd
const defaultBenchNotes = 500

var buildOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "notesd-bench-")
	if err != nil {
		return "", err
	}
	exe := filepath.Join(dir, "notesd")
	build := exec.Command("go", "build", "-o", exe, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return exe, nil
})

// bench is a place with the vault to be measured.
type bench struct {
	place
	queries []string
	bytes   int64 // size of the vault
}

func newBench(b *testing.B) *bench {
	b.Helper()
	exe, err := buildOnce()
	require.NoError(b, err)
	m := &bench{place: newPlace(b, nil)}
	m.program = exe
	if from := os.Getenv("BENCH_VAULT"); from != "" {
		require.NoError(b, os.CopyFS(m.vault, os.DirFS(from)))
		m.queries = queriesFrom(b, m.vault)
	} else {
		spec := notestest.Spec{Notes: benchNotes(b), Seed: 1}
		require.NoError(b, notestest.Generate(m.vault, spec))
		m.queries = notestest.Queries(spec, 500)
	}
	m.bytes = folderSize(b, m.vault)
	return m
}

func benchNotes(b *testing.B) int {
	b.Helper()
	text := os.Getenv("BENCH_NOTES")
	if text == "" {
		return defaultBenchNotes
	}
	n, err := strconv.Atoi(text)
	require.NoError(b, err, "BENCH_NOTES")
	return n
}

// queriesFrom returns words that occur next to each other in the notes of a vault.
func queriesFrom(b testing.TB, dir string) []string {
	b.Helper()
	var files []string
	require.NoError(b, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			files = append(files, path)
		}
		return err
	}))
	rng := rand.New(rand.NewPCG(1, 2))
	var queries []string
	for len(queries) < 500 {
		text, err := os.ReadFile(files[rng.IntN(len(files))])
		require.NoError(b, err)
		words := strings.FieldsFunc(string(text), func(r rune) bool { return !unicode.IsLetter(r) })
		if n := 1 + rng.IntN(4); len(words) > n {
			at := rng.IntN(len(words) - n)
			queries = append(queries, strings.Join(words[at:at+n], " "))
		}
	}
	return queries
}

func folderSize(b *testing.B, dir string) (sum int64) {
	b.Helper()
	require.NoError(b, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		sum += info.Size()
		return err
	}))
	return sum
}

// ready waits until everything is indexed, without a timeout. Like commands, it polls at
// growing intervals.
func (h *peer) ready() {
	h.t.Helper()
	for wait := freshPoll; ; wait = min(wait*3/2, maxFreshPoll) {
		var r service.Report
		h.decode(h.call("notesd/status", map[string]any{}), &r)
		if r.Index.Ready {
			return
		}
		<-time.After(wait)
	}
}

// memory returns a field of a process's /proc status in MB, or false if not available.
func memory(pid int, field string) (float64, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib * 1024 / 1e6, err == nil
		}
	}
	return 0, false
}

func reportMemory(b *testing.B, pid int, field, unit string) {
	if mb, ok := memory(pid, field); ok {
		b.ReportMetric(mb, unit)
	}
}

// cpu returns the CPU time of a process that has exited.
func (h *peer) cpu() time.Duration {
	return h.cmd.ProcessState.UserTime() + h.cmd.ProcessState.SystemTime()
}

// restAfter is how long a process must have been idle to count as at rest.
const restAfter = 2 * time.Second

// BenchmarkFirstIndex measures indexing a vault from scratch.
func BenchmarkFirstIndex(b *testing.B) {
	m := newBench(b)
	var cpu time.Duration
	var notes int
	for b.Loop() {
		require.NoError(b, os.RemoveAll(m.state))
		h := m.launch(b, "mcp", "--in-process", "--log-level", "error")
		h.initialize()
		h.ready()
		b.StopTimer()
		var r service.Report
		h.decode(h.call("notesd/status", map[string]any{}), &r)
		notes = r.Notes
		reportMemory(b, h.cmd.Process.Pid, "VmHWM", "peak-MB")
		<-time.After(restAfter)
		reportMemory(b, h.cmd.Process.Pid, "VmRSS", "rest-MB")
		require.NoError(b, h.end())
		cpu += h.cpu()
		b.StartTimer()
	}
	seconds := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(seconds, "s")
	b.ReportMetric(float64(notes)/seconds, "notes/s")
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s")
	b.ReportMetric(float64(folderSize(b, m.state))/float64(m.bytes), "state/vault")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkStart measures the time from launch to the first response and until the index
// is known to be up to date, without an index and with an unchanged one.
func BenchmarkStart(b *testing.B) {
	m := newBench(b)
	measure := func(b *testing.B, fresh, ready bool, args ...string) {
		var answers []time.Duration
		for b.Loop() {
			b.StopTimer()
			if fresh {
				require.NoError(b, os.RemoveAll(m.state))
			}
			b.StartTimer()
			began := time.Now()
			h := m.launch(b, append(args, "--log-level", "error")...)
			h.initialize()
			if ready {
				h.ready()
			}
			answers = append(answers, time.Since(began))
			b.StopTimer()
			require.NoError(b, h.end())
			if fresh {
				stopDaemon(b, m.state)
			}
			b.StartTimer()
		}
		reportTimes(b, answers)
	}
	b.Run("initialize/cold/in-process", func(b *testing.B) { measure(b, true, false, "mcp", "--in-process") })
	b.Run("initialize/cold/daemon", func(b *testing.B) { measure(b, true, false, "mcp") })
	m.run(b, "index")
	b.Run("initialize/in-process", func(b *testing.B) { measure(b, false, false, "mcp", "--in-process") })
	b.Run("restart/in-process", func(b *testing.B) { measure(b, false, true, "mcp", "--in-process") })
	m.serve(b)
	b.Run("initialize/daemon", func(b *testing.B) { measure(b, false, false, "mcp") })
	b.Run("version", func(b *testing.B) { // the cost of starting a process
		var times []time.Duration
		for b.Loop() {
			began := time.Now()
			require.NoError(b, exec.Command(m.program, "version").Run())
			times = append(times, time.Since(began))
		}
		reportTimes(b, times)
	})
}

// BenchmarkSearch measures a text search over stdio, in the process and through the
// daemon.
func BenchmarkSearch(b *testing.B) {
	m := newBench(b)
	m.run(b, "index")
	for _, args := range [][]string{{"mcp", "--in-process"}, {"mcp"}} {
		b.Run(args[len(args)-1], func(b *testing.B) {
			h := m.launch(b, append(args, "--log-level", "error")...)
			h.initialize()
			h.ready()
			for _, q := range m.queries[:50] {
				h.found(q)
			}
			var times []time.Duration
			i := 0
			for b.Loop() {
				began := time.Now()
				answer := <-h.send("tools/call", map[string]any{"name": "search_notes", "arguments": map[string]any{"query": m.queries[i%len(m.queries)]}})
				times = append(times, time.Since(began))
				require.Nil(b, answer.Error)
				i++
			}
			reportTimes(b, times)
			reportMemory(b, m.daemon(b).PID, "VmRSS", "rest-MB")
			reportMemory(b, h.cmd.Process.Pid, "RssAnon", "own-anonymous-MB")
			require.NoError(b, h.end())
		})
		stopDaemon(b, m.state)
	}
}

// reportTimes reports the mean and the 95th percentile in ms.
func reportTimes(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	var sum time.Duration
	for _, t := range times {
		sum += t
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(sum)/float64(len(times)), "ms")
	b.ReportMetric(ms(times[len(times)/2]), "p50-ms")
	b.ReportMetric(ms(times[min(len(times)-1, len(times)*95/100)]), "p95-ms")
	b.ReportMetric(0, "ns/op")
}

// within serves the vault in the test's own process, for -cpuprofile and -memprofile, and
// calls do when everything is indexed.
func (m *bench) within(b *testing.B, do func(context.Context, *client) error) {
	b.Helper()
	cfg := config.Default()
	cfg.Vault.Path, cfg.State, cfg.Semantic.Provider = m.vault, m.state, "off"
	require.NoError(b, os.MkdirAll(m.state, 0o700))
	s := service.New(&cfg, service.DiscardLogs(), !service.Watching)
	require.NoError(b, s.Run(b.Context(), func(ctx context.Context) error {
		a := &app{output: output{err: &screen{}}}
		return a.inMemory(ctx, s, func(ctx context.Context, c *client) error {
			if _, err := c.untilIndexed(ctx, nil); err != nil {
				return err
			}
			return do(ctx, c)
		})
	}))
}

func BenchmarkProfileFirstIndex(b *testing.B) {
	m := newBench(b)
	for b.Loop() {
		require.NoError(b, os.RemoveAll(m.state))
		m.within(b, func(context.Context, *client) error { return nil })
	}
}

func BenchmarkProfileSearch(b *testing.B) {
	m := newBench(b)
	m.run(b, "index")
	m.within(b, func(ctx context.Context, c *client) error {
		for i := 0; b.Loop(); i++ {
			var res any
			if err := c.call(ctx, "search_notes", map[string]any{"query": m.queries[i%len(m.queries)]}, &res); err != nil {
				return err
			}
		}
		return nil
	})
}

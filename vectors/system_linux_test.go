package vectors

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text+"\n"), 0o644))
}

func TestSystemLoad_Pressure(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &systemLoad{proc: t.TempDir(), power: t.TempDir(), now: func() time.Time { return now }}
	waited := 7_000_000
	read := func(micros int, passed time.Duration) float64 {
		waited += micros
		now = now.Add(passed)
		put(t, s.proc, "pressure/cpu", "some avg10=0.31 avg60=0.11 avg300=0.03 total="+strconv.Itoa(waited)+"\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0")
		return s.read().Pressure
	}
	assert.Zero(t, read(0, 0), "there is nothing to compare with yet")
	assert.InDelta(t, .25, read(500_000, 2*time.Second), 1e-9)
	assert.Zero(t, read(0, time.Second))
	assert.InDelta(t, 1, read(3_000_000, 2*time.Second), 0, "clocks differ")
	assert.Zero(t, read(5, 0))
}

func TestSystemLoad_Average(t *testing.T) {
	s := &systemLoad{proc: t.TempDir(), power: t.TempDir(), now: time.Now}
	assert.Equal(t, Load{Pressure: -1, Battery: -1}, s.read())
	n := float64(runtime.NumCPU())
	for average, want := range map[float64]float64{0: 0, n: 0, 1.5 * n: .5, 3 * n: 1} {
		put(t, s.proc, "loadavg", strconv.FormatFloat(average, 'f', 2, 64)+" 0.5 0.4 2/300 1234")
		assert.InDelta(t, want, s.read().Pressure, 1e-9)
	}
	put(t, s.proc, "loadavg", "?")
	assert.InDelta(t, -1, s.read().Pressure, 0)
	assert.NotPanics(t, func() { newSystemLoad()() })
}

func TestSystemLoad_Battery(t *testing.T) {
	power := t.TempDir()
	assert.InDelta(t, -1, battery(power), 0)
	put(t, power, "AC/type", "Mains")
	put(t, power, "mouse/type", "Battery")
	put(t, power, "mouse/scope", "Device")
	put(t, power, "mouse/status", "Discharging")
	put(t, power, "mouse/capacity", "3")
	put(t, power, "BAT0/type", "Battery")
	put(t, power, "BAT0/status", "Charging")
	put(t, power, "BAT0/capacity", "42")
	assert.InDelta(t, -1, battery(power), 0, "on mains")
	put(t, power, "BAT0/status", "Discharging")
	assert.InDelta(t, .42, battery(power), 1e-9)
	put(t, power, "BAT0/capacity", "")
	assert.InDelta(t, 1, battery(power), 0, "the charge is unknown")
}

// A process whose user waits does not embed at the lowest priority.
func TestHurry(t *testing.T) {
	t.Cleanup(func() { hurried.Store(false) })
	e := newTransformer(t)
	priority := func() (p int) {
		require.NoError(t, e.EmbedPassages(t.Context(), []string{"a"}, 1, func(int, []float32) {
			var err error
			p, err = unix.Getpriority(unix.PRIO_PROCESS, 0)
			assert.NoError(t, err)
		}))
		return 20 - p // as the system call returns it
	}
	own, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	require.NoError(t, err)
	assert.Equal(t, 19, priority())
	Hurry()
	assert.Equal(t, 20-own, priority())
}

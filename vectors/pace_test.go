package vectors

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	idle   = Load{Pressure: 0, Battery: -1}
	normal = Load{Pressure: .4, Battery: -1}
	high   = Load{Pressure: .7, Battery: -1}
	full   = Load{Pressure: 1, Battery: -1}
)

// paceOf returns a pace for eight processors, and a function that advances the clock by a
// second under a load and returns the number of threads.
func paceOf(fixed int) (p *pace, second func(Load) int, now *time.Time) {
	var load Load
	p = newPace(fixed, func() Load { return load })
	if fixed == 0 {
		p.most, p.threads = 8, 4
	}
	clock := time.Unix(1000, 0)
	return p, func(l Load) int {
		load = l
		clock = clock.Add(adaptEvery)
		p.adapt(clock, time.Millisecond)
		return p.current()
	}, &clock
}

func TestPace_Load(t *testing.T) {
	_, second, _ := paceOf(0)
	for i, c := range []struct {
		load Load
		want int
	}{
		{idle, 5}, {idle, 6}, {idle, 7}, {idle, 8}, {idle, 8}, {normal, 8}, {high, 4}, {full, 2}, {full, 1}, {full, 1}, {normal, 1}, {idle, 2},
		{Load{Pressure: 0, Battery: .9}, 1}, {idle, 2}, {idle, 3}, {idle, 4}, {idle, 5},
		{Load{Pressure: -1, Battery: -1}, 4},
	} {
		assert.Equal(t, c.want, second(c.load), "second %d", i)
	}
}

// In a container with fewer processors than the machine, the kernel would stop searches, too,
// once embedding had used up the container's share.
func TestPace_ProcessorsOfContainer(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // as the runtime does in a container
	processors.raise(2)                             // another vault embeds
	defer processors.raise(-2)
	assert.Equal(t, 1, newPace(0, nil).most)
}

func TestPace_SetByUser(t *testing.T) {
	p, second, now := paceOf(3)
	for _, l := range []Load{full, idle, {Pressure: 1, Battery: .01}} {
		assert.Equal(t, 3, second(l))
		pause, resting := p.adapt(*now, time.Second)
		assert.Zero(t, pause)
		assert.False(t, resting)
	}
	p.search(time.Second, *now)
	assert.Equal(t, 3, p.current())
	assert.Equal(t, 3, p.most)
}

// The last thread works half of the time while other programs wait, and only on edited notes if
// the battery is low.
func TestPace_Pause(t *testing.T) {
	p, second, now := paceOf(0)
	for second(full) > 1 {
	}
	pause, resting := p.adapt(*now, 70*time.Millisecond)
	assert.Equal(t, 70*time.Millisecond, pause)
	assert.False(t, resting)
	second(high)
	pause, _ = p.adapt(*now, 70*time.Millisecond)
	assert.Zero(t, pause)
	second(Load{Pressure: 0, Battery: .19})
	pause, resting = p.adapt(*now, 70*time.Millisecond)
	assert.Equal(t, restFor, pause)
	assert.True(t, resting)
	second(Load{Pressure: 0, Battery: .2})
	pause, resting = p.adapt(*now, 70*time.Millisecond)
	assert.Zero(t, pause)
	assert.False(t, resting)
}

// The load is read once a second, regardless of the number of batches.
func TestPace_ReadsOnceASecond(t *testing.T) {
	reads := 0
	p := newPace(0, func() Load { reads++; return idle })
	for i := range 3500 {
		p.adapt(time.Unix(0, int64(i)*int64(time.Millisecond)), 0)
	}
	assert.Equal(t, 4, reads)
}

func TestPace_Searches(t *testing.T) {
	p, second, now := paceOf(0)
	for range 4 {
		second(idle)
	}
	require.Equal(t, 8, p.current())
	p.search(2*time.Millisecond, *now)
	assert.Equal(t, 8, p.current(), "a quick search")
	assert.Equal(t, 7, second(idle), "one processor is kept free")
	p.search(4*time.Millisecond, *now)
	p.search(7*time.Millisecond, *now)
	assert.Equal(t, 3, p.current(), "slow beside the others")
	p.search(100*time.Millisecond, *now)
	p.search(100*time.Millisecond, *now)
	p.search(100*time.Millisecond, *now)
	assert.Equal(t, 1, p.current())
	for _, want := range []int{2, 3, 4, 5, 6, 7, 8} {
		assert.Equal(t, want, second(idle))
	}

	server, second, now := paceOf(0) // whose searches always take this long
	second(normal)
	for range 50 {
		server.search(80*time.Millisecond, *now)
	}
	assert.Equal(t, 4, server.current())
}

// On a low battery only edited notes are embedded, at once; the others follow later.
func TestPace_LowBattery(t *testing.T) {
	var charge atomic.Int64
	charge.Store(10)
	w := &world{t: t, dir: t.TempDir(), state: t.TempDir(), load: func() Load { return Load{Battery: float64(charge.Load()) / 100} }}
	w.write("a.md", "old words")
	w.write("b.md", "more old words")
	f := newWordEmbedder("m2")
	w.start(f, nil)
	defer func() { w.stop() }()
	require.Eventually(t, func() bool { return w.index.Status().Chunks == 2 }, patience, time.Millisecond)
	w.write("c.md", "new words")
	require.NoError(t, w.vault.Reconcile(t.Context()))
	require.Eventually(t, func() bool { return len(f.counts()) > 0 && w.index.Status().Pending == 2 }, patience, time.Millisecond)
	assert.Equal(t, map[string]int{"c\nnew words": 1}, f.counts())
	charge.Store(90)
	w.restart(f, nil)
	w.settle()
	assert.Len(t, f.counts(), 3)
}

// The remaining time includes pauses but not idle time, and adapts to a change of the speed
// within a window.
func TestRate(t *testing.T) {
	var r rate
	assert.Zero(t, r.timeFor(100), "unknown")
	now := time.Unix(1000, 0)
	batches := func(n int, work, pause time.Duration) {
		for range n {
			r.add(8, now, now.Add(work))
			now = now.Add(work + pause)
		}
	}
	batches(1, time.Second, time.Second)
	assert.Equal(t, 100*time.Second, r.timeFor(800))
	batches(100, time.Second, time.Second)
	assert.InDelta(t, 200, r.timeFor(800).Seconds(), 2, "half of the time passes in pauses")
	r.interrupt()
	now = now.Add(time.Hour)
	batches(2, time.Second, time.Second)
	assert.InDelta(t, 200, r.timeFor(800).Seconds(), 3)
	batches(60, 4*time.Second, 0)
	assert.InDelta(t, 400, r.timeFor(800).Seconds(), 40, "four minutes at half of the speed")
}

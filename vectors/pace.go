package vectors

import (
	"math"
	"sync"
	"time"
)

// Load is the load of the machine as reported by the system.
type Load struct {
	// Pressure is the share of time, 0 to 1, in which programs waited for a processor.
	// It is negative if the system does not report it.
	Pressure float64
	// Battery is the charge, 0 to 1, while the machine runs on it, and otherwise
	// negative.
	Battery float64
}

const (
	// adaptEvery is the interval at which the load is read.
	adaptEvery = time.Second
	// Below calm, a thread is added. Above busy, half of them are removed; above crowded, the
	// last one pauses for as long as each batch took. Threads at the lowest priority alone do
	// not give way to programs in other sessions, among which Linux divides the processors
	// equally.
	calm, busy, crowded = .25, .5, .8
	// lowBattery is the charge below which only edited notes are embedded.
	lowBattery = .2
	restFor    = time.Minute
	// A search is slow if it takes slowSearch and several times as long as the
	// quickest.
	slowSearch = 5 * time.Millisecond
	slowFactor = 3
	// searchHold is the time for which a search keeps one processor free.
	searchHold = 3 * time.Second
)

// pace decides how many threads embed passages, by the load of the machine and the
// latency of searches. It is safe for concurrent use.
type pace struct {
	fixed bool // the user has set the number of threads
	most  int  // the largest number of threads
	load  func() Load

	mu       sync.Mutex
	threads  int
	last     Load
	adapted  time.Time
	quickest time.Duration // of searches; rises slowly
	searched time.Time
}

// newPace returns a pace with a fixed number of threads, or one that adapts it to the load if
// fixed is 0.
func newPace(fixed int, load func() Load) *pace {
	if fixed > 0 {
		return &pace{fixed: true, most: fixed, threads: fixed}
	}
	n := processors.allowed()
	return &pace{most: n, load: load, threads: (n + 1) / 2}
}

// search records the duration of a search that ended now.
func (p *pace) search(took time.Duration, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.searched = now
	if p.quickest == 0 || took < p.quickest {
		p.quickest = took
	}
	if !p.fixed && took >= slowSearch && took >= slowFactor*p.quickest {
		p.threads = max(1, p.threads/2)
		p.adapted = now
	}
	p.quickest += p.quickest / 64
}

// current returns the number of threads for the next batch.
func (p *pace) current() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.threads
}

// adapt reads the load and returns the pause after a batch of the given duration. If onlyEdited
// is true, the next batch must be of edited notes.
func (p *pace) adapt(now time.Time, took time.Duration) (pause time.Duration, onlyEdited bool) {
	if p.fixed {
		return 0, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.adapted.IsZero() || now.Sub(p.adapted) >= adaptEvery {
		p.adapted, p.last = now, p.load()
		p.change(now)
	}
	switch {
	case p.last.Battery >= 0 && p.last.Battery < lowBattery:
		return restFor, true
	case p.threads == 1 && p.last.Pressure > crowded:
		return took, false
	}
	return 0, false
}

// change sets the number of threads by the last load.
func (p *pace) change(now time.Time) {
	most := p.most
	switch {
	case p.last.Battery >= 0:
		most = 1
	case p.last.Pressure < 0:
		most = (p.most + 1) / 2
	case p.searched.Add(searchHold).After(now):
		most--
	}
	switch {
	case p.last.Pressure > busy:
		p.threads /= 2
	case p.last.Pressure < calm:
		p.threads++
	}
	p.threads = max(1, min(p.threads, most))
}

// rate estimates how many passages are embedded in a second, with the pauses between
// the batches.
type rate struct {
	passages, seconds float64   // earlier ones weigh less
	until             time.Time // the end of the last batch; zero if the next one does not follow it
}

// rateWindow is the time in seconds after which a batch weighs a third.
const rateWindow = 60

func (r *rate) add(passages int, began, ended time.Time) {
	if !r.until.IsZero() {
		began = r.until
	}
	took := max(0, ended.Sub(began).Seconds())
	fade := math.Exp(-took / rateWindow)
	r.passages, r.seconds, r.until = r.passages*fade+float64(passages), r.seconds*fade+took, ended
}

// interrupt excludes the time until the next batch.
func (r *rate) interrupt() { r.until = time.Time{} }

// timeFor estimates the time for a number of passages; 0 if it is unknown.
func (r *rate) timeFor(passages int) time.Duration {
	if r.passages == 0 {
		return 0
	}
	return time.Duration(float64(passages) * r.seconds / r.passages * float64(time.Second)).Round(time.Second)
}

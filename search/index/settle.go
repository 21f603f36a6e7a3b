package index

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	index "github.com/blevesearch/bleve_index_api"
	"golang.org/x/sync/errgroup"

	"notesd/notes"
)

// A segment of a few notes costs Bleve nearly as much as one of thousands, and
// has to be merged with others later. So the notes of one Apply after the
// other are counted into the same builders, and become part of the index, are
// settled, when a search asks, when there are many, or a moment after the
// last.
const (
	settleAfter  = 250 * time.Millisecond
	maxUnsettled = 32 << 20 // bytes of text
)

// unsettled is what was applied and is not settled yet.
type unsettled struct {
	mu       sync.Mutex // held by an Apply from beginning to end, and to settle
	builders []*builder
	notes    map[int64]bool // in the builders
	updates  uint64
	lost     error // why some of it did not become part of the index
	timer    *time.Timer

	// to is the position of all that was applied, nil when that is settled.
	To atomic.Pointer[notes.Position]
	// small is set when some of it is no build.
	small atomic.Bool
	// waiting is the number of notes in the builders after the last Apply.
	waiting atomic.Int64
	// building is set while an Apply is at work that is a build, for which
	// searches do not wait.
	building atomic.Bool
}

// prepare begins an Apply. What is unsettled is settled first if the Apply is
// about the same notes, and before a build if it is not of one: searches do
// not wait for those. unsettled.done ends the Apply.
func (x *Index) prepare(updates []Update, build bool) error {
	u := &x.Unsettled
	u.mu.Lock()
	if err := x.usable(); err != nil {
		u.mu.Unlock()
		return err
	}
	again := build && u.small.Load()
	for i := 0; i < len(updates) && !again; i++ {
		again = u.notes[updates[i].Id]
	}
	if again {
		x.settleLocked()
	}
	if err := u.lost; err != nil {
		u.lost = nil
		u.mu.Unlock()
		return err // the vault asks for the position then
	}
	if u.notes == nil {
		u.notes = map[int64]bool{}
	}
	for _, up := range updates {
		u.notes[up.Id] = true
	}
	if !build {
		u.small.Store(true)
	}
	u.building.Store(build)
	return nil
}

func (u *unsettled) done() {
	u.building.Store(false)
	u.mu.Unlock()
}

// take returns n builders.
func (u *unsettled) take(n int) []*builder {
	for len(u.builders) < n {
		u.builders = append(u.builders, builders.Get().(*builder))
	}
	return u.builders[:n]
}

// counted ends an Apply of n updates whose notes are all in builders.
func (x *Index) counted(to notes.Position, n int) error {
	u := &x.Unsettled
	u.To.Store(&to)
	u.updates += uint64(n)
	text, waiting := 0, 0
	for _, b := range u.builders {
		text += b.text
		waiting += len(b.ids)
	}
	u.waiting.Store(int64(waiting))
	if text >= maxUnsettled {
		x.settleLocked()
		err := u.lost
		u.lost = nil
		return err
	}
	if u.timer == nil {
		u.timer = time.AfterFunc(settleAfter, x.Settle)
	} else {
		u.timer.Reset(settleAfter)
	}
	return nil
}

// Settle makes all that was applied part of the index, but does not wait for a
// build that is at work.
func (x *Index) Settle() {
	u := &x.Unsettled
	if u.To.Load() == nil {
		return
	}
	if !u.building.Load() {
		u.mu.Lock()
	} else if !u.mu.TryLock() {
		return
	}
	defer u.mu.Unlock()
	x.settleLocked()
}

// settleLocked is settle for who holds the lock. What fails is fed again: the
// next Apply returns the error.
func (x *Index) settleLocked() {
	u := &x.Unsettled
	err := x.introduce()
	u.clear()
	if err != nil && !errors.Is(err, ErrClosed) {
		u.lost = err
		x.log.Error("search index", "err", err)
	}
}

// introduce gives Bleve what the builders have, and the position with the last
// of it, so that the position never comes before its notes.
func (x *Index) introduce() error {
	u := &x.Unsettled
	var full []*builder
	for _, b := range u.builders {
		if !b.empty() {
			full = append(full, b)
		}
	}
	last := index.NewBatch()
	if len(full) == 1 {
		last = full[0].batch()
	} else {
		var g errgroup.Group
		for _, b := range full {
			g.Go(func() error { return x.write(b.batch()) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	to := u.To.Load()
	if to == nil && len(full) != 1 {
		return nil // an Apply that failed
	}
	if to != nil {
		x.position(last, *to)
	}
	return x.write(last)
}

// position puts a position into a batch, and has Bleve tell when it is saved.
func (x *Index) position(b *index.Batch, to notes.Position) {
	b.SetInternal(keyPosition, encodePosition(to))
	applied := x.applied.Add(x.Unsettled.work())
	b.SetPersistedCallback(func(err error) {
		if err == nil {
			x.saved.Store(applied)
			x.asyncErr.Store(nil)
			x.markSaved()
		}
	})
}

// work tells what it would take to apply it again, as worthSaving counts.
func (u *unsettled) work() uint64 {
	sum := u.updates * NoteWork
	for _, b := range u.builders {
		sum += uint64(b.text)
	}
	return sum
}

// clear leaves nothing unsettled.
func (u *unsettled) clear() {
	for _, b := range u.builders {
		b.release()
	}
	u.builders, u.notes, u.updates = nil, nil, 0
	u.small.Store(false)
	u.waiting.Store(0)
	u.To.Store(nil)
}

// discard forgets what is unsettled.
func (u *unsettled) discard() {
	u.clear()
	u.lost = nil
	if u.timer != nil {
		u.timer.Stop()
	}
}

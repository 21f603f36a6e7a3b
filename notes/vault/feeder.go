package vault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"notesd/notes"
	"notesd/notes/store"
)

// replayBatch is the number of changes replayed to a follower at a time: enough for the
// text index to build its segments in parallel.
const replayBatch = 1000

// feeder applies every change to every follower, in order.
//
// A follower has a position: the store's id and the seq up to which it has applied the
// feed. It makes the position durable together with the data derived from the feed. New
// changes come from memory, with the parsed notes, and are fed to the followers that have
// applied everything before them. A follower that is behind (because it is new, it failed,
// or the program was killed between the commit and its Apply) first catches up: the changes
// after its position are read from the store. If it was fed from another store, or the feed
// no longer reaches back to its position, it is reset and receives every note as created,
// ordered by last change; changes made meanwhile have a higher seq and follow. Every change
// is therefore applied at least once, and again only if Apply failed or was interrupted.
type feeder struct {
	store *store.Store
	log   *slog.Logger

	mu        sync.Mutex // held while followers are fed
	followers []*followerState

	queueMu sync.Mutex
	queue   []notes.Change // committed, not yet fed

	rebuilding atomic.Bool // a follower is being fed every note
}

// followerState is a follower and its state.
type followerState struct {
	notes.Follower
	current bool   // the follower has applied everything up to seq
	seq     uint64 // valid if current, or if the follower's position is FromHead
	err     error  // why it is not current
}

func (f *feeder) follow(follower notes.Follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.followers = append(f.followers, &followerState{Follower: follower, seq: f.store.Head()})
}

// add queues changes in commit order; the caller must hold the vault's lock.
func (f *feeder) add(changes []notes.Change) {
	f.queueMu.Lock()
	defer f.queueMu.Unlock()
	f.queue = append(f.queue, changes...)
}

// mostQueued is the number of changes up to which a scan does not wait for a rebuild: they hold
// the parsed notes, and a scan could queue all of a vault's.
const mostQueued = 4000

func (f *feeder) queued() int {
	f.queueMu.Lock()
	defer f.queueMu.Unlock()
	return len(f.queue)
}

func (f *feeder) take() []notes.Change {
	f.queueMu.Lock()
	defer f.queueMu.Unlock()
	changes := f.queue
	f.queue = nil
	return changes
}

// run feeds the queued changes, and lets followers that are behind catch up. When it
// returns, every healthy follower has applied every change queued before the call, unless
// another call is rebuilding a follower, which can take minutes: then run returns at once,
// and that call feeds these changes too. A follower's failure is logged, kept for status,
// and retried at the next run; it does not delay the other followers.
func (f *feeder) run(ctx context.Context) {
	if !f.mu.TryLock() {
		if f.rebuilding.Load() {
			return
		}
		f.mu.Lock()
	}
	defer f.mu.Unlock()
	f.feed(ctx)
}

// runScanned is run for a scan, which also waits for a rebuild if mostQueued changes are queued.
func (f *feeder) runScanned(ctx context.Context) {
	if f.queued() < mostQueued {
		f.run(ctx)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.feed(ctx)
}

// feed does the work of run. After a rebuild, it feeds what was queued meanwhile. The caller
// must hold f.mu.
func (f *feeder) feed(ctx context.Context) {
	for changes := f.take(); ; {
		for _, follower := range f.followers {
			err := f.advance(ctx, follower, changes)
			if err != nil && !errors.Is(err, context.Canceled) && (follower.err == nil || follower.err.Error() != err.Error()) {
				f.log.Error("follower failed; it will be fed again", "follower", fmt.Sprintf("%T", follower.Follower), "err", err)
			}
			follower.current, follower.err = err == nil, err
		}
		if !f.rebuilding.Swap(false) { // later calls of run wait
			return
		}
		if changes = f.take(); len(changes) == 0 {
			return
		}
	}
}

// advance brings one follower up to date. It uses changes from memory only if they directly
// follow the follower's position; otherwise it reads them from the store.
func (f *feeder) advance(ctx context.Context, follower *followerState, changes []notes.Change) error {
	position, err := follower.Position()
	if err != nil {
		return err
	}
	if !follower.current || position.Seq < follower.seq { // it has lost changes
		if err := f.feedFrom(ctx, follower, position); err != nil {
			return err
		}
	}
	for len(changes) > 0 && changes[0].Seq <= follower.seq {
		changes = changes[1:]
	}
	if len(changes) == 0 {
		return nil
	}
	last := changes[len(changes)-1].Seq
	if err := follower.Apply(ctx, notes.Position{Store: f.store.ID(), Seq: last}, changes); err != nil {
		return err
	}
	follower.seq = last
	return nil
}

// feedFrom feeds a follower from the store, from its position up to the change that was the
// latest when the call began.
func (f *feeder) feedFrom(ctx context.Context, follower *followerState, position notes.Position) error {
	head := f.store.Head()
	if position.Seq == notes.FromHead {
		position = notes.Position{Store: f.store.ID(), Seq: follower.seq}
	}
	_, whole, err := f.store.Feed().After(ctx, position.Seq, 0)
	if err != nil {
		return err
	}
	if position.Store != f.store.ID() || position.Seq > head || !whole {
		return f.rebuild(ctx, follower, position, head)
	}
	return f.replay(ctx, follower, position.Seq, head, func(seq uint64) ([]notes.Change, error) {
		changes, _, err := f.store.Feed().After(ctx, seq, replayBatch)
		return changes, err
	})
}

func (f *feeder) rebuild(ctx context.Context, follower *followerState, position notes.Position, head uint64) error {
	f.rebuilding.Store(true)
	if position != (notes.Position{}) { // otherwise it has no data to discard
		if err := follower.Reset(ctx); err != nil {
			return err
		}
	}
	return f.replay(ctx, follower, 0, head, func(seq uint64) ([]notes.Change, error) {
		return f.store.Feed().Snapshot(ctx, seq, head, replayBatch)
	})
}

// renew resets every follower and feeds it again, so that no trace of a deleted note
// remains.
func (f *feeder) renew(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rebuilding.Store(true)
	var errs []error
	for _, follower := range f.followers {
		errs = append(errs, follower.Reset(ctx))
		follower.current = false
	}
	f.feed(ctx)
	return errors.Join(errs...)
}

// replay feeds batches until next returns none, and then moves the follower's position to
// head, past changes that had nothing to apply.
func (f *feeder) replay(ctx context.Context, follower *followerState, seq, head uint64, next func(seq uint64) ([]notes.Change, error)) error {
	for {
		changes, err := next(seq)
		if err != nil {
			return err
		}
		if len(changes) == 0 {
			break
		}
		seq = changes[len(changes)-1].Seq
		if err := f.store.Feed().Attach(ctx, changes); err != nil {
			return err
		}
		if err := follower.Apply(ctx, notes.Position{Store: f.store.ID(), Seq: seq}, changes); err != nil {
			return err
		}
	}
	if seq < head {
		if err := follower.Apply(ctx, notes.Position{Store: f.store.ID(), Seq: head}, nil); err != nil {
			return err
		}
		seq = head
	}
	follower.seq, follower.current = seq, true
	return nil
}

// behind returns a message for each follower that is behind, with the reason and what to
// do.
func (f *feeder) behind() []string {
	if !f.mu.TryLock() {
		return nil // they are being fed
	}
	defer f.mu.Unlock()
	var out []string
	for _, follower := range f.followers {
		if follower.err != nil {
			why, remedy := follower.err.Error(), "If this persists, run: notesd index --rebuild"
			if isFull(follower.err) {
				why, remedy = stateIsFull, "Free some space there."
			}
			out = append(out, fmt.Sprintf("%s cannot keep up with the changes: %s; notesd tries again. %s", follower.Name(), why, remedy))
		}
	}
	return out
}

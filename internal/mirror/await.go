package mirror

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"notesd/notes"
)

const (
	// awaitFor limits how long a request waits for changes that its session has seen on
	// another node.
	awaitFor = 5 * time.Second
	// headFor limits how long the database may take to return its newest batch.
	headFor = time.Second
)

// Seq returns the number of the newest batch that results from this node may depend on.
func (m *Mirror) Seq() uint64 {
	m.followed.Lock()
	defer m.followed.Unlock()
	return m.followed.newest
}

// Await waits, up to a few seconds, until this node has applied all batches up to seq; it
// returns [notes.ErrUnavailable] if that takes longer. A seq of 0 means the newest batch
// of the log: since the caller may not have seen it, Await then returns nil on a timeout,
// and at once if the database cannot be reached.
func (m *Mirror) Await(ctx context.Context, seq uint64) error {
	if seq > 0 && m.followed.has(seq) {
		return nil
	}
	head, err := m.head(ctx)
	switch {
	case err != nil && seq == 0:
		return ctx.Err()
	case err == nil && (seq == 0 || seq > head): // seq > head: the log was restored from an older copy
		return m.await(ctx, head, seq > 0)
	}
	return m.await(ctx, seq, true)
}

func (m *Mirror) await(ctx context.Context, seq uint64, must bool) error {
	patience := time.After(m.patience)
	for woken := false; ; woken = true {
		changed := m.followed.next()
		if m.followed.has(seq) {
			return nil
		}
		if !woken {
			m.queue.Wake() // sync now rather than at the next notification
		}
		select {
		case <-changed:
			continue
		case <-ctx.Done():
			return ctx.Err()
		case <-patience:
		}
		if !must {
			return nil
		}
		return &notes.Error{Op: "follow the vault's log", Err: notes.ErrUnavailable, Detail: fmt.Sprintf("this node has the changes of the vault up to %d, and the session has seen change %d on another", m.followed.load(), seq),
			Hint: "Nothing was changed. Try again in some seconds, or on the node where the session was before."}
	}
}

// head returns the number of the log's newest batch.
func (m *Mirror) head(ctx context.Context) (uint64, error) {
	m.status.Lock()
	failed := m.status.failed
	m.status.Unlock()
	if failed != nil && !errors.Is(failed, errDeleting) { // with that, the log was reached
		return 0, fmt.Errorf("the last sync failed: %w", failed)
	}
	ctx, cancel := context.WithTimeout(ctx, max(headFor, m.opt.Patience))
	defer cancel()
	return m.log.Head(ctx)
}

// followed records which batches this node has: all up to seq, and of the later ones
// those that it has committed itself.
type followed struct {
	sync.Mutex
	seq     uint64
	own     map[uint64]bool
	newest  uint64
	changed chan struct{} // closed when seq changes; nil without waiters
}

// reach records that the node has applied all batches up to seq.
func (f *followed) reach(seq uint64) {
	f.Lock()
	defer f.Unlock()
	if seq < f.seq { // another log
		f.own, f.newest = nil, 0
	}
	for n := range f.own {
		if n <= seq {
			delete(f.own, n)
		}
	}
	f.seq, f.newest = seq, max(f.newest, seq)
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// commit records that the node has committed the batch.
func (f *followed) commit(seq uint64) {
	f.Lock()
	defer f.Unlock()
	if f.own == nil {
		f.own = map[uint64]bool{}
	}
	f.own[seq], f.newest = true, max(f.newest, seq)
}

func (f *followed) load() uint64 {
	f.Lock()
	defer f.Unlock()
	return f.seq
}

// has reports whether the node has all batches up to seq.
func (f *followed) has(seq uint64) bool {
	f.Lock()
	defer f.Unlock()
	for f.own[seq] {
		seq--
	}
	return seq <= f.seq
}

// next returns a channel that is closed when more batches have been applied.
func (f *followed) next() <-chan struct{} {
	f.Lock()
	defer f.Unlock()
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return f.changed
}

package vault

import (
	"sync"
	"time"
)

// unreadRetry is how soon a failed read is retried.
const unreadRetry = 10 * time.Second

// rereads are the files that Run will read again. The stored versions of their notes are kept
// until then.
type rereads struct {
	now   func() time.Time
	queue *Queue
	files sync.Map // path of the note → reread
}

type reread struct {
	at       time.Time
	diskPath string
	problem  string // why the last read failed, or ""
}

func (r *rereads) add(path, diskPath string, after time.Duration, problem string) {
	if _, had := r.files.Swap(path, reread{r.now().Add(after), diskPath, problem}); !had {
		r.queue.Wake() // Run sets its timer
	}
}

// problem returns why the last read of a note's file failed, or "".
func (r *rereads) problem(path string) string {
	if f, ok := r.files.Load(path); ok {
		return f.(reread).problem
	}
	return ""
}

// next returns when the next file is to be read, or zero if there is none.
func (r *rereads) next() (next time.Time) {
	for _, f := range r.files.Range {
		if at := f.(reread).at; next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// queueDue queues the files that are due at a time. One that fails again is added again.
func (r *rereads) queueDue(now time.Time) {
	for path, f := range r.files.Range {
		if f := f.(reread); !f.at.After(now) {
			r.files.Delete(path)
			r.queue.Add(f.diskPath)
		}
	}
}

package pglog

import (
	"context"
	"time"
)

// channel is what nodes notify one another on; the payload is the vault's name.
const channel = "notesd"

// notifyAfter is how long commits are gathered before other nodes are notified: a
// notification takes a lock that all writers of the database share.
const notifyAfter = 15 * time.Millisecond

// listenAgain is how soon a connection that listens is made again. Readers poll
// meanwhile.
const listenAgain = 5 * time.Second

// wake notifies the other nodes, once for all commits of a moment. They poll as well:
// a notification that fails costs time only.
func (l *Log) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.notify != nil || l.closed {
		return
	}
	l.notify = time.AfterFunc(notifyAfter, func() {
		l.mu.Lock()
		l.notify = nil
		closed := l.closed
		l.mu.Unlock()
		if closed {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), listenAgain)
		defer cancel()
		if _, err := l.pool.Exec(ctx, `SELECT pg_notify($1, $2)`, channel, l.name); err != nil {
			l.log.Debug("other nodes could not be notified; they poll", "err", err)
		}
	})
}

// Listen calls changed when another node has committed, and after every connection
// that was made, until ctx ends. What is committed while it has no connection is not
// reported.
func (l *Log) Listen(ctx context.Context, changed func()) {
	for ctx.Err() == nil {
		if err := l.listen(ctx, changed); err != nil && ctx.Err() == nil {
			l.log.Debug("notifications of the database are not received; polling", "err", err)
		}
		select {
		case <-time.After(listenAgain):
		case <-ctx.Done():
		}
	}
}

func (l *Log) listen(ctx context.Context, changed func()) error {
	conn, err := l.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	own := conn.Hijack() // it listens: not to be used for anything else
	defer func() { _ = own.Close(context.WithoutCancel(ctx)) }()
	if _, err := own.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	for {
		changed()
		for {
			n, err := own.WaitForNotification(ctx)
			if err != nil {
				return err
			}
			if n.Payload == l.name {
				break
			}
		}
	}
}

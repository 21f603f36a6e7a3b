package pglog

import (
	"context"
	"sync"
	"time"
)

// channel is the channel for notifications between nodes; the payload is the vault's
// name.
const channel = "notesd"

// notifyEvery is the minimum time between two notifications, which take a lock shared by
// all writers of the database. The first is sent at once.
const notifyEvery = 15 * time.Millisecond

// listenAgain is the pause before a listening connection is restored. Readers poll in the
// meantime.
const listenAgain = 5 * time.Second

// wake notifies the other nodes, once for several commits in quick succession. They also
// poll, so a failed notification only costs time.
func (l *Log) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.notify != nil || l.closed {
		return
	}
	l.notify = time.AfterFunc(time.Until(l.notified.Add(notifyEvery)), func() {
		l.mu.Lock()
		l.notify, l.notified = nil, time.Now()
		closed := l.closed
		l.mu.Unlock()
		if closed {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), listenAgain)
		defer cancel()
		if _, err := l.db.pool.Exec(ctx, `SELECT pg_notify($1, $2)`, channel, l.name); err != nil {
			l.db.log.Debug("other nodes could not be notified; they poll", "err", err)
		}
	})
}

// Listen calls changed when another node has committed, and after each connect, until ctx
// ends. Commits during a lost connection are not reported. changed must not block.
func (l *Log) Listen(ctx context.Context, changed func()) {
	remove := l.db.listen(&listener{l.name, changed})
	<-ctx.Done()
	remove()
}

// listener is a callback for commits to a vault.
type listener struct {
	vault   string
	changed func()
}

// listen adds a listener. All listeners share one connection, closed with the last one.
func (d *Database) listen(l *listener) (remove func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.listeners[l] = struct{}{}
	if d.unlisten == nil {
		ctx, cancel := context.WithCancel(context.Background())
		var listening sync.WaitGroup
		listening.Go(func() { d.follow(ctx) })
		d.unlisten = func() { cancel(); listening.Wait() }
	} else {
		l.changed()
	}
	return func() {
		d.mu.Lock()
		end := func() {}
		if delete(d.listeners, l); len(d.listeners) == 0 {
			end, d.unlisten = d.unlisten, nil
		}
		d.mu.Unlock()
		end()
	}
}

// changed calls the listeners of a vault, or all if vault is "".
func (d *Database) changed(vault string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for l := range d.listeners {
		if vault == "" || vault == l.vault {
			l.changed()
		}
	}
}

func (d *Database) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if err := d.followOn(ctx); err != nil && ctx.Err() == nil {
			d.log.Debug("notifications of the database are not received; polling", "err", err)
		}
		select {
		case <-time.After(listenAgain):
		case <-ctx.Done():
		}
	}
}

// followOn follows notifications on a connection until it ends.
func (d *Database) followOn(ctx context.Context) error {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	own := conn.Hijack() // it listens, so it must not return to the pool
	defer func() { _ = own.Close(context.WithoutCancel(ctx)) }()
	if _, err := own.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	d.changed("")
	for {
		n, err := own.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		d.changed(n.Payload)
	}
}

package watcher

import "github.com/fsnotify/fsnotify"

// notifier is the part of fsnotify.Watcher that the tracker drives.
type notifier interface {
	Add(dir string) error
	Remove(dir string) error
	WatchList() []string
	Close() error // closes the channels of events and errors
}

// source is one instance of the kernel's notification service, with the queue
// that receives its events.
type source struct {
	notifier
	queue   *queue
	drained chan struct{} // closed when the draining goroutine has ended
}

// drainSource starts a goroutine that drains a notifier until Close.
func drainSource(n notifier, events <-chan fsnotify.Event, errs <-chan error) *source {
	s := &source{notifier: n, queue: newQueue(), drained: make(chan struct{})}
	go s.drain(events, errs)
	return s
}

// drain moves events to the queue. It must not block elsewhere, or the kernel's
// queue overflows.
func (s *source) drain(events <-chan fsnotify.Event, errs <-chan error) {
	defer close(s.drained)
	for events != nil || errs != nil {
		select {
		case ev, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			s.queue.put(ev)
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			if loss := eventLoss(err); loss != nil {
				s.queue.fail(loss)
			}
		}
	}
}

// Close stops the source and waits for its goroutine.
func (s *source) Close() error {
	err := s.notifier.Close()
	<-s.drained
	return err
}

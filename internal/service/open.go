package service

import (
	"context"
	"time"

	"notesd/notes/vault"
	"notesd/search"
	"notesd/vectors/table"
)

// A backend is what sessions ask. Its parts are nil until the service is open,
// before which the core lets no request through.
type backend struct {
	vault  struct{ *vault.Vault }
	engine struct{ *search.Engine }
	tables struct{ *table.Tables }
}

// settleTime is how long requests wait, when a service has just begun, for the
// first scan: in a vault of usual size it ends before that, and no client gets an
// incomplete answer because a daemon was started a moment ago.
const settleTime = time.Second

// settlePoll is how often a new service looks whether the first scan has ended.
const settlePoll = 2 * time.Millisecond

// settle closes settled when the first scan has ended, or settleTime has passed.
func (s *Service) settle(ctx context.Context) {
	poll := time.NewTicker(settlePoll)
	defer poll.Stop()
	for !s.vault.Ready() && time.Now().Before(s.latest) {
		select {
		case <-poll.C:
		case <-ctx.Done():
			return
		}
	}
	close(s.settled)
}

// isOpen reports whether the parts of the service are there.
func (s *Service) isOpen() bool {
	select {
	case <-s.opened:
		return true
	default:
		return false
	}
}

// awaitOpen returns when the parts of the service are there, or ctx's error.
func (s *Service) awaitOpen(ctx context.Context) error {
	select {
	case <-s.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Search asks the search engine, once it is open.
func (s *Service) Search(ctx context.Context, q search.Query) (search.Result, error) {
	if err := s.awaitOpen(ctx); err != nil {
		return search.Result{}, err
	}
	return s.engine.Search(ctx, q)
}

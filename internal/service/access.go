package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"notesd/mcp"
	"notesd/notes/pglog"
)

const (
	// accessPoll is how often a node queries the grants of the subjects that use it.
	accessPoll = 2 * time.Second
	// accessTrust is how long grants remain valid while the database is unreachable.
	accessTrust = 5 * time.Minute
	// accessKeep is how long an inactive subject is kept.
	accessKeep = 10 * time.Minute
	// accessLookups bounds concurrent lookups of unknown tokens, so that guessing
	// tokens does not use up the database connections.
	accessLookups = 2
)

// access caches the grants of the subjects that use this node. It is safe for
// concurrent use.
type access struct {
	db      *pglog.Database
	now     func() time.Time
	lookups chan struct{}

	mu    sync.Mutex
	known map[pglog.Digest]*admission
}

// admission is the database's answer for a token.
type admission struct {
	subject     pglog.Subject
	asked, used time.Time
	valid       context.Context // ends when the token is known to be void, or is forgotten
	end         context.CancelFunc
}

func newAccess(db *pglog.Database, now func() time.Time) *access {
	return &access{db: db, now: now, lookups: make(chan struct{}, accessLookups), known: map[pglog.Digest]*admission{}}
}

// errToken is returned for an unknown token.
var errToken = errors.New("no subject has the token")

// subject returns the subject that owns the token, and a context that ends when the token is
// void. The error is errToken, or the reason that the database cannot be queried.
func (a *access) subject(ctx context.Context, token string) (s pglog.Subject, valid context.Context, err error) {
	digest := pglog.DigestOf(token)
	if s, valid, ok := a.trusted(digest); ok {
		return s, valid, nil
	}
	select {
	case a.lookups <- struct{}{}:
		defer func() { <-a.lookups }()
	case <-ctx.Done():
		return s, nil, ctx.Err()
	}
	if err := a.ask(ctx, []pglog.Digest{digest}); err != nil {
		return s, nil, err
	}
	if s, valid, ok := a.trusted(digest); ok {
		return s, valid, nil
	}
	return s, nil, errToken
}

func (a *access) trusted(digest pglog.Digest) (s pglog.Subject, valid context.Context, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.known[digest]
	if known == nil || a.now().Sub(known.asked) > accessTrust {
		return s, nil, false
	}
	known.used = a.now()
	return known.subject, known.valid, true
}

// ask queries the database for the subjects of the tokens and caches the result.
func (a *access) ask(ctx context.Context, digests []pglog.Digest) error {
	if len(digests) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, Waits.Database)
	defer cancel()
	asked := a.now()
	found, err := a.db.SubjectsOf(ctx, digests)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range digests {
		subject, ok := found[d]
		switch was := a.known[d]; {
		case !ok && was != nil:
			was.end()
			delete(a.known, d)
		case !ok:
		case was == nil:
			valid, end := context.WithCancel(context.Background())
			a.known[d] = &admission{subject, asked, asked, valid, end}
		default:
			was.subject, was.asked = subject, asked
		}
	}
	return nil
}

// refresh queries the grants of the cached subjects again.
func (a *access) refresh(ctx context.Context) error {
	a.mu.Lock()
	digests := slices.Collect(maps.Keys(a.known))
	a.mu.Unlock()
	return a.ask(ctx, digests)
}

// bounds returns a function that reports the current profile of a subject in the vault,
// and false if it has none or its grants have expired. Having a session counts as
// activity.
func (a *access) bounds(vault string, limits mcp.Profile) func(name string) (mcp.Profile, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	byName := map[string]mcp.Profile{}
	for _, known := range a.known {
		if p, ok := profileOfSubject(known.subject, vault, limits); ok && a.now().Sub(known.asked) <= accessTrust {
			byName[known.subject.Name] = p
		}
	}
	return func(name string) (mcp.Profile, bool) {
		p, ok := byName[name]
		if ok {
			a.use(name)
		}
		return p, ok
	}
}

func (a *access) use(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, known := range a.known {
		if known.subject.Name == name {
			known.used = a.now()
		}
	}
}

// forget removes inactive subjects.
func (a *access) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.known, func(_ pglog.Digest, known *admission) bool {
		idle := a.now().Sub(known.used) > accessKeep
		if idle {
			known.end()
		}
		return idle
	})
}

// profileOfSubject returns the profile of a subject in a vault, within the limits of
// the node, and whether the subject has a grant there.
func profileOfSubject(s pglog.Subject, vault string, limits mcp.Profile) (mcp.Profile, bool) {
	p := mcp.Profile{Subject: s.Name, Tools: limits.Tools, Read: []string{}, Write: []string{}}
	granted := false
	for _, g := range s.Grants {
		if g.Vault != vault {
			continue
		}
		granted = true
		if p.Read = extended(p.Read, g.Folder); g.Writer {
			p.Write = extended(p.Write, g.Folder)
		}
	}
	p.ReadOnly = limits.ReadOnly || p.Write != nil && len(p.Write) == 0
	return p, granted
}

// extended adds a folder to a list. A nil list, or the folder "", means everything.
func extended(folders []string, folder string) []string {
	if folders == nil || folder == "" {
		return nil
	}
	return append(folders, folder)
}

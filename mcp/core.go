package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"notesd/mcp/tools"
	"notesd/mcp/transport"
	"notesd/notes"
	"notesd/prompts"
)

// Options configure a [Core].
type Options struct {
	Version string            // of notesd
	Title   string            // the vault's name, shown by hosts
	Open    map[string]string // by folder, "" being the vault: a link that opens a note in the user's app; {path} is the path in the folder
	Vault   tools.Vault
	History tools.History
	Search  tools.Searcher
	Tables  tools.Tables // nil: no vector tables
	// Subscriptions stores those of sessions over HTTP. NewHTTP and NewSubjectHTTP need it.
	Subscriptions SubscriptionStore

	// Opened is closed when the fields above and prompts may be used. Settled
	// is closed no earlier, when their results can be expected to be complete. Requests
	// wait for Settled; the handshake waits for neither. A nil channel counts as closed.
	Opened, Settled <-chan struct{}

	// Shared, if not nil, is the log of a vault shared by several nodes.
	Shared SharedLog

	// Profile bounds every session; a session's own profile can only narrow it. It has no
	// selection of tools, because each session has its own.
	Profile Profile
	Limits  Limits

	// Refresh, if not nil, is called before each session begins. It may call SetProfile.
	Refresh func()

	// Methods are notesd's own methods by name, which its commands and the web page use.
	Methods map[string]Method

	// Trouble, if not nil, returns what is wrong with the database or its disk if that
	// caused an error, and "" otherwise.
	Trouble func(err error) string
	// Observe, if not nil, is called after each tool call, except one that is answered with
	// a question to the user.
	Observe func(tool string, took time.Duration, err error)

	Log *slog.Logger
	// ClientLog, if it is part of Log, also sends log records to clients.
	ClientLog *ClientLog
	Now       func() time.Time // nil: time.Now
}

// Limits bound the requests of one session. For a zero field the default applies.
type Limits struct {
	PageSize      int // resources per page of a list; 500
	Resources     int // resources listed in total; 10 000
	Subscriptions int // watched resources; 1000
	Concurrent    int // requests in progress; 4, or half the number of processors if that is less

	// CallsPerSecond limits how often a session may call tools, get prompts, and list and
	// read resources. A call that writes counts as four, a completion as ten. Bursts may
	// use the allowance of five seconds. Over HTTP, a subject's sessionless requests share
	// one such limit. Zero means no limit.
	CallsPerSecond int

	Line transport.Limits

	confirmWait time.Duration // for a user's answer: a client may never ask; 5 minutes
	rootsWait   time.Duration // for a client's list of roots; 5 s
}

func (l Limits) withDefaults() Limits {
	l.PageSize, l.Resources, l.Subscriptions = cmp.Or(l.PageSize, 500), cmp.Or(l.Resources, 10_000), cmp.Or(l.Subscriptions, 1000)
	l.Concurrent = cmp.Or(l.Concurrent, min(4, max(1, runtime.GOMAXPROCS(0)/2))) // a client that floods must leave processors to others
	l.Line = l.Line.WithDefaults()
	l.confirmWait = cmp.Or(l.confirmWait, 5*time.Minute)
	l.rootsWait = cmp.Or(l.rootsWait, 5*time.Second)
	return l
}

// A Core serves any number of sessions over one vault. It is safe for concurrent use.
type Core struct {
	opts       Options
	profile    atomic.Pointer[Profile] // bounds new sessions
	limits     Limits
	log        *slog.Logger
	now        func() time.Time
	newErrorID func() string
	notifier   atomic.Pointer[Notifier] // nil: no notifications
	working    atomic.Int64             // requests in progress
	worked     atomic.Int64             // when the last one ended, in nanoseconds since 1970

	mu       sync.Mutex
	sessions map[*session]struct{}
}

// New returns a core without sessions. It starts no goroutines.
func New(o Options) *Core {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Profile.Prompts == nil {
		o.Profile.Prompts = prompts.New(prompts.Options{})
	}
	c := &Core{
		opts:       o,
		limits:     o.Limits.withDefaults(),
		log:        o.Log,
		now:        o.Now,
		newErrorID: func() string { return rand.Text()[:8] },
		sessions:   make(map[*session]struct{}),
	}
	c.SetProfile(o.Profile)
	if o.ClientLog != nil {
		o.ClientLog.core.Store(c)
	}
	return c
}

// Await waits until event is closed. It returns the error of ctx if that ends first.
func Await(ctx context.Context, event <-chan struct{}) error {
	if event == nil {
		return nil
	}
	select {
	case <-event:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SetProfile replaces Options.Profile for sessions that begin later.
func (c *Core) SetProfile(p Profile) { c.profile.Store(&p) }

// Quiet reports whether no request has been in progress for at least d.
func (c *Core) Quiet(d time.Duration) bool {
	return c.working.Load() == 0 && c.now().Sub(time.Unix(0, c.worked.Load())) >= d
}

// begin counts a request as in progress until the returned function is called.
func (c *Core) begin() (end func()) {
	c.working.Add(1)
	return func() {
		c.worked.Store(c.now().UnixNano())
		c.working.Add(-1)
	}
}

// Sessions returns the number of connected clients.
func (c *Core) Sessions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.sessions)
}

func (c *Core) add(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[s] = struct{}{}
}

func (c *Core) remove(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sessions, s)
}

// each calls do for every session, without holding the lock.
func (c *Core) each(do func(*session)) {
	c.mu.Lock()
	sessions := slices.Collect(maps.Keys(c.sessions))
	c.mu.Unlock()
	for _, s := range sessions {
		do(s)
	}
}

// The methods of notesd that the web page calls, too. Except for the status, their results are
// restricted to the session's scope.
const (
	MethodStatus  = "notesd/status"  // of "notesd status"
	MethodGraph   = "notesd/graph"   // result: [notes.Graph], all links
	MethodWhy     = "notesd/why"     // why a query finds a note, or does not
	MethodTargets = "notesd/targets" // result: [notes.Targets], of all links of a note; note_links has a limit
)

// A Method is a method that notesd adds to the protocol. Except for MethodStatus, it waits,
// as tools do, until the notes can be expected to be complete.
type Method struct {
	Owner bool // only for the owner's commands: see Profile.Owner
	// Call returns the result, which must marshal to a JSON object. Unless Owner is set, it
	// is limited to what the scope, which is the session's, may read. params is nil if the
	// request has none.
	Call func(ctx context.Context, scope notes.Scope, params json.RawMessage) (any, error)
}

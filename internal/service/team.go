package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"notesd/internal/config"
	"notesd/internal/httpserver"
	"notesd/mcp"
	"notesd/notes"
	"notesd/notes/pglog"
)

const (
	// vaultIdle is how long a vault stays open without a request.
	vaultIdle = 10 * time.Minute
	// maxVaults bounds the number of open vaults.
	maxVaults = 200
	// fetchPatience bounds how long a request waits for a vault that is being fetched.
	fetchPatience = 25 * time.Second
	// vaultsDir is the folder of the vaults' state in the state directory of the node.
	vaultsDir = "vaults"
)

var (
	errFull     = errors.New("as many vaults are open as this node can have, and all are in use")
	errStopping = errors.New("this node is stopping")
)

// A node serves the vaults of a database, each at /v/NAME/mcp, to the subjects that
// have grants in them. A vault is opened on request and closed when idle; its sessions
// continue when it is reopened. Each vault is a [Service] with its own state directory;
// all share the database, the models and the metrics.
type node struct {
	own    *Service // of the node's own vault
	db     *pglog.Database
	models *embedders
	access *access
	now    func() time.Time
	most   int // maximum number of open vaults

	mu       sync.Mutex
	vaults   map[string]*sharedVault
	stopping bool
	running  sync.WaitGroup // goroutines that open and serve vaults
}

// sharedVault is a vault of the database that is open, opening or closing.
type sharedVault struct {
	name    string
	service *Service
	handler *mcp.HTTP
	opened  chan struct{} // closed when handler or err is set
	err     error
	stop    context.CancelFunc
	closed  chan struct{} // closed when its state directory is released

	// Guarded by node.mu.
	closing  bool
	requests int // in progress
	used     time.Time
}

func newNode(s *Service) (*node, error) {
	db, err := OpenDatabase(s.cfg, s.logs.Logger)
	if err != nil {
		return nil, err
	}
	n := &node{own: s, db: db, models: newEmbedders(s.cfg.Semantic), now: time.Now, most: maxVaults, vaults: map[string]*sharedVault{}}
	n.access = newAccess(db, func() time.Time { return n.now() })
	return n, nil
}

// run keeps grants up to date and closes idle vaults, until ctx ends.
func (n *node) run(ctx context.Context) {
	tick := time.NewTicker(accessPoll)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		n.check(ctx)
	}
}

// check applies the current grants to the sessions and closes idle vaults.
func (n *node) check(ctx context.Context) {
	if err := n.access.refresh(ctx); err != nil && ctx.Err() == nil {
		n.own.logs.Warn("grants cannot be read from the database; the last ones hold for a while", "err", err)
	}
	for _, v := range n.opened() {
		if n.closeIdle(v) {
			continue
		}
		v.handler.Bound(n.access.bounds(v.name, n.limits()))
	}
	n.access.forget()
}

// closeIdle starts to close the vault if it is idle, and reports whether it is closing.
func (n *node) closeIdle(v *sharedVault) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !v.closing && v.requests == 0 && n.now().Sub(v.used) >= vaultIdle {
		n.own.logs.Info("closing a vault that is not used", "vault", v.name)
		v.closing = true
		v.stop()
	}
	return v.closing
}

// limits returns the restrictions on every subject of this node.
func (n *node) limits() mcp.Profile {
	return mcp.Profile{ReadOnly: n.own.cfg.Vault.ReadOnly, Tools: n.own.cfg.Vault.Tools}
}

// serve answers a request for the MCP endpoint of a vault.
func (n *node) serve(w http.ResponseWriter, r *http.Request) {
	if n.own.draining.Load() {
		w.Header().Set("Connection", "close") // the next request should go to another node
	}
	subject, valid, err := n.access.subject(r.Context(), httpserver.BearerToken(r))
	switch {
	case errors.Is(err, errToken):
		w.Header().Set("WWW-Authenticate", `Bearer realm="notesd"`)
		n.refuse(w, r, http.StatusUnauthorized, "a bearer token is needed: notesd team add prints one", "")
		return
	case err != nil:
		n.own.logs.Warn("a token could not be checked", "err", err)
		n.unavailable(w, r, errors.New("the database that has the tokens cannot be reached"), "")
		return
	}
	name := r.PathValue("vault")
	profile, ok := profileOfSubject(subject, name, n.limits())
	if !ok { // do not reveal whether the vault exists
		n.refuse(w, r, http.StatusNotFound, "there is no such vault for this token", subject.Name)
		return
	}
	v, release, err := n.use(name)
	if err == nil {
		defer release()
		err = v.await(r.Context())
	}
	if err != nil {
		n.unavailable(w, r, err, subject.Name)
		return
	}
	ctx, end := context.WithCancel(r.Context())
	defer end()
	defer context.AfterFunc(valid, end)()
	v.handler.ServeMCP(w, r.WithContext(ctx), profile)
}

func (n *node) refuse(w http.ResponseWriter, r *http.Request, status int, why, subject string) {
	n.own.logs.Info("refused a request", "status", status, "reason", why, "subject", subject, "vault", r.PathValue("vault"), "remote", r.RemoteAddr)
	w.Header().Set("Connection", "close") // rather than read the rest of the body
	http.Error(w, why, status)
}

func (n *node) unavailable(w http.ResponseWriter, r *http.Request, why error, subject string) {
	w.Header().Set("Retry-After", "5")
	n.refuse(w, r, http.StatusServiceUnavailable, why.Error(), subject)
}

// use returns the vault, opening it if necessary. The vault stays open until release is
// called.
func (n *node) use(name string) (v *sharedVault, release func(), err error) {
	for {
		n.mu.Lock()
		v = n.vaults[name]
		switch {
		case n.stopping:
			n.mu.Unlock()
			return nil, nil, errStopping
		case v != nil && v.closing:
			n.mu.Unlock()
			<-v.closed // then open it again
			continue
		case v == nil && !n.makeRoom():
			n.mu.Unlock()
			return nil, nil, errFull
		case v == nil:
			v = n.open(name)
		}
		v.requests++
		n.mu.Unlock()
		return v, func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			v.requests--
			v.used = n.now()
		}, nil
	}
}

// makeRoom closes the least recently used idle vault if the limit is reached, and
// reports whether another may be opened. The caller must hold mu.
func (n *node) makeRoom() bool {
	if len(n.vaults) < n.most {
		return true
	}
	var oldest *sharedVault
	for _, v := range n.vaults {
		if !v.closing && v.requests == 0 && (oldest == nil || v.used.Before(oldest.used)) {
			oldest = v
		}
	}
	if oldest == nil {
		return false
	}
	oldest.closing = true
	oldest.stop()
	return true
}

// open starts a vault. The caller must hold mu.
func (n *node) open(name string) *sharedVault {
	ctx, stop := context.WithCancel(context.Background())
	v := &sharedVault{name: name, opened: make(chan struct{}), closed: make(chan struct{}), stop: stop, used: n.now()}
	n.vaults[name] = v
	n.running.Go(func() {
		defer stop()
		err := n.serveVault(ctx, v)
		n.mu.Lock()
		v.closing = true
		delete(n.vaults, name)
		n.mu.Unlock()
		if !isClosed(v.opened) {
			v.err = errors.New("the vault cannot be opened on this node")
			close(v.opened)
		}
		if err != nil {
			n.own.logs.Error("a vault has failed", "vault", name, "err", err)
		}
		close(v.closed)
	})
	return v
}

// serveVault serves the vault until ctx ends.
func (n *node) serveVault(ctx context.Context, v *sharedVault) error {
	cfg := n.configOf(v.name)
	lock, err := lockState(ctx, cfg)
	if err != nil {
		return err
	}
	logs := &Logs{Logger: n.own.logs.With("vault", v.name)} // not closed here: the file belongs to the node
	v.service = newService(cfg, logs, n)
	return v.service.RunLocked(ctx, lock, func(ctx context.Context) error {
		handler := mcp.NewSubjectHTTP(v.service.core)
		if err := mcp.Await(ctx, v.service.opened); err != nil {
			return nil //nolint:nilerr // it was stopped, or start returns why it cannot be opened
		}
		v.handler = handler
		close(v.opened)
		<-ctx.Done()
		handler.Close()
		return nil
	})
}

// await waits until the vault has caught up with the database once, and returns an
// error if it cannot be used.
func (v *sharedVault) await(ctx context.Context) error {
	patience := time.NewTimer(max(fetchPatience, Waits.Database))
	defer patience.Stop()
	wait := func(event <-chan struct{}) error {
		select {
		case <-event:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-patience.C:
			return errors.New("this node is still fetching the vault from the database")
		}
	}
	if err := wait(v.opened); err != nil || v.err != nil {
		return errors.Join(err, v.err)
	}
	return wait(v.service.mirror.Begun())
}

// configOf returns the settings of a vault: those of the node, with its own state
// directory and folder.
func (n *node) configOf(name string) *config.Config {
	c := *n.own.cfg
	c.State = filepath.Join(n.own.cfg.State, vaultsDir, folderOf(name))
	c.Store.Vault = name
	c.Vault = config.Vault{Path: filepath.Join(c.State, config.OwnFolder), Ignore: c.Vault.Ignore, Dates: c.Vault.Dates, ReadOnly: c.Vault.ReadOnly, Tools: c.Vault.Tools}
	c.Prompts, c.HTTP = config.Prompts{}, config.HTTP{}
	return &c
}

// folderOf returns a folder name for a vault. Names of different vaults differ even on
// a case-insensitive file system.
func folderOf(vault string) string {
	var b strings.Builder
	for i, c := range []byte(vault) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || i > 0 && strings.IndexByte("-_.", c) >= 0 && i < len(vault)-1 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02x", c)
	}
	if b.Len() > maxFolder {
		return "%_" + notes.Hash([]byte(vault))
	}
	return b.String()
}

// maxFolder bounds the length of a vault's folder name; file systems allow 255 bytes, and a
// vault's name of 100 takes up to 300.
const maxFolder = 200

// opened returns the open vaults.
func (n *node) opened() (open []*sharedVault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(n.vaults)) {
		if v := n.vaults[name]; !v.closing && isClosed(v.opened) && v.handler != nil {
			open = append(open, v)
		}
	}
	return open
}

// quiet reports whether no request of a subject has been in progress for at least d. It is
// true without a node.
func (n *node) quiet(d time.Duration) bool {
	return n == nil || !slices.ContainsFunc(n.opened(), func(v *sharedVault) bool { return !v.service.core.Quiet(d) })
}

// close stops all vaults.
func (n *node) close() error {
	n.mu.Lock()
	n.stopping = true
	for _, v := range n.vaults {
		v.stop()
	}
	n.mu.Unlock()
	n.running.Wait()
	return errors.Join(n.models.Close(), n.db.Close())
}

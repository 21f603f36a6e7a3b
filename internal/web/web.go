package web

import (
	"context"
	"embed"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

//go:embed static templates
var files embed.FS

// Options configure a [Server].
type Options struct {
	// Dial opens a connection on which the vault speaks MCP, in lines. It is
	// called at the first request and after the connection was lost.
	Dial func(context.Context) (io.ReadWriteCloser, error)
	// Vault is the name in the page's title.
	Vault    string
	Version  string
	ReadOnly bool // offer nothing that writes; the session refuses it anyway
	Log      *slog.Logger
	Now      func() time.Time // nil: time.Now
}

// A Server is the page of one vault. Its methods may be called concurrently.
type Server struct {
	o          Options
	vault      *vault
	logins     *logins
	events     events
	sameOrigin *http.CrossOriginProtection
	templates  map[string]*template.Template
	handler    http.Handler
}

// New returns a server, which opens no connection yet.
func New(o Options) (*Server, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		o:          o,
		logins:     &logins{now: o.Now, links: map[string]time.Time{}, cookies: map[string]time.Time{}},
		sameOrigin: http.NewCrossOriginProtection(),
		events:     events{subscribers: map[chan struct{}]struct{}{}},
	}
	s.vault = &vault{dial: o.Dial, version: o.Version, changed: s.events.publish}
	var err error
	if s.templates, err = parseTemplates(); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login/{code}", s.login)
	mux.Handle("GET /static/", http.FileServerFS(files))
	for pattern, handle := range map[string]http.HandlerFunc{
		"GET /{$}":                s.search,
		"GET /n/{path...}":        s.note,
		"GET /f/{path...}":        s.file,
		"GET /history/{path...}":  s.history,
		"POST /restore/{path...}": s.restore,
		"POST /undo/{path...}":    s.undo,
		"GET /changes":            s.changes,
		"GET /graph":              s.graph,
		"GET /graph.json":         s.graphData,
		"GET /why":                s.why,
		"GET /status":             s.status,
		"GET /events":             s.stream,
	} {
		if o.ReadOnly && strings.HasPrefix(pattern, http.MethodPost) {
			handle = func(w http.ResponseWriter, r *http.Request) {
				s.fail(w, r, http.StatusForbidden, "This page is read-only.", "")
			}
		}
		mux.Handle(pattern, s.admitted(handle))
	}
	s.handler = s.headers(mux)
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Link returns the path of a one-time link, which admits the browser that opens
// it within five minutes.
func (s *Server) Link() string { return "/login/" + s.logins.link() }

// Close ends the session with the vault and all event streams.
func (s *Server) Close() error {
	s.events.close()
	return s.vault.close()
}

// events wakes the pages that are open.
type events struct {
	mu          sync.Mutex
	closed      bool
	count       int // of changes so far
	subscribers map[chan struct{}]struct{}
}

// changes returns how many changes there have been. A page that was made before
// one, and listens after it, finds that the number is another.
func (e *events) changes() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.count
}

func (e *events) subscribe() (wake chan struct{}, cancel func()) {
	wake = make(chan struct{}, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		close(wake)
		return wake, func() {}
	}
	e.subscribers[wake] = struct{}{}
	return wake, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.subscribers, wake)
	}
}

// publish wakes every page once, however often something changes meanwhile.
func (e *events) publish() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.count++
	for wake := range e.subscribers {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.closed = true
	for wake := range e.subscribers {
		close(wake)
		delete(e.subscribers, wake)
	}
}

// stream sends how many changes there have been, now and after every change, as
// server-sent events. The comment that it sends each half minute finds a browser
// that is gone.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	const heartbeat = 30 * time.Second
	if _, err := s.vault.open(r.Context()); err != nil { // else nothing would report changes
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	wake, cancel := s.events.subscribe()
	defer cancel()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(line string) bool {
		_, err := io.WriteString(w, line)
		return err == nil && out.Flush() == nil
	}
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	change := func() bool { return send(fmt.Sprintf("event: change\ndata: %d\n\n", s.events.changes())) }
	for ok := send("retry: 500\n") && change(); ok; {
		select {
		case _, open := <-wake:
			ok = open && change()
		case <-ticker.C:
			ok = send(": \n\n")
		case <-r.Context().Done():
			return
		}
	}
}

// parseTemplates returns each page's template, with the layout around it.
func parseTemplates() (map[string]*template.Template, error) {
	layout, err := template.New("layout.html").Funcs(functions).ParseFS(files, "templates/layout.html")
	if err != nil {
		return nil, fmt.Errorf("parse the page's templates: %w", err)
	}
	all := map[string]*template.Template{}
	for _, name := range []string{"search", "note", "history", "changes", "graph", "why", "status", "fail", "login"} {
		clone, err := layout.Clone()
		if err == nil {
			all[name], err = clone.ParseFS(files, "templates/"+name+".html")
		}
		if err != nil {
			return nil, fmt.Errorf("parse the page's templates: %w", err)
		}
	}
	return all, nil
}

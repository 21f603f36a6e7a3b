package web

import (
	"cmp"
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
	// Dial opens a connection to the vault's MCP server, with one message per line. It
	// is called on the first request, and on the next one after the connection is lost or
	// was closed because no browser used the page for a minute.
	Dial func(context.Context) (io.ReadWriteCloser, error)
	// Vault is the name of the vault in the page's title.
	Vault    string
	Version  string
	Mode     string // of a search whose address names none; defaults to hybrid
	ReadOnly bool   // hide all writes, which the session rejects anyway
	Log      *slog.Logger
	Now      func() time.Time // defaults to time.Now
}

// A Server serves the page of one vault. It is safe for concurrent use.
type Server struct {
	o          Options
	vault      *vault
	logins     *logins
	events     *events
	sameOrigin *http.CrossOriginProtection
	templates  map[string]*template.Template
	handler    http.Handler
}

// New returns a server. It does not open a connection to the vault yet.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Server{
		o:          o,
		logins:     &logins{now: o.Now, links: map[string]time.Time{}, cookies: map[string]time.Time{}},
		sameOrigin: http.NewCrossOriginProtection(),
		events:     newEvents(),
		templates:  parseTemplates(),
	}
	s.vault = &vault{dial: o.Dial, version: o.Version, changed: s.events.publish}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login/{code}", s.login)
	mux.Handle("GET /static/", http.FileServerFS(files))
	for pattern, handle := range map[string]http.HandlerFunc{
		"GET /{$}":                s.view("search", s.search),
		"GET /n/{path...}":        s.view("note", s.note),
		"GET /f/{path...}":        s.file,
		"GET /history/{$}":        http.RedirectHandler("/changes", http.StatusFound).ServeHTTP,
		"GET /history/{path...}":  s.view("history", s.history),
		"POST /restore/{path...}": s.restore,
		"POST /undo/{path...}":    s.undo,
		"GET /changes":            s.view("changes", s.changes),
		"GET /graph":              s.view("graph", s.graph),
		"GET /graph.json":         s.graphData,
		"GET /why":                s.view("why", s.why),
		"GET /status":             s.view("status", s.status),
		"GET /events":             s.stream,
		"GET /": func(w http.ResponseWriter, r *http.Request) {
			s.fail(w, r, http.StatusNotFound, "There is no page with this address.", "Search for the note instead.")
		},
	} {
		if o.ReadOnly && strings.HasPrefix(pattern, http.MethodPost) {
			handle = func(w http.ResponseWriter, r *http.Request) {
				s.fail(w, r, http.StatusForbidden, "This page is read-only.", "")
			}
		}
		mux.Handle(pattern, s.admitted(handle))
	}
	s.handler = s.headers(mux)
	return s
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Link returns the path of a new one-time link. It admits the browser that opens it
// within five minutes.
func (s *Server) Link() string { return "/login/" + s.logins.add(s.logins.links, linkLife) }

// Close ends the session with the vault and all event streams.
func (s *Server) Close() error {
	s.events.close()
	return s.vault.close()
}

// events notifies open pages of changes.
type events struct {
	done  chan struct{} // closed by close, which ends the streams
	close func()

	mu    sync.Mutex
	count int           // number of changes so far
	next  chan struct{} // closed at the next change
}

func newEvents() *events {
	done := make(chan struct{})
	return &events{done: done, close: sync.OnceFunc(func() { close(done) }), next: make(chan struct{})}
}

// changes returns the number of changes so far, and a channel that is closed at the next
// change. A page built before a change that subscribes after it detects the change by the
// different number.
func (e *events) changes() (count int, next <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.count, e.next
}

// publish reports a change to every open page.
func (e *events) publish() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.count++
	close(e.next)
	e.next = make(chan struct{})
}

// stream sends the number of changes as server-sent events, at once and after every
// change. A comment every half minute detects browsers that disconnected.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	const heartbeat = 30 * time.Second
	if _, err := s.vault.open(r.Context()); err != nil { // the session reports changes
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(line string) bool {
		_, err := io.WriteString(w, line)
		return err == nil && out.Flush() == nil
	}
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	const change = "event: change\ndata: %d\n\n"
	count, next := s.events.changes()
	for ok := send(fmt.Sprintf("retry: 500\n"+change, count)); ok; {
		select {
		case <-next:
			count, next = s.events.changes()
			ok = send(fmt.Sprintf(change, count))
		case <-ticker.C:
			ok = send(": \n\n")
		case <-s.events.done:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// parseTemplates returns the template of each page, within the layout.
func parseTemplates() map[string]*template.Template {
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(files, "templates/layout.html"))
	all := map[string]*template.Template{}
	for _, name := range []string{"search", "note", "history", "changes", "graph", "why", "status", "fail", "login"} {
		all[name] = template.Must(template.Must(layout.Clone()).ParseFS(files, "templates/"+name+".html"))
	}
	return all
}

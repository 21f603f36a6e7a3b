package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"notesd/internal/phrase"
)

// probed are the paths that proxies and monitors ask for, by the address of this machine
// or a name that only they know. Two of them say nothing of the notes; the metrics need
// the token, which no page has.
var probed = []string{"/healthz", "/readyz", "/metrics"}

// A guard admits requests: by the host that they name, by the origin of the page that
// sends them, and by the token.
type guard struct {
	hosts, origins []string          // see HTTPOptions
	token          [sha256.Size]byte // its digest
	log            *slog.Logger
}

// admit refuses requests that a web page could have a browser send: those that
// name another host than this one (DNS rebinding), and those of an origin that
// is not allowed. It also answers a browser's questions about the latter.
func (g *guard) admit(w http.ResponseWriter, r *http.Request) bool {
	if slices.Contains(probed, r.URL.Path) && r.Header.Get("Origin") == "" {
		return true
	}
	if !g.knowsHost(r.Host) {
		g.refuse(w, r, http.StatusForbidden, fmt.Sprintf("the host %q is not allowed: add it to http.allowed_origins if it is yours", phrase.Clip(phrase.OneLine(r.Host), 100)))
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	if !g.knowsOrigin(origin, r.Host) {
		g.refuse(w, r, http.StatusForbidden, fmt.Sprintf("the origin %q is not allowed: add it to http.allowed_origins if it is yours", phrase.Clip(phrase.OneLine(origin), 100)))
		return false
	}
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", origin)
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	if r.Method != http.MethodOptions {
		return true
	}
	header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
	header.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return false
}

func (g *guard) knowsHost(host string) bool {
	name := hostName(host)
	if IsLoopback(host) {
		return true
	}
	matches := func(allowed string) bool { return strings.EqualFold(allowed, host) || strings.EqualFold(allowed, name) }
	return slices.ContainsFunc(g.hosts, matches) || slices.ContainsFunc(g.origins, func(origin string) bool {
		u, err := url.Parse(origin)
		return err == nil && u.Host != "" && matches(u.Host)
	})
}

// IsLoopback reports whether a host, with or without a port, can be reached from this
// machine only.
func IsLoopback(host string) bool {
	name := hostName(host)
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// hostName returns a host without its port and brackets.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// knowsOrigin accepts the configured origins and pages that this host serves.
func (g *guard) knowsOrigin(origin, host string) bool {
	if slices.ContainsFunc(g.origins, func(o string) bool { return strings.EqualFold(strings.TrimSuffix(o, "/"), origin) }) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host)
}

// BearerToken returns the bearer token of a request, "" if it has none.
func BearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// authorized lets only requests with the token through. The digests are compared
// so that the time tells nothing of the token, its length included.
func (g *guard) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(BearerToken(r)))
		if subtle.ConstantTimeCompare(got[:], g.token[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="notesd"`)
			g.refuse(w, r, http.StatusUnauthorized, "a bearer token is needed: it is in the token file that notesd status names")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse answers with a status and why.
func (g *guard) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	g.log.Debug("refused an HTTP request", "status", status, "reason", why, "remote", r.RemoteAddr)
	w.Header().Set("Connection", "close") // what is left of its body is not worth reading
	http.Error(w, why, status)
}

// A patientWriter gives the client so long to take each piece of an answer.
type patientWriter struct {
	http.ResponseWriter
	wait time.Duration
}

func (w *patientWriter) Write(p []byte) (int, error) {
	// A writer that knows no deadline, as in tests, has no slow client either.
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.wait))
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController find what it needs.
func (w *patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush sends what has been written.
func (w *patientWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

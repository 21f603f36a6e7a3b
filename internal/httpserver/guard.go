package httpserver

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

	"notesd/internal/phrase"
)

// probed lists the paths that proxies and monitors request under the machine's address or
// an internal name. /healthz and /readyz reveal nothing about the notes; /metrics requires
// the token, which no web page has.
var probed = []string{"/healthz", "/readyz", "/metrics"}

// A Guard admits requests by the host they name, the origin of the page that sends them,
// and the token.
type Guard struct {
	hosts, origins []string
	token          [sha256.Size]byte // SHA-256
	log            *slog.Logger
}

// NewGuard returns a guard that admits the hosts, with or without a port, besides those of
// the loopback interface, and pages of the origins (https://example.com). Rejected requests
// are logged at the debug level.
func NewGuard(token string, hosts, origins []string, log *slog.Logger) *Guard {
	return &Guard{hosts, origins, sha256.Sum256([]byte(token)), log}
}

// Admit rejects requests that a web page could make a browser send: those that name a host
// other than this one (DNS rebinding) and those from an origin that is not allowed. It also
// answers preflight requests from allowed origins. It returns false if it has responded.
func (g *Guard) Admit(w http.ResponseWriter, r *http.Request) bool {
	if slices.Contains(probed, r.URL.Path) && r.Header.Get("Origin") == "" {
		return true
	}
	if !g.knowsHost(r.Host) {
		g.Refuse(w, r, http.StatusForbidden, fmt.Sprintf("the host %q is not allowed: add it to http.allowed_origins if it is yours", phrase.Clip(phrase.OneLine(r.Host), 100)))
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	if !g.knowsOrigin(origin, r.Host) {
		g.Refuse(w, r, http.StatusForbidden, fmt.Sprintf("the origin %q is not allowed: add it to http.allowed_origins if it is yours", phrase.Clip(phrase.OneLine(origin), 100)))
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

func (g *Guard) knowsHost(host string) bool {
	name := hostName(host)
	if IsLoopback(host) {
		return true
	}
	matches := func(allowed string) bool { return strings.EqualFold(allowed, host) || strings.EqualFold(allowed, name) }
	return slices.ContainsFunc(g.hosts, matches) || slices.ContainsFunc(g.origins, func(origin string) bool {
		u, err := url.Parse(origin)
		return err == nil && u.Host != "" && matches(u.Hostname())
	})
}

// IsLoopback reports whether a host, with or without a port, can be reached only from this
// machine.
func IsLoopback(host string) bool {
	name := hostName(host)
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// hostName returns a host without port and brackets.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// knowsOrigin reports whether the origin is configured or is the requested host itself.
func (g *Guard) knowsOrigin(origin, host string) bool {
	if slices.ContainsFunc(g.origins, func(o string) bool { return strings.EqualFold(strings.TrimSuffix(o, "/"), origin) }) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host)
}

// BearerToken returns the bearer token of a request, or "" if there is none.
func BearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// Authorized rejects requests without the token. It compares digests in constant time, so
// that timing reveals nothing about the token, not even its length.
func (g *Guard) Authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(BearerToken(r)))
		if subtle.ConstantTimeCompare(got[:], g.token[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="notesd"`)
			g.Refuse(w, r, http.StatusUnauthorized, "a bearer token is needed: it is in the token file that notesd status names")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Refuse responds with a status and the reason, and closes the connection.
func (g *Guard) Refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	g.log.Debug("refused an HTTP request", "status", status, "reason", why, "remote", r.RemoteAddr)
	w.Header().Set("Connection", "close") // instead of reading the rest of the body
	http.Error(w, why, status)
}

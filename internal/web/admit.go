package web

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"notesd/internal/httpserver"
)

const (
	linkLife  = 5 * time.Minute     // lifetime of a one-time link
	loginLife = 30 * 24 * time.Hour // lifetime of a browser's cookie
	maxLogins = 64
)

// logins holds the outstanding one-time links and the cookies of admitted browsers.
type logins struct {
	now func() time.Time

	mu      sync.Mutex
	links   map[string]time.Time // expiry by code
	cookies map[string]time.Time // expiry by value
}

// add adds a new secret to a map and removes expired ones.
func (l *logins) add(all map[string]time.Time, life time.Duration) string {
	secret := rand.Text()
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for key, until := range all {
		if now.After(until) || len(all) >= maxLogins {
			delete(all, key)
		}
	}
	all[secret] = now.Add(life)
	return secret
}

// redeem exchanges the code of a link for the value of a cookie. A code works once.
func (l *logins) redeem(code string) (cookie string, ok bool) {
	l.mu.Lock()
	until, known := l.links[code]
	delete(l.links, code)
	l.mu.Unlock()
	if !known || l.now().After(until) {
		return "", false
	}
	return l.add(l.cookies, loginLife), true
}

// knows reports whether cookie is the value of an admitted browser's cookie.
func (l *logins) knows(cookie string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	until, known := l.cookies[cookie]
	return known && !l.now().After(until)
}

// cookieName returns the name of the cookie. It includes the port, because browsers send
// the cookies of a host to all of its ports, and another vault's page may use one.
func cookieName(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	return "notesd-" + port
}

// login exchanges a one-time link for a cookie. The response is a page that forwards the
// browser, not a redirect, because browsers do not send a strict cookie on a redirect
// from a link that another program opened.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	cookie, ok := s.logins.redeem(r.PathValue("code"))
	if !ok && s.signedIn(r) { // by this link, which the user opened again
		s.write(w, r, http.StatusOK, "login", page{Title: "Welcome"})
		return
	}
	if !ok {
		s.fail(w, r, http.StatusForbidden, "This link was used before, or is older than five minutes.", "Run notesd web again: it prints a new one.")
		return
	}
	// With any other host name, the browser uses TLS, which a proxy may terminate.
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // see above
		Name: cookieName(r), Value: cookie, Path: "/", MaxAge: int(loginLife.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil || !httpserver.IsLoopback(r.Host),
	})
	s.write(w, r, http.StatusOK, "login", page{Title: "Welcome"})
}

// signedIn reports whether the request is from an admitted browser.
func (s *Server) signedIn(r *http.Request) bool {
	cookie, err := r.Cookie(cookieName(r))
	return err == nil && s.logins.knows(cookie.Value)
}

// admitted passes on requests of admitted browsers, and requests that change something
// only if they come from the page itself.
func (s *Server) admitted(next http.Handler) http.Handler {
	guarded := s.sameOrigin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.signedIn(r) {
			s.fail(w, r, http.StatusUnauthorized, "This browser is not signed in.", "Run notesd web in a terminal and open the link that it prints.")
			return
		}
		defer s.vault.use()()
		count, _ := s.events.changes() // before the handler queries the vault
		guarded.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), changesKey{}, count)))
	})
}

// changesKey is the context key for the number of changes when the request arrived.
type changesKey struct{}

// headers adds the security headers to every response.
func (s *Server) headers(next http.Handler) http.Handler {
	policy := strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
		"worker-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
		"require-trusted-types-for 'script'", "trusted-types notesd",
	}, "; ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers would send forms with the origin null
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// Local returns a handler for a separate listener. It rejects requests whose Host is not
// this machine, which a foreign page can send through DNS rebinding.
func (s *Server) Local() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !httpserver.IsLoopback(r.Host) {
			http.Error(w, "this page is for this machine only", http.StatusForbidden)
			return
		}
		s.ServeHTTP(w, r)
	})
}

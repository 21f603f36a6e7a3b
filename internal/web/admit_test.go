package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newServer returns a server whose vault is unavailable, and its clock.
func newServer(t *testing.T) (*Server, *time.Time) {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := New(Options{
		Vault: "Notes", Now: func() time.Time { return now },
		Dial: func(context.Context) (io.ReadWriteCloser, error) { return nil, errors.New("away") },
	})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, &now
}

// get requests a page, with the cookie unless it is nil.
func get(s http.Handler, method, target string, cookie *http.Cookie, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host = "127.0.0.1:8930"
	if cookie != nil {
		r.AddCookie(cookie)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// login opens a one-time link and returns the cookie that it sets.
func login(t *testing.T, s *Server, link string) *http.Cookie {
	t.Helper()
	answer := get(s, "GET", link, nil)
	require.Equal(t, http.StatusOK, answer.Code)
	assert.Contains(t, answer.Body.String(), `<meta http-equiv="refresh" content="0;url=/">`)
	cookie, err := http.ParseSetCookie(answer.Header().Get("Set-Cookie"))
	require.NoError(t, err)
	return cookie
}

// TestAdmission: a link admits a browser once within five minutes, and the admission
// lasts 30 days.
func TestAdmission(t *testing.T) {
	s, now := newServer(t)
	for _, path := range []string{"/", "/n/a.md", "/graph.json", "/status", "/events", "/f/a.png", "/history/a.md", "/changes", "/why?note=a&q=b"} {
		answer := get(s, "GET", path, nil)
		assert.Equal(t, http.StatusUnauthorized, answer.Code, path)
		assert.Contains(t, answer.Body.String(), "Run notesd web", path)
		assert.NotContains(t, answer.Body.String(), "Notes", "%s: a browser that is not admitted learns the vault's name", path)
		assert.Equal(t, http.StatusUnauthorized, get(s, "GET", path, &http.Cookie{Name: "notesd-8930", Value: "guess"}).Code, path)
	}
	link := s.Link()
	cookie := login(t, s, link)
	assert.True(t, cookie.HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	assert.Equal(t, "notesd-8930", cookie.Name)
	assert.False(t, cookie.Secure, "on this machine, without TLS")
	r, w := httptest.NewRequest("GET", s.Link(), nil), httptest.NewRecorder()
	r.Host = "notes.example"
	s.ServeHTTP(w, r)
	assert.Contains(t, w.Header().Get("Set-Cookie"), "; Secure", "behind a proxy")
	assert.NotContains(t, link, cookie.Value, "the link does not tell the cookie")
	assert.Equal(t, http.StatusForbidden, get(s, "GET", link, nil).Code, "once")
	assert.Equal(t, http.StatusOK, get(s, "GET", link, cookie).Code, "opened again in the same browser")
	assert.Equal(t, http.StatusOK, get(s, "GET", "/graph", cookie).Code)
	assert.Equal(t, http.StatusUnauthorized, get(s, "GET", "/nothing", nil).Code)
	for _, path := range []string{"/nothing", "/restore/a.md", "/index.html"} {
		answer := get(s, "GET", path, cookie)
		assert.Equal(t, http.StatusNotFound, answer.Code, path)
		assert.Contains(t, answer.Body.String(), "There is no page with this address.", path)
	}

	late := s.Link()
	*now = now.Add(5*time.Minute + time.Second)
	assert.Equal(t, http.StatusForbidden, get(s, "GET", late, nil).Code, "five minutes")
	*now = now.Add(loginLife)
	assert.Equal(t, http.StatusUnauthorized, get(s, "GET", "/graph", cookie).Code, "a month")
}

// TestRequestsOfOtherSites: changes requested by other sites are rejected, including a
// page on another port of this machine.
func TestRequestsOfOtherSites(t *testing.T) {
	s, _ := newServer(t)
	cookie := login(t, s, s.Link())
	for _, header := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:3000"},
		{"Origin", "http://127.0.0.1:3000"},
		{"Origin", "null"},
	} {
		assert.Equal(t, http.StatusForbidden, get(s, "POST", "/restore/a.md", cookie, header...).Code, "%v", header)
	}
	assert.NotEqual(t, http.StatusForbidden, get(s, "POST", "/restore/a.md", cookie, "Sec-Fetch-Site", "same-origin", "Origin", "http://127.0.0.1:8930").Code)
}

// TestServeIsLocal: requests for other host names are rejected, which prevents DNS
// rebinding.
func TestServeIsLocal(t *testing.T) {
	s, _ := newServer(t)
	for host, want := range map[string]int{
		"127.0.0.1:8930": http.StatusUnauthorized, "localhost:8930": http.StatusUnauthorized, "[::1]:8930": http.StatusUnauthorized,
		"evil.example": http.StatusForbidden, "evil.example:8930": http.StatusForbidden, "192.168.1.2:8930": http.StatusForbidden,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		s.Local().ServeHTTP(w, r)
		assert.Equal(t, want, w.Code, host)
	}
}

// TestHeaders: every response has the security headers, including errors.
func TestHeaders(t *testing.T) {
	s, _ := newServer(t)
	for _, path := range []string{"/", "/static/page.js", "/login/x", "/nowhere"} {
		h := get(s, "GET", path, nil).Header()
		policy := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			assert.Contains(t, policy, want, path)
		}
		assert.NotContains(t, policy, "unsafe", path)
		assert.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
		assert.Equal(t, "same-origin", h.Get("Referrer-Policy"), path)
	}
}

// TestServer_VaultUnavailable: the page reports that the vault is unavailable.
func TestServer_VaultUnavailable(t *testing.T) {
	s, _ := newServer(t)
	answer := get(s, "GET", "/?q=x", login(t, s, s.Link()))
	assert.Equal(t, http.StatusServiceUnavailable, answer.Code)
	assert.Contains(t, answer.Body.String(), "The vault does not respond: away")
}

// TestServer_CancelledRequest: errors of canceled requests are not logged.
func TestServer_CancelledRequest(t *testing.T) {
	var log bytes.Buffer
	s, _ := newServer(t)
	s.o.Log = slog.New(slog.NewTextHandler(&log, nil))
	for _, leaves := range []bool{true, false} {
		ctx, leave := context.WithCancel(t.Context())
		if leaves {
			leave()
		}
		s.trouble(httptest.NewRecorder(), httptest.NewRequest("GET", "/?q=x", nil).WithContext(ctx), errors.New("search_notes: context canceled"))
		leave()
		assert.Equal(t, !leaves, strings.Contains(log.String(), "cannot ask the vault"))
	}
}

// TestEvents: any number of changes wakes a page once, and closing ends its stream.
func TestEvents(t *testing.T) {
	e := newEvents()
	_, next := e.changes()
	e.publish()
	e.publish()
	<-next
	count, next := e.changes()
	assert.Equal(t, 2, count)
	select {
	case <-next:
		assert.Fail(t, "woken twice")
	case <-e.done:
		assert.Fail(t, "ended")
	default:
	}
	e.close()
	e.close()
	<-e.done
	e.publish() // a change after the end
}

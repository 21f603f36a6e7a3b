package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/netutil"

	"notesd/internal/config"
	"notesd/internal/httpserver"
	"notesd/internal/web"
	"notesd/mcp"
)

// tokenFile holds the bearer token unless the configuration names another file.
const tokenFile = "http-token"

// minToken is the minimum length of a token; a shorter one could be guessed.
const minToken = 16

// listening is an open HTTP listener for MCP and the web page.
type listening struct {
	listener net.Listener
	handler  *mcp.HTTP
	page     *web.Server
	node     *node // nil unless the vault is in a database
	url      string
	sessions sync.WaitGroup // of the web page
}

// origin returns the URL without its path.
func (l *listening) origin() string { return strings.TrimSuffix(l.url, "/mcp") }

// listenWeb opens the configured HTTP listener, or returns nil if there is none.
func (s *Service) listenWeb(ctx context.Context) (*listening, error) {
	c := s.cfg.HTTP
	if c.Addr == "" {
		return nil, nil
	}
	token, cert, err := protection(s.cfg, s.logs.Logger)
	if err != nil {
		return nil, err
	}
	l := &listening{}
	l.page = web.New(web.Options{
		Dial:  func(context.Context) (io.ReadWriteCloser, error) { return s.pipe(ctx, &l.sessions, mcp.Profile{}), nil },
		Vault: s.cfg.Vault.Title(), Version: Version(), Mode: s.cfg.Search.Mode, ReadOnly: s.cfg.Vault.ReadOnly, Log: s.logs.Logger,
	})
	o := mcp.HTTPOptions{
		Open:  map[string]http.Handler{"GET /readyz": http.HandlerFunc(s.serveReady)},
		Own:   map[string]http.Handler{"GET /metrics": http.HandlerFunc(s.serveMetrics)},
		Token: token, Profile: mcp.Profile{Tools: s.cfg.Vault.Tools}, Hosts: hostNames(c, cert), Origins: c.AllowedOrigins, Page: l.page,
	}
	if s.cfg.Store.Postgres != "" {
		if l.node, err = newNode(s); err != nil {
			return nil, err
		}
		s.node.Store(l.node)
		o.Open["/v/{vault}/mcp"], o.Stopping = http.HandlerFunc(l.node.serve), l.node.endSessions
	}
	l.handler, err = mcp.NewHTTP(s.core, o)
	if err != nil {
		return nil, err
	}
	listener, err := listenTCP(ctx, c.Addr, mostConnections())
	if err != nil {
		return nil, err
	}
	l.listener, l.url = listener, urlOf(listener.Addr(), cert)
	if cert != nil {
		l.listener = tls.NewListener(listener, &tls.Config{GetCertificate: cert.get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	}
	return l, nil
}

// protection returns the token that requests need and, with TLS, the certificate. It fails for
// an address that needs TLS without it.
func protection(cfg *config.Config, log *slog.Logger) (token string, cert *certificate, err error) {
	if err := checkExposure(cfg.HTTP); err != nil {
		return "", nil, err
	}
	if token, err = readToken(tokenPath(cfg)); err == nil && cfg.HTTP.TLSCert != "" {
		cert, err = loadCertificate(cfg.HTTP, log)
	}
	return token, cert, err
}

// CheckHTTP returns the error with which a daemon could not open the configured HTTP listener.
// No daemon of the vault may be running.
func CheckHTTP(ctx context.Context, cfg *config.Config) error {
	if _, _, err := protection(cfg, DiscardLogs().Logger); err != nil {
		return err
	}
	listener, err := listenTCP(ctx, cfg.HTTP.Addr, 1)
	if err != nil {
		return err
	}
	return listener.Close()
}

// urlOf returns the URL of a listener's MCP endpoint. If it listens on all addresses, the host
// is a name in the certificate, or localhost.
func urlOf(addr net.Addr, cert *certificate) string {
	scheme, host := "http", addr.String()
	if cert != nil {
		scheme = "https"
	}
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		names := append(hostNames(config.HTTP{}, cert), "localhost")
		name := names[slices.IndexFunc(names, func(name string) bool { return !strings.Contains(name, "*") })]
		host = net.JoinHostPort(name, strconv.Itoa(tcp.Port))
	}
	return scheme + "://" + host + "/mcp"
}

// maxConnections bounds the connections over HTTP, since anyone who can reach the address
// may open some without a token. It is several times the number of sessions: each may have
// a stream and some requests. Further ones wait to be accepted.
const maxConnections = 4096

// mostConnections returns maxConnections or, if that is less, a quarter of the files that the
// process may open: it needs some to read notes and accept clients on its socket, and the
// watcher may take half.
func mostConnections() int { return int(min(openFiles()/4, maxConnections)) }

func listenTCP(ctx context.Context, addr string, most int) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for HTTP: %w", err)
	}
	return netutil.LimitListener(listener, most), nil
}

// pipe serves a session over an in-memory pipe and returns the other end. The session
// lasts until ctx ends or that end is closed.
func (s *Service) pipe(ctx context.Context, sessions *sync.WaitGroup, profile mcp.Profile) net.Conn {
	ours, theirs := net.Pipe()
	sessions.Go(func() {
		if err := s.core.ServeLines(ctx, theirs, theirs, profile); err != nil && ctx.Err() == nil {
			s.logs.Debug("a session in this process ended", "err", err)
		}
	})
	return ours
}

// checkExposure returns an error for an address that would send notes and the
// token over a network unencrypted.
func checkExposure(c config.HTTP) error {
	if c.TLSCert != "" || c.BehindProxy || httpserver.IsLoopback(c.Addr) {
		return nil
	}
	return Usagef("Set http.tls_cert and http.tls_key, or http.behind_proxy if a proxy in front terminates TLS, or use 127.0.0.1.",
		"http.addr %q can be reached from other machines, and would send your notes unencrypted", c.Addr)
}

// hostNames returns the host names allowed in requests, besides those of the allowed
// origins: the address of the listener and the names in its certificate.
func hostNames(c config.HTTP, cert *certificate) []string {
	var names []string
	if host, _, _ := net.SplitHostPort(c.Addr); host != "" {
		names = append(names, host)
	}
	if cert != nil && cert.pair.Leaf != nil {
		names = append(names, cert.pair.Leaf.DNSNames...)
		for _, ip := range cert.pair.Leaf.IPAddresses {
			names = append(names, ip.String())
		}
	}
	return names
}

// tokenPath returns the path of the token file.
func tokenPath(cfg *config.Config) string {
	return cmp.Or(cfg.HTTP.TokenFile, filepath.Join(cfg.State, tokenFile))
}

// readToken reads the bearer token from a file that only the user may access, creating
// the file if it does not exist.
func readToken(name string) (string, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return makeToken(name)
	}
	if err != nil {
		return "", fmt.Errorf("read the HTTP token: %w", err)
	}
	if info, err := os.Stat(name); err != nil || isOpenToOthers(info) {
		return "", errors.Join(err, &Failure{Code: "config", Message: "others can read the HTTP token in " + name, Hint: "Run chmod 600 on it; if it may have been seen, delete it, and a new one is made."})
	}
	token := strings.TrimSpace(string(data))
	unusable := func(r rune) bool { return r <= ' ' || r > '~' } // other encodings and a byte order mark have such characters
	if len(token) < minToken || strings.ContainsFunc(token, unusable) {
		return "", &Failure{Code: "config", Message: fmt.Sprintf("%s does not hold a token of at least %d ASCII characters on one line", name, minToken), Hint: "Delete it, and a new one is created."}
	}
	return token, nil
}

func makeToken(name string) (string, error) {
	token := rand.Text() + rand.Text()
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("keep the HTTP token: %w", err)
	}
	_, err = file.WriteString(token + "\n")
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("keep the HTTP token: %w", err), os.Remove(name))
	}
	return token, nil
}

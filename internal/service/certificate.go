package service

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync"

	"notesd/internal/config"
)

// A certificate is read from its files again after they have changed, since it is renewed
// more often than a daemon restarts.
type certificate struct {
	files config.HTTP
	log   *slog.Logger

	mu        sync.Mutex
	cert, key []byte // what the files last contained
	pair      *tls.Certificate
}

func loadCertificate(files config.HTTP, log *slog.Logger) (*certificate, error) {
	c := &certificate{files: files, log: log, cert: contentOf(files.TLSCert), key: contentOf(files.TLSKey)}
	pair, err := tls.LoadX509KeyPair(files.TLSCert, files.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("load the certificate in http.tls_cert and http.tls_key: %w", err)
	}
	c.pair = &pair
	return c, nil
}

// get returns the certificate for a connection. While the files do not contain a valid
// pair, as during a renewal, it is the previous one.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cert, key := contentOf(c.files.TLSCert), contentOf(c.files.TLSKey)
	if bytes.Equal(cert, c.cert) && bytes.Equal(key, c.key) {
		return c.pair, nil
	}
	c.cert, c.key = cert, key
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		c.log.Warn("the changed certificate cannot be used, so the previous one is", "err", err)
		return c.pair, nil
	}
	c.pair = &pair
	c.log.Info("a changed certificate is used")
	return c.pair, nil
}

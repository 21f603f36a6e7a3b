package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// maxAnswer exceeds the response for a batch of the largest vectors, at 24 bytes per
	// number.
	maxAnswer   = 8 << 20
	maxHeader   = 64 << 10
	dialTimeout = 5 * time.Second
	// longestWait limits the pause that a server may request.
	longestWait = 10 * time.Minute
)

// errRemote reports a connection to another machine.
var errRemote = errors.New("it is another machine, and semantic.allow_remote is not set")

// newHTTPClient returns a client that uses no proxy and follows no redirects. Unless
// remote is set, it connects only to this machine, which it checks on the resolved
// address.
func newHTTPClient(remote bool) *http.Client {
	dialer := &net.Dialer{Timeout: dialTimeout}
	if !remote {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			addr, err := netip.ParseAddrPort(address)
			if err != nil || !addr.Addr().Unmap().IsLoopback() {
				return errRemote
			}
			return nil
		}
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext:         dialer.DialContext,
			TLSHandshakeTimeout: dialTimeout,
			MaxIdleConnsPerHost: 2, // a query and a batch

			MaxResponseHeaderBytes: maxHeader,
			IdleConnTimeout:        time.Minute,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// request requests the vectors of texts. Its errors are of type *Error.
func (c *Client) request(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(c.api.request(c.o.Model, texts))
	if err != nil {
		return nil, c.errorf("the request: %v", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, c.errorf("the request: %v", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "notesd")
	if c.o.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.APIKey)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.connection(err)
	}
	defer func() { _ = res.Body.Close() }() // it was only read from
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, c.connection(err)
	case len(answer) > maxAnswer:
		return nil, c.errorf("its answer is larger than %d MiB", maxAnswer>>20)
	case res.StatusCode != http.StatusOK:
		return nil, c.failed(res, answer, texts)
	}
	vectors, err := c.api.vectors(answer)
	if err != nil {
		return nil, c.errorf("its answer cannot be read: %s", c.quotable(err.Error(), texts)).aboutTexts() // NaN is not JSON
	}
	return vectors, nil
}

// Windows has other numbers than syscall for a closed and a refused connection.
const wsaReset, wsaRefused = syscall.Errno(10054), syscall.Errno(10061)

// connection describes a failed connection without the URL, which is already part of the
// message.
func (c *Client) connection(err error) *Error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	reason := err.Error()
	var op *net.OpError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, wsaRefused):
		reason = "nothing listens there; start the server"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, wsaReset):
		reason = "it closed the connection"
	case errors.As(err, &op):
		reason = op.Err.Error()
	}
	return &Error{Server: c.server, Reason: c.quotable(reason, nil), cause: err}
}

// failed returns the error for a status other than 200.
func (c *Client) failed(res *http.Response, body []byte, texts []string) *Error {
	words := c.quotable(serverWords(body), texts)
	if words != "" {
		words = ": " + words
	}
	status := res.StatusCode
	switch {
	case status >= 300 && status < 400:
		return c.errorf("it redirects to %s; set semantic.url to where the API is, redirects are not followed",
			c.quotable(res.Header.Get("Location"), nil))
	case status == http.StatusUnauthorized: // the server's words may have parts of the key, or a hash of it
		return c.errorf("it rejected the API key (status %d); see semantic.api_key_file", status)
	case status == http.StatusForbidden:
		return c.errorf("it rejected the API key (status %d); see semantic.api_key_file%s", status, words)
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return c.errorf("it does not have the model %q, or its API has another URL (status %d); %s%s", c.o.Model, status, c.api.noModel(c.o.Model), words)
	case status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity:
		return c.errorf("it rejects the text (status %d)%s", status, words).aboutTexts()
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		e := c.errorf("it is busy (status %d)%s", status, words)
		e.RetryAfter = retryAfter(res.Header.Get("Retry-After"), c.o.Now())
		return e
	}
	e := c.errorf("it failed with status %d%s", status, words)
	if status == http.StatusInternalServerError { // Ollama's response if a model returns NaN
		e = e.aboutTexts()
		e.unclear = true
	}
	return e
}

// retryAfter parses the header: seconds, or a date (RFC 9110, 10.2.3).
func retryAfter(header string, now time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseInt(strings.TrimSpace(header), 10, 64); err == nil {
		wait = time.Duration(min(max(seconds, 0), int64(longestWait/time.Second))) * time.Second
	} else if date, err := http.ParseTime(header); err == nil {
		wait = date.Sub(now)
	}
	return min(max(wait, 0), longestWait)
}

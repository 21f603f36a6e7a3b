package daemon

import (
	"bufio"
	"net"
	"sync"

	"notesd/internal/jsonrpc"
)

// sessionConn is the daemon's side of a connection.
type sessionConn struct {
	*net.UnixConn
	in *bufio.Reader

	mu      sync.Mutex // held while a line is written
	partial bool       // the last Write did not end a line
	notice  []byte     // waits for the end of the line
}

func newSessionConn(c *net.UnixConn) *sessionConn {
	return &sessionConn{UnixConn: c, in: bufio.NewReaderSize(c, 4<<10)}
}

// Read reads what follows the Hello.
func (c *sessionConn) Read(p []byte) (int, error) { return c.in.Read(p) }

// Write writes p, and after it the notice, if there is one and p ends a line.
func (c *sessionConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.UnixConn.Write(p)
	if n > 0 {
		c.partial = p[n-1] != '\n'
	}
	if err == nil && !c.partial && c.notice != nil {
		_, err = c.UnixConn.Write(c.notice)
		c.notice = nil
	}
	return n, err
}

// announce tells the relay that the daemon closes, between two lines.
func (c *sessionConn) announce(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := jsonrpc.Notification(ClosingMethod, map[string]string{"reason": reason})
	if c.partial {
		c.notice = line
		return
	}
	_, _ = c.UnixConn.Write(line) // a client that is gone needs no notice
}

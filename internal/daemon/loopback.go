package daemon

import (
	"bufio"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
)

// A system without Unix sockets, as Windows before version 1803, has a socket on
// the loopback interface. Every user of the machine can connect to that, and can
// listen on its port after a crash. Both ends therefore prove, before anything
// else, that they have read the token in the lock file, which only the user can
// read. Neither sends the token.

// errStranger means that the other end of a loopback socket lacks the token.
var errStranger = errors.New("the process at the other end of the socket has not read the lock file: it may be another user's")

func listenLoopback(lock *Lock) (net.Listener, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // returns at once
	if err != nil {
		return nil, fmt.Errorf("listen on the loopback interface: %w", err)
	}
	if err := lock.setSocket(ln.Addr().String(), rand.Text()); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

func isLoopback(addr net.Addr) bool { return addr.Network() == "tcp" }

// token returns the token of the holder's socket.
func (l *Lock) token() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holder.Token
}

// The ends of a connection, as they prove themselves: an end cannot repeat what
// the other has sent.
const (
	clientEnd = "client"
	daemonEnd = "daemon"
)

// proof is the first line of an end of a loopback connection.
type proof struct {
	Proof string `json:"proof"`
}

func proofOf(token, end string) proof {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(end))
	return proof{hex.EncodeToString(mac.Sum(nil))}
}

// admit returns an error unless the client at the other end is this user's.
func admit(c net.Conn, in *bufio.Reader, token string) error {
	if unix, ok := c.(*net.UnixConn); ok {
		return checkPeer(unix)
	}
	if err := isProof(in, token, clientEnd); err != nil {
		return err
	}
	return writeFrame(c, proofOf(token, daemonEnd))
}

// confirm returns an error unless the daemon at the other end is this user's. It
// is ErrNotRunning where another process, which answers anything else, has the
// port of a daemon that is gone.
func confirm(c net.Conn, in *bufio.Reader, token string) error {
	if unix, ok := c.(*net.UnixConn); ok {
		return checkPeer(unix)
	}
	if err := writeFrame(c, proofOf(token, clientEnd)); err != nil {
		return vanished(err)
	}
	switch err := isProof(in, token, daemonEnd); {
	case err == nil, daemonIsStuck(err):
		return err
	default:
		return ErrNotRunning
	}
}

func isProof(in *bufio.Reader, token, end string) error {
	var p proof
	if err := readFrame(in, &p); err != nil {
		return err
	}
	if token == "" || !hmac.Equal([]byte(p.Proof), []byte(proofOf(token, end).Proof)) {
		return errStranger
	}
	return nil
}

package daemon

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withoutUnixSockets makes this a system that has none, until the test ends.
func withoutUnixSockets(t *testing.T) {
	listen := listenUnix
	listenUnix = func(string) (net.Listener, error) {
		return nil, &net.OpError{Op: "listen", Net: "unix", Err: os.NewSyscallError("socket", syscall.EAFNOSUPPORT)}
	}
	t.Cleanup(func() { listenUnix = listen })
}

func TestLoopback(t *testing.T) {
	withoutUnixSockets(t)
	s := startServer(t, echo)
	conn := s.dial(t, KindCLI)
	_, err := io.WriteString(conn, "hello\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "hello\n", line)

	holder, err := ReadHolder(s.dir)
	require.NoError(t, err)
	assert.NotEmpty(t, holder.Token)
	assert.False(t, s.displaced())
	info, err := os.Stat(s.dir + "/" + lockFile)
	require.NoError(t, err)
	assert.Zero(t, info.Mode().Perm()&0o077, "only the user reads the token")

	id, err := Probe(t.Context(), s.dir)
	require.NoError(t, err)
	assert.Equal(t, s.Identity.Generation, id.Generation)
	conn.Close()
	_, err = io.WriteString(s.dial(t, KindStop), "")
	require.NoError(t, err)
	require.ErrorIs(t, <-s.ended, ErrStopped)
}

// A client that has not read the lock file learns nothing and gets no session.
func TestLoopbackTurnsStrangersAway(t *testing.T) {
	withoutUnixSockets(t)
	s := startServer(t, func(context.Context, *Session) error {
		t.Error("a stranger got a session")
		return nil
	})
	holder, err := ReadHolder(s.dir)
	require.NoError(t, err)
	for name, first := range map[string]any{
		"no proof":        Hello{Wire: Wire, Version: "1.0.0", Kind: KindMCP},
		"another token":   proofOf("guessed", clientEnd),
		"no token":        proofOf("", clientEnd),
		"the daemon's":    proofOf(holder.Token, daemonEnd),
		"the token alone": proof{holder.Token},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", holder.Socket)
			require.NoError(t, err)
			defer c.Close()
			require.NoError(t, writeFrame(c, first))
			_ = writeFrame(c, Hello{Wire: Wire, Version: "1.0.0", Kind: KindMCP}) // the daemon may have hung up
			said, _ := io.ReadAll(c)                                              // as above
			assert.Empty(t, said)
		})
	}
}

// After a crash another program may listen on the port: no request reaches it, and
// for the client no daemon runs.
func TestLoopbackPortOfAnother(t *testing.T) {
	for name, answer := range map[string]string{
		"a web server": "HTTP/1.1 400 Bad Request\r\n\r\n",
		"an echo":      "",
		"an impostor":  `{"proof":"00"}` + "\n",
		"it hangs up":  "bye",
	} {
		t.Run(name, func(t *testing.T) {
			withoutUnixSockets(t)
			dir := t.TempDir()
			lock, err := Acquire(t.Context(), dir, NewIdentity("1.0.0", os.Getpid()))
			require.NoError(t, err)
			ln, err := Listen(lock)
			require.NoError(t, err)
			got := make(chan string, 1)
			go func() {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				in := bufio.NewReader(c)
				line, _ := in.ReadString('\n') // the test looks at what came
				if answer == "" {
					answer = line
				}
				_, _ = io.WriteString(c, answer) // the client may have hung up
				c.(*net.TCPConn).CloseWrite()
				rest, _ := io.ReadAll(in)
				got <- string(rest)
			}()
			_, err = Dial(t.Context(), dir, Hello{Wire: Wire, Version: "1.0.0", Kind: KindMCP, Vault: "/secret"})
			require.ErrorIs(t, err, ErrNotRunning)
			assert.Empty(t, <-got, "nothing follows the proof")
			require.NoError(t, ln.Close())
			require.NoError(t, lock.Release())
		})
	}
}

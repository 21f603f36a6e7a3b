package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"time"
)

var (
	// ErrNotRunning reports that no daemon listens for a state directory.
	ErrNotRunning = errors.New("no notesd daemon is running")
	// ErrIncompatible reports that the running daemon speaks another wire version and
	// must not be replaced. The error is a *RefusedError.
	ErrIncompatible = errors.New("the running notesd daemon is of an incompatible version")
)

// VaultError is the error of using a state directory for a second vault.
type VaultError struct {
	State string // the state directory
	Owner string // the vault that owns it
	Vault string // the requested vault
}

func (e *VaultError) Error() string {
	return fmt.Sprintf("the state in %s belongs to the vault %s, not to %s", e.State, e.Owner, e.Vault)
}

// RefusedError is the error of connecting to a daemon that refuses the connection for a
// reason other than its vault.
type RefusedError struct {
	Daemon Identity
	Client Hello
	Reason Refusal
}

func (e *RefusedError) Error() string {
	switch e.Reason {
	case RefusedWire:
		advice := "notesd restart starts this version"
		if e.Daemon.Supersedes(Identity{Wire: e.Client.Wire, Version: e.Client.Version}) {
			advice = "restart this program, which is older"
		}
		return fmt.Sprintf("%v: it is %s (process %d), this program is %s; %s",
			ErrIncompatible, e.Daemon.Version, e.Daemon.PID, e.Client.Version, advice)
	case RefusedBusy:
		return fmt.Sprintf("the notesd daemon (process %d) has too many clients; close some", e.Daemon.PID)
	case RefusedStop:
		return fmt.Sprintf("process %d serves the vault as long as its own task runs, such as notesd mcp --in-process; end the program that started it", e.Daemon.PID)
	case RefusedClosing:
		return fmt.Sprintf("the notesd daemon (process %d) is stopping", e.Daemon.PID)
	default:
		return fmt.Sprintf("the notesd daemon (process %d) refused the connection: %s", e.Daemon.PID, e.Reason)
	}
}

// Is makes errors.Is(err, ErrIncompatible) hold for a daemon of another wire version.
func (e *RefusedError) Is(target error) bool {
	return target == ErrIncompatible && e.Reason == RefusedWire
}

// Conn is an accepted connection to a daemon. Reads and writes may be concurrent.
type Conn struct {
	opening
	Daemon  Identity
	Remarks []string // see Welcome
}

// Dial connects to the daemon of the state directory dir without starting one. It
// returns ErrNotRunning if there is none, and a *VaultError or a *RefusedError if the
// daemon declines.
func Dial(ctx context.Context, dir string, hello Hello) (*Conn, error) {
	holder, err := ReadHolder(dir)
	if err != nil || holder.Socket == "" {
		return nil, ErrNotRunning // a starting daemon has not written the lock file yet
	}
	stuck := fmt.Errorf("the notesd daemon (process %d) does not answer; end that process and try again", holder.PID)
	dialer := net.Dialer{Timeout: frameTimeout} // a stuck daemon's connection queue may be full
	c, err := dialer.DialContext(ctx, "unix", holder.Socket)
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist), refused(err):
		return nil, ErrNotRunning
	case daemonIsStuck(err):
		return nil, stuck
	default:
		return nil, fmt.Errorf("connect to the daemon: %w", err)
	}
	conn, err := greet(ctx, c, hello)
	if err != nil {
		_ = c.Close() // no data to lose
		if other, ok := errors.AsType[*VaultError](err); ok {
			other.State = dir
		}
		if daemonIsStuck(err) {
			return nil, stuck
		}
		return nil, err
	}
	return conn, nil
}

// Probe returns the identity of the daemon that runs for dir, or ErrNotRunning. It
// never starts one.
func Probe(ctx context.Context, dir string) (Identity, error) {
	conn, err := Dial(ctx, dir, Hello{Wire: Wire, Kind: KindProbe})
	var other *RefusedError
	switch {
	case errors.Is(err, ErrIncompatible) && errors.As(err, &other):
		return other.Daemon, nil
	case err != nil:
		return Identity{}, err
	}
	return conn.Daemon, conn.Close()
}

// greet exchanges the Hello and the Welcome.
func greet(ctx context.Context, c net.Conn, hello Hello) (*Conn, error) {
	deadline := time.Now().Add(frameTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	if err := c.SetDeadline(deadline); err != nil {
		return nil, fmt.Errorf("handshake with the daemon: %w", err)
	}
	if err := checkPeer(c); err != nil {
		return nil, err
	}
	o := newOpening(c)
	if err := o.send(hello); err != nil {
		return nil, vanished(err)
	}
	var w Welcome
	if err := o.receive(&w); err != nil {
		return nil, vanished(err)
	}
	switch {
	case w.Refused == RefusedVault:
		return nil, &VaultError{Owner: w.Vault, Vault: hello.Vault}
	case w.Refused != "":
		return nil, &RefusedError{Daemon: w.Identity, Client: hello, Reason: w.Refused}
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("handshake with the daemon: %w", err)
	}
	return &Conn{o, w.Identity, w.Remarks}, nil
}

// vanished converts the error of a daemon that exited during the greeting to
// ErrNotRunning.
func vanished(err error) error {
	if errors.Is(err, io.EOF) || hungUp(err) {
		return ErrNotRunning
	}
	return fmt.Errorf("handshake with the daemon: %w", err)
}

func daemonIsStuck(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// within reports whether done is closed within d.
func within(done <-chan struct{}, d time.Duration) bool {
	select {
	case <-done:
		return true
	case <-time.After(d):
		return false
	}
}

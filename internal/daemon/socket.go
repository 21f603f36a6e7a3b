package daemon

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

const (
	socketFile = "daemon.sock"
	// maxSocketPath is the longest path valid on every system: sun_path has 104 bytes
	// on macOS and the BSDs and 108 on Linux and Windows, including the terminating
	// NUL.
	maxSocketPath = 103
	// maxKeyName is the length of a socket's name in a runtime directory, including the
	// leading separator.
	maxKeyName = 1 + 2*keyBytes + len(".sock")
	keyBytes   = 12
)

// Listen opens the socket of the daemon that holds lock and records its path in the
// lock file. It replaces the socket file of a crashed daemon, which is known to be
// stale because the lock is held. The listener removes the file when closed. The error is
// ErrDisplaced if the lock file was removed.
func Listen(lock *Lock) (net.Listener, error) {
	if !lock.InPlace() {
		return nil, ErrDisplaced // the socket there may be another daemon's
	}
	path, err := socketPath(lock.dir)
	if err != nil {
		return nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen on socket: %w; notesd mcp --in-process needs none", err) // not supported by Wine and Windows before 1803
	}
	// Only the user can enter the directory, so the file is protected until here.
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("protect socket: %w", err), ln.Close())
	}
	if err := lock.setSocket(path); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// socketPath returns the path of the socket for the state directory dir: in that
// directory or, if the path would be too long for a socket, in the user's runtime
// directory under a hash of dir.
func socketPath(dir string) (string, error) {
	if path := filepath.Join(dir, socketFile); len(path) <= maxSocketPath {
		return path, nil
	}
	runtimeDir, err := runtimeDir()
	if err != nil {
		return "", err
	}
	key := sha256.Sum256([]byte(dir))
	path := filepath.Join(runtimeDir, hex.EncodeToString(key[:keyBytes])+".sock")
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("no path is short enough for a socket: %s has %d bytes, and the limit is %d; "+
			"choose a shorter state directory", path, len(path), maxSocketPath)
	}
	return path, nil
}

// removeStale removes the socket of a crashed daemon at path. It returns an error for
// any other kind of file.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("check for a stale socket: %w", err)
	case !isSocket(info):
		return fmt.Errorf("%s is in the way: it is not a socket; move it away", path)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove stale socket: %w", err)
	}
	return nil
}

// SecureStateDir creates dir if it does not exist, makes it accessible only to the
// user, and returns its absolute path.
func SecureStateDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("the state directory cannot be created: %w", err)
	}
	info, err := os.Stat(dir) // follows a symlink, which may be the user's choice
	if err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	if err := owned(dir, info); err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	if private(info) {
		return dir, nil
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	return dir, nil
}

// checkPeer returns an error unless the peer process runs as the current user.
func checkPeer(conn net.Conn) error {
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return fmt.Errorf("peer credentials: %w", err)
	}
	var uid uint32
	var known bool
	var peerErr error
	err = raw.Control(func(fd uintptr) { uid, known, peerErr = peerUser(int(fd)) })
	if err := cmp.Or(err, peerErr); err != nil {
		return fmt.Errorf("peer credentials: %w", err)
	}
	if !known {
		return nil
	}
	return sameUser(uid, os.Geteuid())
}

func sameUser(uid uint32, self int) error {
	if int64(uid) != int64(self) {
		return fmt.Errorf("the process at the other end of the socket runs as user %d, not as user %d", uid, self)
	}
	return nil
}

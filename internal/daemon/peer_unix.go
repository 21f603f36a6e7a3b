//go:build linux || darwin || freebsd

package daemon

import (
	"fmt"
	"net"
)

// control calls get with the descriptor of conn.
func control(conn *net.UnixConn, get func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return fmt.Errorf("peer credentials: %w", err)
	}
	var getErr error
	if err := raw.Control(func(fd uintptr) { getErr = get(int(fd)) }); err != nil {
		return fmt.Errorf("peer credentials: %w", err)
	}
	if getErr != nil {
		return fmt.Errorf("peer credentials: %w", getErr)
	}
	return nil
}

func sameUser(uid uint32, self int) error {
	if int64(uid) != int64(self) {
		return fmt.Errorf("the process at the other end of the socket runs as user %d, not as user %d", uid, self)
	}
	return nil
}

package daemon

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeer returns an error unless the process at the other end runs as this
// one's user.
func checkPeer(conn *net.UnixConn) error {
	var cred *unix.Ucred
	err := control(conn, func(fd int) (err error) {
		cred, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		return err
	})
	if err != nil {
		return err
	}
	return sameUser(cred.Uid, os.Geteuid())
}

//go:build darwin || freebsd

package daemon

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// solLocal is SOL_LOCAL of <sys/un.h>, the option level of Unix sockets.
const solLocal = 0

// checkPeer returns an error unless the process at the other end runs as this
// one's user.
func checkPeer(conn *net.UnixConn) error {
	var cred *unix.Xucred
	err := control(conn, func(fd int) (err error) {
		cred, err = unix.GetsockoptXucred(fd, solLocal, unix.LOCAL_PEERCRED)
		return err
	})
	if err != nil {
		return err
	}
	return sameUser(cred.Uid, os.Geteuid())
}

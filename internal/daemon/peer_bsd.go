//go:build darwin || freebsd

package daemon

import "golang.org/x/sys/unix"

// solLocal is SOL_LOCAL of <sys/un.h>, the option level of Unix sockets.
const solLocal = 0

// peerUser returns the user of the process at the other end of a socket.
func peerUser(fd int) (uid uint32, known bool, err error) {
	cred, err := unix.GetsockoptXucred(fd, solLocal, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, false, err
	}
	return cred.Uid, true, nil
}

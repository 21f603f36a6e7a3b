//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// CopyAttributes gives f the mode, owner, extended attributes and, on macOS, creation time
// of like. Like an editor, it ignores an owner or attribute that the user or the file
// system cannot set.
func CopyAttributes(f, like *os.File) error {
	info, err := like.Stat()
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid)) // before Chmod, because it may clear mode bits; skipped on error
		copyCreated(f, st)
	}
	copyExtended(int(f.Fd()), int(like.Fd()))
	if now, err := f.Stat(); err == nil && now.Mode() == info.Mode() {
		return nil // a file system without modes of its own may refuse to set any
	}
	return f.Chmod(info.Mode().Perm() | info.Mode()&(os.ModeSetuid|os.ModeSetgid|os.ModeSticky))
}

func copyExtended(to, from int) {
	names, err := readAttribute(func(buf []byte) (int, error) { return unix.Flistxattr(from, buf) })
	if err != nil {
		return
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		value, err := readAttribute(func(buf []byte) (int, error) { return unix.Fgetxattr(from, name, buf) })
		if err == nil {
			_ = unix.Fsetxattr(to, name, value, 0) // see CopyAttributes
		}
	}
}

// readAttribute calls read with a buffer that is large enough.
func readAttribute(read func(buf []byte) (int, error)) ([]byte, error) {
	for {
		size, err := read(nil)
		if err != nil || size == 0 {
			return nil, err
		}
		buf := make([]byte, size)
		n, err := read(buf)
		if errors.Is(err, unix.ERANGE) {
			continue // the attribute has grown
		}
		return buf[:max(n, 0)], err
	}
}

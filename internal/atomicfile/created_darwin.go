package atomicfile

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// copyCreated gives f the creation time of like, by which Finder and editors sort. On
// other Unix systems it cannot be set; on Windows, ReplaceFile keeps it.
func copyCreated(f *os.File, like *syscall.Stat_t) {
	created := like.Birthtimespec
	value := (*[unsafe.Sizeof(created)]byte)(unsafe.Pointer(&created))
	_ = unix.Setattrlist(f.Name(), &unix.Attrlist{Bitmapcount: unix.ATTR_BIT_MAP_COUNT, Commonattr: unix.ATTR_CMN_CRTIME}, value[:], unix.FSOPT_NOFOLLOW) // see CopyAttributes
}

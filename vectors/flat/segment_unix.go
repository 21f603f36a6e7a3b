//go:build unix

package flat

import (
	"os"

	"golang.org/x/sys/unix"
)

// segment is a shared mapping of a part of the file, in which writes to the file are
// visible.
type segment struct {
	data   []byte
	mapped []byte // the mapping, which starts at a page boundary
}

// mapSegment maps length bytes starting at offset. The file may be shorter; bytes beyond
// its end must not be read.
func mapSegment(f *os.File, offset int64, length int) (segment, error) {
	page := int64(os.Getpagesize())
	start := offset / page * page
	mapped, err := unix.Mmap(int(f.Fd()), start, length+int(offset-start), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return segment{}, os.NewSyscallError("mmap", err)
	}
	return segment{data: mapped[offset-start:], mapped: mapped}, nil
}

func (s segment) unmap() error { return os.NewSyscallError("munmap", unix.Munmap(s.mapped)) }

// memory returns 0, because the system can discard the pages of a mapping at any time.
func (s segment) memory() int64 { return 0 }

// wrote is a no-op, because writes to the file are visible in the mapping.
func (s segment) wrote(*os.File, int, []byte) error { return nil }

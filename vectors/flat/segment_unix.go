//go:build unix

package flat

import (
	"os"

	"golang.org/x/sys/unix"
)

// segment is a piece of a slot file in memory, shared with the file: what is
// written there is seen here.
type segment struct {
	data   []byte
	mapped []byte // data, from the page that it starts in
}

// mapSegment maps length bytes from offset on; the file may still be shorter,
// as long as nobody reads what it does not have.
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

// wrote is told what was written to the file within the segment.
func (s segment) wrote(*os.File, int, []byte) error { return nil }

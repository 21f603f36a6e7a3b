package flat

import (
	"errors"
	"runtime/debug"
)

// ErrUnreadable is returned by [Guard] and [File.Append].
var ErrUnreadable = errors.New("the file of vectors is damaged")

// Guard calls do, which reads records. It returns ErrUnreadable if the processor faults on a
// page of the file, because another program has truncated it or the disk cannot read it.
func Guard(do func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if _, fault := p.(interface{ Addr() uintptr }); fault || p == any(ErrUnreadable) {
			err = ErrUnreadable
		} else if p != nil {
			panic(p)
		}
	}()
	do()
	return nil
}

package fsid

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// ErrNoAnswer means that a disk has not answered in time, such as a network disk that lost
// its server.
var ErrNoAnswer = errors.New("its disk does not answer")

// Patience is how long the start of a process waits for a folder: clients wait for little
// longer for a server, and a known vault can be served before its disk answers.
const Patience = 3 * time.Second

// reading has the calls in progress by path.
var reading = struct {
	sync.Mutex
	disks map[string]*calls
}{disks: map[string]*calls{}}

// calls are the calls in progress for one path.
type calls struct {
	since time.Time // when the first call began since the disk last answered
	tried time.Time // when the last call began
}

// InTime returns the result of read, which accesses the disk at path, or ErrNoAnswer after
// the time of patience. A system call that waits for a disk cannot be interrupted: read
// continues, and its result is dropped. Until it returns, other calls for the path fail
// immediately, so that their goroutines do not accumulate. One is tried after a minute and
// then at growing intervals, because the disk may have been remounted.
func InTime[T any](path string, patience time.Duration, read func() (T, error)) (result T, err error) {
	if !begin(path, patience) {
		return result, ErrNoAnswer
	}
	type answer struct {
		result T
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		result, err := read()
		end(path)
		answered <- answer{result, err}
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case a := <-answered:
		return a.result, a.err
	case <-timer.C:
		return result, ErrNoAnswer
	}
}

// Info is [os.Stat] with Patience.
func Info(path string) (fs.FileInfo, error) {
	return InTime(path, Patience, func() (fs.FileInfo, error) { return os.Stat(path) })
}

// begin counts a call, unless another has waited for longer than patience.
func begin(path string, patience time.Duration) bool {
	reading.Lock()
	defer reading.Unlock()
	disk := reading.disks[path]
	if disk == nil {
		disk = &calls{since: time.Now()}
		reading.disks[path] = disk
	}
	if waited := time.Since(disk.since); waited >= patience && time.Since(disk.tried) < max(time.Minute, waited/2) {
		return false
	}
	disk.tried = time.Now()
	return true
}

func end(path string) {
	reading.Lock()
	defer reading.Unlock()
	delete(reading.disks, path) // if another call still hangs, it is on a disk that was unmounted
}

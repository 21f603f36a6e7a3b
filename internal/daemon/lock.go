package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	lockFile  = "daemon.lock"
	startFile = "start.lock"
	// lockPoll is how often to try a lock that will be released.
	lockPoll = 10 * time.Millisecond
	// lockTimeout is how long Acquire waits for a process that does not listen. It is
	// longer than stopTimeout, and than the commands that do not listen take.
	lockTimeout = 20 * time.Second
	// stopTimeout is how long a stopping daemon may take to release the lock: the
	// maximum for Server.Serve, plus time for its caller.
	stopTimeout = drainTimeout + cutTimeout + 5*time.Second
	// maxHolder bounds how much of a lock file is read.
	maxHolder = 16 << 10
)

// ErrLocked reports that another process holds the lock. The error is a
// *LockedError.
var ErrLocked = errors.New("another notesd process serves this vault")

// ErrState reports that no file can be written in the state directory.
var ErrState = errors.New("the state directory cannot be used")

// errHeld is returned by tryLock when another process holds the lock.
var errHeld = errors.New("lock is held")

// Holder describes the process that holds a lock, for messages and for finding its
// socket. The process writes it to the lock file, where it outlives a crash: only the
// lock itself proves that it is current.
type Holder struct {
	Identity
	Started time.Time `json:"started"`
	Socket  string    `json:"socket,omitempty"`  // empty until it is listening
	Closing bool      `json:"closing,omitempty"` // it is stopping and will release the lock
	// Stopped means that the user has stopped the daemon. It stays in the file, across
	// holders that do not listen, until the next daemon listens.
	Stopped bool `json:"stopped,omitempty"`
}

// LockedError is the error of Acquire when another process holds the lock.
type LockedError struct {
	Dir    string
	Holder Holder // zero if it has not been written yet
}

func (e *LockedError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("%v: it holds %s", ErrLocked, filepath.Join(e.Dir, lockFile))
	}
	return fmt.Sprintf("%v: process %d, version %s, since %s, socket %s", ErrLocked, e.Holder.PID,
		e.Holder.Version, e.Holder.Started.Format(time.DateTime), e.Holder.Socket)
}

// Is makes errors.Is(err, ErrLocked) hold.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// Lock is an exclusive lock of a state directory. The kernel releases it when the
// process exits, however it exits.
type Lock struct {
	dir string

	mu     sync.Mutex
	file   *os.File // nil once released
	holder Holder
}

// Acquire acquires the lock of the state directory dir for the daemon that id
// describes, creating the directory if it does not exist. It does not wait for a daemon
// that serves, but waits up to lockTimeout for other holders: a command, or a daemon
// that is starting or stopping. The error is a *LockedError if another process holds the
// lock.
func Acquire(ctx context.Context, dir string, id Identity) (*Lock, error) {
	dir, err := SecureStateDir(dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	for {
		f, err := openLocked(filepath.Join(dir, lockFile))
		if err == nil {
			l := &Lock{dir: dir, file: f, holder: Holder{Identity: id, Started: time.Now().Round(time.Second), Stopped: isStopped(dir)}}
			if err := l.write(); err != nil {
				_ = f.Close() // the write error is more useful
				return nil, err
			}
			return l, nil
		}
		if !errors.Is(err, errHeld) {
			return nil, fmt.Errorf("lock state directory: %w", err)
		}
		holder, _ := ReadHolder(dir) // zero if the holder has just started or is about to exit
		if holder.Socket != "" && !holder.Closing {
			return nil, &LockedError{Dir: dir, Holder: holder}
		}
		if within(ctx.Done(), lockPoll) {
			return nil, &LockedError{Dir: dir, Holder: holder}
		}
	}
}

// isStopped reports whether the user has stopped the daemon of dir and none has
// listened since.
func isStopped(dir string) bool {
	h, err := ReadHolder(dir)
	return err == nil && h.Stopped
}

// ReadHolder returns the current or last holder of the lock of dir.
func ReadHolder(dir string) (Holder, error) {
	var h Holder
	f, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return h, err
	}
	defer f.Close()
	data := make([]byte, maxHolder)
	n, _ := f.ReadAt(data, 0) // usually io.EOF; other errors show up as invalid JSON
	if err := json.Unmarshal(data[:n], &h); err != nil {
		return Holder{}, fmt.Errorf("read lock holder: %w", err)
	}
	return h, nil
}

// setSocket records the socket of the holder in the lock file.
func (l *Lock) setSocket(path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder.Socket, l.holder.Stopped, l.holder.Closing = path, false, false
	return l.write()
}

// setClosing records that the holder will release the lock, and whether the user has
// stopped it.
func (l *Lock) setClosing(stopped bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder.Closing = true
	l.holder.Stopped = l.holder.Stopped || stopped
	return l.write()
}

// write replaces the content of the lock file. It pads with spaces before it
// truncates, so that a concurrent reader never finds the file empty.
func (l *Lock) write() error {
	if l.file == nil {
		return os.ErrClosed
	}
	data, err := json.Marshal(l.holder)
	if err != nil {
		return fmt.Errorf("encode lock holder: %w", err)
	}
	info, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("write lock holder: %w", err)
	}
	data = append(data, '\n')
	size := len(data)
	for int64(len(data)) < info.Size() {
		data = append(data, ' ')
	}
	if _, err := l.file.WriteAt(data, 0); err != nil {
		return fmt.Errorf("write lock holder: %w", err)
	}
	if err := l.file.Truncate(int64(size)); err != nil {
		return fmt.Errorf("write lock holder: %w", err)
	}
	return nil
}

// InPlace reports whether the lock file that others would try is still the locked one. If
// it was removed, or its file system was mounted again, another process may use the state
// directory.
func (l *Lock) InPlace() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return false
	}
	there, err := os.Stat(filepath.Join(l.dir, lockFile))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // otherwise unknown: assume so
	}
	held, err := l.file.Stat()
	return err == nil && os.SameFile(held, there)
}

// Release releases the lock. It is idempotent.
func (l *Lock) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	stopped := l.holder.Stopped
	l.holder = Holder{Stopped: stopped}
	if !stopped || l.write() != nil {
		_ = l.file.Truncate(0) // best effort, for readers
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// openLocked opens the lock file at path and locks it without waiting. If the file was
// replaced in the meantime, it tries the new one.
func openLocked(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrState, err)
		}
		if err := tryLock(f); err != nil {
			_ = f.Close()
			return nil, err
		}
		held, err := f.Stat()
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		if there, err := os.Stat(path); err == nil && os.SameFile(held, there) {
			return f, nil
		}
		_ = f.Close()
	}
}

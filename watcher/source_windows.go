package watcher

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/windows"
)

// openSource opens a source for root with a single handle. fsnotify would open every
// directory, and Windows does not allow renaming or moving a directory that contains an
// open one, so users' folders would be locked.
func openSource(root string) (*source, error) {
	r, err := openChangeReader(root)
	if err != nil {
		return nil, err
	}
	q := newQueue()
	go r.run(q)
	return &source{notifier: r, queue: q}, nil
}

// Close implements notifier.
func (r *changeReader) Close() error {
	err := windows.SetEvent(r.stop)
	<-r.ended
	r.close()
	return err
}

// run queues changes in added directories until the reader is stopped or the root is
// deleted.
func (r *changeReader) run(q *queue) {
	defer close(r.ended)
	for {
		changes, err := r.read()
		switch {
		case errors.Is(err, errStopped):
			return
		case errors.Is(err, fsnotify.ErrEventOverflow):
			q.fail(eventLoss(err))
		case err != nil: // the root was deleted, for example
			q.put(fsnotify.Event{Name: r.dir, Op: fsnotify.Remove})
			return
		}
		for _, ev := range changes {
			name, ok := r.spelled(longName(ev.Name))
			if ok && name != r.dir { // the periodic check handles the root
				q.put(fsnotify.Event{Name: name, Op: ev.Op})
			}
		}
	}
}

// longName expands short names (NOTES~1.MD), because Windows reports a change under the
// name that the program used. If the file no longer exists, only its directory is
// expanded.
func longName(name string) string {
	if !strings.Contains(name, "~") {
		return name
	}
	if long, err := expandName(name); err == nil {
		return long
	}
	if dir, err := expandName(filepath.Dir(name)); err == nil {
		return filepath.Join(dir, filepath.Base(name))
	}
	return name
}

func expandName(name string) (string, error) {
	short, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return "", err
	}
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n, err := windows.GetLongPathName(short, &buf[0], uint32(len(buf)))
	if err != nil || int(n) > len(buf) {
		return "", fmt.Errorf("long name of %s: %w", name, err)
	}
	return windows.UTF16ToString(buf[:n]), nil
}

// changeReader reads the changes below a directory with ReadDirectoryChangesW.
type changeReader struct {
	subtree
	dir    string
	handle windows.Handle
	stop   windows.Handle // event that makes read return
	ready  windows.Handle // event that signals completion of the pending read
	ended  chan struct{}  // closed when run returns

	// The system writes to these while a read is pending.
	pending bool
	ov      *windows.Overlapped
	buf     []byte
}

var errStopped = fmt.Errorf("stopped: %w", os.ErrClosed)

// changeMask selects the changes to report. Attributes are included because they change
// when a cloud provider downloads a file.
const changeMask = windows.FILE_NOTIFY_CHANGE_FILE_NAME | windows.FILE_NOTIFY_CHANGE_DIR_NAME |
	windows.FILE_NOTIFY_CHANGE_ATTRIBUTES | windows.FILE_NOTIFY_CHANGE_SIZE | windows.FILE_NOTIFY_CHANGE_LAST_WRITE

var changeOps = map[uint32]fsnotify.Op{
	windows.FILE_ACTION_ADDED:            fsnotify.Create,
	windows.FILE_ACTION_REMOVED:          fsnotify.Remove,
	windows.FILE_ACTION_MODIFIED:         fsnotify.Write,
	windows.FILE_ACTION_RENAMED_OLD_NAME: fsnotify.Rename,
	windows.FILE_ACTION_RENAMED_NEW_NAME: fsnotify.Create,
}

func openChangeReader(dir string) (*changeReader, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(name, windows.FILE_LIST_DIRECTORY,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OVERLAPPED, 0)
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	// 64 KiB is the most that works over SMB.
	r := &changeReader{subtree: newSubtree(), dir: dir, handle: h, ended: make(chan struct{}), buf: make([]byte, 64<<10)}
	if r.stop, err = windows.CreateEvent(nil, 1, 0, nil); err == nil {
		r.ready, err = windows.CreateEvent(nil, 1, 0, nil)
	}
	if err == nil {
		err = r.begin() // from here on, the system buffers changes
	}
	if err != nil {
		r.close()
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	return r, nil
}

func (r *changeReader) close() {
	for _, h := range []windows.Handle{r.handle, r.stop, r.ready} {
		if h != 0 {
			_ = windows.CloseHandle(h)
		}
	}
}

// begin starts the next read. The system buffers changes between reads.
func (r *changeReader) begin() error {
	r.ov = &windows.Overlapped{HEvent: r.ready}
	err := windows.ReadDirectoryChanges(r.handle, &r.buf[0], uint32(len(r.buf)), true, changeMask, nil, r.ov, 0)
	if err != nil && !errors.Is(err, windows.ERROR_IO_PENDING) {
		return err
	}
	r.pending = true
	return nil
}

// read waits for changes. It returns errStopped after stop is signaled, and
// fsnotify.ErrEventOverflow if changes were lost, after which it may be called again.
// Any other error is final.
func (r *changeReader) read() ([]fsnotify.Event, error) {
	if !r.pending {
		if err := r.begin(); err != nil {
			return nil, err
		}
	}
	which, err := windows.WaitForMultipleObjects([]windows.Handle{r.stop, r.ready}, false, windows.INFINITE)
	if err == nil && which == windows.WAIT_OBJECT_0 {
		err = errStopped
	}
	if err != nil {
		_ = windows.CancelIoEx(r.handle, r.ov)
	}
	var n uint32
	read := windows.GetOverlappedResult(r.handle, r.ov, &n, true)
	r.pending = false
	switch {
	case err != nil:
		return nil, err
	case errors.Is(read, windows.ERROR_NOTIFY_ENUM_DIR), read == nil && n == 0:
		return nil, fsnotify.ErrEventOverflow
	case read != nil:
		return nil, read
	}
	return r.parse(r.buf[:n]), nil
}

// parse converts the chain of FILE_NOTIFY_INFORMATION records in buf to events.
func (r *changeReader) parse(buf []byte) []fsnotify.Event {
	const header = int(unsafe.Offsetof(windows.FileNotifyInformation{}.FileName))
	var all []fsnotify.Event
	for len(buf) >= header {
		rec := (*windows.FileNotifyInformation)(unsafe.Pointer(&buf[0]))
		if length := int(rec.FileNameLength); header+length <= len(buf) {
			name := windows.UTF16ToString(unsafe.Slice(&rec.FileName, length/2))
			all = append(all, fsnotify.Event{Name: filepath.Join(r.dir, name), Op: changeOps[rec.Action]})
		}
		next := int(rec.NextEntryOffset)
		if next == 0 || next > len(buf) {
			break
		}
		buf = buf[next:]
	}
	return all
}

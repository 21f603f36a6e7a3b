package watcher

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/fsnotify/fsnotify"
)

// coreServices contains the macOS functions for receiving FSEvents, with the C types of
// 64-bit systems. loadCoreServices fills it in; tests replace it.
type coreServices struct {
	stringCreate func(allocator uintptr, s string, encoding uint32) uintptr
	arrayCreate  func(allocator uintptr, values *uintptr, n int, callbacks uintptr) uintptr
	release      func(object uintptr)

	streamCreate func(allocator, callback uintptr, context *streamContext, paths uintptr,
		since uint64, latency float64, flags uint32) uintptr
	streamSetQueue   func(stream, queue uintptr)
	streamStart      func(stream uintptr) bool
	streamStop       func(stream uintptr)
	streamInvalidate func(stream uintptr)
	streamRelease    func(stream uintptr)

	queueCreate  func(label, attributes uintptr) uintptr // a serial queue
	queueSync    func(queue, context, function uintptr)  // runs the function after all queued work
	queueRelease func(queue uintptr)

	arrayCallbacks uintptr // kCFTypeArrayCallBacks
	callback       uintptr // streamCallback, as a C function
	nothing        uintptr // a C function that does nothing

	// canonical returns the path of a directory as FSEvents reports it: with symbolic
	// links resolved, spelled as on disk.
	canonical func(dir string) (string, error)
}

// streamContext is an FSEventStreamContext. The stream copies it.
type streamContext struct {
	_    int // version
	info uintptr
	_    [3]uintptr // retain, release, copyDescription
}

const (
	stringEncodingUTF8 = 0x08000100
	sinceNow           = ^uint64(0)
	streamNoDefer      = 0x02 // report the first change after a quiet period at once
	streamWatchRoot    = 0x04 // report a move of the root
	streamFileEvents   = 0x10 // report entries rather than directories
	streamLatency      = 0.02 // seconds between reports; must be shorter than Quiet

	// dataVolume is the mount point of the volume with user files, whose folders also
	// appear at /.
	dataVolume = "/System/Volumes/Data"
)

// startFSEvents starts a stream of changes below root. It is the start function of
// openSubtree.
func (cs *coreServices) startFSEvents(root string, to *subtree) (stop func() error, err error) {
	real, err := cs.canonical(root)
	if err != nil {
		return nil, err
	}
	path := cs.stringCreate(0, real, stringEncodingUTF8)
	if path == 0 { // not UTF-8
		return nil, streamError("CFStringCreateWithCString")
	}
	defer cs.release(path)
	paths := cs.arrayCreate(0, &path, 1, cs.arrayCallbacks)
	if paths == 0 {
		return nil, streamError("CFArrayCreate")
	}
	defer cs.release(paths)

	r := &streamReader{root: root, real: real, to: to}
	id := lastReader.Add(1)
	readers.Store(id, r)
	stream := cs.streamCreate(0, cs.callback, &streamContext{info: id}, paths, sinceNow, streamLatency,
		streamNoDefer|streamWatchRoot|streamFileEvents)
	if stream == 0 {
		readers.Delete(id)
		return nil, streamError("FSEventStreamCreate")
	}
	queue := cs.queueCreate(0, 0)
	cs.streamSetQueue(stream, queue)
	end := func() {
		cs.streamInvalidate(stream)
		cs.queueSync(queue, 0, cs.nothing) // wait for a callback that is running
		readers.Delete(id)
		cs.streamRelease(stream)
		cs.queueRelease(queue)
	}
	if !cs.streamStart(stream) {
		end()
		return nil, streamError("FSEventStreamStart")
	}
	return func() error {
		cs.streamStop(stream)
		end()
		return nil
	}, nil
}

// streamError returns the error for a macOS function that failed without a reason.
func streamError(function string) error {
	return fmt.Errorf("macOS opened no stream of file system events (%s failed)", function)
}

// readers maps the number (uintptr) that a stream passes to streamCallback to its
// *streamReader, because C code must not retain Go pointers.
var (
	readers    sync.Map
	lastReader atomic.Uintptr
)

// streamCallback is an FSEventStreamCallback, called on the stream's queue. The arrays
// of n paths and flags are valid only during the call.
func streamCallback(_, info, n uintptr, paths **byte, flags *uint32, _ *uint64) {
	r, ok := readers.Load(info)
	if !ok || n == 0 {
		return
	}
	all := unsafe.Slice(flags, n)
	for i, path := range unsafe.Slice(paths, n) {
		r.(*streamReader).report(goString(path), all[i])
	}
}

// goString copies a C string.
func goString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// The FSEventStreamEventFlags that are handled.
const (
	flagMustScanSubDirs = 0x01
	flagUserDropped     = 0x02
	flagKernelDropped   = 0x04
	flagIDsWrapped      = 0x08
	flagHistoryDone     = 0x10
	flagRootChanged     = 0x20
	flagMount           = 0x40
	flagUnmount         = 0x80
	flagItemCreated     = 0x100
	flagItemRemoved     = 0x200
	flagItemInodeMeta   = 0x400
	flagItemRenamed     = 0x800
	flagItemModified    = 0x1000
	flagItemFinderInfo  = 0x2000
	flagItemOwner       = 0x4000
	flagItemXattr       = 0x8000
)

const (
	flagsOfLoss  = flagUserDropped | flagKernelDropped | flagIDsWrapped
	flagsOfTrees = flagMustScanSubDirs | flagMount | flagUnmount
	flagsOfItems = flagItemCreated | flagItemRemoved | flagItemInodeMeta | flagItemRenamed |
		flagItemModified | flagItemFinderInfo | flagItemOwner | flagItemXattr
)

// itemOps maps flags to operations; the other flags mean a write. A rename is reported
// with flagItemRenamed for both the old and the new name. For a renamed directory,
// nothing below it is reported.
var itemOps = []struct {
	flag uint32
	op   fsnotify.Op
}{
	{flagItemCreated, fsnotify.Create},
	{flagItemRemoved, fsnotify.Remove},
	{flagItemRenamed, fsnotify.Rename | fsnotify.Create},
	{flagItemInodeMeta, fsnotify.Chmod},
	{flagItemOwner, fsnotify.Chmod},
}

// streamReader converts the reports of a stream to events.
type streamReader struct {
	root string // in the tracker's spelling
	real string // in the spelling of FSEvents
	to   *subtree
}

var errDropped = fmt.Errorf("macOS dropped reports: %w", fsnotify.ErrEventOverflow)

// report handles the flags that a stream reports for a path. macOS combines the flags of
// several changes to a path, including earlier ones, so they indicate only what may have
// happened; the tracker checks the disk.
func (r *streamReader) report(path string, flags uint32) {
	rel, inside := r.relative(path)
	// A report on a directory without item flags applies to everything below it.
	whole := flags&flagsOfTrees != 0 || flags&flagsOfItems == 0
	switch {
	case flags&flagHistoryDone != 0:
	case flags&flagRootChanged != 0:
		r.to.send(fsnotify.Event{Name: r.root, Op: fsnotify.Rename})
	case flags&flagsOfLoss != 0, whole && (rel == "" || !inside):
		r.to.fail(errDropped)
	case !inside:
		r.to.fail(fmt.Errorf("macOS reported %s, which is not in %s", path, r.real))
	case whole: // report a replaced directory, so that the tracker enters it again
		r.to.send(fsnotify.Event{Name: filepath.Join(r.root, rel), Op: fsnotify.Rename | fsnotify.Create})
	default:
		var op fsnotify.Op
		for _, of := range itemOps {
			if flags&of.flag != 0 {
				op |= of.op
			}
		}
		if op == 0 {
			op = fsnotify.Write
		}
		r.to.send(fsnotify.Event{Name: filepath.Join(r.root, rel), Op: op})
	}
}

// relative returns a reported path relative to the root, or false if it is outside the
// root.
func (r *streamReader) relative(path string) (rel string, inside bool) {
	real := strings.TrimSuffix(r.real, "/")
	n := strings.Count(real, "/") + 1
	path = strings.TrimSuffix(path, "/")
	for _, p := range []string{path, strings.TrimPrefix(path, dataVolume)} {
		parts := append(strings.SplitN(p, "/", n+1), "")
		if len(parts) > n && pathKey(strings.Join(parts[:n], "/")) == pathKey(real) {
			return parts[n], true
		}
	}
	return "", false
}

package watcher

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// openTree opens an FSEvents source for root.
func openTree(root string) (*source, error) {
	cs, err := loadCoreServices()
	if err != nil {
		return nil, err
	}
	return openSubtree(root, cs.startFSEvents)
}

// loadCoreServices loads the functions once, because purego never frees callbacks.
var loadCoreServices = sync.OnceValues(func() (cs *coreServices, err error) {
	defer func() {
		if r := recover(); r != nil { // purego panics if a function is missing
			cs, err = nil, fmt.Errorf("load FSEvents: %v", r)
		}
	}()
	// This also loads CoreFoundation, and libdispatch in libSystem.
	_, err = purego.Dlopen("/System/Library/Frameworks/CoreServices.framework/CoreServices", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("load FSEvents: %w", err)
	}
	cs = &coreServices{canonical: canonicalPath, callback: purego.NewCallback(streamCallback)}
	for name, f := range map[string]any{
		"CFStringCreateWithCString":     &cs.stringCreate,
		"CFArrayCreate":                 &cs.arrayCreate,
		"CFRelease":                     &cs.release,
		"FSEventStreamCreate":           &cs.streamCreate,
		"FSEventStreamSetDispatchQueue": &cs.streamSetQueue,
		"FSEventStreamStart":            &cs.streamStart,
		"FSEventStreamStop":             &cs.streamStop,
		"FSEventStreamInvalidate":       &cs.streamInvalidate,
		"FSEventStreamRelease":          &cs.streamRelease,
		"dispatch_queue_create":         &cs.queueCreate,
		"dispatch_sync_f":               &cs.queueSync,
		"dispatch_release":              &cs.queueRelease,
	} {
		purego.RegisterLibFunc(f, purego.RTLD_DEFAULT, name)
	}
	if cs.arrayCallbacks, err = purego.Dlsym(purego.RTLD_DEFAULT, "kCFTypeArrayCallBacks"); err == nil {
		cs.nothing, err = purego.Dlsym(purego.RTLD_DEFAULT, "free") // does nothing for NULL
	}
	if err != nil {
		return nil, fmt.Errorf("load FSEvents: %w", err)
	}
	return cs, nil
})

// canonicalPath implements coreServices.canonical.
func canonicalPath(dir string) (string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return "", err
	}
	defer f.Close()
	path := make([]byte, unix.PathMax)
	var pinner runtime.Pinner
	pinner.Pin(&path[0]) // its address is passed to the system call as an integer
	defer pinner.Unpin()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_GETPATH, int(uintptr(unsafe.Pointer(&path[0])))); err != nil {
		return "", fmt.Errorf("path of %s: %w", dir, err)
	}
	path, _, _ = bytes.Cut(path, []byte{0})
	return string(path), nil
}

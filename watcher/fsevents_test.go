//go:build !windows

package watcher

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// macOS is a fake of the macOS functions in coreServices. The test supplies the reports.
type macOS struct {
	mu     sync.Mutex
	fail   string   // the function that fails
	calls  []string // calls whose order matters
	last   uintptr
	live   map[uintptr]any    // objects that have not been released
	queues map[uintptr]serial // never removed, to detect use after release
}

type (
	cfString string
	cfArray  []string
	serial   chan struct{} // holds a token while a function runs on the queue
	fsStream struct {
		info    uintptr
		path    string
		queue   uintptr
		started bool
	}
)

// fsReport is a report of a stream on one path.
type fsReport struct {
	path  string
	flags uint32
}

// add creates an object, or returns 0 if function is the one that fails.
func (m *macOS) add(function string, object any) uintptr {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail == function {
		return 0
	}
	m.last++
	id := m.last
	m.calls = append(m.calls, function)
	m.live[id] = object
	return id
}

// stream returns a stream and checks that it has not been released.
func (m *macOS) stream(function string, id uintptr) *fsStream {
	m.calls = append(m.calls, function)
	return m.live[id].(*fsStream)
}

func (m *macOS) release(function string, id uintptr) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.live[id] == nil {
		panic(function + " of what is not there")
	}
	m.calls = append(m.calls, function)
	delete(m.live, id)
}

// with calls f with mu held.
func (m *macOS) with(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *macOS) coreServices() *coreServices {
	m.live, m.queues = make(map[uintptr]any), make(map[uintptr]serial)
	return &coreServices{
		stringCreate: func(_ uintptr, s string, encoding uint32) uintptr {
			if encoding != stringEncodingUTF8 {
				return 0
			}
			return m.add("CFStringCreateWithCString", cfString(s))
		},
		arrayCreate: func(_ uintptr, values *uintptr, n int, callbacks uintptr) uintptr {
			if n != 1 || callbacks != 11 {
				return 0
			}
			return m.add("CFArrayCreate", cfArray{string(m.live[*values].(cfString))})
		},
		release: func(id uintptr) { m.release("CFRelease", id) },
		streamCreate: func(_, callback uintptr, context *streamContext, paths uintptr, since uint64, latency float64, flags uint32) uintptr {
			if callback != 22 || since != 0xFFFFFFFFFFFFFFFF || latency != 0.02 || flags != 0x16 {
				return 0
			}
			return m.add("FSEventStreamCreate", &fsStream{info: context.info, path: m.live[paths].(cfArray)[0]})
		},
		streamSetQueue: func(id, queue uintptr) {
			m.with(func() { m.stream("FSEventStreamSetDispatchQueue", id).queue = queue })
		},
		streamStart: func(id uintptr) (ok bool) {
			m.with(func() {
				s := m.stream("FSEventStreamStart", id)
				s.started = m.fail != "FSEventStreamStart"
				ok = s.started
			})
			return ok
		},
		streamStop: func(id uintptr) {
			m.with(func() { m.stream("FSEventStreamStop", id).started = false })
		},
		streamInvalidate: func(id uintptr) {
			m.with(func() {
				if m.stream("FSEventStreamInvalidate", id).queue == 0 {
					panic("invalidated before it had a queue")
				}
			})
		},
		streamRelease: func(id uintptr) { m.release("FSEventStreamRelease", id) },
		queueCreate: func(uintptr, uintptr) uintptr {
			q := make(serial, 1)
			id := m.add("dispatch_queue_create", q)
			m.with(func() { m.queues[id] = q })
			return id
		},
		queueSync: func(queue, _, function uintptr) {
			m.queues[queue] <- struct{}{}
			<-m.queues[queue]
			m.with(func() { m.calls = append(m.calls, fmt.Sprint("dispatch_sync_f ", function)) })
		},
		queueRelease:   func(id uintptr) { m.release("dispatch_release", id) },
		arrayCallbacks: 11,
		callback:       22,
		nothing:        33,
		canonical: func(dir string) (string, error) { // like paths below /tmp
			_, err := os.Stat(dir)
			return "/private" + dir, err
		},
	}
}

// running returns the running streams.
func (m *macOS) running() (all []fsStream) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(m.live)) {
		if s, ok := m.live[id].(*fsStream); ok && s.started {
			all = append(all, *s)
		}
	}
	return all
}

// deliver delivers reports on every running stream and waits for the callbacks.
func (m *macOS) deliver(reports ...fsReport) {
	for _, s := range m.running() {
		m.call(s, reports...)
	}
}

// call calls the callback with C arrays on the stream's queue, and then overwrites the
// arrays.
func (m *macOS) call(s fsStream, reports ...fsReport) {
	var texts [][]byte
	paths, flags, ids := []*byte{nil}[:0], []uint32{0}[:0], []uint64{0}[:0]
	for _, r := range reports {
		text := append([]byte(r.path), 0)
		texts = append(texts, text)
		paths, flags, ids = append(paths, &text[0]), append(flags, r.flags), append(ids, 1)
	}
	m.queues[s.queue] <- struct{}{}
	streamCallback(0, s.info, uintptr(len(paths)), &paths[:1][0], &flags[:1][0], &ids[:1][0])
	m.with(func() { m.calls = append(m.calls, "callback") })
	<-m.queues[s.queue]
	for i := range texts {
		clear(texts[i])
		flags[i] = 0xFFFFFFFF
	}
}

func newTestSubtree() *subtree {
	return &subtree{queue: newQueue(), dirs: make(map[string]struct{}), folded: make(map[string]string)}
}

var (
	fseventsOpened = []string{"CFStringCreateWithCString", "CFArrayCreate", "FSEventStreamCreate",
		"dispatch_queue_create", "FSEventStreamSetDispatchQueue", "FSEventStreamStart"}
	fseventsEnded = []string{"FSEventStreamInvalidate", "dispatch_sync_f 33", "FSEventStreamRelease", "dispatch_release"}
)

func TestStartFSEvents(t *testing.T) {
	m := &macOS{}
	root := t.TempDir()
	stop, err := m.coreServices().startFSEvents(root, newTestSubtree())
	require.NoError(t, err)
	assert.Equal(t, append(slices.Clone(fseventsOpened), "CFRelease", "CFRelease"), m.calls)
	require.Len(t, m.running(), 1)
	assert.Equal(t, "/private"+root, m.running()[0].path)
	assert.Len(t, m.live, 2, "the stream and its queue: paths are released")

	m.calls = nil
	require.NoError(t, stop())
	assert.Equal(t, append([]string{"FSEventStreamStop"}, fseventsEnded...), m.calls)
	assert.Empty(t, m.live)
}

func TestStartFSEvents_Failure(t *testing.T) {
	for i, function := range fseventsOpened {
		if function == "dispatch_queue_create" || function == "FSEventStreamSetDispatchQueue" {
			continue // these do not fail
		}
		t.Run(function, func(t *testing.T) {
			m := &macOS{fail: function}
			_, err := openSubtree(t.TempDir(), m.coreServices().startFSEvents)
			assert.EqualError(t, err, "macOS opened no stream of file system events ("+function+" failed)")
			assert.Empty(t, m.live, "everything that was made is released")
			if function == "FSEventStreamStart" {
				assert.Subset(t, m.calls, fseventsEnded)
				assert.NotContains(t, m.calls, "FSEventStreamStop", "of a stream that does not run")
			} else {
				assert.Subset(t, fseventsOpened[:i], slices.DeleteFunc(m.calls, func(c string) bool { return c == "CFRelease" }))
			}
			readers.Range(func(id, _ any) bool { return assert.Fail(t, "a reader is left", id) })
		})
	}
	_, err := openSubtree(filepath.Join(t.TempDir(), "none"), (&macOS{}).coreServices().startFSEvents)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// TestStartFSEvents_ReportDuringStop closes a source while a callback is running on the
// stream's queue, and delivers one more report after that.
func TestStartFSEvents_ReportDuringStop(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		m, s := &macOS{}, newTestSubtree()
		require.NoError(t, s.Add(root))
		var err error
		s.stop, err = m.coreServices().startFSEvents(root, s)
		require.NoError(t, err)
		stream := m.running()[0]
		running := m.queues[stream.queue]
		running <- struct{}{} // a callback
		closed := make(chan error)
		go func() { closed <- s.Close() }()
		synctest.Wait()
		assert.NotContains(t, m.calls, "FSEventStreamRelease")
		<-running
		require.NoError(t, <-closed)
		assert.Contains(t, m.calls, "FSEventStreamRelease")
		m.call(stream, fsReport{"/private" + root + "/a.md", flagItemModified})
	})
}

func TestStreamReader_Report(t *testing.T) {
	const (
		file = 0x10000
		dir  = 0x20000
	)
	write := func(name string) fsnotify.Event { return fsnotify.Event{Name: name, Op: fsnotify.Write} }
	entered := fsnotify.Rename | fsnotify.Create
	tests := []struct {
		name   string
		report fsReport
		want   fsnotify.Event
		lost   string
	}{
		{"modified", fsReport{"/private/v/a.md", flagItemModified | file}, write("/v/a.md"), ""},
		{"xattr", fsReport{"/private/v/a.md", flagItemXattr | file}, write("/v/a.md"), ""},
		{"finder", fsReport{"/private/v/a.md", flagItemFinderInfo | file}, write("/v/a.md"), ""},
		{"slash at the end", fsReport{"/private/v/d/", flagItemModified | dir}, write("/v/d"), ""},
		{"joined", fsReport{"/private/v/a.md", flagItemCreated | flagItemRemoved | flagItemModified | file},
			fsnotify.Event{Name: "/v/a.md", Op: fsnotify.Create | fsnotify.Remove}, ""},
		{"renamed", fsReport{"/private/v/d", flagItemRenamed | dir}, fsnotify.Event{Name: "/v/d", Op: entered}, ""},
		{"owner", fsReport{"/private/v/d", flagItemOwner | dir}, fsnotify.Event{Name: "/v/d", Op: fsnotify.Chmod}, ""},
		{"mode", fsReport{"/private/v/d", flagItemInodeMeta | dir}, fsnotify.Event{Name: "/v/d", Op: fsnotify.Chmod}, ""},
		{"by the data volume", fsReport{"/System/Volumes/Data/private/v/a.md", flagItemModified}, write("/v/a.md"), ""},
		{"root in another case", fsReport{"/private/V/a.md", flagItemModified}, write("/v/a.md"), ""},
		{"history", fsReport{"/private/v", flagHistoryDone}, fsnotify.Event{}, ""},
		{"root changed", fsReport{"/private/v", flagRootChanged}, fsnotify.Event{Name: "/v", Op: fsnotify.Rename}, ""},
		{"mounted", fsReport{"/private/v/d", flagMount}, fsnotify.Event{Name: "/v/d", Op: entered}, ""},
		{"unmounted", fsReport{"/private/v/d", flagUnmount}, fsnotify.Event{Name: "/v/d", Op: entered}, ""},
		{"coalesced", fsReport{"/private/v/d", flagMustScanSubDirs}, fsnotify.Event{Name: "/v/d", Op: entered}, ""},
		{"no flags", fsReport{"/private/v/d", dir}, fsnotify.Event{Name: "/v/d", Op: entered}, ""},
		{"coalesced at the root", fsReport{"/private/v/", flagMustScanSubDirs}, fsnotify.Event{}, "overflow"},
		{"coalesced above", fsReport{"/", flagMustScanSubDirs}, fsnotify.Event{}, "overflow"},
		{"dropped by the program", fsReport{"/", flagMustScanSubDirs | flagUserDropped}, fsnotify.Event{}, "overflow"},
		{"dropped by the kernel", fsReport{"/private/v/d", flagMustScanSubDirs | flagKernelDropped}, fsnotify.Event{}, "overflow"},
		{"numbers wrapped", fsReport{"/private/v", flagIDsWrapped}, fsnotify.Event{}, "overflow"},
		{"outside", fsReport{"/private/vault/a.md", flagItemModified}, fsnotify.Event{}, "/private/vault/a.md, which is not in /private/v"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestSubtree()
			require.NoError(t, s.Add("/v"))
			require.NoError(t, s.Add("/v/d"))
			r := &streamReader{root: "/v", real: "/private/v", to: s}
			r.report(tt.report.path, tt.report.flags)
			got := s.queue.take()
			assert.Equal(t, tt.want, append(got.events, fsnotify.Event{})[0])
			if tt.lost == "" {
				assert.NoError(t, got.lost)
			} else {
				assert.ErrorContains(t, got.lost, tt.lost)
			}
		})
	}
	r := &streamReader{root: "/", real: "/"}
	rel, inside := r.relative("/a/b")
	assert.Equal(t, []any{"a/b", true}, []any{rel, inside}, "a disk as the root")
}

func TestSubtree_Spelled(t *testing.T) {
	root := t.TempDir()
	const nfc, nfd = "Caf\u00e9", "Cafe\u0301"
	require.NoError(t, os.MkdirAll(filepath.Join(root, nfd, "New"), 0o755))
	s := newTestSubtree()
	for _, dir := range []string{"", nfd, nfd + "/new"} {
		require.NoError(t, s.Add(filepath.Join(root, dir)))
	}
	tests := []struct{ name, reported, want string }{
		{"as added", nfd + "/a.md", nfd + "/a.md"},
		{"another Unicode form", nfc + "/a.md", nfd + "/a.md"},
		{"another case", strings.ToUpper(nfd) + "/A.md", nfd + "/A.md"},
		{"the directory itself", nfc, nfd},
		{"its new name", nfc + "/New", nfd + "/New"},
		{"a name that the disk does not list", nfc + "/NEW", nfd + "/new"},
		{"below one that was not added", ".git/config", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := s.spelled(filepath.Join(root, tt.reported))
			assert.Equal(t, tt.want != "", ok)
			if ok {
				assert.Equal(t, filepath.Join(root, tt.want), got)
			}
		})
	}
	require.NoError(t, s.Remove(filepath.Join(root, nfd)))
	_, ok := s.spelled(filepath.Join(root, nfc, "a.md"))
	assert.False(t, ok)
}

// mac is a folder with a watcher that has outgrown single watches. It generates the
// reports that macOS would make for changes in the folder.
type mac struct {
	*vault
	macOS
	real    string // the root as reported by a stream
	pending []fsReport
	renamed []string // absolute paths renamed by the change
}

// onMac runs act in a bubble with a watcher of a folder that has more entries than the
// limit on single watches.
func onMac(t *testing.T, opt Options, adapt func(*Watcher), act func(*mac)) {
	root := t.TempDir()
	for _, dir := range []string{"a/b", "c"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	synctest.Test(t, func(t *testing.T) {
		m := &mac{real: "/private" + root}
		cs := m.coreServices()
		m.vault = newVault(t, root, opt, func(w *Watcher) {
			newKernel(t).install(w)
			w.env.budget = func() int { return 3 }
			w.env.tree = func(root string) (*source, error) { return openSubtree(root, cs.startFSEvents) }
			if adapt != nil {
				adapt(w)
			}
		})
		act(m)
	})
}

// move renames a file or a folder.
func (m *mac) move(from, to string) error {
	err := os.Rename(from, to)
	if err == nil {
		m.renamed = []string{from, to}
	}
	return err
}

// do changes the disk and records the reports that a stream would make: both names for a
// move, without anything below it, and otherwise the differences between two listings.
func (m *mac) do(change func()) {
	before := m.list()
	m.renamed = nil
	change()
	after := m.list()
	note := func(rel string, flags uint32) {
		m.pending = append(m.pending, fsReport{filepath.Join(m.real, rel), flags})
	}
	for _, abs := range m.renamed {
		if rel, ok := strings.CutPrefix(abs, m.root+"/"); ok {
			note(rel, flagItemRenamed)
		}
	}
	if len(m.renamed) > 0 {
		return
	}
	for rel, id := range before {
		if after[rel].ino != id.ino {
			note(rel, flagItemRemoved)
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(after)) {
		switch id, known := before[rel]; {
		case !known, id.ino != after[rel].ino:
			note(rel, flagItemCreated|flagItemModified)
		case id != after[rel] && after[rel].dir:
			note(rel, flagItemInodeMeta)
		case id != after[rel]:
			note(rel, flagItemModified|flagItemInodeMeta)
		}
	}
}

type macEntry struct {
	ino   int64
	dir   bool
	stamp string
}

func (m *mac) list() map[string]macEntry {
	all := make(map[string]macEntry)
	_ = filepath.WalkDir(m.root, func(abs string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(m.root, abs)
		if err != nil || rel == "." {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		s := stampOf(info)
		entry := macEntry{ino: s.Inode, dir: e.IsDir(), stamp: fmt.Sprint(s.mode)}
		if !e.IsDir() {
			entry.stamp = fmt.Sprint(s)
		}
		all[rel] = entry
		return nil
	})
	return all
}

// report delivers the pending reports and makes the owner handle the batches.
func (m *mac) report() {
	m.deliver(m.pending...)
	m.pending = nil
	time.Sleep(maxWait + Quiet)
	synctest.Wait()
	for len(m.batches) > 0 {
		m.next()
	}
}

func (m *mac) requireEqual() {
	m.t.Helper()
	require.Empty(m.t, m.difference())
}

func TestFSEvents_Changes(t *testing.T) {
	onMac(t, Options{Ignore: ignoreGit}, nil, func(m *mac) {
		assert.Equal(t, Status{State: StateWatching, Backend: BackendFSEvents, Directories: 4}, m.w.Status())
		m.do(func() { m.write("c/new.md", "text") })
		m.do(func() { m.mkdir("c/x/y"); m.write("c/x/y/deep.md", "text") })
		m.report()
		m.requireEqual()
		assert.Equal(t, 6, m.w.Status().Directories)

		m.do(func() { require.NoError(t, m.move(m.abs("c/x"), m.abs("a/x"))) })
		m.report()
		m.requireEqual()
		m.do(func() { m.write("a/x/y/deep.md", "other text") })
		m.report()
		m.requireEqual()

		// The reports name x.md only at its old path.
		m.do(func() { require.NoError(t, m.move(m.abs("c"), m.abs("z"))) })
		m.do(func() { m.write("z/x.md", "text") })
		m.do(func() { require.NoError(t, m.move(m.abs("z"), m.abs("c"))) })
		m.report()
		m.requireEqual()

		m.do(func() { m.remove("a") })
		m.report()
		m.requireEqual()
		assert.Equal(t, []string{"started"}, m.rescans)

		m.do(func() { m.mkdir(".git"); m.write(".git/config", "text") })
		m.report()
		assert.NotContains(t, m.reported, ".git/config")
	})
}

func TestFSEvents_CoalescedBelow(t *testing.T) {
	onMac(t, Options{}, nil, func(m *mac) {
		m.mkdir("a/b/new")
		m.write("a/b/new/x.md", "text")
		m.write("a/b/y.md", "text")
		m.pending = []fsReport{{filepath.Join(m.real, "a"), flagMustScanSubDirs}}
		m.report()
		m.requireEqual()
		assert.Equal(t, []string{"started"}, m.rescans, "only the folder is scanned")
		assert.NotContains(t, m.reported, "c")
	})
}

func TestFSEvents_Dropped(t *testing.T) {
	onMac(t, Options{}, nil, func(m *mac) {
		time.Sleep(maxRestartGap)
		m.mkdir("a/b/new")
		m.write("a/b/new/x.md", "text")
		m.pending = []fsReport{{"/", flagMustScanSubDirs | flagKernelDropped}}
		m.report()
		m.requireEqual()
		require.Len(t, m.rescans, 2)
		assert.Contains(t, m.rescans[1], "macOS dropped reports")
		assert.Equal(t, BackendFSEvents, m.w.Status().Backend)
		assert.Len(t, m.running(), 1, "the stream before it was stopped")
	})
}

func TestFSEvents_RootChanged(t *testing.T) {
	onMac(t, Options{}, nil, func(m *mac) {
		away := m.root + " moved"
		require.NoError(t, os.Rename(m.root, away))
		m.deliver(fsReport{m.real, flagRootChanged})
		m.next()
		assert.Contains(t, m.rescans[1], "missing")
		assert.Equal(t, StateLost, m.w.Status().State)
		assert.Empty(t, m.running())
		require.NoError(t, os.Rename(away, m.root))
		m.next()
		m.requireEqual()
		assert.Equal(t, "the folder is back", m.rescans[2])
		assert.Len(t, m.running(), 1)
	})
}

// TestFSEvents_Outgrown grows a folder beyond the limit while it is watched.
func TestFSEvents_Outgrown(t *testing.T) {
	k := newKernel(t)
	adapt := func(w *Watcher) {
		k.install(w)
		w.env.budget = func() int { return 20 }
	}
	onMac(t, Options{}, adapt, func(m *mac) {
		assert.Equal(t, BackendFSNotify, m.w.Status().Backend)
		assert.Empty(t, m.running())
		m.mkdir("many")
		for i := range 20 {
			m.write(fmt.Sprintf("many/%d.md", i), "text")
		}
		k.event(fsnotify.Create, m.root, "many")
		m.report()
		m.requireEqual()
		assert.Equal(t, 1, m.w.Status().Polled, "for now")
		time.Sleep(m.w.env.retry + m.w.env.tick)
		m.report()
		assert.Equal(t, []string{"started", "the folder has outgrown single watches"}, m.rescans)
		assert.Equal(t, Status{State: StateWatching, Backend: BackendFSEvents, Directories: 5}, m.w.Status())
		m.do(func() { m.write("many/x.md", "text") })
		m.report()
		m.requireEqual()
	})
}

func TestFSEvents_Unavailable(t *testing.T) {
	adapt := func(w *Watcher) {
		w.env.tree = func(string) (*source, error) { return nil, streamError("FSEventStreamStart") }
	}
	onMac(t, Options{}, adapt, func(m *mac) {
		st := m.w.Status()
		assert.Equal(t, BackendFSNotify, st.Backend)
		assert.Equal(t, StateDegraded, st.State)
		require.Len(t, st.Warnings, 1)
		assert.Contains(t, st.Warnings[0], "The limit on watched folders is reached")
		m.write("a/b/polled.md", "text")
		time.Sleep(time.Minute)
		m.report()
		m.requireEqual()
	})
}

// TestFSEvents_Stress is like TestStress, with reports that are late, repeated, contain
// the flags of earlier changes, or name only a parent folder.
func TestFSEvents_Stress(t *testing.T) {
	seed := *stressSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with -watcher.seed=%d -watcher.ops=%d", seed, *stressOps)
	outside := t.TempDir()
	skip := func(rel string) bool { return path.Base(rel) == ".git" }
	onMac(t, Options{Ignore: skip}, nil, func(m *mac) {
		s := &stress{rand: rand.New(rand.NewPCG(seed, 0)), vault: m.vault, outside: outside, move: m.move}
		joined := make(map[string]uint32)
		for i := range *stressOps / 4 {
			before := len(m.pending)
			m.do(func() { s.step(i) })
			for i := range m.pending[before:] {
				r := &m.pending[before+i]
				joined[r.path] |= r.flags
				if s.rand.IntN(4) == 0 {
					r.flags = joined[r.path]
				}
				if above := filepath.Dir(r.path); above != m.real && s.rand.IntN(10) == 0 {
					*r = fsReport{above, flagMustScanSubDirs}
				}
			}
			if s.rand.IntN(5) == 0 {
				m.report()
				m.requireEqual()
			}
		}
	})
}

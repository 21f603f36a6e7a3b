package watcher

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// mount mounts a small tmpfs until the test ends, or skips the test.
func mount(t *testing.T, at string) {
	t.Helper()
	err := unix.Mount("tmpfs", at, "tmpfs", 0, "size=1m")
	if err != nil {
		t.Skipf("mounting takes root: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
}

// unmount unmounts a folder. It fails while anything below is in use, so it also checks
// that the watcher does not prevent unmounting.
func unmount(t *testing.T, at string) {
	t.Helper()
	var err error
	require.Eventually(t, func() bool { // a check of the root may be in progress
		err = unix.Unmount(at, 0)
		return !errors.Is(err, unix.EBUSY)
	}, patience, time.Millisecond)
	require.NoError(t, err)
}

// briskly makes the watcher check its root often.
func briskly(w *Watcher) { w.env.tick, w.env.retry = 10*time.Millisecond, 50*time.Millisecond }

// rescan handles batches up to the next rescan and returns its reason.
func (v *vault) rescan() string {
	v.t.Helper()
	for {
		if b := v.next(); b.Rescan {
			return b.Reason
		}
	}
}

func TestMountedRoot(t *testing.T) {
	for _, opt := range backends {
		t.Run(opt.name, func(t *testing.T) {
			root := t.TempDir()
			mount(t, root)
			notes(&vault{t: t, root: root}, "dir", 20)
			v := newVault(t, root, opt.Options, opt.adapt, briskly)

			unmount(t, root)
			require.NotEmpty(t, v.rescan())
			require.Empty(t, v.view)
			require.Empty(t, v.reported, "files of an unmounted folder are not deleted files")

			mount(t, root)
			require.NotEmpty(t, v.rescan())
			v.mkdir("dir")
			v.write("dir/a.md", "text")
			v.settle()

			// Device and inode numbers may be the same after mounting again. A check
			// in between causes two rescans, and the second may find the file before
			// it is reported.
			unmount(t, root)
			mount(t, root)
			require.NotEmpty(t, v.rescan())
			for try := 0; v.reported["b.md"] == 0; try++ {
				v.write("b.md", strings.Repeat("text", try))
				v.settle()
			}
		})
	}
}

func TestMountBelowTheRoot(t *testing.T) {
	for _, opt := range backends {
		t.Run(opt.name, func(t *testing.T) {
			v := newVault(t, t.TempDir(), opt.Options, opt.adapt, briskly)
			v.mkdir("dir/sub")
			v.write("dir/sub/hidden.md", "text")
			v.settle()

			mount(t, v.abs("dir"))
			v.write("dir/shown.md", "text")
			v.settle()
			v.write("dir/more.md", "text")
			v.settle()

			unmount(t, v.abs("dir"))
			v.settle()
			v.write("dir/sub/again.md", "text")
			v.settle()
		})
	}
}

func TestRootRemovedAndRecreated(t *testing.T) {
	for _, opt := range backends {
		t.Run(opt.name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "vault")
			require.NoError(t, os.Mkdir(root, 0o755))
			v := newVault(t, root, opt.Options, opt.adapt, briskly)
			notes(v, "dir", 5)
			v.settle()

			require.NoError(t, os.RemoveAll(root))
			require.NotEmpty(t, v.rescan())
			require.NoError(t, os.Mkdir(root, 0o755))
			require.NotEmpty(t, v.rescan())
			notes(v, "other", 5)
			v.settle()

			require.NoError(t, os.RemoveAll(root)) // immediately
			require.NoError(t, os.Mkdir(root, 0o755))
			notes(v, "third", 5)
			v.settle()
			v.write("third/a.md", "text")
			v.settle()
			assert.NotEqual(t, StateLost, v.w.Status().State)
		})
	}
}

func TestRoot_Symlink(t *testing.T) {
	for _, opt := range backends {
		t.Run(opt.name, func(t *testing.T) {
			one, two, link := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "vault")
			require.NoError(t, os.Symlink(one, link))
			v := newVault(t, link, opt.Options, opt.adapt, briskly)
			v.root = one // walking the disk does not follow the link
			v.write("a.md", "text")
			v.settle()

			require.NoError(t, os.Symlink(two, link+".new"))
			require.NoError(t, os.Rename(link+".new", link))
			v.root = two
			require.Contains(t, v.rescan(), "replaced")
			v.write("b.md", "text")
			v.settle()
		})
	}
}

// TestOverflow overflows the kernel's queue by blocking the draining goroutine.
func TestOverflow(t *testing.T) {
	v := newVault(t, t.TempDir(), Options{}, backends[0].adapt)
	notes(v, "dir", 1)
	v.settle()
	src, err := openSource(t.TempDir())
	require.NoError(t, err)
	defer src.Close()
	require.NoError(t, src.Add(v.abs("dir")))
	src.queue.mu.Lock() // put blocks
	limit := 0
	_, err = fmt.Sscan(inotifySetting("max_queued_events"), &limit)
	require.NoError(t, err)
	for i := range limit + 6000 { // fsnotify buffers about 4 000 more
		require.NoError(t, os.Chmod(v.abs("dir/0000.md"), os.FileMode(0o600+i%2*0o40)))
		if i%2 == 0 { // the kernel merges equal consecutive events
			require.NoError(t, os.Truncate(v.abs("dir/0000.md"), int64(i%3)))
		}
	}
	src.queue.mu.Unlock()
	for lost := error(nil); lost == nil; lost = src.queue.take().lost {
		<-src.queue.ready
	}
	v.settle()
}

// TestWatchLimitOfTheKernel runs in a separate user namespace, which has its own limit on
// watches.
func TestWatchLimitOfTheKernel(t *testing.T) {
	const setting = "/proc/sys/user/max_inotify_watches"
	if !inNamespace(t, 0) {
		return
	}
	setLimit := func(n int) {
		require.NoError(t, os.WriteFile(setting, fmt.Append(nil, n), 0o644))
	}
	setLimit(5)
	root := t.TempDir()
	for i := range 10 {
		notes(&vault{t: t, root: root}, fmt.Sprint("dir", i), 2)
	}
	v := newVault(t, root, Options{pollInterval: 10 * time.Millisecond}, briskly)
	st := v.w.Status()
	require.Equal(t, StateDegraded, st.State)
	require.Equal(t, 5, st.Directories)
	require.Equal(t, 6, st.Polled)
	require.Contains(t, st.Warnings[0], "fs.inotify.max_user_watches")
	for i := range 10 {
		v.write(fmt.Sprintf("dir%d/a.md", i), "text")
	}
	v.mkdir("dir0/new/deep")
	v.write("dir0/new/deep/a.md", "text")
	v.settle()

	setLimit(1000)
	for v.w.Status().State != StateWatching {
		v.write("dir0/a.md", time.Now().String())
		v.settle()
	}
	require.Empty(t, v.w.Status().Warnings)
	require.Zero(t, v.w.Status().Polled)
	for i := range 10 {
		v.write(fmt.Sprintf("dir%d/a.md", i), "other text")
	}
	v.settle()
	require.Equal(t, []string{"started"}, v.rescans)
}

// TestUnreadableDirectory runs as a user who is subject to permissions.
func TestUnreadableDirectory(t *testing.T) {
	if os.Getuid() == 0 && !inNamespace(t, 1000) {
		return
	}
	for _, opt := range backends {
		t.Run(opt.name, func(t *testing.T) {
			opt.pollInterval = 10 * time.Millisecond
			root := t.TempDir()
			notes(&vault{t: t, root: root}, "open", 2)
			notes(&vault{t: t, root: root}, "closed/sub", 2)
			require.NoError(t, os.Chmod(filepath.Join(root, "closed"), 0))
			v := newVault(t, root, opt.Options, opt.adapt, briskly)
			st := v.w.Status()
			require.Equal(t, StateDegraded, st.State)
			require.Contains(t, strings.Join(st.Warnings, "\n"), `"closed"`)
			v.write("open/a.md", "text")
			v.settle()

			require.NoError(t, os.Chmod(v.abs("closed"), 0o755))
			v.settle()
			v.write("closed/sub/a.md", "text")
			v.settle()
			require.NotEqual(t, StateDegraded, v.w.Status().State)
			require.Equal(t, []string{"started"}, v.rescans)

			require.NoError(t, os.Chmod(v.root, 0))
			require.Contains(t, v.rescan(), "cannot be read")
			require.Equal(t, StateLost, v.w.Status().State)
			require.NoError(t, os.Chmod(v.root, 0o755))
			require.Contains(t, v.rescan(), "back")
		})
	}
}

// TestUnreadableForAWhile checks that directories below one that cannot be searched are followed
// again when it can be.
func TestUnreadableForAWhile(t *testing.T) {
	if os.Getuid() == 0 && !inNamespace(t, 1000) {
		return
	}
	for _, opt := range backends {
		t.Run(opt.name, func(t *testing.T) {
			opt.pollInterval = 10 * time.Millisecond
			v := newVault(t, t.TempDir(), opt.Options, opt.adapt, briskly)
			v.mkdir("dir/sub")
			v.write("dir/sub/a.md", "text")
			v.settle()
			require.NoError(t, os.Chmod(v.abs("dir"), 0))
			require.Eventually(t, func() bool { return strings.Contains(strings.Join(v.w.Status().Warnings, "\n"), "cannot be read") }, patience, time.Millisecond)
			require.NoError(t, os.Chmod(v.abs("dir"), 0o755))
			v.write("dir/sub/b.md", "text")
			v.settle()
			require.Eventually(t, func() bool { return v.w.Status().State != StateDegraded }, patience, time.Millisecond)
			v.write("dir/sub/b.md", "more text")
			v.settle()
			require.Equal(t, []string{"started"}, v.rescans)
		})
	}
}

// A directory that can be listed for the first time is reported, since no listing shows
// what was removed from it.
func TestList_ReadableAgain(t *testing.T) {
	if os.Getuid() == 0 && !inNamespace(t, 1000) {
		return
	}
	for name, interval := range map[string]time.Duration{"polled": time.Second, "watched again": time.Hour} {
		t.Run(name, func(t *testing.T) {
			play(t, Options{pollInterval: interval}, func(root string, _ *kernel) {
				_ = os.MkdirAll(filepath.Join(root, "dir/sub"), 0o755)
				_ = os.Chmod(filepath.Join(root, "dir"), 0)
			}, func(s *scene) {
				<-time.After(10 * time.Minute)
				assert.Empty(s, s.taken())
				require.NoError(s, os.Chmod(filepath.Join(s.root, "dir"), 0o755))
				<-time.After(10 * time.Minute)
				got := s.taken()
				require.Len(s, got, 1)
				assert.Equal(s, []string{"dir", "dir/sub"}, got[0].Paths)
			})
		})
	}
}

// A pipe in place of a directory does not block the watcher.
func TestListing_PipeInPlaceOfDirectory(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, unix.Mkfifo(pipe, 0o644))
	require.ErrorIs(t, (&listing{}).read(pipe), unix.ENOTDIR)
}

// inNamespace runs the calling test again in a user namespace, in which the user has the
// given id (0 has all capabilities there). It reports whether this is that run.
func inNamespace(t *testing.T, id int) bool {
	t.Helper()
	const marker = "WATCHER_TEST_NAMESPACE"
	if os.Getenv(marker) == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), marker+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: id, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: id, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Skipf("user namespaces are not to be had here: %v", err)
	}
	require.NoError(t, err, "%s", out)
	return false
}

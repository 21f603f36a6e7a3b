package vault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/vault/disk"
)

// mounted is a vault with a folder "disk" on a separate disk, with five notes and a
// picture.
type mounted struct {
	*fixture
	at   string // the mount point
	hold string // a second mount point, which keeps the disk when the first is unmounted
}

func mountTemp(t *testing.T, at string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(at, 0o755))
	if err := unix.Mount("tmpfs", at, "tmpfs", 0, "size=4m,mode=755"); err != nil {
		t.Skipf("SKIPPED: mounting takes root: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
}

// bindTemp bind-mounts a folder of the same disk, which has the same device number.
func bindTemp(t *testing.T, at string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(at, 0o755))
	if err := unix.Mount(t.TempDir(), at, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("SKIPPED: mounting takes root: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
}

func newMounted(t *testing.T) *mounted { return newMountedBy(t, mountTemp) }

func newMountedBy(t *testing.T, mount func(t *testing.T, at string)) *mounted {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir(), state: t.TempDir(), view: newMirror(), clock: newClock()}
	m := &mounted{fixture: f, at: filepath.Join(f.dir, "disk"), hold: t.TempDir()}
	mount(t, m.at)
	require.NoError(t, unix.Mount(m.at, m.hold, "", unix.MS_BIND, ""))
	t.Cleanup(func() { _ = unix.Unmount(m.hold, unix.MNT_DETACH) })
	for i := range 5 {
		f.write(fmt.Sprintf("disk/sub/n%d.md", i), fmt.Sprintf("note %d ![[pic.png]]", i))
	}
	f.write("disk/pic.png", png)
	f.write("A.md", "[[n1]]")
	f.open(Options{})
	t.Cleanup(func() { assert.NoError(t, f.store.Close()) })
	f.reconcile()
	require.Len(t, f.view.kinds(), 6)
	return m
}

func (m *mounted) unmount() { require.NoError(m.t, unix.Unmount(m.at, 0)) }

func (m *mounted) mount(disk string) {
	m.t.Helper()
	require.NoError(m.t, unix.Mount(disk, m.at, "", unix.MS_BIND, ""))
	m.t.Cleanup(func() { _ = unix.Unmount(m.at, unix.MNT_DETACH) })
}

// isKept checks that the disk's notes are kept and that status reports the disk.
func (m *mounted) isKept() {
	m.t.Helper()
	assert.Empty(m.t, m.view.kinds())
	st, err := m.Status(context.Background())
	require.NoError(m.t, err)
	assert.Equal(m.t, 6, st.Notes)
	require.Len(m.t, st.Warnings, 1)
	assert.Contains(m.t, st.Warnings[0], `"disk"`)
	assert.Empty(m.t, st.Unavailable, "the rest of the vault is usable")
	report, err := m.Links(context.Background(), "disk/sub/n0.md", notes.LinkQuery{Direction: "out"})
	require.NoError(m.t, err)
	assert.Len(m.t, report.Outgoing, 1, "attachments are kept as well")
}

func (m *mounted) isWhole() {
	m.t.Helper()
	st, err := m.Status(context.Background())
	require.NoError(m.t, err)
	assert.Empty(m.t, st.Warnings)
	m.requireConsistent()
}

func TestDiskInTheVaultIsUnmounted(t *testing.T) {
	ctx := context.Background()
	looks := map[string]func(*mounted) error{
		"a scan":              func(m *mounted) error { return m.Reconcile(ctx) },
		"a look at the mount": func(m *mounted) error { return m.reconcilePaths(ctx, []string{"disk"}) },
		"a look below it":     func(m *mounted) error { return m.reconcilePaths(ctx, []string{"disk/sub/n1.md", "disk/pic.png"}) },
		"a look before a scan": func(m *mounted) error {
			return errors.Join(m.reconcilePaths(ctx, []string{"disk"}), m.Reconcile(ctx), m.reconcilePaths(ctx, []string{"disk"}))
		},
		"a restart": func(m *mounted) error { m.restart(); return nil },
	}
	for name, look := range looks {
		checkUnmount := func(t *testing.T, m *mounted) {
			m.unmount()
			require.NoError(t, look(m))
			if _, all := m.queue.Take(); all {
				require.NoError(t, m.Reconcile(ctx), "the verdict is left to a scan")
			}
			m.reconcile()
			m.isKept()
			m.write("B.md", "the rest of the vault lives")
			m.reconcile()
			require.Equal(t, []string{"create B.md"}, m.view.kinds())
			m.remove("B.md")
			m.reconcile()
			m.view.kinds()

			m.mount(m.hold)
			assert.True(t, m.mounts.changed(m.disk))
			m.reconcile()
			assert.Empty(t, m.view.kinds(), "nothing was deleted and created again")
			m.isWhole()
			assert.False(t, m.mounts.changed(m.disk))

			m.remove("disk/sub/n1.md")
			m.reconcile()
			assert.Equal(t, []string{"delete disk/sub/n1.md"}, m.view.kinds(), "a deletion on the disk is one")
		}
		t.Run(name, func(t *testing.T) { checkUnmount(t, newMounted(t)) })
		t.Run(name+", of a folder bound there", func(t *testing.T) { checkUnmount(t, newMountedBy(t, bindTemp)) })
	}
}

// TestUnmountedDisk_NoNotes: the attachments on an unmounted disk are kept if it has no notes.
func TestUnmountedDisk_NoNotes(t *testing.T) {
	for name, look := range map[string]func(*mounted){
		"a scan":                  func(m *mounted) { m.reconcile() },
		"a look at the mount":     func(m *mounted) { require.NoError(t, m.reconcilePaths(t.Context(), []string{"disk"})) },
		"a look below it":         func(m *mounted) { require.NoError(t, m.reconcilePaths(t.Context(), []string{"disk/pic.png"})) },
		"a restart":               func(m *mounted) { m.restart() },
		"a file written there":    func(m *mounted) { m.write("disk/other.png", png) },
		"a mount point that went": func(m *mounted) { m.remove("disk") },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMounted(t)
			for i := range 5 {
				m.remove(fmt.Sprintf("disk/sub/n%d.md", i))
			}
			m.write("disk/pic2.png", png)
			m.reconcile()
			m.unmount()
			look(m)
			for range 2 {
				m.reconcile()
				st, err := m.Status(t.Context())
				require.NoError(t, err)
				require.Len(t, st.Warnings, 1)
				assert.Contains(t, st.Warnings[0], `"disk"`)
				_, unseen, err := m.Replica().Files(t.Context(), nil, 0)
				require.NoError(t, err)
				assert.True(t, unseen("disk/pic.png"))
				stored, err := m.store.Files().Under(t.Context(), "disk")
				require.NoError(t, err)
				assert.Contains(t, stored, "disk/pic.png")
			}
			require.NoError(t, os.MkdirAll(m.at, 0o755))
			m.mount(m.hold)
			m.reconcile()
			m.isWhole()
			m.remove("disk/pic.png")
			m.remove("disk/pic2.png")
			m.reconcile()
			m.isWhole()
			_, unseen, err := m.Replica().Files(t.Context(), nil, 0)
			require.NoError(t, err)
			assert.False(t, unseen("disk/pic.png"), "it is deleted")
		})
	}
}

// When the log reports an unmounted disk, the status already does.
func TestUnmountedDisk_StatusBeforeLog(t *testing.T) {
	m := newMounted(t)
	var warnings []string
	m.opt.Log = slog.New(slog.NewTextHandler(writerFunc(func([]byte) (int, error) {
		st, err := m.Status(context.Background())
		warnings = append(warnings, st.Warnings...)
		return 0, err
	}), nil))
	m.unmount()
	m.reconcile()
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0], `"disk"`)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A move lists the canvases on the disk that name the note.
func TestUnmountedDisk_CanvasesLeft(t *testing.T) {
	m := newMounted(t)
	m.write("disk/B.canvas", `{"nodes":[{"id":"1","type":"file","file":"A.md"}]}`)
	m.write("Gone.canvas", `{"nodes":[{"id":"1","type":"file","file":"A.md"}]}`)
	m.reconcile()
	m.unmount()
	m.remove("Gone.canvas")
	moved, err := m.Move(t.Context(), notes.MoveRequest{Note: "A", To: "New.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"disk/B.canvas"}, moved.Left)
}

func TestUnmountedDisk_NoWrites(t *testing.T) {
	m := newMounted(t)
	m.unmount() // and not scanned yet
	ctx := context.Background()
	tries := map[string]func() error{
		"create": func() error {
			_, err := m.Create(ctx, notes.CreateRequest{Path: "disk/New.md", Content: "x"})
			return err
		},
		"edit": func() error {
			_, err := m.Edit(ctx, notes.EditRequest{Note: "n1", Edits: []notes.Edit{{Op: "append", Content: "x"}}})
			return err
		},
		"move away": func() error { _, err := m.Move(ctx, notes.MoveRequest{Note: "n1", To: "n1.md"}); return err },
		"move to":   func() error { _, err := m.Move(ctx, notes.MoveRequest{Note: "A", To: "disk/A.md"}); return err },
		"move to, dry run": func() error {
			_, err := m.Move(ctx, notes.MoveRequest{Note: "A", To: "disk/A.md", DryRun: true})
			return err
		},
		"delete": func() error { _, err := m.Delete(ctx, notes.DeleteRequest{Note: "n1"}); return err },
		"read":   func() error { _, err := m.Read(ctx, "n1", notes.Scope{}); return err },
	}
	for name, try := range tries {
		err := try()
		require.ErrorIs(t, err, notes.ErrUnavailable, name)
		assert.Contains(t, domainError(t, err).Detail, "not mounted", name)
	}
	left, err := os.ReadDir(m.at)
	require.NoError(t, err)
	assert.Empty(t, left)
	m.mount(m.hold)
	note, err := m.Read(ctx, "n1", notes.Scope{})
	require.NoError(t, err)
	assert.Contains(t, note.Content, "note 1")
}

func TestUnmountedDisk_AnotherInItsPlace(t *testing.T) {
	other := func(t *testing.T, notes int) *mounted {
		m := newMounted(t)
		disk := t.TempDir()
		mountTemp(t, disk)
		for i := range notes {
			require.NoError(t, os.MkdirAll(filepath.Join(disk, "sub"), 0o755))
			name := fmt.Sprintf("sub/n%d.md", i)
			require.NoError(t, os.WriteFile(filepath.Join(disk, name), []byte(m.onDisk("disk/"+name)), 0o600))
		}
		require.NoError(t, os.WriteFile(filepath.Join(disk, "Stray.md"), []byte("stray"), 0o600))
		m.unmount()
		m.mount(disk)
		m.reconcile()
		return m
	}
	t.Run("a strange one", func(t *testing.T) {
		m := other(t, 1)
		assert.Equal(t, []string{"create disk/Stray.md"}, m.view.kinds())
		st, err := m.Status(context.Background())
		require.NoError(t, err)
		assert.Equal(t, 7, st.Notes)
		assert.Len(t, st.Warnings, 1)
	})
	t.Run("a copy", func(t *testing.T) {
		m := other(t, 4)
		assert.ElementsMatch(t, []string{"create disk/Stray.md", "delete disk/sub/n4.md"}, m.view.kinds())
		m.isWhole()
	})
	t.Run("a folder with the notes", func(t *testing.T) {
		m := newMounted(t)
		files := m.files()
		m.unmount()
		for name, text := range files {
			m.write(name, text)
		}
		m.reconcile()
		assert.Empty(t, m.view.kinds())
		m.isWhole()
		require.NoError(t, os.RemoveAll(m.at))
		m.reconcile()
		assert.Len(t, m.view.kinds(), 5, "it is no mount any more")
	})
}

func TestMount_FolderAboveRenamed(t *testing.T) {
	f := &fixture{t: t, dir: t.TempDir(), state: t.TempDir(), view: newMirror(), clock: newClock()}
	mountTemp(t, filepath.Join(f.dir, "up/disk"))
	f.write("up/disk/n.md", "a note")
	f.open(Options{})
	t.Cleanup(func() { assert.NoError(t, f.store.Close()) })
	f.reconcile()
	f.view.kinds()
	f.rename("up", "down")
	t.Cleanup(func() { _ = unix.Unmount(filepath.Join(f.dir, "down/disk"), unix.MNT_DETACH) })
	require.NoError(t, f.reconcilePaths(context.Background(), []string{"up", "down"}))
	f.reconcile()
	assert.Equal(t, []string{"move up/disk/n.md → down/disk/n.md"}, f.view.kinds())
	st, err := f.Status(context.Background())
	require.NoError(t, err)
	assert.Empty(t, st.Warnings)
}

// Run detects a remounted disk without being notified.
func TestRun_DiskRemounted(t *testing.T) {
	m := newMounted(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
	r := &running{fixture: m.fixture}
	warnings := func() int {
		st, err := m.Status(ctx)
		require.NoError(t, err)
		return len(st.Warnings)
	}
	r.until("ready", m.Ready)
	m.unmount()
	m.Changed([]string{"disk"})
	r.until("the disk is missed", func() bool { return warnings() == 1 })
	m.mount(m.hold)
	r.until("it is back", func() bool { return warnings() == 0 })
	st, err := m.Status(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, 6, st.Seq, "nothing was deleted and created again")
}

// A note can be moved to and from a disk mounted in the vault, whether or not its text
// changes.
func TestMove_MountedDisk(t *testing.T) {
	for name, mount := range map[string]func(*testing.T, string){"another disk": mountTemp, "the same disk": bindTemp} {
		t.Run(name, func(t *testing.T) {
			m := newMountedBy(t, mount)
			for _, move := range [][2]string{{"A.md", "disk/new/A.md"}, {"disk/new/A.md", "back/A.md"}, {"disk/sub/n1.md", "n1.md"}} {
				m.move(move[0], move[1])
			}
			assert.Equal(t, "[[n1]]", m.onDisk("back/A.md"))
			assert.Len(t, m.revisions("back/A.md"), 3)
			assert.NoDirExists(t, filepath.Join(m.at, "new"))
		})
	}
}

// A folder cannot be moved to or from a disk mounted in the vault, as its dry run reports.
func TestMoveFolder_MountedDisk(t *testing.T) {
	for name, mount := range map[string]func(*testing.T, string){"another disk": mountTemp, "the same disk": bindTemp} {
		t.Run(name, func(t *testing.T) {
			m := newMountedBy(t, mount)
			m.write("Folder/B.md", "b")
			m.reconcile()
			before := m.files()
			for _, move := range [][2]string{{"disk/sub", "sub"}, {"Folder", "disk/Folder"}} {
				for _, dry := range []bool{true, false} {
					_, err := m.Move(t.Context(), notes.MoveRequest{Note: move[0], To: move[1], DryRun: dry})
					require.ErrorIs(t, err, notes.ErrInvalid, "%v, dry run %v", move, dry)
					assert.Equal(t, "a folder cannot be moved to another disk", domainError(t, err).Detail)
				}
			}
			assert.Equal(t, before, m.files())
		})
	}
}

// A note can be moved to a folder of the vault on another disk and back, with its links and
// history, and a kill at any step leaves it whole in one place. Moving a folder to another
// disk is an error.
func TestMoveToAnotherDisk(t *testing.T) {
	ctx := context.Background()
	newVault := func(t *testing.T) *fixture {
		f := &fixture{t: t, dir: t.TempDir(), state: t.TempDir(), view: newMirror(), clock: newClock(), folders: twoFolders}
		mountTemp(t, filepath.Join(f.dir, "work"))
		f.write("home/A.md", "[[B]]")
		f.write("home/B.md", "x")
		f.write("home/sub/C.md", "[[A]]")
		f.open(Options{})
		t.Cleanup(func() { assert.NoError(t, f.store.Close()) })
		f.reconcile()
		return f
	}
	toWork := notes.MoveRequest{Note: "home/A.md", To: "work/", UpdateLinks: true, RequestKey: "k"}

	f := newVault(t)
	counted := f.killAt(1 << 30)
	moved, err := f.Move(ctx, toWork)
	require.NoError(t, err)
	steps := *counted
	after := map[string]string{"work/A.md": "[[home/B]]", "home/B.md": "x", "home/sub/C.md": "[[work/A]]"}
	assert.Equal(t, after, f.files())
	assert.Len(t, f.revisions("work/A.md"), 2)
	_, err = f.Move(ctx, notes.MoveRequest{Note: "home/B.md", To: "work/B.md", UpdateLinks: false}) // no text changes
	require.NoError(t, err)
	assert.Equal(t, "x", f.onDisk("work/B.md"))
	assert.NoFileExists(t, filepath.Join(f.dir, "home/B.md"))
	_, err = f.History().Restore(ctx, notes.RestoreRequest{Change: moved.Change})
	require.NoError(t, err)
	assert.Equal(t, "[[B]]", f.onDisk("home/A.md"))
	before := f.files()
	_, err = f.Move(ctx, notes.MoveRequest{Note: "home/sub", To: "work/", UpdateLinks: true})
	e := domainError(t, err)
	assert.ErrorIs(t, e, notes.ErrInvalid)
	assert.Equal(t, "a folder cannot be moved to another disk", e.Detail)
	assert.Equal(t, before, f.files(), "nothing was changed")
	f.reconcile()
	f.requireConsistent()

	for step := range steps {
		if testing.Short() && step%4 != 0 {
			continue
		}
		t.Run(fmt.Sprintf("killed before step %d", step), func(t *testing.T) {
			f := newVault(t)
			f.killAt(step)
			_, err := f.Move(ctx, toWork)
			require.ErrorIs(t, err, errKilled)
			f.restart()
			_, err = f.Move(ctx, toWork) // repeated by its client
			require.NoError(t, err)
			assert.Equal(t, after, f.files())
			f.requireConsistent()
		})
	}
}

// A disk in the vault that does not answer makes only its own notes unavailable.
func TestMounts_NoAnswer(t *testing.T) {
	dir := t.TempDir()
	nas := filepath.Join(dir, "nas")
	require.NoError(t, os.Mkdir(nas, 0o755))
	synctest.Test(t, func(t *testing.T) {
		d, err := disk.New(map[string]string{"": dir}, fsid.Identity{})
		require.NoError(t, err)
		root, err := d.Open()
		require.NoError(t, err)
		defer func() { assert.NoError(t, root.Close()) }()
		m := &mounts{known: map[string]mount{"nas": {DiskPath: "nas", Identity: root.Identity("nas")}}}
		require.NoError(t, m.check(root, "read", "nas/x.md"))

		blocked := make(chan struct{})
		_, err = fsid.InTime(nas, 20*time.Second, func() (any, error) { <-blocked; return nil, nil })
		require.ErrorIs(t, err, fsid.ErrNoAnswer)
		start := time.Now()
		require.NoError(t, m.check(root, "read", "N.md"))
		err = m.check(root, "read", "nas/x.md")
		require.ErrorIs(t, err, notes.ErrUnavailable)
		assert.Contains(t, domainError(t, err).Detail, `"nas"`)
		assert.Zero(t, time.Since(start))

		close(blocked)
		synctest.Wait()
		require.NoError(t, m.check(root, "read", "nas/x.md"))
	})
}

// The error for a folder on a disk that does not answer says so.
func TestMounts_FolderWithoutAnswer(t *testing.T) {
	f := newFixtureOf(t, []string{"home", "nas"}, "home/N.md", "one", "nas/x.md", "two")
	synctest.Test(t, func(t *testing.T) {
		blocked := make(chan struct{})
		_, err := fsid.InTime(f.disk.Dirs()["nas"], 20*time.Second, func() (any, error) { <-blocked; return nil, nil })
		require.ErrorIs(t, err, fsid.ErrNoAnswer)
		_, err = f.Read(context.Background(), "nas/x.md", notes.Scope{})
		assert.Equal(t, `the disk of the folder "nas" does not answer`, domainError(t, err).Detail)
		_, err = f.Read(context.Background(), "home/N.md", notes.Scope{})
		require.NoError(t, err)
		close(blocked)
		synctest.Wait()
		_, err = f.Read(context.Background(), "nas/x.md", notes.Scope{})
		require.NoError(t, err)
	})
}

// A folder on a disk that is away keeps its name, and does not stop the synchronization.
func TestMount_RespellLater(t *testing.T) {
	m := newMounted(t)
	m.unmount()
	one, err := m.Replica().Respell(t.Context(), notes.Author{}, "disk/sub", "disk/Sub")
	require.NoError(t, err)
	assert.False(t, one)
}

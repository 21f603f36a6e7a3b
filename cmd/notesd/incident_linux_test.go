package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"notesd/internal/notestest"
	"notesd/internal/service"
)

// manyNotes is the number of notes in the vaults of these tests: more than a user deletes
// at once.
const manyNotes = 40

// incidentWorld is a vault about to become unusable, and a client of its daemon that
// watches a note and receives the log.
type incidentWorld struct {
	place
	*peer
	t *testing.T
}

func fortyNotes() map[string]string {
	files := map[string]string{"Watched.md": "# Watched\nan anchor\n"}
	for i := 1; i < manyNotes; i++ {
		files[fmt.Sprintf("dir%d/n%d.md", i%3, i)] = fmt.Sprintf("# Note %d\nanchor number%dx\n", i, i)
	}
	return files
}

func newIncidentWorld(t *testing.T, p place) *incidentWorld {
	t.Helper()
	w := &incidentWorld{place: p, t: t, peer: p.watching(t, "note:///Watched.md")}
	require.Nil(t, w.call("logging/setLevel", map[string]any{"level": "info"}).Error)
	require.Equal(t, manyNotes, w.now().Notes)
	return w
}

// logged waits for a log record at the client.
func (w *incidentWorld) logged(level, part string) {
	w.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case m := <-w.others:
			var p struct {
				Level string          `json:"level"`
				Data  json.RawMessage `json:"data"`
			}
			require.Empty(w.t, updatedURI(m), "nothing has changed that a subscriber could read")
			if m.Method == "notifications/message" && json.Unmarshal(m.Params, &p) == nil && p.Level == level && strings.Contains(string(p.Data), part) {
				return
			}
		case <-deadline:
			require.FailNow(w.t, "no such log record", "%s: %s", level, part)
		}
	}
}

// now returns the current status.
func (w *incidentWorld) now() service.Report {
	w.t.Helper()
	var r service.Report
	w.decode(w.call("notesd/status", map[string]any{}), &r)
	return r
}

// isUnusable requires that the client is notified, status reports the problem, everything
// known is kept, and nothing is written.
func (w *incidentWorld) isUnusable(why string) {
	w.t.Helper()
	w.logged("warning", why)
	r := w.now()
	assert.Contains(w.t, r.Unavailable, why)
	assert.Equal(w.t, manyNotes, r.Notes)
	assert.Equal(w.t, manyNotes, r.Index.Notes)
	assert.Equal(w.t, manyNotes, w.total("anchor"), "the index still answers")
	for tool, args := range map[string]map[string]any{"search_notes": {"query": "anchor"}, "list_notes": {}, "vault_overview": {}} {
		out := w.tool(tool, args)
		require.NotEmpty(w.t, out.Content)
		assert.Contains(w.t, out.Content[0].Text, "the vault cannot be read now: ", tool)
	}
	made := w.tool("create_note", map[string]any{"title": "Must not be made", "content": "x"})
	assert.True(w.t, made.IsError)
}

// heals requires that the daemon recovers by itself, with nothing deleted or re-created.
func (w *incidentWorld) heals(head uint64) {
	w.t.Helper()
	w.logged("info", "usable again")
	eventually(w.t, "status is well", func() bool { return w.now().Unavailable == "" })
	r := w.now()
	assert.Equal(w.t, manyNotes, r.Notes)
	assert.Equal(w.t, head, r.Index.Head, "nothing was deleted and created again")
	w.save(w.t, "Watched.md", fmt.Sprintf("# Watched\nan anchor, saved at %d\n", time.Now().UnixNano()))
	w.updated("note:///Watched.md")
	assert.Contains(w.t, w.text("note:///Watched.md"), "saved at")
}

func TestVaultIsUnmounted(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	mountTemp(t, p.vault)
	notestest.Write(t, p.vault, fortyNotes())
	w := newIncidentWorld(t, p)
	head := w.now().Index.Head

	// The file system keeps its contents while it is not in the tree: it is first bound
	// to another folder, like a disk that is unplugged and plugged in again.
	disk := t.TempDir()
	require.NoError(t, unix.Mount(p.vault, disk, "", unix.MS_BIND, ""))
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	unmount(t, p.vault) // fails if the daemon keeps anything open
	w.isUnusable("is its disk mounted?")
	left, err := os.ReadDir(p.vault)
	require.NoError(t, err)
	assert.Empty(t, left, "the mount point stays empty")

	require.NoError(t, unix.Mount(disk, p.vault, "", unix.MS_BIND, ""))
	t.Cleanup(func() { _ = unix.Unmount(p.vault, unix.MNT_DETACH) })
	w.heals(head)
}

// A program that wrote to the mount point while nothing was mounted has left a note
// there, so that the folder is not empty, but is not the vault either.
func TestVaultIsUnmountedFromAFolderWithANote(t *testing.T) {
	t.Parallel()
	notestest.SkipInShort(t)
	p := newPlace(t, map[string]string{"Stray.md": "written while the disk was away\n"})
	mountTemp(t, p.vault)
	notestest.Write(t, p.vault, fortyNotes())
	w := newIncidentWorld(t, p)
	unmount(t, p.vault)
	w.isUnusable("is its disk mounted?")

	// The owner can declare it to be the vault.
	assert.Contains(t, p.run(t, "index", "--rebuild"), "1 note")
	eventually(t, "the client that stayed sees it, by a daemon of its own", func() bool { return w.now().Notes == 1 })
}

func TestVaultIsSwapped(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fortyNotes())
	w := newIncidentWorld(t, p)
	head := w.now().Index.Head
	away := p.vault + ".away"
	require.NoError(t, os.Rename(p.vault, away))
	w.isUnusable("does not exist")
	require.NoError(t, os.Rename(away, p.vault))
	w.heals(head)

	head = w.now().Index.Head
	require.NoError(t, os.Rename(p.vault, away))
	require.NoError(t, os.Mkdir(p.vault, 0o755))
	w.isUnusable("is its disk mounted?")
	require.NoError(t, os.Remove(p.vault))
	require.NoError(t, os.Rename(away, p.vault))
	w.heals(head)
}

// A daemon that starts without the folder answers from what was indexed before, and does not
// report the scan that it cannot begin as progress.
func TestVaultIsMissingAtTheStart(t *testing.T) {
	p := newPlace(t, fortyNotes())
	p.run(t, "index", "--wait")
	p.run(t, "stop")
	require.NoError(t, os.Rename(p.vault, p.vault+".away"))
	h := p.launch(t, "mcp")
	h.initialize()
	for tool, args := range map[string]map[string]any{"search_notes": {"query": "anchor"}, "list_notes": {}, "vault_overview": {}} {
		eventually(t, tool+" answers", func() bool {
			out := h.tool(tool, args)
			return len(out.Content) > 0 && strings.Contains(out.Content[0].Text, "the vault cannot be read now: ")
		})
		assert.NotContains(t, h.tool(tool, args).Content[0].Text, " still being ", tool)
	}
}

// The same folder, suddenly empty: a sync client that was reset.
func TestVaultIsEmptyAtTheStart(t *testing.T) {
	notestest.SkipInShort(t)
	p := newPlace(t, fortyNotes())
	p.run(t, "index")
	hold := filepath.Join(t.TempDir(), "hold")
	require.NoError(t, os.Mkdir(hold, 0o755))
	moveAll(t, p.vault, hold)
	w := &incidentWorld{place: p, t: t, peer: p.launch(t, "mcp")}
	w.initialize()
	eventually(t, "it is known", func() bool { return w.now().Unavailable != "" })
	r := w.now()
	assert.Contains(t, r.Unavailable, "is empty although it had notes")
	assert.Equal(t, manyNotes, r.Notes)
	checked, err := p.command("doctor").Output()
	require.Error(t, err, "it is a problem")
	assert.Contains(t, string(checked), "If the notes were really deleted, run: notesd index --rebuild")
	moveAll(t, hold, p.vault)
	eventually(t, "it heals", func() bool { r := w.now(); return r.Unavailable == "" && r.Index.Ready })
	assert.Equal(t, manyNotes, w.now().Notes)
	assert.Equal(t, r.Index.Head, w.now().Index.Head, "nothing was deleted and created again")
}

func moveAll(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	require.NoError(t, err)
	for _, e := range entries {
		require.NoError(t, os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())))
	}
}

func TestVaultCannotBeRead(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fortyNotes())
	if os.Getuid() == 0 {
		p = p.asNobody(t)
	}
	pid := 0
	t.Cleanup(func() { _ = terminate(pid) }) // other users cannot connect to that user's daemon
	w := newIncidentWorld(t, p)
	pid = w.now().Daemon.PID
	head := w.now().Index.Head
	require.NoError(t, os.Chmod(p.vault, 0))
	w.isUnusable("is not readable")
	require.NoError(t, os.Chmod(p.vault, 0o755))
	w.heals(head)
}

// asNobody returns the place for a user other than root, because root can read
// everything.
func (p place) asNobody(t *testing.T) place {
	t.Helper()
	const nobody = 65534
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("SKIPPED: root reads everything, and there is no setpriv to become another user")
	}
	program, err := exec.LookPath(p.program)
	require.NoError(t, err)
	for _, dir := range []string{filepath.Dir(program), filepath.Dir(filepath.Dir(program)), filepath.Dir(p.config())} {
		require.NoError(t, os.Chmod(dir, 0o755)) // temporary folders are private to their owner
	}
	own := func(id int) {
		for _, dir := range []string{p.config(), p.vault} {
			require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
				return errors.Join(err, os.Lchown(path, id, id))
			}))
		}
	}
	own(nobody)
	t.Cleanup(func() { own(0) }) // the user who stops the daemon must own its state
	// A script instead could still be open for writing in a process that another test has just
	// forked, and could not be started then.
	id := strconv.Itoa(nobody)
	p.program, p.first = setpriv, []string{"--reuid", id, "--regid", id, "--clear-groups", program}
	return p
}

// mountTemp mounts a small file system until the test ends, or skips the test.
func mountTemp(t *testing.T, at string) {
	t.Helper()
	if err := unix.Mount("tmpfs", at, "tmpfs", 0, "size=4m,mode=755"); err != nil {
		t.Skipf("SKIPPED: mounting takes root: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
}

// unmount fails if anything below is in use: the program must not prevent its user from
// unmounting a disk. Brief accesses to the folder are tolerated.
func unmount(t *testing.T, at string) {
	t.Helper()
	var err error
	eventually(t, "the disk can be unmounted", func() bool {
		err = unix.Unmount(at, 0)
		return !errors.Is(err, unix.EBUSY)
	})
	require.NoError(t, err)
}

// One folder of the vault is a separate disk. Its notes are not deleted when it is
// unmounted, and the rest of the vault keeps working.
func TestDiskInTheVaultIsUnmounted(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"Watched.md": "# Watched\nan anchor\n"})
	at := filepath.Join(p.vault, "disk")
	require.NoError(t, os.Mkdir(at, 0o755))
	mountTemp(t, at)
	files := map[string]string{}
	for i := 1; i < manyNotes; i++ {
		files[fmt.Sprintf("n%d.md", i)] = "an anchor\n"
	}
	notestest.Write(t, at, files)
	w := newIncidentWorld(t, p)
	head := w.now().Index.Head
	disk := t.TempDir()
	require.NoError(t, unix.Mount(at, disk, "", unix.MS_BIND, ""))
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })

	unmount(t, at)
	w.logged("warning", "no longer mounted")
	r := w.now()
	assert.Contains(t, strings.Join(r.Warnings, "\n"), `the disk of the folder "disk" is not mounted`)
	assert.Empty(t, r.Unavailable)
	assert.Equal(t, manyNotes, r.Notes)
	assert.Equal(t, manyNotes, w.total("anchor"))
	assert.True(t, w.tool("create_note", map[string]any{"path": "disk/New.md", "content": "x"}).IsError)
	assert.True(t, w.tool("read_note", map[string]any{"note": "n1"}).IsError)

	require.NoError(t, unix.Mount(disk, at, "", unix.MS_BIND, ""))
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	w.logged("info", "usable again")
	assert.Equal(t, head, w.now().Index.Head, "nothing was deleted and created again")
	p.save(t, "disk/n1.md", "the disk is watched besides\n")
	eventually(t, "a save on it is found", func() bool { return w.total("besides") == 1 })
	unmount(t, at) // nothing is kept open
}

package watcher

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// backend is a way of following folders.
type backend struct {
	name string
	Options
	adapt func(*Watcher)
}

// backends lists the back ends on which every behaviour is tested: events, polling, and
// both at once, as on a network file system.
var backends = []backend{
	{name: "events", adapt: func(w *Watcher) { w.env.remote = func(string) string { return "" } }},
	{name: "polls", Options: Options{pollInterval: 10 * time.Millisecond}, adapt: func(w *Watcher) {
		network(w)
		w.env.open = func(string) (*source, error) { return nil, errors.New("no events here") }
	}},
	{name: "both", Options: Options{pollInterval: 10 * time.Millisecond}, adapt: network},
}

// network makes a watcher treat every folder as if it were on a network file system.
func network(w *Watcher) { w.env.remote = func(string) string { return "nfs" } }

// edit is a typical change by a person or program to a vault.
type edit struct {
	name  string
	setup func(*vault) // before the watcher starts
	do    func(*vault)
	large bool
	want  []string // paths that must be reported
	never []string // paths that must not be reported
}

var edits = []edit{
	{
		name:  "write in place",
		setup: func(v *vault) { v.write("a.md", "old") },
		do:    func(v *vault) { v.write("a.md", "new") },
		want:  []string{"a.md"},
	},
	{
		name:  "write to a temporary file and rename",
		setup: func(v *vault) { v.mkdir("sub"); v.write("sub/a.md", "old") },
		do: func(v *vault) {
			v.write("sub/.a.md.tmp123", "new")
			v.rename("sub/.a.md.tmp123", "sub/a.md")
		},
		want: []string{"sub/a.md"},
	},
	{
		name:  "vim: probe 4913, backup, write anew, remove the backup",
		setup: func(v *vault) { v.write("a.md", "old") },
		do: func(v *vault) {
			v.write("4913", "")
			v.remove("4913")
			v.rename("a.md", "a.md~")
			v.write("a.md", "new")
			v.remove("a.md~")
		},
		want: []string{"a.md"},
	},
	{
		name:  "backup file stays",
		setup: func(v *vault) { v.write("a.md", "old") },
		do: func(v *vault) {
			v.rename("a.md", "a.md.bak")
			v.write("a.md", "new")
		},
		want: []string{"a.md", "a.md.bak"},
	},
	{
		name:  "truncate, then write in pieces",
		setup: func(v *vault) { v.write("a.md", "old text") },
		do: func(v *vault) {
			f, err := os.OpenFile(v.abs("a.md"), os.O_WRONLY|os.O_TRUNC, 0)
			require.NoError(v.t, err)
			for i := range 100 {
				_, err := fmt.Fprintf(f, "line %d\n", i)
				require.NoError(v.t, err)
			}
			require.NoError(v.t, f.Close())
		},
		want: []string{"a.md"},
	},
	{
		name:  "same size and restored mtime",
		setup: func(v *vault) { v.write("a.md", "old") },
		do: func(v *vault) {
			fi, err := os.Stat(v.abs("a.md"))
			require.NoError(v.t, err)
			v.write("a.md", "new")
			require.NoError(v.t, os.Chtimes(v.abs("a.md"), fi.ModTime(), fi.ModTime()))
		},
		want: []string{"a.md"},
	},
	{
		name:  "mtime set back",
		setup: func(v *vault) { v.write("a.md", "old") },
		do: func(v *vault) {
			v.write("a.md", "restored from a backup")
			past := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
			require.NoError(v.t, os.Chtimes(v.abs("a.md"), past, past))
		},
		want: []string{"a.md"},
	},
	{
		name:  "two saves within one tick of the clock",
		setup: func(v *vault) { v.write("a.md", "one") },
		do:    func(v *vault) { v.write("a.md", "two"); v.write("a.md", "six") },
		want:  []string{"a.md"},
	},
	{
		name: "a file that grows while it is read",
		do: func(v *vault) {
			f, err := os.Create(v.abs("a.md"))
			require.NoError(v.t, err)
			defer f.Close()
			for i := range 3 {
				_, err := fmt.Fprintf(f, "part %d\n", i)
				require.NoError(v.t, err)
				v.settle() // the owner has read all files
			}
		},
	},
	{
		name:  "sync conflict copy",
		setup: func(v *vault) { v.write("a.md", "mine") },
		do: func(v *vault) {
			v.write(".syncthing.a.md.tmp", "theirs")
			v.rename("a.md", "a.sync-conflict-20260102-030405-ABCDEFG.md")
			v.rename(".syncthing.a.md.tmp", "a.md")
		},
		want: []string{"a.md", "a.sync-conflict-20260102-030405-ABCDEFG.md"},
	},
	{
		name:  "cloud placeholder",
		setup: func(v *vault) { v.write("a.md", "text"); v.write(".b.md.icloud", "bplist00") },
		do: func(v *vault) {
			v.remove("a.md")
			v.write(".a.md.icloud", "bplist00")
			v.write("b.md", "fetched")
			v.remove(".b.md.icloud")
		},
		want: []string{"a.md", ".a.md.icloud", "b.md", ".b.md.icloud"},
	},
	{
		name:  "rename",
		setup: func(v *vault) { v.write("a.md", "text") },
		do:    func(v *vault) { v.rename("a.md", "b.md") },
		want:  []string{"a.md", "b.md"},
	},
	{
		name:  "case-only rename",
		setup: func(v *vault) { v.write("note.md", "text"); v.mkdir("dir"); v.write("dir/a.md", "text") },
		do:    func(v *vault) { v.rename("note.md", "Note.md"); v.rename("dir", "Dir") },
		want:  []string{"note.md", "Note.md", "dir", "Dir/a.md"},
	},
	{
		name: "names as the disk spells them",
		do: func(v *vault) {
			v.write("caf\u00e9.md", "composed")
			v.write("cafe\u0301.md", "decomposed")
			v.write("🗒️ new\nline.md", "odd")
		},
		want: []string{"caf\u00e9.md", "cafe\u0301.md", "🗒️ new\nline.md"},
	},
	{
		name:  "move between folders",
		setup: func(v *vault) { v.mkdir("from"); v.mkdir("to/deep"); v.write("from/a.md", "text") },
		do:    func(v *vault) { v.rename("from/a.md", "to/deep/a.md") },
		want:  []string{"from/a.md", "to/deep/a.md"},
	},
	{
		name:  "rename of a directory with a thousand notes",
		large: true,
		setup: func(v *vault) { notes(v, "old/sub", 1000) },
		do:    func(v *vault) { v.rename("old", "new"); v.write("new/sub/0007.md", "edited under the new name") },
		want:  []string{"old", "new", "new/sub/0000.md", "new/sub/0999.md"},
	},
	{
		name:  "checkout that changes two thousand files",
		large: true,
		setup: func(v *vault) { checkout(v, 0) },
		do:    func(v *vault) { checkout(v, 1) },
	},
	{
		name:  "delete and recreate a file",
		setup: func(v *vault) { v.write("a.md", "old") },
		do:    func(v *vault) { v.remove("a.md"); v.write("a.md", "new") },
		want:  []string{"a.md"},
	},
	{
		name:  "delete and recreate a directory",
		setup: func(v *vault) { notes(v, "dir/sub", 10) },
		do: func(v *vault) {
			v.remove("dir")
			notes(v, "dir/sub", 3)
			v.settle()
			v.write("dir/sub/0001.md", "seen only if the new directory is followed")
		},
	},
	{
		name:  "a directory exchanged for another of the same name",
		setup: func(v *vault) { notes(v, "a", 5); notes(v, "b/sub", 3) },
		do: func(v *vault) {
			v.rename("a", "aside")
			v.rename("b", "a")
			v.settle()
			v.write("a/sub/new.md", "text")
			v.write("aside/0001.md", "other text")
		},
	},
	{
		name: "a directory moved there and back",
		setup: func(v *vault) {
			notes(v, "a/sub", 3)
		},
		do: func(v *vault) {
			v.rename("a", "b")
			v.rename("b", "a")
			v.write("a/one.md", "text")
			v.write("a/sub/two.md", "text")
			v.settle()
			v.write("a/three.md", "text")
			v.write("a/sub/four.md", "text")
		},
	},
	{
		name:  "a file becomes a directory and a directory a file",
		setup: func(v *vault) { v.write("a", "text"); notes(v, "b/sub", 3) },
		do: func(v *vault) {
			v.remove("a")
			notes(v, "a/sub", 3)
			v.remove("b")
			v.write("b", "text")
		},
	},
	{
		name:  "editor lock and temporary files",
		setup: func(v *vault) { v.write("a.md", "old") },
		do: func(v *vault) {
			require.NoError(v.t, os.Symlink("user@host.1234:5678", v.abs(".#a.md"))) // emacs
			v.write("#a.md#", "auto-saved")
			v.write(".a.md.swp", "swap")    // vim
			v.write("~$a.md", "owner file") // office suites
			v.write("a.md", "new")
			v.remove(".#a.md")
			v.remove("#a.md#")
			v.remove(".a.md.swp")
			v.remove("~$a.md")
		},
		want: []string{"a.md"},
	},
	{
		name: "a deep tree made and written at once",
		do: func(v *vault) {
			for i := range 30 {
				deep := fmt.Sprintf("d%d/e/f/g/h", i)
				v.mkdir(deep)
				v.write(deep+"/a.md", "text")
			}
		},
	},
	{
		name:  "a directory moved out and in again",
		setup: func(v *vault) { notes(v, "dir/sub", 5) },
		do: func(v *vault) {
			outside := filepath.Join(v.t.TempDir(), "dir")
			require.NoError(v.t, os.Rename(v.abs("dir"), outside))
			v.settle()
			require.NoError(v.t, os.WriteFile(filepath.Join(outside, "sub", "outside.md"), nil, 0o644))
			require.NoError(v.t, os.Rename(outside, v.abs("dir")))
			v.settle()
			v.write("dir/sub/inside.md", "text")
		},
		want: []string{"dir", "dir/sub/outside.md", "dir/sub/inside.md"},
	},
	{
		name:  "what happens in a directory that was moved out",
		setup: func(v *vault) { notes(v, "dir/sub", 2) },
		do: func(v *vault) {
			outside := filepath.Join(v.t.TempDir(), "dir")
			require.NoError(v.t, os.Rename(v.abs("dir"), outside))
			v.settle()
			require.NoError(v.t, os.WriteFile(filepath.Join(outside, "sub", "elsewhere.md"), nil, 0o644))
		},
		never: []string{"dir/sub/elsewhere.md"},
	},
	{
		name:  "chmod only",
		setup: func(v *vault) { v.write("a.md", "text") },
		do:    func(v *vault) { require.NoError(v.t, os.Chmod(v.abs("a.md"), 0o400)) },
		want:  []string{"a.md"},
	},
	{
		name: "symbolic links are entries",
		setup: func(v *vault) {
			v.mkdir("dir")
			require.NoError(v.t, os.Symlink(".", v.abs("dir/loop")))
			require.NoError(v.t, os.Symlink(outsideDir(v), v.abs("away")))
		},
		do: func(v *vault) {
			v.write("dir/a.md", "text")
			target, err := os.Readlink(v.abs("away"))
			require.NoError(v.t, err)
			require.NoError(v.t, os.WriteFile(filepath.Join(target, "a.md"), nil, 0o644))
			require.NoError(v.t, os.Symlink("..", v.abs("dir/up")))
		},
		want:  []string{"dir/a.md", "dir/up"},
		never: []string{"away/a.md", "dir/loop/a.md", "dir/up/dir"},
	},
	{
		name: "ignored trees",
		setup: func(v *vault) {
			notes(v, ".git/objects", 20)
		},
		do: func(v *vault) {
			notes(v, ".git/refs/heads", 20)
			v.remove(".git/objects")
			v.mkdir("sub/.git")
			v.write("sub/.git/index", "text")
			v.write("sub/a.md", "text")
			v.write("sub/b.skip", "text")
			v.sentinel()
			v.sentinel() // a poll may report the first one before the event of sub/.git is processed
			v.remove("sub/.git")
			v.remove(".git")
			v.mkdir(".git")
		},
		want:  []string{"sub/a.md"},
		never: []string{".git", "sub/.git", "sub/b.skip"},
	},
}

func ignoreGit(rel string) bool {
	return filepath.Base(rel) == ".git" || strings.HasSuffix(rel, ".skip")
}

func notes(v *vault, dir string, n int) {
	v.t.Helper()
	v.mkdir(dir)
	for i := range n {
		v.write(fmt.Sprintf("%s/%04d.md", dir, i), fmt.Sprintf("note %d in %s", i, dir))
	}
}

// checkout writes 2 000 files like git: it removes each, then creates it.
func checkout(v *vault, commit int) {
	v.t.Helper()
	for i := range 2000 {
		dir := fmt.Sprintf("folder%02d", i%40)
		v.mkdir(dir)
		name := fmt.Sprintf("%s/%04d.md", dir, i)
		v.remove(name)
		v.write(name, fmt.Sprintf("note %d of commit %d", i, commit))
	}
}

// outsideDir returns a folder outside the vault.
func outsideDir(v *vault) string {
	dir, err := filepath.EvalSymlinks(v.t.TempDir())
	require.NoError(v.t, err)
	return dir
}

func TestEditors(t *testing.T) {
	for _, opt := range backends {
		opt.Ignore = ignoreGit
		t.Run(opt.name, func(t *testing.T) {
			for _, e := range edits {
				t.Run(e.name, func(t *testing.T) {
					t.Parallel() // it mostly waits for files to be quiet
					if runtime.GOOS != "linux" && strings.Contains(e.name, "names as") {
						t.Skip("this file system may treat the names as one")
					}
					if e.large && opt.name == "both" {
						t.Skip("large enough for each back end by itself")
					}
					testEdit(t, e, opt)
				})
			}
		})
	}
}

func testEdit(t *testing.T, e edit, opt backend) {
	root := t.TempDir()
	if e.setup != nil {
		e.setup(&vault{t: t, root: root})
	}
	v := newVault(t, root, opt.Options, opt.adapt)
	e.do(v)
	v.settle()
	for _, p := range e.want {
		for v.reported[p] == 0 {
			v.next() // fails if there is no batch
		}
	}
	v.sentinel()
	for p := range v.reported {
		for _, never := range e.never {
			assert.False(t, p == never || strings.HasPrefix(p, never+"/"), "%q was reported", p)
		}
	}
	assert.Equal(t, []string{"started"}, v.rescans, "a rescan hides what was missed")
	if opt.name == "events" { // the others warn about the network
		assert.Empty(t, v.w.Status().Warnings)
	}
}

// TestRace creates directories with files concurrently, so that creations and watches
// interleave in many ways.
func TestRace(t *testing.T) {
	for _, opt := range backends {
		t.Run(opt.name, func(t *testing.T) {
			v := newVault(t, t.TempDir(), opt.Options, opt.adapt)
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					for i := range 40 {
						dir := filepath.Join(v.root, fmt.Sprint(g), fmt.Sprint(i), "x", "y")
						_ = os.MkdirAll(dir, 0o755)
						_ = os.WriteFile(filepath.Join(dir, "a.md"), fmt.Append(nil, i), 0o644)
						_ = os.Rename(filepath.Dir(dir), filepath.Join(v.root, fmt.Sprint(g), fmt.Sprint(i), "z"))
					}
				})
			}
			wg.Wait()
			v.settle()
			v.write("7/39/z/y/b.md", "followed after the move")
			v.settle()
			assert.Equal(t, []string{"started"}, v.rescans)
		})
	}
}

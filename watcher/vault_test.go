package watcher

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds how long a test waits for an expected event. Only a failing test waits
// that long.
const patience = 3 * time.Minute

// vault is a folder on disk with a watcher and an owner, which reads only the paths in
// the batches.
type vault struct {
	t       testing.TB
	root    string
	w       *Watcher
	batches chan Batch
	skip    func(rel string) bool

	view     map[string]string // the owner's view: description of each path
	reported map[string]int    // number of batches with each path
	rescans  []string          // reasons
}

// newVault runs a watcher of root until the test ends, and waits for its first
// batch.
func newVault(t testing.TB, root string, opt Options, adapt ...func(*Watcher)) *vault {
	t.Helper()
	v := &vault{
		t:        t,
		root:     root,
		w:        New(root, opt),
		batches:  make(chan Batch, 1000),
		skip:     opt.Ignore,
		reported: make(map[string]int),
	}
	if v.skip == nil {
		v.skip = func(string) bool { return false }
	}
	for _, f := range adapt {
		f(v.w)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { v.w.Run(ctx, func(b Batch) { v.batches <- b }) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		require.Equal(t, StateStopped, v.w.Status().State)
	})
	v.next()
	return v
}

// next waits for a batch and handles it as an owner does.
func (v *vault) next() Batch {
	v.t.Helper()
	select {
	case b := <-v.batches:
		v.apply(b)
		return b
	case <-time.After(patience):
		require.FailNow(v.t, "no batch", "status: %+v\nview and disk differ in: %s", v.w.Status(), v.difference())
		panic("unreachable")
	}
}

// apply handles each path as the package comment prescribes, and no more than that, so
// that a path missing from a batch is detected.
func (v *vault) apply(b Batch) {
	v.t.Helper()
	if b.Rescan {
		require.Empty(v.t, b.Paths)
		require.NotEmpty(v.t, b.Reason)
		v.rescans = append(v.rescans, b.Reason)
		v.view = v.disk()
		return
	}
	require.NotEmpty(v.t, b.Paths)
	require.True(v.t, sort.StringsAreSorted(b.Paths))
	for i, p := range b.Paths {
		require.False(v.t, i > 0 && p == b.Paths[i-1], "%q twice in a batch", p)
		v.reported[p]++
		now := v.entry(p)
		if v.view[p] == "dir" || !strings.HasPrefix(now, "file") {
			for known := range v.view {
				if strings.HasPrefix(known, p+"/") && v.entry(known) == "" {
					delete(v.view, known)
				}
			}
		}
		if now == "" {
			delete(v.view, p)
		} else {
			v.view[p] = now
		}
	}
}

// entry describes the file or directory on disk at a path, or returns "" if there is
// none.
func (v *vault) entry(rel string) string {
	abs := filepath.Join(v.root, filepath.FromSlash(rel))
	fi, err := os.Lstat(abs)
	switch {
	case err != nil || v.skip(rel):
		return ""
	case fi.IsDir():
		return "dir"
	case fi.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(abs)
		return "link " + target
	}
	data, err := os.ReadFile(abs)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("file %v %x", fi.Mode(), sha256.Sum256(data))
}

// disk returns the view that the owner should have.
func (v *vault) disk() map[string]string {
	all := make(map[string]string)
	_ = filepath.WalkDir(v.root, func(abs string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(v.root, abs)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil || rel == ".":
			return nil
		case v.skip(rel):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if now := v.entry(rel); now != "" {
			all[rel] = now
		}
		return nil
	})
	return all
}

// difference describes the paths in which the owner's view differs from the disk.
func (v *vault) difference() string {
	var diff []string
	disk := v.disk()
	for p, want := range disk {
		if v.view[p] != want {
			diff = append(diff, fmt.Sprintf("%s: knows %q, disk has %q", p, v.view[p], want))
		}
	}
	for p, known := range v.view {
		if _, ok := disk[p]; !ok {
			diff = append(diff, fmt.Sprintf("%s: knows %q, disk has nothing", p, known))
		}
	}
	sort.Strings(diff)
	if len(diff) > 10 {
		diff = append(diff[:10], fmt.Sprintf("and %d more", len(diff)-10))
	}
	return strings.Join(diff, "\n")
}

// settle handles batches until the owner's view equals the disk.
func (v *vault) settle() {
	v.t.Helper()
	for deadline := time.Now().Add(3 * patience); ; v.next() {
		for len(v.batches) > 0 { // comparing is expensive
			v.next()
		}
		diff := v.difference()
		if diff == "" {
			return
		}
		require.True(v.t, time.Now().Before(deadline), "does not settle: %s", diff)
	}
}

// sentinel makes a change and handles batches until it is reported. Everything before it
// has then been reported, or never will be.
func (v *vault) sentinel() {
	v.t.Helper()
	v.write(".sentinel", time.Now().String())
	for n := v.reported[".sentinel"]; v.reported[".sentinel"] == n; {
		v.next()
	}
	v.settle()
}

func (v *vault) abs(rel string) string { return filepath.Join(v.root, filepath.FromSlash(rel)) }

func (v *vault) write(rel, text string) {
	v.t.Helper()
	require.NoError(v.t, os.WriteFile(v.abs(rel), []byte(text), 0o644))
}

func (v *vault) mkdir(rel string) {
	v.t.Helper()
	require.NoError(v.t, os.MkdirAll(v.abs(rel), 0o755))
}

func (v *vault) rename(from, to string) {
	v.t.Helper()
	require.NoError(v.t, os.Rename(v.abs(from), v.abs(to)))
}

func (v *vault) remove(rel string) {
	v.t.Helper()
	require.NoError(v.t, os.RemoveAll(v.abs(rel)))
}

package vault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
	"notesd/notes/store"
)

// The crash explorer kills the program before each system call that changes the disk, lets
// another program change a file, restarts the program, and repeats the request. It compares
// the result with a model: no text is lost, no temp file is left, no step is done twice, a
// repeated request gets the same answer, links lead where they led or are reported, and the
// store matches the disk.

// crashWrite is a write to be interrupted.
type crashWrite struct {
	name    string
	do      func(f *fixture) (notes.Written, error)
	targets []string // files that another program changes
	moved   []string // paths of each moved note, before and after
	folders bool     // the vault has two folders, home and dir
}

const crashMark = "written once"

// crashVaults has the vaults that crashVault has built, without and with several folders.
var crashVaults = map[bool]*builtVault{false: {}, true: {}}

// builtVault is a vault to be copied, which takes a fraction of the time of building it.
type builtVault struct {
	once      sync.Once
	files     map[string]string
	databases []databaseFile
}

func (f *fixture) symlink(target, name string) {
	f.t.Helper()
	require.NoError(f.t, os.Symlink(target, filepath.Join(f.dir, name)))
}

// crashVault returns a copy of the vault that buildCrashVault builds.
func crashVault(t *testing.T, folders bool) *fixture {
	built := crashVaults[folders]
	built.once.Do(func() {
		f := buildCrashVault(t, folders)
		require.NoError(t, f.store.Close())
		databases, err := readDatabases(f.state)
		require.NoError(t, err)
		built.files, built.databases = f.files(), databases
	})
	require.NotNil(t, built.databases, "it was not built")
	f := &fixture{t: t, dir: t.TempDir(), state: newState(t, built.databases), view: newMirror(), clock: newClock()}
	if folders {
		f.folders = []string{"home", "dir"}
	}
	for name, text := range built.files {
		if !folders && name == "l.md" {
			f.symlink("real/t.txt", name)
		} else {
			f.write(name, text)
		}
	}
	f.start()
	return f
}

func buildCrashVault(t *testing.T, folders bool) *fixture {
	if folders {
		return newFixtureOf(t, []string{"home", "dir"}, "home/N.md", "# N\nsee [[Other]] and [o](Other.md)\n", "home/Other.md", "back to [[N]]\nand a line\n",
			"home/plan.md", "a plan\n", "dir/Third.md", "[[home/N#x|y]]\nand a line\n")
	}
	f := newFixture(t, "N.md", "# N\nsee [[Other]] and [o](Other.md)\n", "Other.md", "back to [[N]]\nand a line\n",
		"dir/Third.md", "[n](../N.md) [[N#x|y]]\nand a line\n", "dir/pic.png", "png", "was/In.md", "[[N]] #old\n", "Tagged.md", "#old [[In]] [i](was/In.md)\n", "real/t.txt", "a target\n", "Gone.md", "was deleted\n", "plan.md", "a plan\n")
	f.symlink("real/t.txt", "l.md")
	f.reconcile()
	_, err := f.Delete(context.Background(), notes.DeleteRequest{Note: "Gone"})
	require.NoError(t, err)
	_, err = f.Move(context.Background(), notes.MoveRequest{Note: "was/", To: "made/now", UpdateLinks: true})
	require.NoError(t, err)
	f.reconcile()
	return f
}

var crashWrites = []crashWrite{
	{"create", func(f *fixture) (notes.Written, error) {
		return f.Create(context.Background(), notes.CreateRequest{Path: "a/b/New.md", Content: crashMark, RequestKey: "create"})
	}, []string{"a/b/New.md"}, nil, false},
	{"edit", func(f *fixture) (notes.Written, error) {
		return f.Edit(context.Background(), notes.EditRequest{Note: "N.md", Edits: []notes.Edit{{Op: "append", Content: crashMark}}, RequestKey: "edit"})
	}, []string{"N.md"}, nil, false},
	{"edit through a symlink", func(f *fixture) (notes.Written, error) {
		return f.Edit(context.Background(), notes.EditRequest{Note: "l.md", Edits: []notes.Edit{{Op: "append", Content: crashMark}}, RequestKey: "symlink"})
	}, []string{"real/t.txt", "l.md"}, nil, false},
	{"delete", func(f *fixture) (notes.Written, error) {
		return f.Delete(context.Background(), notes.DeleteRequest{Note: "N.md", RequestKey: "delete"})
	}, []string{"N.md"}, nil, false},
	{"delete and redirect", func(f *fixture) (notes.Written, error) {
		return f.Delete(context.Background(), notes.DeleteRequest{Note: "N.md", Redirect: "plan", RequestKey: "redirect"})
	}, []string{"N.md", "Other.md", "dir/Third.md"}, nil, false},
	{"restore", func(f *fixture) (notes.Written, error) {
		return f.History().Restore(context.Background(), notes.RestoreRequest{Note: "Gone.md", Revision: f.revisionOf("Gone.md", "was deleted\n"), RequestKey: "restore"})
	}, []string{"Gone.md"}, nil, false},
	{"move", func(f *fixture) (notes.Written, error) {
		return f.Move(context.Background(), notes.MoveRequest{Note: "N.md", To: "dir/sub/M.md", UpdateLinks: true, RequestKey: "move"})
	}, []string{"N.md", "dir/sub/M.md", "Other.md", "dir/Third.md"}, []string{"N.md", "dir/sub/M.md"}, false},
	{"move that changes no text", func(f *fixture) (notes.Written, error) {
		return f.Move(context.Background(), notes.MoveRequest{Note: "plan.md", To: "dir/Plan 2.md", UpdateLinks: true, RequestKey: "pure move"})
	}, []string{"plan.md", "dir/Plan 2.md"}, []string{"plan.md", "dir/Plan 2.md"}, false},
	{"move of several", func(f *fixture) (notes.Written, error) {
		return f.Move(context.Background(), notes.MoveRequest{Note: "N.md", More: []string{"Other.md"}, To: "dir/sub/", UpdateLinks: true, RequestKey: "several"})
	}, []string{"N.md", "dir/sub/N.md", "Other.md", "dir/sub/Other.md", "dir/Third.md"}, []string{"N.md", "dir/sub/N.md", "Other.md", "dir/sub/Other.md"}, false},
	{"move of several that changes no text of theirs", func(f *fixture) (notes.Written, error) {
		return f.Move(context.Background(), notes.MoveRequest{Note: "plan.md", More: []string{"made/now/In.md"}, To: "dir/", UpdateLinks: true, RequestKey: "several pure"})
	}, []string{"plan.md", "dir/plan.md", "made/now/In.md", "dir/In.md", "Tagged.md"}, []string{"plan.md", "dir/plan.md", "made/now/In.md", "dir/In.md"}, false},
	{"case-only move", func(f *fixture) (notes.Written, error) {
		return f.Move(context.Background(), notes.MoveRequest{Note: "N.md", To: "n.md", UpdateLinks: true, RequestKey: "case move"})
	}, []string{"N.md", "n.md"}, []string{"N.md", "n.md"}, false},
	{"folder move", func(f *fixture) (notes.Written, error) {
		return f.Move(context.Background(), notes.MoveRequest{Note: "dir", To: "deep/er/dir2", UpdateLinks: true, RequestKey: "folder move"})
	}, []string{"dir/Third.md", "deep/er/dir2", "deep/er/dir2/Third.md"}, []string{"dir/Third.md", "deep/er/dir2/Third.md"}, false},
	{"tag rename", func(f *fixture) (notes.Written, error) {
		return f.RenameTag(context.Background(), notes.RenameTagRequest{Tag: "old", To: "new", RequestKey: "tag rename"})
	}, []string{"Tagged.md", "made/now/In.md"}, nil, false},
	{"undo of a folder move", func(f *fixture) (notes.Written, error) {
		return f.History().Restore(context.Background(), notes.RestoreRequest{Change: f.firstMove(), RequestKey: "undo"})
	}, []string{"Tagged.md", "made/now/In.md", "was/In.md"}, []string{"made/now/In.md", "was/In.md"}, false},
	{"move to another folder", func(f *fixture) (notes.Written, error) {
		return f.Move(context.Background(), notes.MoveRequest{Note: "home/N.md", To: "dir/sub/M.md", UpdateLinks: true, RequestKey: "move"})
	}, []string{"home/N.md", "dir/sub/M.md", "home/Other.md", "dir/Third.md"}, []string{"home/N.md", "dir/sub/M.md"}, true},
	{"move of several to another folder", func(f *fixture) (notes.Written, error) {
		return f.Move(context.Background(), notes.MoveRequest{Note: "home/plan.md", More: []string{"home/N.md"}, To: "dir/", UpdateLinks: true, RequestKey: "several"})
	}, []string{"home/plan.md", "dir/plan.md", "home/N.md", "dir/N.md", "home/Other.md", "dir/Third.md"}, []string{"home/plan.md", "dir/plan.md", "home/N.md", "dir/N.md"}, true},
	{"move to another folder that changes no text", func(f *fixture) (notes.Written, error) {
		return f.Move(context.Background(), notes.MoveRequest{Note: "home/plan.md", To: "dir/plan.md", UpdateLinks: true, RequestKey: "pure move"})
	}, []string{"home/plan.md", "dir/plan.md"}, []string{"home/plan.md", "dir/plan.md"}, true},
}

// revisionOf returns the revision of the note that has the text.
func (f *fixture) revisionOf(note, text string) int64 {
	page, err := f.History().Revisions(context.Background(), notes.HistoryQuery{Note: note, Limit: 1000})
	if err != nil {
		return 0
	}
	for _, r := range page.Revisions {
		if r.Hash == notes.Hash([]byte(text)) {
			return r.Revision
		}
	}
	return 0
}

// firstMove returns the change that moved the folder "was".
func (f *fixture) firstMove() int64 {
	id, err := strconv.ParseInt(f.column(f.store.History(), `SELECT min(id) FROM operations WHERE kind = 'move'`)[0], 10, 64)
	require.NoError(f.t, err)
	return id
}

// hostile lists what another program does to a file while notesd is not running.
var hostile = []string{"nothing", "edits", "truncates", "deletes", "replaces", "makes a pipe of", "renames", "recreates"}

// lacking has the operations that some disks do not support: NFS cannot swap names; exFAT
// has no links either.
var lacking = map[string][]string{"": nil, "without swaps": {"rename", "exchange"}, "without links": {"rename", "exchange", "link"}}

// crashed is a vault whose program is killed and restarted.
type crashed struct {
	*fixture
	t        *testing.T
	required map[string]string // text → its origin; none may be lost
	written  map[string]bool   // texts saved by the other program since the last start; each must stay in a file
	n        int
}

func newCrashed(t *testing.T, folders bool, disk string) *crashed {
	c := &crashed{fixture: crashVault(t, folders), t: t, required: map[string]string{}, written: map[string]bool{}}
	c.lacks = lacking[disk]
	for name, text := range c.files() {
		c.required[text] = "first in " + name
	}
	return c
}

// killAt kills the program before its n-th step: from then on it changes nothing. It
// returns a pointer to the number of steps so far.
func (f *fixture) killAt(n int) *int {
	steps := new(int)
	f.failpoint = func(step string) error {
		if strings.HasPrefix(step, readStep) {
			return nil // changes nothing, and comes from several goroutines
		}
		if slices.Contains(f.lacks, step) {
			return errors.ErrUnsupported
		}
		if *steps++; *steps > n {
			return errKilled
		}
		return nil
	}
	return steps
}

// start restarts the program, as after kill -9, without reconciling.
func (c *crashed) start() {
	require.NoError(c.t, c.store.Close())
	c.clock.Advance(seenEvery + strangerAge) // versions saved in between would be thinned
	c.open(Options{})
}

// do makes another program change the file.
func (c *crashed) do(change, name string) {
	c.n++
	full := filepath.Join(c.dir, filepath.FromSlash(name))
	text := fmt.Sprintf("by another program %d\n", c.n)
	info, err := os.Lstat(full)
	exists := err == nil
	target, err := os.Stat(full)
	isPipe := err == nil && target.Mode()&os.ModeNamedPipe != 0
	if change == "nothing" || isPipe || exists && info.IsDir() && change != "renames" {
		return
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if above, err := os.Stat(filepath.Join(c.dir, dir)); err == nil && !above.IsDir() {
			return
		}
	}
	old, _ := os.ReadFile(full) // "" for a folder or a missing file
	if c.written[string(old)] { // the program replaces its own text before notesd has seen it
		delete(c.written, string(old))
		delete(c.required, string(old))
	}
	var errs error
	switch change {
	case "edits":
		text = string(old) + text
		errs = c.writeFile(name, text)
	case "truncates":
		if !exists {
			return
		}
		text = string(old)[:len(old)/2]
		errs = os.WriteFile(full, []byte(text), 0o644)
	case "deletes":
		if text = ""; exists {
			errs = os.Remove(full)
		}
	case "replaces":
		swap := filepath.Join(c.dir, fmt.Sprintf(".swap%d", c.n))
		errs = errors.Join(os.WriteFile(swap, []byte(text), 0o644), os.MkdirAll(filepath.Dir(full), 0o755))
		errs = errors.Join(errs, os.Rename(swap, full))
	case "makes a pipe of":
		if text = ""; exists {
			errs = os.Remove(full)
		}
		errs = errors.Join(errs, os.MkdirAll(filepath.Dir(full), 0o755), mkfifo(full))
	case "renames":
		if !exists {
			return
		}
		text = string(old)
		errs = os.Rename(full, full+fmt.Sprintf(" away %d.md", c.n))
	case "recreates":
		if exists {
			errs = os.Remove(full)
		}
		errs = errors.Join(errs, c.writeFile(name, text))
	}
	require.NoError(c.t, errs)
	if text != "" && (!exists || info.Mode().IsRegular()) { // a symlink has no text of its own
		c.required[text], c.written[text] = "of another program in "+name, true
	}
}

// acknowledged checks a result and records the texts that it guarantees.
func (c *crashed) acknowledged(w notes.Written, err error) {
	if err != nil {
		var e *notes.Error
		require.ErrorAs(c.t, err, &e, "what a caller gets is an error of the domain")
		return
	}
	if w.Hash != "" {
		assert.Contains(c.t, c.texts(), w.Hash, "what was acknowledged is in a file or in history")
	}
}

// texts returns the hashes of all texts that are in a file or can be restored.
func (c *crashed) texts() map[string]bool {
	out := map[string]bool{}
	for _, text := range c.files() {
		out[notes.Hash([]byte(text))] = true
	}
	for _, hash := range c.column(c.store.History(), `SELECT DISTINCT lower(hex(r.hash)) FROM revisions r JOIN blobs b ON b.hash = r.hash`) {
		out[hash] = true
	}
	return out
}

// check compares the vault with the model.
func (c *crashed) check(w *crashWrite, answer notes.Written) {
	c.t.Helper()
	c.reconcile()
	c.reconcile() // what the first scan left to the next
	c.requireConsistent()
	have := c.texts()
	for text, whose := range c.required {
		assert.True(c.t, have[notes.Hash([]byte(text))], "lost: %q, %s", text, whose)
	}
	for name, text := range c.files() {
		assert.LessOrEqual(c.t, strings.Count(text, crashMark), 1, "%s was changed twice: %q", name, text)
	}
	c.checkLinks(w, answer)
}

// checkWritten checks that the texts saved by another program are still in files.
func (c *crashed) checkWritten() {
	c.t.Helper()
	texts := slices.Collect(maps.Values(c.files()))
	for text := range c.written {
		assert.Contains(c.t, texts, text, "what another program saved was overwritten")
	}
	clear(c.written)
}

// checkLinks checks that a broken link is reported if its target still exists under its old
// or new name.
func (c *crashed) checkLinks(w *crashWrite, answer notes.Written) {
	if w == nil || w.moved == nil {
		return
	}
	files := c.files()
	st, err := c.Status(context.Background())
	require.NoError(c.t, err)
	reported := strings.Join(st.Warnings, "\n") + strings.Join(answer.Conflicts, "\n")
	for _, link := range c.column(c.store.Notes(), `SELECT n.path || ' → ' || l.target FROM links l JOIN notes n ON n.id = l.note WHERE l.state = 0`) {
		note, target, _ := strings.Cut(link, " → ")
		was, _, _ := strings.Cut(note, " away ")
		for moved := range slices.Chunk(w.moved, 2) {
			at := slices.IndexFunc(moved, func(p string) bool { return files[p] != "" })
			if at >= 0 && slices.ContainsFunc(moved, func(p string) bool { return store.LinkKey(p) == store.LinkKey(target) }) {
				assert.Contains(c.t, reported, was, "the link to %s in %s leads nowhere, and %s is there", target, note, moved[at])
			}
		}
	}
}

// repeat sends the request twice more.
func (c *crashed) repeat(w *crashWrite) notes.Written {
	c.t.Helper()
	first, err := w.do(c.fixture)
	c.acknowledged(first, err)
	after := c.files()
	again, againErr := w.do(c.fixture)
	if err == nil {
		require.NoError(c.t, againErr, "what was answered is answered again")
		assert.Equal(c.t, first.Hash, again.Hash)
		assert.Equal(c.t, first.Path, again.Path)
	} else {
		require.Error(c.t, againErr)
	}
	assert.Equal(c.t, after, c.files(), "and not done twice")
	return first
}

func envNumber(t *testing.T, name string, otherwise int) int {
	t.Helper()
	if os.Getenv(name) == "" {
		return otherwise
	}
	n, err := strconv.Atoi(os.Getenv(name))
	require.NoError(t, err, name)
	return n
}

// stepsApart is the stride between the steps at which tests interrupt a write. Each write
// runs in one goroutine, so the slow run with the race detector covers only some of the
// steps.
func stepsApart() int {
	if testing.Short() {
		return 20
	}
	return 1
}

// TestCrashAfterEveryStep kills every kind of write before each of its steps, with each
// change by another program to each file involved. By default one random change follows
// each step; CRASH_ROUNDS covers everything.
//
//	CRASH_ROUNDS=2000 TEST_SEED=7 go test -timeout 60m -run Crash ./notes/vault
func TestCrashAfterEveryStep(t *testing.T) {
	notestest.SkipInShort(t)
	all, seed := envNumber(t, "CRASH_ROUNDS", 0) > 0, envNumber(t, "TEST_SEED", 1)
	t.Logf("TEST_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	cases := 0
	for _, disk := range slices.Sorted(maps.Keys(lacking)) {
		for _, w := range crashWrites {
			whole := newCrashed(t, w.folders, disk)
			steps := whole.killAt(1 << 30)
			answer, err := w.do(whole.fixture)
			require.NoError(t, err)
			after := whole.files()
			whole.acknowledged(answer, nil)
			whole.check(&w, answer)
			for step := range *steps {
				type change struct{ what, file string }
				changes := []change{{"nothing", w.targets[0]}}
				for _, file := range w.targets {
					for _, what := range hostile[1:] {
						changes = append(changes, change{what, file})
					}
				}
				if !all {
					other := changes[1+rng.IntN(len(changes)-1)]
					changes = []change{changes[0], other}
					if disk != "" {
						changes = changes[(step+1)/2%2:][:1]
					}
				}
				for _, change := range changes {
					lookFirst := rng.IntN(2) == 0
					cases++
					t.Run(fmt.Sprintf("%s/%s/%d/%s %s/%t", disk, w.name, step, change.what, path.Base(change.file), lookFirst), func(t *testing.T) {
						t.Parallel()
						c := newCrashed(t, w.folders, disk)
						c.killAt(step)
						_, err := w.do(c.fixture)
						require.ErrorIs(t, err, errKilled)
						c.do(change.what, change.file)
						c.start()
						if lookFirst {
							c.reconcile()
							c.checkWritten()
						}
						answer := c.repeat(&w)
						c.check(&w, answer)
						if change.what == "nothing" {
							assert.Equal(t, after, c.files(), "what was journalled is finished")
							assert.NotEmpty(t, answer.Path)
						}
					})
				}
			}
		}
	}
	t.Logf("%d crashes", cases)
}

// TestDiskThatFailsAtEveryCall makes the disk fail from each call of every kind of write
// until the write has ended and, with CRASH_ROUNDS, for that call alone. A write that
// reports that nothing was changed must have changed nothing; any other must be finished by
// the next scan.
func TestDiskThatFailsAtEveryCall(t *testing.T) {
	notestest.SkipInShort(t)
	lengths := []int{1 << 30}
	if envNumber(t, "CRASH_ROUNDS", 0) > 0 {
		lengths = append(lengths, 1, 2)
	}
	for _, disk := range slices.Sorted(maps.Keys(lacking)) {
		for _, w := range crashWrites {
			whole := newCrashed(t, w.folders, disk)
			before := whole.files()
			calls := whole.failAt(1<<30, 0)
			_, err := w.do(whole.fixture)
			require.NoError(t, err)
			after := whole.files()
			for at := range *calls {
				for _, length := range lengths {
					t.Run(fmt.Sprintf("%s/%s/%d for %d", disk, w.name, at, length), func(t *testing.T) {
						t.Parallel()
						c := newCrashed(t, w.folders, disk)
						c.failAt(at, length)
						answer, err := w.do(c.fixture)
						c.acknowledged(answer, err)
						c.failAt(1<<30, 0)
						visible := c.files()
						maps.DeleteFunc(visible, func(name, _ string) bool { return strings.HasPrefix(path.Base(name), store.TempPrefix) })
						want := after
						if err != nil && strings.Contains(domainError(t, err).Hint, "Nothing was changed.") {
							want = before
						}
						whole := err == nil && len(answer.Conflicts) == 0
						if whole || err != nil && maps.Equal(want, before) {
							assert.Equal(t, want, visible, "%v", err)
						}
						c.clock.Advance(strangerAge)
						c.reconcile()
						if err != nil || whole {
							assert.Equal(t, want, c.files(), "%v", err)
						}
						c.check(&w, c.repeat(&w))
					})
				}
			}
		}
	}
}

// failAt makes length calls fail, starting with call number at. It returns a pointer to the
// number of calls so far.
func (f *fixture) failAt(at, length int) *int {
	calls := new(int)
	f.killAt(1 << 30)
	works := f.failpoint
	f.failpoint = func(step string) error {
		if err := works(step); err != nil || strings.HasPrefix(step, readStep) || slices.Contains(phases, strings.TrimRight(step, " 0123456789")) {
			return err
		}
		if *calls++; *calls > at && *calls <= at+length {
			return fmt.Errorf("%s: %w", step, syscall.EIO)
		}
		return nil
	}
	return calls
}

// phases are the steps that are not system calls, or whose failure is ignored.
var phases = []string{"journalled", "staged", "before swap", "after swap", "stored", "finished", "given up", "rmdir"}

// TestCrashesByChance interrupts two successive writes, and also the recovery of the first,
// with changes by another program each time the program is down.
func TestCrashesByChance(t *testing.T) {
	notestest.SkipInShort(t)
	rounds, seed := envNumber(t, "CRASH_ROUNDS", 60), envNumber(t, "TEST_SEED", 1)
	t.Logf("CRASH_ROUNDS=%d TEST_SEED=%d", rounds, seed)
	for round := range rounds {
		rng := rand.New(rand.NewPCG(uint64(seed), uint64(round)))
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			folders := rng.IntN(4) == 0
			writes := slices.DeleteFunc(slices.Clone(crashWrites), func(w crashWrite) bool { return w.folders != folders })
			disk := slices.Sorted(maps.Keys(lacking))[rng.IntN(len(lacking))]
			c := newCrashed(t, folders, disk)
			events := []string{disk}
			defer func() {
				if t.Failed() {
					t.Log(strings.Join(events, "; "))
				}
			}()
			for range 2 {
				w := &writes[rng.IntN(len(writes))]
				at := rng.IntN(30)
				c.killAt(at)
				answer, err := w.do(c.fixture)
				events = append(events, fmt.Sprintf("%s, killed before step %d: %v", w.name, at, err))
				if !errors.Is(err, errKilled) {
					c.acknowledged(answer, err)
				}
				for rng.IntN(2) == 0 { // the recovery is killed, too
					what, file := hostile[rng.IntN(len(hostile))], w.targets[rng.IntN(len(w.targets))]
					at := rng.IntN(12)
					events = append(events, fmt.Sprintf("%s %s, recovery killed before step %d", what, file, at))
					c.do(what, file)
					c.start()
					c.killAt(at)
					if err := c.Reconcile(context.Background()); err != nil {
						require.ErrorIs(t, err, errKilled)
					}
				}
				what, file := hostile[rng.IntN(len(hostile))], w.targets[rng.IntN(len(w.targets))]
				events = append(events, what+" "+file)
				c.do(what, file)
				c.start()
				answer = notes.Written{}
				if rng.IntN(3) > 0 {
					c.reconcile()
					c.checkWritten()
				}
				if rng.IntN(3) > 0 {
					answer = c.repeat(w)
					events = append(events, "repeated")
				}
				c.check(nil, answer) // the model does not cover links whose two ends the other program changed
				clear(c.written)
			}
		})
	}
}

// TestChangesDuringWrites makes another program change one or two files at random steps of a
// write that nothing interrupts. No text is lost and, if there was one change, what it saved is
// in a file, perhaps with the edit below it. Disks that cannot swap names are left out: a save by
// renaming can be lost there.
//
//	CRASH_ROUNDS=4000 TEST_SEED=7 go test -run ChangesDuringWrites ./notes/vault
func TestChangesDuringWrites(t *testing.T) {
	notestest.SkipInShort(t)
	rounds, seed := envNumber(t, "CRASH_ROUNDS", 60), envNumber(t, "TEST_SEED", 1)
	for round := range rounds {
		rng := rand.New(rand.NewPCG(uint64(seed), uint64(round)))
		w := crashWrites[rng.IntN(len(crashWrites))]
		at := map[int]bool{rng.IntN(30): true, rng.IntN(60): true}
		t.Run(fmt.Sprint(round, " ", w.name), func(t *testing.T) {
			t.Parallel()
			c := newCrashed(t, w.folders, "")
			step, changes := 0, 0
			c.failpoint = func(name string) error {
				if strings.HasPrefix(name, readStep) {
					return nil
				}
				if step++; at[step] {
					changes++
					what, file := []string{"edits", "deletes", "replaces", "renames", "recreates"}[rng.IntN(5)], w.targets[rng.IntN(len(w.targets))]
					t.Logf("before step %d, %s: %s %s", step, name, what, file)
					c.do(what, file)
				}
				return nil
			}
			answer, err := w.do(c.fixture)
			c.acknowledged(answer, err)
			c.failpoint = nil
			c.clock.Advance(strangerAge)
			c.reconcile()
			texts := strings.Join(slices.Collect(maps.Values(c.files())), "\n")
			for text := range c.written {
				if i := strings.LastIndex(text, "by another program"); i >= 0 && changes == 1 {
					assert.Contains(t, texts, text[i:], "%v", err)
				}
			}
			c.check(nil, answer)
		})
	}
}

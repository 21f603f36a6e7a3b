package mirror

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	mathrand "math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"notesd/internal/notestest"
	"notesd/internal/pgtest"
	"notesd/internal/sqlite"
	"notesd/notes"
	"notesd/notes/pglog"
	"notesd/notes/store"
	"notesd/notes/vault"
)

// node is a folder with its vault and mirror.
type node struct {
	*vault.Vault
	m      *Mirror
	t      testing.TB
	dir    string
	state  string
	ignore []string
	most   int64 // MaxNoteBytes; 0: the default
	output *bytes.Buffer
	close  func()
}

func newNode(t testing.TB, address, name string, files map[string]string) *node {
	t.Helper()
	n := &node{t: t, dir: notestest.Vault(t, files)}
	n.open(address, name, t.TempDir())
	return n
}

func (n *node) open(address, name, state string) {
	t := n.t
	n.state = state
	n.output = &bytes.Buffer{}
	log := slog.New(slog.NewTextHandler(n.output, nil))
	db, err := pglog.Open(address, log)
	require.NoError(t, err)
	n.m, err = Open(t.Context(), state, db.Log(name), Options{Author: notes.Author{Name: filepath.Base(n.dir)}, Log: log, Patience: time.Minute})
	require.NoError(t, err)
	kept, err := store.Open(t.Context(), state)
	require.NoError(t, err)
	n.Vault, err = vault.New(t.Context(), kept, n.dir, vault.Options{Shared: n.m, Ignore: n.ignore, MaxNoteBytes: n.most, Log: log})
	require.NoError(t, err)
	n.m.Use(n.Vault)
	n.m.calm = 0
	require.NoError(t, n.Reconcile(t.Context()))
	n.close = sync.OnceFunc(func() {
		assert.NoError(t, kept.Close())
		assert.NoError(t, n.m.Close())
		assert.NoError(t, db.Close())
	})
	t.Cleanup(n.close)
}

// sync syncs the whole folder with the log.
func (n *node) sync() {
	n.t.Helper()
	require.NoError(n.t, n.m.sync(n.t.Context(), nil, true), "%s", n.output)
	for more := true; more; { // paths queued meanwhile
		var paths []string
		paths, all := n.m.queue.Take()
		if more = len(paths) > 0 || all; more {
			require.NoError(n.t, n.m.sync(n.t.Context(), paths, all), "%s", n.output)
		}
	}
	require.NoError(n.t, n.Reconcile(n.t.Context()))
}

// files returns the contents of the folder, without hidden files.
func (n *node) files() map[string]string {
	files := notestest.Read(n.t, n.dir)
	maps.DeleteFunc(files, func(p, _ string) bool { return strings.HasPrefix(path.Base(p), ".") })
	return files
}

func (n *node) save(file, text string) {
	n.t.Helper()
	notestest.Write(n.t, n.dir, map[string]string{file: text})
}

func (n *node) delete(file string) {
	n.t.Helper()
	require.NoError(n.t, os.Remove(filepath.Join(n.dir, file)))
}

// agree syncs all nodes and requires that their folders are equal.
func agree(t *testing.T, nodes ...*node) map[string]string {
	t.Helper()
	for range 3 {
		for _, n := range nodes {
			n.sync()
		}
	}
	want := nodes[0].files()
	for _, n := range nodes[1:] {
		require.Equal(t, want, n.files())
	}
	for _, n := range nodes {
		s, err := n.m.Status(t.Context())
		require.NoError(t, err)
		assert.Zero(t, s.Pending)
		assert.Empty(t, s.Error)
		list, err := n.List(t.Context(), notes.ListQuery{Limit: 1000})
		require.NoError(t, err)
		var listed, onDisk []string
		for _, m := range list.Notes {
			listed = append(listed, m.Path)
		}
		for p := range want {
			if notes.IsNoteName(p) && utf8.ValidString(want[p]) {
				onDisk = append(onDisk, p)
			}
		}
		assert.ElementsMatch(t, onDisk, listed)
	}
	return want
}

func TestMirror_TwoFolders(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", map[string]string{"A.md": "a", "Sub/B.md": "# B\r\n[[A]]", "Empty.md": "", "picture.png": "\x00\xff\x89", "Bad.md": "\xff\xfe", ".hidden.md": "h"})
	b := newNode(t, s.URL(), "team", map[string]string{"B only.md": "b", "Same.md": "same"})
	want := agree(t, a, b)
	assert.Equal(t, map[string]string{"A.md": "a", "Sub/B.md": "# B\r\n[[A]]", "Empty.md": "", "picture.png": "\x00\xff\x89", "Bad.md": "\xff\xfe", "B only.md": "b", "Same.md": "same"}, want)
	assert.FileExists(t, filepath.Join(a.dir, ".hidden.md"))
	assert.NoFileExists(t, filepath.Join(b.dir, ".hidden.md"), "what is hidden stays where it is")

	page, err := b.History().Revisions(t.Context(), notes.HistoryQuery{Note: "A.md"})
	require.NoError(t, err)
	_, err = b.History().Restore(t.Context(), notes.RestoreRequest{Change: page.Revisions[0].Change})
	require.ErrorIs(t, err, notes.ErrInvalid, "an undo of what a new node got would delete it everywhere")
	assert.Equal(t, want, b.files())

	a.save("A.md", "a2")
	b.save("B only.md", "b2")
	a.save("Sub/New/N.md", "n")
	b.delete("Empty.md")
	require.NoError(t, os.Rename(filepath.Join(a.dir, "picture.png"), filepath.Join(a.dir, "Sub", "image.png")))
	agree(t, a, b)
	assert.Equal(t, map[string]string{"A.md": "a2", "Sub/B.md": "# B\r\n[[A]]", "Sub/image.png": "\x00\xff\x89", "Bad.md": "\xff\xfe", "B only.md": "b2", "Same.md": "same", "Sub/New/N.md": "n"}, b.files())
}

// TestFetching: while a new folder is filled, its status says how many files are missing, also
// after an interruption.
func TestFetching(t *testing.T) {
	s := pgtest.New(t)
	files := map[string]string{}
	for i := range stepFiles + 20 {
		files[fmt.Sprintf("N%d.md", i)] = fmt.Sprint(i)
	}
	newNode(t, s.URL(), "team", files).sync()
	b := newNode(t, s.URL(), "team", nil)
	assert.Equal(t, 1, b.m.Fetching(), "the number is not known yet")
	s.Exec(`ALTER TABLE blobs RENAME TO gone`)
	require.Error(t, b.m.sync(t.Context(), nil, true))
	assert.Zero(t, b.m.Fetching(), "it cannot continue")
	status, err := b.m.Status(t.Context())
	require.NoError(t, err)
	assert.True(t, status.Fetching)
	select {
	case <-b.m.Begun():
		assert.Fail(t, "the folder is empty")
	default:
	}
	b.close()
	s.Exec(`ALTER TABLE gone RENAME TO blobs`)
	b.open(s.URL(), "team", b.state)
	var left []int
	b.m.opt.Placed = func([]string) {
		left = append(left, b.m.Fetching())
		st, err := b.Vault.Status(t.Context())
		assert.NoError(t, err)
		assert.Equal(t, st.Notes+b.m.Fetching(), st.ToScan)
		assert.False(t, b.Ready())
	}
	b.sync()
	assert.Equal(t, []int{stepFiles + 20, 20}, left)
	assert.Zero(t, b.m.Fetching())
	<-b.m.Begun()
}

// TestMirror_HistoryOfTogether checks that files that were created, edited, moved and deleted in
// a folder at the same time have these changes in the history of the other nodes.
func TestMirror_HistoryOfTogether(t *testing.T) {
	s := pgtest.New(t)
	a, b := newNode(t, s.URL(), "team", map[string]string{"Edited.md": "1", "Old.md": "to be moved", "Deleted.md": "2"}), newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	a.m.opt.Author.Name = "ann"
	a.save("Edited.md", "3")
	a.save("Created.md", "4")
	a.delete("Deleted.md")
	require.NoError(t, os.Rename(filepath.Join(a.dir, "Old.md"), filepath.Join(a.dir, "Moved.md")))
	agree(t, a, b)
	for note, operation := range map[string]string{"Edited.md": "edit", "Created.md": "create", "Deleted.md": "delete", "Moved.md": "move"} {
		page, err := b.History().Revisions(t.Context(), notes.HistoryQuery{Note: note})
		require.NoError(t, err)
		assert.Equal(t, operation, page.Revisions[0].Operation, note)
		assert.Equal(t, "ann", page.Revisions[0].Author.Name, note)
	}
}

// A node with a lower limit keeps a file that is larger, and reports it.
func TestMirror_LargerThanLimit(t *testing.T) {
	s := pgtest.New(t)
	a, b := newNode(t, s.URL(), "team", map[string]string{"Film.bin": strings.Repeat("x", 2000), "N.md": "n"}), newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	b.close()
	b.most = 1000
	b.open(s.URL(), "team", b.state)
	a.delete("Film.bin")
	a.sync()
	b.sync()
	status, err := b.m.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{`"Film.bin": larger than the limit for notes`}, status.Problems)
	assert.Contains(t, b.files(), "Film.bin")
}

// TestMirror_RemovesEmptiedFolders checks that a moved folder disappears on every node,
// whereas one that merely loses its last note to a move stays on its user's node.
func TestMirror_RemovesEmptiedFolders(t *testing.T) {
	s := pgtest.New(t)
	b := newNode(t, s.URL(), "team", map[string]string{"Mine/N.md": "n", "Whole/A.md": "a", "Whole/Sub/B.md": "b", "In/Inner/C.md": "c", "In/Inner/D.md": "d", "Up/Down/E.md": "e", "Up/Down/F.md": "f"})
	a := newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	_, err := a.Move(t.Context(), notes.MoveRequest{Note: "Mine/N.md", To: "Else/N.md"})
	require.NoError(t, err)
	_, err = a.Move(t.Context(), notes.MoveRequest{Note: "Whole", To: "Renamed"})
	require.NoError(t, err)
	require.NoError(t, os.Rename(filepath.Join(a.dir, "In", "Inner"), filepath.Join(a.dir, "Inner")))
	require.NoError(t, os.Rename(filepath.Join(a.dir, "Up", "Down"), filepath.Join(a.dir, "Below")))
	assert.Equal(t, map[string]string{"Else/N.md": "n", "Renamed/A.md": "a", "Renamed/Sub/B.md": "b", "Inner/C.md": "c", "Inner/D.md": "d", "Below/E.md": "e", "Below/F.md": "f"}, agree(t, a, b))
	assert.NoDirExists(t, filepath.Join(a.dir, "Mine"), "notesd has made it there")
	assert.DirExists(t, filepath.Join(b.dir, "Mine"))
	assert.NoDirExists(t, filepath.Join(b.dir, "Whole"))
	assert.NoDirExists(t, filepath.Join(b.dir, "In", "Inner"))
	assert.NoDirExists(t, filepath.Join(b.dir, "Up", "Down"))
	assert.DirExists(t, filepath.Join(b.dir, "Up"), "it is above the folder that moved")
}

// TestMirror_RenamedFolder renames a folder with more files than one batch of the log has, also in
// case only: all of them are moves, and the folder disappears on the other node.
func TestMirror_RenamedFolder(t *testing.T) {
	for to, count := range map[string]int{"Out": stepFiles + 1, "in": stepFiles + 2} {
		t.Run(to, func(t *testing.T) {
			files := map[string]string{}
			for i := range count {
				files[fmt.Sprintf("In/N%d.md", i)] = fmt.Sprint(i / 2) // two notes have each text
			}
			files["In/N1.md"], files["In/N2.md"] = "", ""
			s := pgtest.New(t)
			a, b := newNode(t, s.URL(), "team", files), newNode(t, s.URL(), "team", nil)
			agree(t, a, b)
			before := a.m.at.Seq
			require.NoError(t, os.Rename(filepath.Join(a.dir, "In"), filepath.Join(a.dir, to)))
			if to == "in" {
				a.save("in/N7.md", "edited")
			}
			assert.Contains(t, agree(t, a, b), to+"/N0.md")
			assert.Equal(t, count, s.Count(fmt.Sprintf(`SELECT count(*) FROM feed WHERE seq > %d AND old_path IS NOT NULL AND path IS NOT NULL`, before)), "moves")
			assert.Equal(t, count, s.Count(fmt.Sprintf(`SELECT count(*) FROM feed WHERE seq > %d`, before)))
			entries, err := os.ReadDir(b.dir)
			require.NoError(t, err)
			require.Len(t, entries, 1)
			assert.Equal(t, to, entries[0].Name())
			page, err := b.History().Revisions(t.Context(), notes.HistoryQuery{Note: to + "/N0.md"})
			require.NoError(t, err)
			assert.Len(t, page.Revisions, 2, "it keeps its history")
			for _, n := range []*node{a, b} {
				status, err := n.m.Status(t.Context())
				require.NoError(t, err)
				assert.Empty(t, status.Problems)
			}
		})
	}
}

// TestMirror_DecomposedFolder: what arrives in a folder whose name is decomposed on this disk, as
// macOS may have written it, goes into that folder.
func TestMirror_DecomposedFolder(t *testing.T) {
	s := pgtest.New(t)
	b := newNode(t, s.URL(), "team", map[string]string{norm.NFD.String("Café/Crème") + "/A.md": "a"})
	a := newNode(t, s.URL(), "team", nil)
	b.sync()
	a.sync()
	a.save("Café/New.md", "n")
	a.save("Café/Crème/é.md", "e")
	a.sync()
	b.sync()
	entries, err := os.ReadDir(b.dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	got := map[string]string{}
	for p, text := range b.files() {
		got[norm.NFC.String(p)] = text
	}
	assert.Equal(t, map[string]string{"Café/Crème/A.md": "a", "Café/New.md": "n", "Café/Crème/é.md": "e"}, got)
	assert.Equal(t, got, a.files())
}

// TestDamagedDatabase: a damaged database of the mirror is set aside, and folder and log
// are compared as at first.
func TestDamagedDatabase(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "v", map[string]string{"A.md": "a"})
	a.sync()
	a.close()
	state := filepath.Join(a.state, File)
	require.NoError(t, os.WriteFile(state, bytes.Repeat([]byte("no database "), 1000), 0o600))
	a.open(s.URL(), "v", a.state)
	aside, err := filepath.Glob(state + ".damaged-*")
	require.NoError(t, err)
	assert.Len(t, aside, 1)
	assert.Equal(t, map[string]string{"A.md": "a"}, agree(t, a))
}

// TestTwoNamesThatDifferInCase checks that of two such files on one node the first is
// shared, the other is reported, and neither keeps other files from being shared.
func TestTwoNamesThatDifferInCase(t *testing.T) {
	s := pgtest.New(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "A.md"), nil, 0o600))
	if _, err := os.Stat(filepath.Join(dir, "a.md")); err == nil {
		t.Skip("this disk ignores case")
	}
	n := newNode(t, s.URL(), "v", map[string]string{"A.md": "a", "a.md": "b", "C.md": "c"})
	n.sync()
	assert.Equal(t, map[string]string{"A.md": "a", "a.md": "b", "C.md": "c"}, n.files())
	b := newNode(t, s.URL(), "v", nil)
	b.sync()
	assert.Equal(t, map[string]string{"A.md": "a", "C.md": "c"}, b.files())
	st, err := n.m.Status(t.Context())
	require.NoError(t, err)
	assert.Contains(t, fmt.Sprint(st.Problems), "differs in case only")
}

// A file changed on both sides is kept twice: the log's version keeps the name, the other
// becomes a copy beside it.
func TestConflicts(t *testing.T) {
	s := pgtest.New(t)
	long := strings.Repeat("语", 80) + ".md"
	for name, c := range map[string]struct {
		a, b func(n *node)
		want map[string]string // "*": the conflict copy
	}{
		"a long name":           {func(n *node) { n.save(long, "of a") }, func(n *node) { n.save(long, "of b") }, map[string]string{long: "of a", "*": "of b", "N.md": "n", "Other.md": "o"}},
		"both change":           {func(n *node) { n.save("N.md", "of a") }, func(n *node) { n.save("N.md", "of b") }, map[string]string{"N.md": "of a", "*": "of b", "Other.md": "o"}},
		"both change alike":     {func(n *node) { n.save("N.md", "same") }, func(n *node) { n.save("N.md", "same") }, map[string]string{"N.md": "same", "Other.md": "o"}},
		"both create":           {func(n *node) { n.save("New.md", "of a") }, func(n *node) { n.save("New.md", "of b") }, map[string]string{"New.md": "of a", "*": "of b", "N.md": "n", "Other.md": "o"}},
		"deleted and changed":   {func(n *node) { n.delete("N.md") }, func(n *node) { n.save("N.md", "of b") }, map[string]string{"N.md": "of b", "Other.md": "o"}},
		"changed and deleted":   {func(n *node) { n.save("N.md", "of a") }, func(n *node) { n.delete("N.md") }, map[string]string{"N.md": "of a", "Other.md": "o"}},
		"both delete":           {func(n *node) { n.delete("N.md") }, func(n *node) { n.delete("N.md") }, map[string]string{"Other.md": "o"}},
		"moved and changed":     {func(n *node) { n.delete("N.md"); n.save("M.md", "n") }, func(n *node) { n.save("N.md", "of b") }, map[string]string{"M.md": "n", "N.md": "of b", "Other.md": "o"}},
		"changed and moved":     {func(n *node) { n.save("N.md", "of a") }, func(n *node) { n.delete("N.md"); n.save("M.md", "n") }, map[string]string{"M.md": "n", "N.md": "of a", "Other.md": "o"}},
		"both move":             {func(n *node) { n.delete("N.md"); n.save("M.md", "n") }, func(n *node) { n.delete("N.md"); n.save("L.md", "n") }, map[string]string{"L.md": "n", "M.md": "n", "Other.md": "o"}},
		"moved onto a new file": {func(n *node) { n.delete("N.md"); n.save("M.md", "n") }, func(n *node) { n.save("M.md", "of b") }, map[string]string{"M.md": "n", "*": "of b", "Other.md": "o"}},
	} {
		for _, late := range []bool{false, true} {
			name += map[bool]string{true: ", while it is committed"}[late]
			t.Run(name, func(t *testing.T) {
				a := newNode(t, s.URL(), name, map[string]string{"N.md": "n", "Other.md": "o"})
				b := newNode(t, s.URL(), name, nil)
				a.m.opt.Author.Name, b.m.opt.Author.Name = "ann", "ben"
				agree(t, a, b)
				c.a(a)
				c.b(b)
				if late { // b has followed the log, and a commits before it does
					a.sync()
					_, err := b.m.push(t.Context(), nil, true)
					require.NoError(t, err)
				}
				got := agree(t, a, b)
				for p, text := range got {
					if strings.Contains(p, " (conflict ") {
						require.NotContains(t, got, "*")
						got["*"] = text
						delete(got, p)
						status, err := b.m.Status(t.Context())
						require.NoError(t, err)
						assert.Equal(t, []string{p}, status.Conflicts)
						for _, n := range []*node{a, b} {
							page, err := n.History().Revisions(t.Context(), notes.HistoryQuery{Note: p})
							require.NoError(t, err)
							assert.Equal(t, "ben", page.Revisions[0].Author.Name)
						}
					}
				}
				assert.Equal(t, c.want, got)
			})
		}
	}
}

// A tool's write is in the log by the time of the response; on a node that is behind, it
// is recomputed from the log's version.
func TestToolsWriteToTheLog(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", map[string]string{"N.md": "one\n", "Links.md": "[[N]]\n", "F/X.md": "[[N]] [[F/Y]]\n", "F/Y.md": "y\n", "F/i.png": "\x00"})
	b := newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	ctx := t.Context()
	appendTo := func(n *node, note, text string) (notes.Written, error) {
		return n.Edit(ctx, notes.EditRequest{Note: note, Author: notes.Author{Name: "Ann"}, Edits: []notes.Edit{{Op: "append", Content: text}}})
	}
	_, err := appendTo(a, "N.md", "two\n")
	require.NoError(t, err)
	_, err = appendTo(b, "N.md", "three\n") // the node has not seen two yet
	require.NoError(t, err)
	assert.Equal(t, "one\n\ntwo\n\nthree\n", b.files()["N.md"])
	b.save("N.md", "one\n\ntwo\n\nthree\nby hand\n") // not seen by any scan yet
	_, err = appendTo(b, "N.md", "four\n")
	require.NoError(t, err)
	_, err = appendTo(a, "N.md", "five\n")
	require.NoError(t, err)
	assert.Equal(t, "one\n\ntwo\n\nthree\nby hand\n\nfour\n\nfive\n", agree(t, a, b)["N.md"])

	hash := notes.Hash([]byte("y\n"))
	_, err = appendTo(a, "F/Y.md", "more\n")
	require.NoError(t, err)
	_, err = b.Edit(ctx, notes.EditRequest{Note: "F/Y.md", ExpectedHash: hash, Edits: []notes.Edit{{Op: "replace_all", Content: "all new"}}})
	require.ErrorIs(t, err, notes.ErrConflict)
	var conflict *notes.Error
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, notes.Hash([]byte("y\n\nmore\n")), conflict.Hash)
	assert.Contains(t, conflict.Diff, "+more")

	_, err = a.Create(ctx, notes.CreateRequest{Path: "New.md", Content: "of a"})
	require.NoError(t, err)
	_, err = b.Create(ctx, notes.CreateRequest{Path: "New.md", Content: "of b"})
	require.ErrorIs(t, err, notes.ErrExists)

	_, err = a.Move(ctx, notes.MoveRequest{Note: "N.md", To: "M.md", UpdateLinks: true})
	require.NoError(t, err)
	_, err = appendTo(b, "Links.md", "end\n")
	require.NoError(t, err)
	got := agree(t, a, b)
	assert.Equal(t, "[[M]]\n\nend\n", got["Links.md"])
	_, err = a.Move(ctx, notes.MoveRequest{Note: "F", To: "G", UpdateLinks: true})
	require.NoError(t, err)
	got = agree(t, a, b)
	assert.Equal(t, "[[M]] [[G/Y]]\n", got["G/X.md"])
	assert.Equal(t, "\x00", got["G/i.png"])
	assert.NoDirExists(t, filepath.Join(b.dir, "F"))
	_, err = b.Delete(ctx, notes.DeleteRequest{Note: "M.md"})
	require.NoError(t, err)
	assert.NotContains(t, agree(t, a, b), "M.md")
	for _, n := range []*node{a, b} {
		for p := range n.files() {
			assert.NotContains(t, p, "conflict")
		}
	}
	revisions, err := b.History().Revisions(ctx, notes.HistoryQuery{Note: "Links.md"})
	require.NoError(t, err)
	assert.NotEmpty(t, revisions)
}

// A new file whose name differs in case only from another in the log stays in its folder,
// is reported, and does not delay other files.
func TestMirror_NamesThatDifferInCase(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", map[string]string{"N.md": "1"})
	b := newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	if _, err := os.Stat(filepath.Join(b.dir, "n.md")); err == nil {
		t.Skip("the disk ignores case")
	}
	b.save("n.md", "2")
	b.save("Other.md", "3")
	b.sync()
	a.sync()
	assert.Equal(t, map[string]string{"N.md": "1", "Other.md": "3"}, a.files())
	assert.Equal(t, map[string]string{"N.md": "1", "Other.md": "3", "n.md": "2"}, b.files())
	status, err := b.m.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{`"n.md": the log has "N.md", whose name differs in case only`}, status.Problems)
	b.delete("n.md")
	b.save("M.md", "2")
	assert.Equal(t, map[string]string{"N.md": "1", "Other.md": "3", "M.md": "2"}, agree(t, a, b))
}

// Without the database, writes are rejected and change nothing. Reads and saves in the
// folder still work, and are synced when it is back.
func TestMirror_DatabaseUnavailable(t *testing.T) {
	s := pgtest.Start(t)
	a := newNode(t, s.URL(), "team", map[string]string{"N.md": "n"})
	b := newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	s.Kill()
	_, err := a.Create(t.Context(), notes.CreateRequest{Path: "New.md", Content: "x"})
	require.ErrorIs(t, err, notes.ErrUnavailable)
	assert.NotContains(t, a.files(), "New.md")
	_, err = a.Read(t.Context(), "N.md", notes.Scope{})
	require.NoError(t, err)
	a.save("N.md", "offline")
	require.Error(t, a.m.sync(t.Context(), nil, true))
	status, err := a.m.Status(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, status.Error)
	s.Run()
	assert.Equal(t, map[string]string{"N.md": "offline"}, agree(t, a, b))
}

// A write that the database refuses, here because its disk is full, is reported with the
// cause.
func TestMirror_DatabaseRefuses(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", map[string]string{"N.md": "n"})
	a.sync()
	s.Exec(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE disk_full USING MESSAGE = 'could not extend file'; END $$;
		CREATE TRIGGER fail BEFORE INSERT ON batches FOR EACH ROW EXECUTE FUNCTION fail()`)
	_, err := a.Create(t.Context(), notes.CreateRequest{Path: "New.md", Content: "x"})
	require.ErrorIs(t, err, notes.ErrUnavailable)
	require.ErrorContains(t, err, "could not extend file")
	assert.NotContains(t, a.files(), "New.md")

	a.save("N.md", "saved here")
	for range 2 {
		require.ErrorContains(t, a.m.sync(t.Context(), nil, true), "could not extend file")
	}
	own, err := sqlite.Column[string](t.Context(), a.m.db.Reader(), `SELECT id FROM own`)
	require.NoError(t, err)
	assert.Empty(t, own, "nothing is kept of a batch that was not committed")
	s.Exec(`DROP TRIGGER fail ON batches`)
	a.sync()
	assert.Equal(t, 2, s.Count(`SELECT count(*) FROM batches`))
}

func TestMirror_NewerDatabase(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", map[string]string{"N.md": "n"})
	s.Exec(`CREATE TABLE notesd_schema (version int); INSERT INTO notesd_schema VALUES (1000)`)
	_, err := a.Create(t.Context(), notes.CreateRequest{Path: "New.md", Content: "x"})
	require.ErrorIs(t, err, notes.ErrUnavailable)
	require.ErrorContains(t, err, "newer notesd")
	assert.NotContains(t, a.files(), "New.md")
	require.ErrorContains(t, a.m.sync(t.Context(), nil, true), "upgrade this one")
	_, err = a.Read(t.Context(), "N.md", notes.Scope{})
	require.NoError(t, err)
}

// numbered returns n files, 00.md and so on, with their numbers as texts.
func numbered(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("%02d.md", i)] = fmt.Sprint(i)
	}
	return files
}

// Neither a suddenly empty folder nor an ignore pattern deletes notes, here or on other
// nodes.
func TestMirror_EmptyFolderDeletesNothing(t *testing.T) {
	s := pgtest.New(t)
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("%d.md", i)] = "text"
	}
	a, b := newNode(t, s.URL(), "team", files), newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	for p := range files {
		a.delete(p)
	}
	require.NoError(t, a.m.sync(t.Context(), slices.Collect(maps.Keys(files)), false), "the watcher reports it as paths")
	paths, all := a.m.queue.Take()
	for range 2 {
		err := a.m.sync(t.Context(), paths, all)
		require.ErrorIs(t, err, notes.ErrUnavailable)
		e, _ := errors.AsType[*notes.Error](err)
		assert.Contains(t, e.Hint, "in the team's other folders")
	}
	b.sync()
	assert.Equal(t, files, b.files())
	a.save("New.md", "n") // no scan saw the folder empty
	files["New.md"] = "n"
	assert.Equal(t, files, agree(t, a, b), "it is filled again")
}

// TestMirror_RefilledFolder: a folder that was emptied and is being filled again deletes nothing,
// also if notesd is started meanwhile. What was in the meantime changed elsewhere is placed, and
// what the folder has of older text is kept beside it.
func TestMirror_RefilledFolder(t *testing.T) {
	for name, c := range map[string]struct {
		back    int
		restart bool
	}{"half of it": {11, false}, "a file, after a restart": {1, true}} {
		t.Run(name, func(t *testing.T) {
			s := pgtest.New(t)
			files := numbered(20)
			a, b := newNode(t, s.URL(), "team", files), newNode(t, s.URL(), "team", nil)
			agree(t, a, b)
			for p := range files {
				a.delete(p)
			}
			b.save("05.md", "edited")
			b.sync()
			require.ErrorIs(t, a.Reconcile(t.Context()), vault.ErrEmptied)
			require.ErrorIs(t, a.m.sync(t.Context(), nil, true), vault.ErrEmptied)
			for i := range c.back {
				p := fmt.Sprintf("%02d.md", i)
				a.save(p, files[p])
			}
			a.save("00.md", "of a backup")
			if c.restart {
				a.close()
				a.open(s.URL(), "team", a.state)
			} else {
				require.NoError(t, a.Reconcile(t.Context()))
			}
			got := agree(t, a, b)
			status, err := a.m.Status(t.Context())
			require.NoError(t, err)
			require.Len(t, status.Conflicts, 1)
			files["05.md"], files[status.Conflicts[0]] = "edited", "of a backup"
			assert.Equal(t, files, got)

			a.close()
			for i := range 12 { // what is deleted from now on is deleted elsewhere, also while notesd is off
				p := fmt.Sprintf("%02d.md", i)
				a.delete(p)
				delete(files, p)
			}
			a.open(s.URL(), "team", a.state)
			assert.Equal(t, files, agree(t, a, b))
		})
	}
}

// TestMirror_ReplacedFolder has an older copy in the folder's place, whereas the mirror's database
// is the newest: nothing is replaced with what the copy has, or deleted because it lacks it.
func TestMirror_ReplacedFolder(t *testing.T) {
	s := pgtest.New(t)
	files := map[string]string{"Moved.md": "m"}
	for i := range 12 {
		files[fmt.Sprintf("%02d.md", i)] = fmt.Sprint(i)
	}
	a, b := newNode(t, s.URL(), "team", files), newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	backup := t.TempDir()
	require.NoError(t, os.CopyFS(backup, os.DirFS(a.dir)))
	a.save("00.md", "edited")
	a.save("New.md", "n")
	a.delete("01.md")
	require.NoError(t, os.Rename(filepath.Join(a.dir, "Moved.md"), filepath.Join(a.dir, "There.md")))
	agree(t, a, b)
	b.save("02.md", "edited elsewhere")
	b.sync()
	a.close()
	require.NoError(t, os.RemoveAll(a.dir))
	require.NoError(t, os.CopyFS(a.dir, os.DirFS(backup))) // the inode may be the same
	a.open(s.URL(), "team", a.state)
	got := agree(t, a, b)
	status, err := a.m.Status(t.Context())
	require.NoError(t, err)
	require.Len(t, status.Conflicts, 1)
	files["00.md"], files["New.md"], files["There.md"], files["02.md"], files[status.Conflicts[0]] = "edited", "n", "m", "edited elsewhere", "0"
	assert.Equal(t, files, got)

	a.close()
	require.NoError(t, os.Rename(a.dir, a.dir+" once more"))
	require.NoError(t, os.Mkdir(a.dir, 0o700))
	a.save("Only.md", "o")
	matches, err := filepath.Glob(filepath.Join(a.state, "notes.db*"))
	require.NoError(t, err)
	require.NotEmpty(t, matches)
	for _, derived := range matches { // as by notesd index --rebuild
		require.NoError(t, os.Remove(derived))
	}
	a.open(s.URL(), "team", a.state)
	files["Only.md"] = "o"
	assert.Equal(t, files, agree(t, a, b))

	a.close()
	require.NoError(t, os.Rename(a.dir, a.dir+" a last time"))
	require.NoError(t, os.Mkdir(a.dir, 0o700))
	for _, derived := range matches {
		require.NoError(t, os.RemoveAll(derived))
	}
	a.open(s.URL(), "team", a.state)
	assert.Equal(t, files, agree(t, a, b), "an empty one is filled")

	a.delete("04.md")
	delete(files, "04.md")
	assert.Equal(t, files, agree(t, a, b))
}

// TestMirror_ManyDeletions: files deleted in a row, as when the folder is emptied slowly, are
// deleted elsewhere only if others stay for a while.
func TestMirror_ManyDeletions(t *testing.T) {
	s := pgtest.New(t)
	files := numbered(40)
	a, b := newNode(t, s.URL(), "team", files), newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	now := time.Now()
	a.m.calm, a.m.opt.Now = calmAfter, func() time.Time { return now }
	deleteSlowly := func(from, to int) (left error) {
		for i := from; i < to; i++ {
			now = now.Add(calmAfter / 10)
			a.delete(fmt.Sprintf("%02d.md", i))
			require.NoError(t, a.m.sync(t.Context(), []string{fmt.Sprintf("%02d.md", i)}, false))
		}
		paths, all := a.m.queue.Take()
		left = a.m.sync(t.Context(), paths, all)
		b.sync()
		return left
	}
	require.NoError(t, deleteSlowly(0, 9))
	assert.Equal(t, a.files(), b.files(), "these are few")
	require.ErrorIs(t, deleteSlowly(9, 15), errDeleting)
	assert.Len(t, b.files(), 31)
	a.m.calm = time.Millisecond
	require.ErrorIs(t, a.m.syncAll(t.Context()), errDeleting, "it waits for a minute at most")
	a.m.calm = calmAfter
	now = now.Add(calmAfter)
	a.save("15 moved.md", "15")
	a.delete("15.md")
	a.delete("16.md")
	require.ErrorIs(t, a.m.sync(t.Context(), nil, true), errDeleting, "more are deleted")
	b.sync()
	assert.Len(t, b.files(), 31)
	assert.Contains(t, b.files(), "15 moved.md", "a move is no deletion")
	now = now.Add(calmAfter)
	require.NoError(t, a.m.sync(t.Context(), nil, true))
	b.sync()
	assert.Equal(t, a.files(), b.files())

	a.delete("15 moved.md")
	require.ErrorIs(t, deleteSlowly(17, 40), notes.ErrUnavailable)
	now = now.Add(calmAfter)
	require.ErrorIs(t, a.m.sync(t.Context(), nil, true), notes.ErrUnavailable)
	assert.Len(t, b.files(), 15, "only the first were deleted")
}

// A folder synced with another log, or an older copy of its own, loses nothing: differing
// files are kept twice.
func TestMirror_AnotherLog(t *testing.T) {
	s := pgtest.New(t)
	other := newNode(t, s.URL(), "other", map[string]string{"N.md": "theirs", "T.md": "t"})
	other.sync()
	a := newNode(t, s.URL(), "one", map[string]string{"N.md": "mine", "M.md": "m"})
	late := newNode(t, s.URL(), "one", nil)
	agree(t, a, late)
	a.close()
	a.open(s.URL(), "other", a.state)
	got := agree(t, a, other)
	assert.Equal(t, "theirs", got["N.md"])
	assert.Len(t, got, 4)
	assert.Contains(t, slices.Collect(maps.Values(got)), "mine")
	late.close()
	late.open(s.URL(), "other", late.state)
	late.m.opt.Author.Name = "late"
	assert.Equal(t, got, agree(t, late, a, other), "the copy that one node made is enough")
	status, err := a.m.Status(t.Context())
	require.NoError(t, err)
	assert.NotZero(t, status.Replaced)
	status, err = other.m.Status(t.Context())
	require.NoError(t, err)
	assert.Zero(t, status.Replaced)
}

// A pending file is not compared with a version that no applied batch has. If the database
// fails over to a standby that lacks that version, the node's position is still valid, and
// other nodes' changes are placed as usual.
func TestMirror_PendingVersionLost(t *testing.T) {
	s := pgtest.New(t)
	a, b := newNode(t, s.URL(), "team", map[string]string{"N.md": "1"}), newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	seq := a.m.at.Seq
	waiting := newRecord()
	waiting.pending["N.md"] = true
	require.NoError(t, a.m.write(t.Context(), waiting))
	b.save("N.md", "2")
	require.NoError(t, b.m.sync(t.Context(), []string{"N.md"}, false))
	_, err := a.m.retryPending(t.Context())
	require.NoError(t, err)
	b.close()
	s.Exec(fmt.Sprintf(`UPDATE files SET hash = sha256('1'), seq = %[1]d; UPDATE vaults SET seq = %[1]d; DELETE FROM feed WHERE seq > %[1]d; DELETE FROM batches WHERE seq > %[1]d`, seq))
	c := newNode(t, s.URL(), "team", nil)
	c.sync()
	c.save("N.md", "3")
	assert.Equal(t, map[string]string{"N.md": "3"}, agree(t, c, a))
}

// A machine restored from a backup, or a copy of it, has an earlier state of the folder and of
// the mirror's database. What was committed from this folder since is placed like the changes
// of other nodes; it is not replaced with what the backup had.
func TestMirror_RestoredFromBackup(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", map[string]string{"Edited.md": "1", "Deleted.md": "d", "Same.md": "s"})
	b := newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	a.close()
	dir, state := t.TempDir(), t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(a.dir)))
	require.NoError(t, os.CopyFS(state, os.DirFS(a.state)))
	a.open(s.URL(), "team", a.state)
	a.save("Edited.md", "2")
	a.save("New.md", "n")
	a.delete("Deleted.md")
	want := agree(t, a, b)
	own, err := sqlite.Column[string](t.Context(), a.m.db.Reader(), `SELECT id FROM own`)
	require.NoError(t, err)
	assert.Empty(t, own, "its batches are applied")
	restored := &node{t: t, dir: dir}
	restored.open(s.URL(), "team", state)
	assert.Equal(t, want, agree(t, restored, a, b))
	assert.Equal(t, map[string]string{"Edited.md": "2", "New.md": "n", "Same.md": "s"}, want)
}

// Large files are read and placed a few at a time, in the log's batches and when folders are
// compared.
func TestMirror_LargeFiles(t *testing.T) {
	random := mathrand.NewChaCha8([32]byte{})
	large := func() string {
		data := make([]byte, stepBytes/2+1)
		_, _ = random.Read(data) // never fails
		return string(data)
	}
	s := pgtest.New(t)
	files, others := map[string]string{}, map[string]string{}
	for i := range 4 {
		p := fmt.Sprintf("%d.png", i)
		files[p], others[p] = large(), large()
	}
	a, b := newNode(t, s.URL(), "team", files), newNode(t, s.URL(), "team", others)
	got := agree(t, a, b)
	assert.Len(t, got, 8)
	for p, text := range files {
		assert.Equal(t, notes.Hash([]byte(text)), notes.Hash([]byte(got[p])), p)
		assert.Contains(t, slices.Collect(maps.Values(got)), others[p])
	}
}

func TestCopyName(t *testing.T) {
	at := time.Date(2026, 11, 22, 9, 8, 7, 0, time.UTC)
	assert.Equal(t, "F/N (conflict 2026-11-22 090807 ann).md", copyName("F/N.md", "ann", at, 1))
	assert.Equal(t, "N (conflict 2026-11-22 090807 a-b 2)", copyName("N", "a/b", at, 2))
	assert.Equal(t, "N (conflict 2026-11-22 090807 a"+strings.Repeat("д", 19)+").md", copyName("N.md", "a"+strings.Repeat("д", 30), at, 1))
}

// After a crash between placing a file and recording it, and further batches in the log,
// the placed file is not mistaken for a change in the folder.
func TestCrashBetweenPlacingAndRecord(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", map[string]string{"Old.md": "1"})
	b := newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	before := b.m.at
	a.save("New.md", "new")
	a.save("Old.md", "2")
	agree(t, a, b)
	b.m.at = before
	require.NoError(t, b.m.db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`DELETE FROM base WHERE path = 'New.md'`)
		if err == nil {
			_, err = tx.Exec(`UPDATE base SET hash = ?, seq = ?`, notes.Hash([]byte("1")), before.Seq)
		}
		return err
	}))
	a.delete("New.md")
	a.save("Old.md", "3")
	a.sync()
	assert.Equal(t, map[string]string{"Old.md": "3"}, agree(t, b, a))
}

// onChange is a follower that only reports that it was called.
type onChange func()

func (onChange) Name() string                      { return "the test" }
func (onChange) Position() (notes.Position, error) { return notes.Position{Seq: notes.FromHead}, nil }
func (onChange) Reset(context.Context) error       { return nil }
func (f onChange) Apply(context.Context, notes.Position, []notes.Change) error {
	f()
	return nil
}

// The same for a file that was pending, and is therefore placed after its batch.
func TestCrashBetweenRetryAndRecord(t *testing.T) {
	for name, last := range map[string]func(a *node){
		"deleted":  func(a *node) { a.delete("New.md"); a.save("Old.md", "3") },
		"reverted": func(a *node) { a.delete("New.md"); a.save("Old.md", "1") },
	} {
		t.Run(name, func(t *testing.T) {
			s := pgtest.New(t)
			a := newNode(t, s.URL(), "team", map[string]string{"Old.md": "1"})
			b := newNode(t, s.URL(), "team", nil)
			agree(t, a, b)
			a.save("New.md", "new")
			a.save("Old.md", "2")
			a.sync()
			require.NoError(t, b.m.write(t.Context(), &record{at: &a.m.at, pending: map[string]bool{"New.md": true, "Old.md": true}}))
			ctx, crash := context.WithCancel(t.Context())
			b.Follow(onChange(crash))
			require.NoError(t, b.Reconcile(t.Context())) // it follows from here on
			require.ErrorIs(t, b.m.sync(ctx, nil, true), context.Canceled)
			require.Equal(t, map[string]string{"Old.md": "2", "New.md": "new"}, b.files())
			last(a)
			a.sync()
			want := a.files()
			assert.Equal(t, want, agree(t, b, a))
		})
	}
}

// Writes by a node's tools that another node has changed again, before this node's folder
// has followed, are not committed as changes of the folder.
func TestMirror_OwnWritesChangedElsewhere(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", map[string]string{"Undone.md": "1\n"})
	b := newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	_, err := b.Create(t.Context(), notes.CreateRequest{Path: "New.md", Content: "new\n"})
	require.NoError(t, err)
	_, err = b.Edit(t.Context(), notes.EditRequest{Note: "Undone.md", Edits: []notes.Edit{{Op: "append", Content: "2"}}})
	require.NoError(t, err)
	a.sync()
	a.delete("New.md")
	a.save("Undone.md", "1\n")
	a.sync()
	for _, all := range []bool{false, true} { // as if this happened in the middle of a sync
		again, err := b.m.push(t.Context(), []string{"New.md", "Undone.md"}, all)
		require.NoError(t, err)
		assert.True(t, again)
	}
	assert.Equal(t, map[string]string{"Undone.md": "1\n"}, agree(t, b, a))
}

// A note that moves from X to Y and back in the log, unseen by a node that writes to X,
// is not a conflict.
func TestMirror_MovedThereAndBack(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", map[string]string{"N.md": "x\n"})
	b := newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	for i, write := range []func(text string){
		func(text string) { b.save("N.md", text) },
		func(text string) {
			_, err := b.Edit(t.Context(), notes.EditRequest{Note: "N.md", Edits: []notes.Edit{{Op: "replace_all", Content: text}}})
			require.NoError(t, err)
		},
	} {
		x := a.files()["N.md"]
		for _, text := range []string{"y\n", x} {
			a.save("N.md", text)
			a.sync()
		}
		want := fmt.Sprintf("z%d\n", i)
		write(want)
		require.Equal(t, map[string]string{"N.md": want}, agree(t, b, a))
	}
}

// A node that was away for longer than the log keeps changes compares every file with the
// log's, and still has its base: nothing is resurrected, and only files changed on both
// sides are kept twice.
func TestMirror_LogPrunedPastNode(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", map[string]string{"Edited.md": "1", "Deleted.md": "d", "Same.md": "s", "Here.md": "h", "Both.md": "b"})
	b := newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	a.save("Edited.md", "2")
	a.delete("Deleted.md")
	a.save("New.md", "n")
	a.save("Both.md", "of a")
	a.sync()
	s.Exec(`UPDATE vaults SET pruned = now() - interval '1 day'`)
	s.Exec(`UPDATE batches SET at = now() - interval '1 year'`)
	a.save("Last.md", "l")
	a.sync()
	require.NoError(t, a.m.log.Prune(t.Context(), notes.HistoryLimits{Age: time.Hour}))
	_, err := b.m.log.Changes(t.Context(), b.m.at, 1)
	require.ErrorIs(t, err, pglog.ErrPruned)
	b.save("Here.md", "of b")
	b.save("Both.md", "of b")
	got := agree(t, b, a)
	status, err := b.m.Status(t.Context())
	require.NoError(t, err)
	require.Len(t, status.Conflicts, 1)
	assert.Equal(t, map[string]string{"Edited.md": "2", "New.md": "n", "Last.md": "l", "Same.md": "s", "Here.md": "of b", "Both.md": "of a", status.Conflicts[0]: "of b"}, got)
}

// Forgetting a note on one node erases it in the log and on every node: contents,
// versions and changes, except for its name. A note created again is kept.
func TestForget(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", map[string]string{"Secret.md": "xyzzy", "Same.md": "shared text", "Other.md": "shared text"})
	b := newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	_, err := b.Move(t.Context(), notes.MoveRequest{Note: "Secret.md", To: "Moved.md"})
	require.NoError(t, err)
	agree(t, a, b)
	_, err = a.m.Forget(t.Context(), "Moved.md", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrExists)
	for _, note := range []string{"Moved.md", "Same.md"} {
		_, err = a.Delete(t.Context(), notes.DeleteRequest{Note: note})
		require.NoError(t, err)
		done, err := a.m.Forget(t.Context(), note, notes.Scope{})
		require.NoError(t, err)
		assert.Contains(t, done.Paths, note)
	}
	require.Equal(t, map[string]string{"Other.md": "shared text"}, agree(t, a, b))
	for _, n := range []*node{a, b} {
		for _, note := range []string{"Secret.md", "Moved.md", "Same.md"} {
			_, err := n.History().Revisions(t.Context(), notes.HistoryQuery{Note: note})
			assert.ErrorIs(t, err, notes.ErrNotFound, note)
		}
	}
	assert.Equal(t, 1, s.Count(`SELECT count(*) FROM blobs`), "what another note has as well stays")
	c := newNode(t, s.URL(), "team", nil)
	agree(t, a, b, c)
	_, err = a.m.Forget(t.Context(), "Never.md", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)
}

// TestForget_Namesakes forgets a note whose path other notes answer to as a name. They keep
// their versions on every node, and syncs continue.
func TestForget_Namesakes(t *testing.T) {
	s := pgtest.New(t)
	for name, c := range map[string]struct {
		files   map[string]string
		deleted []string
	}{
		"one that is deleted": {map[string]string{"Index.md": "1", "Archive/Index.md": "2"}, []string{"Index.md", "Archive/Index.md"}},
		"two that exist":      {map[string]string{"Index.md": "1", "Archive/Index.md": "2", "Other/Index.md": "3"}, []string{"Index.md"}},
		"a passage":           {map[string]string{"Plan#1.md": "1", "Plan.md": "2"}, []string{"Plan#1.md", "Plan.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newNode(t, s.URL(), name, c.files)
			b := newNode(t, s.URL(), name, nil)
			agree(t, a, b)
			for _, note := range c.deleted {
				a.delete(note)
			}
			agree(t, a, b)
			forgotten := c.deleted[0]
			_, err := a.m.log.Forget(t.Context(), rand.Text(), notes.Author{}, forgotten, []string{forgotten})
			require.NoError(t, err)
			for range 2 { // the second time as on the node that has forgotten the note itself
				agree(t, a, b)
				for _, n := range []*node{a, b} {
					for _, note := range c.deleted {
						docs, err := n.Store().Documents(t.Context(), note)
						require.NoError(t, err)
						assert.Equal(t, note == forgotten, len(docs) == 0, note)
					}
				}
				_, err = a.m.log.Forget(t.Context(), rand.Text(), notes.Author{}, forgotten, []string{forgotten})
				require.NoError(t, err)
			}
			agree(t, a, b)
		})
	}
}

// TestForget_EarlierNameOnAbsentNode: a node that has missed the move of the forgotten note keeps
// other notes that had the earlier name.
func TestForget_EarlierNameOnAbsentNode(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", nil)
	absent := newNode(t, s.URL(), "team", nil)
	ctx := t.Context()
	for i, to := range []string{"Recipe.md", "Secret.md"} {
		_, err := a.Create(ctx, notes.CreateRequest{Path: "Untitled.md", Content: to})
		require.NoError(t, err)
		agree(t, a, absent)
		_, err = a.Move(ctx, notes.MoveRequest{Note: "Untitled.md", To: to})
		require.NoError(t, err)
		if i == 0 {
			agree(t, a, absent)
		}
		_, err = a.Delete(ctx, notes.DeleteRequest{Note: to})
		require.NoError(t, err)
	}
	_, err := a.m.Forget(ctx, "Secret.md", notes.Scope{})
	require.NoError(t, err)
	assert.Empty(t, agree(t, a, absent))
	for _, n := range []*node{a, absent} {
		page, err := n.History().Revisions(ctx, notes.HistoryQuery{Note: "Recipe.md"})
		require.NoError(t, err)
		assert.NotEmpty(t, page.Revisions)
	}
}

// TestForget_EarlierNameOfOthers forgets a note whose earlier name other notes had too. A node
// that was away meanwhile has the same files afterwards, and the other notes keep their
// versions.
func TestForget_EarlierNameOfOthers(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", nil)
	b := newNode(t, s.URL(), "team", nil)
	c := newNode(t, s.URL(), "team", nil)
	ctx := t.Context()
	create := func(text string) {
		_, err := a.Create(ctx, notes.CreateRequest{Path: "Untitled.md", Content: text})
		require.NoError(t, err)
	}
	move := func(from, to string) {
		_, err := a.Move(ctx, notes.MoveRequest{Note: from, To: to})
		require.NoError(t, err)
	}
	create("recipe\n")
	agree(t, a, b, c)
	move("Untitled.md", "Recipe.md")
	agree(t, a, b, c)
	_, err := a.Delete(ctx, notes.DeleteRequest{Note: "Recipe.md"})
	require.NoError(t, err)
	create("secret\n")
	agree(t, a, b, c)
	late := newNode(t, s.URL(), "team", nil)
	late.sync()
	move("Untitled.md", "Secret.md")
	create("live\n")
	agree(t, a, b, c)
	move("Untitled.md", "Live.md")
	_, err = a.Delete(ctx, notes.DeleteRequest{Note: "Secret.md"})
	require.NoError(t, err)
	agree(t, a, b)
	_, err = a.m.Forget(ctx, "Secret.md", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"Live.md": "live\n"}, agree(t, a, b, c, late))
	for _, n := range []*node{a, b, c} {
		_, err := n.History().Revisions(ctx, notes.HistoryQuery{Note: "Secret.md"})
		assert.ErrorIs(t, err, notes.ErrNotFound)
		page, err := n.History().Revisions(ctx, notes.HistoryQuery{Note: "Recipe.md"})
		require.NoError(t, err)
		assert.NotEmpty(t, page.Revisions)
	}
}

// TestForget_MissedMove forgets a note whose move another node has missed: that one erases what
// it has under the earlier name.
func TestForget_MissedMove(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", map[string]string{"Draft.md": "secret\n"})
	b := newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	_, err := a.Move(t.Context(), notes.MoveRequest{Note: "Draft.md", To: "Secret.md"})
	require.NoError(t, err)
	_, err = a.Delete(t.Context(), notes.DeleteRequest{Note: "Secret.md"})
	require.NoError(t, err)
	_, err = a.m.Forget(t.Context(), "Secret.md", notes.Scope{})
	require.NoError(t, err)
	assert.Empty(t, agree(t, a, b))
	_, err = b.History().Revisions(t.Context(), notes.HistoryQuery{Note: "Draft.md"})
	require.ErrorIs(t, err, notes.ErrNotFound)
}

// TestMirror_VaultCreatedAgain: the vault of a running node is created again, by a grant, after its
// database was emptied. The node's files fill it.
func TestMirror_VaultCreatedAgain(t *testing.T) {
	s := pgtest.New(t)
	n := newNode(t, s.URL(), "team", map[string]string{"A.md": "a"})
	n.sync()
	s.Exec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	other, err := pglog.Open(s.URL(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer func() { assert.NoError(t, other.Close()) }()
	_, err = other.AddSubject(t.Context(), "ann")
	require.NoError(t, err)
	require.NoError(t, other.Grant(t.Context(), "ann", pglog.Grant{Vault: "team"}, true))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, n.m.sync(ctx, nil, true))
	_, files, err := n.m.log.Snapshot(ctx)
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.Equal(t, "A.md", files[0].Path)
	assert.Equal(t, map[string]string{"A.md": "a"}, agree(t, n, newNode(t, s.URL(), "team", nil)))
}

// TestRetryPending_DatabaseRefuses: the versions that it finds in the folder are committed by the
// next sync if this one fails.
func TestRetryPending_DatabaseRefuses(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", map[string]string{"N.md": "n"})
	b := newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	a.save("N.md", "of a")
	a.sync()
	b.save("N.md", "of b")
	require.NoError(t, b.m.write(t.Context(), &record{at: &a.m.at, pending: map[string]bool{"N.md": true}}))
	s.Exec(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE disk_full; END $$;
		CREATE TRIGGER fail BEFORE INSERT ON batches FOR EACH ROW EXECUTE FUNCTION fail()`)
	require.Error(t, b.m.sync(t.Context(), []string{"N.md"}, false))
	s.Exec(`DROP TRIGGER fail ON batches`)
	status, err := b.m.Status(t.Context())
	require.NoError(t, err)
	require.Len(t, status.Conflicts, 1)
	paths, all := b.m.queue.Take()
	require.False(t, all)
	require.NoError(t, b.m.sync(t.Context(), paths, all))
	a.sync()
	assert.Equal(t, map[string]string{"N.md": "of a", status.Conflicts[0]: "of b"}, a.files())
}

// TestRetryPending_Ignored: files that this node ignores are not compared by each sync.
func TestRetryPending_Ignored(t *testing.T) {
	s := pgtest.New(t)
	n := newNode(t, s.URL(), "team", map[string]string{"A.md": "a"})
	n.sync()
	_, err := n.m.log.Commit(t.Context(), notes.Batch{ID: rand.Text(), Kind: "create", Changes: []notes.FileChange{{Path: ".hidden/B.md", After: notes.Hash([]byte("b")), Data: []byte("b")}}})
	require.NoError(t, err)
	n.sync()
	waiting, err := n.m.pending(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{".hidden/B.md"}, waiting)
	s.Exec(`ALTER TABLE files RENAME TO gone`)
	_, err = n.m.retryPending(t.Context())
	require.NoError(t, err)
	s.Exec(`ALTER TABLE gone RENAME TO files`)
	n.sync()
	still, err := n.m.pending(t.Context())
	require.NoError(t, err)
	assert.Equal(t, waiting, still, "they wait for other settings")
}

// TestMirror_NoLongerIgnored: what is done to files while this node ignores them is no deletion.
// Afterwards they are placed again, with what other nodes have changed.
func TestMirror_NoLongerIgnored(t *testing.T) {
	s := pgtest.New(t)
	files := map[string]string{"Archive/Deleted.md": "d", "Archive/Kept.md": "k", "Archive/Edited.md": "e", "Archive/Theirs.md": "1", "N.md": "n"}
	a, b := newNode(t, s.URL(), "team", files), newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	ignore := func(patterns ...string) {
		a.close()
		a.ignore = patterns
		a.open(s.URL(), "team", a.state)
		a.sync()
	}
	ignore("Archive")
	a.delete("Archive/Deleted.md")
	a.save("Archive/Edited.md", "edited")
	b.save("Archive/Theirs.md", "2")
	b.sync()
	a.sync()
	ignore("Archive")
	status, err := a.m.Status(t.Context())
	require.NoError(t, err)
	assert.Zero(t, status.Pending)
	ignore()
	files["Archive/Edited.md"], files["Archive/Theirs.md"] = "edited", "2"
	assert.Equal(t, files, agree(t, a, b))
	a.delete("Archive/Deleted.md")
	delete(files, "Archive/Deleted.md")
	assert.Equal(t, files, agree(t, a, b))
}

// TestMirror_JustEmptied: a file that was emptied a moment ago, as by a program that is about to
// write it, keeps its text elsewhere.
func TestMirror_JustEmptied(t *testing.T) {
	s := pgtest.New(t)
	a, b := newNode(t, s.URL(), "team", map[string]string{"N.md": "n"}), newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	a.save("N.md", "")
	a.save("New.md", "")
	info, err := os.Stat(filepath.Join(a.dir, "N.md"))
	require.NoError(t, err)
	now := info.ModTime()
	a.m.opt.Now = func() time.Time { return now }
	woken := func() bool {
		select {
		case <-a.m.queue.Signal():
			return true
		default:
			return false
		}
	}
	woken() // by what was before
	require.NoError(t, a.m.sync(t.Context(), []string{"N.md", "New.md"}, false))
	assert.False(t, woken(), "it would be compared all the time")
	b.sync()
	assert.Equal(t, map[string]string{"N.md": "n", "New.md": ""}, b.files())
	now = now.Add(stableAge)
	paths, all := a.m.queue.Take()
	require.NoError(t, a.m.sync(t.Context(), paths, all))
	b.sync()
	assert.Equal(t, map[string]string{"N.md": "", "New.md": ""}, b.files(), "it stayed empty")
}

// TestForget_WhileFollowing forgets notes while the node follows the log: it reports what
// was erased.
func TestForget_WhileFollowing(t *testing.T) {
	a := newNode(t, pgtest.New(t).URL(), "team", nil)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { assert.NoError(t, a.Run(ctx)) })
	running.Go(func() { a.m.Run(ctx) })
	for i := range 10 {
		note := fmt.Sprintf("%d.md", i)
		_, err := a.Create(ctx, notes.CreateRequest{Path: note, Content: note})
		require.NoError(t, err)
		_, err = a.Delete(ctx, notes.DeleteRequest{Note: note})
		require.NoError(t, err)
		done, err := a.m.Forget(ctx, note, notes.Scope{})
		require.NoError(t, err)
		require.Equal(t, []string{note}, done.Paths)
		require.Equal(t, 1, done.Versions)
	}
}

// TestForget_Repeated forgets notes after the database refused to: nothing is lost by the
// refusal, and nothing remains after the repetition.
func TestForget_Repeated(t *testing.T) {
	s := pgtest.New(t)
	a := newNode(t, s.URL(), "team", map[string]string{"Untitled.md": "xyzzy", "Old.md": "the log alone has it"})
	b := newNode(t, s.URL(), "team", nil)
	agree(t, a, b)
	_, err := a.Move(t.Context(), notes.MoveRequest{Note: "Untitled.md", To: "Secret.md"})
	require.NoError(t, err)
	for _, note := range []string{"Secret.md", "Old.md"} {
		_, err = a.Delete(t.Context(), notes.DeleteRequest{Note: note})
		require.NoError(t, err)
	}
	_, err = a.Create(t.Context(), notes.CreateRequest{Path: "Untitled.md", Content: "another note"})
	require.NoError(t, err)
	agree(t, a, b)
	s.Exec(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE insufficient_privilege; END $$;
		CREATE TRIGGER fail BEFORE DELETE ON feed FOR EACH ROW EXECUTE FUNCTION fail()`)
	_, err = a.m.Forget(t.Context(), "Secret", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrUnavailable)
	_, err = a.History().Revisions(t.Context(), notes.HistoryQuery{Note: "Secret.md"})
	require.NoError(t, err, "nothing is forgotten before the log has erased it")
	s.Exec(`DROP TRIGGER fail ON feed`)

	done, err := a.m.Forget(t.Context(), "Secret", notes.Scope{})
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"Untitled.md", "Secret.md"}, done.Paths)
	c := newNode(t, s.URL(), "team", nil)
	agree(t, a, b, c)
	_, err = c.m.Forget(t.Context(), "Old.md", notes.Scope{})
	require.NoError(t, err, "a note that was deleted before the node joined")
	assert.Contains(t, agree(t, a, b, c), "Untitled.md")
	for _, n := range []*node{a, b} {
		for _, note := range []string{"Secret.md", "Old.md"} {
			_, err := n.History().Revisions(t.Context(), notes.HistoryQuery{Note: note})
			assert.ErrorIs(t, err, notes.ErrNotFound, note)
		}
	}
	assert.Equal(t, 1, s.Count(`SELECT count(*) FROM blobs`), "of the note that exists")
}

// TestMirror_PathsNoVaultHas has another node commit paths that no vault has: its files are
// not placed, and everything else is.
func TestMirror_PathsNoVaultHas(t *testing.T) {
	server := pgtest.New(t)
	n := newNode(t, server.URL(), "team", map[string]string{"A.md": "a\n"})
	n.sync()
	other := newNode(t, server.URL(), "team", nil)
	other.sync()
	const code = "code"
	for i, p := range []string{".obsidian/plugins/x/main.js", ".git/config", "../outside.js", "sub/../up.js", "/tmp/absolute.js", "sub//twice.js", "bell\a.js"} {
		plain := fmt.Sprintf("%d.js", i)
		for _, change := range []notes.FileChange{
			{Path: plain, After: notes.Hash([]byte(code)), Data: []byte(code)},
			{OldPath: plain, Path: p, Before: notes.Hash([]byte(code)), After: notes.Hash([]byte(code))},
		} {
			_, err := other.m.log.Commit(t.Context(), notes.Batch{ID: rand.Text(), Kind: "move", Changes: []notes.FileChange{change}})
			require.NoError(t, err, p)
			n.sync()
		}
	}
	_, err := other.m.log.Commit(t.Context(), notes.Batch{ID: rand.Text(), Kind: "create", Changes: []notes.FileChange{{Path: "B.md", After: notes.Hash([]byte("b")), Data: []byte("b")}}})
	require.NoError(t, err)
	n.sync()
	assert.Equal(t, map[string]string{"A.md": "a\n", "B.md": "b"}, notestest.Read(t, n.dir))
	assert.NoFileExists(t, filepath.Join(filepath.Dir(n.dir), "outside.js"))
}

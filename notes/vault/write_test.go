package vault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/notes/store"
)

func TestFileName(t *testing.T) {
	tests := []struct{ title, want string }{
		{"Plan", "Plan.md"},
		{"a/b:c", "a-b-c.md"},
		{"CON", "_CON.md"},
		{"nul.txt", "_nul.txt.md"},
		{"trailing dots...", "trailing dots.md"},
		{"  spaces  \t here ", "spaces here.md"},
		{"...", "Untitled.md"},
		{"", "Untitled.md"},
		{".hidden", "hidden.md"},
		{". .. and so on", "and so on.md"},
		{"what? [[really]] #1 ^x", "what really 1 x.md"},
		{"note.md", "note.md"},
		{"🎉 party 👩‍👩‍👧", "🎉 party 👩‍👩‍👧.md"},
		{"line\nbreak\x00nul", "line breaknul.md"},
		{"\u202egnp.exe", "gnp.exe.md"},
		{"Cafe\u0301", "Café.md"},
		{"日本語のノート", "日本語のノート.md"},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, notes.FileName(tt.title), "%q", tt.title)
	}
	for _, long := range []string{strings.Repeat("x", 300), strings.Repeat("é", 300), strings.Repeat("👩‍👩‍👧", 60)} {
		name := notes.FileName(long)
		assert.LessOrEqual(t, len(name), 200)
		assert.True(t, utf8.ValidString(name))
		assert.False(t, strings.HasSuffix(strings.TrimSuffix(name, ".md"), "\u200d"), "not within a joined character")
	}
}

func FuzzFileName(f *testing.F) {
	f.Add("a/b")
	f.Add("CON. ")
	f.Add("A\"\u03020")
	f.Fuzz(func(t *testing.T, title string) {
		name := notes.FileName(title)
		require.NoError(t, notes.CheckNewPath("create", name), "%q from %q", name, title)
		clean, err := notes.CleanPath(name)
		require.NoError(t, err)
		require.Equal(t, name, clean)
	})
}

func FuzzCleanPath(f *testing.F) {
	for _, seed := range []string{"a/b.md", "../x", "/etc/passwd", `C:\x`, "a//b", "a\x00b", "./a", "note.md:stream"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p string) {
		clean, err := notes.CleanPath(p)
		if err != nil {
			require.ErrorIs(t, err, notes.ErrInvalid)
			return
		}
		require.True(t, filepath.IsLocal(clean), "%q", clean)
		again, err := notes.CleanPath(clean)
		require.NoError(t, err)
		require.Equal(t, clean, again)
		back, err := notes.ParseURI(notes.URI(clean))
		require.NoError(t, err)
		require.Equal(t, clean, back)
	})
}

func TestCreate(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "Plan.md", "# Plan\n")
	w, err := f.Create(ctx, notes.CreateRequest{Title: "Road: a/b", Content: "Text", Folder: "New/Deep", Tags: []string{"#one", "two"},
		FrontMatter: map[string]any{"status": "open"}, Author: notes.Author{Name: "test", Version: "1"}})
	require.NoError(t, err)
	assert.Equal(t, "New/Deep/Road- a-b.md", w.Path)
	assert.Equal(t, "Road: a/b", w.Title)
	text := f.onDisk(w.Path)
	assert.Contains(t, text, "Text\n")
	assert.Contains(t, text, "title: ")
	assert.Equal(t, notes.Hash([]byte(text)), w.Hash)
	f.requireConsistent()
	note, err := f.Read(ctx, "Road: a/b", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, []string{"one", "two"}, note.Tags)
	assert.Equal(t, "open", note.FrontMatter["status"])

	refused := []struct {
		name string
		r    notes.CreateRequest
		want error
	}{
		{"the same title", notes.CreateRequest{Title: "Plan"}, notes.ErrExists},
		{"an existing path", notes.CreateRequest{Path: "Plan.md", Content: "x"}, notes.ErrExists},
		{"a case-only twin", notes.CreateRequest{Path: "PLAN.md"}, notes.ErrExists},
		{"no name", notes.CreateRequest{Content: "x"}, notes.ErrInvalid},
		{"out of the vault", notes.CreateRequest{Path: "../x.md"}, notes.ErrInvalid},
		{"an absolute path", notes.CreateRequest{Path: "/etc/x.md"}, notes.ErrInvalid},
		{"a drive", notes.CreateRequest{Path: `C:/x.md`}, notes.ErrInvalid},
		{"a stream", notes.CreateRequest{Path: "x.md:y.md"}, notes.ErrInvalid},
		{"a reserved name", notes.CreateRequest{Path: "aux.md"}, notes.ErrInvalid},
		{"a hidden folder", notes.CreateRequest{Path: ".obsidian/x.md"}, notes.ErrInvalid},
		{"a folder outside", notes.CreateRequest{Title: "x", Folder: "../y"}, notes.ErrInvalid},
		{"a folder that is a file", notes.CreateRequest{Title: "x", Folder: "Plan.md"}, notes.ErrInvalid},
		{"a folder in a file", notes.CreateRequest{Path: "Plan.md/a/x.md"}, notes.ErrInvalid},
		{"a folder without a title", notes.CreateRequest{Path: "Notes/"}, notes.ErrInvalid},
		{"another client's note", notes.CreateRequest{Title: "Plan", Scope: notes.Scope{Write: []string{"Inbox"}}}, notes.ErrForbidden},
		{"NUL", notes.CreateRequest{Title: "x", Content: "a\x00"}, notes.ErrInvalid},
		{"invalid UTF-8", notes.CreateRequest{Title: "x", Content: "\xff"}, notes.ErrInvalid},
		{"another client's folder", notes.CreateRequest{Title: "x", Scope: notes.Scope{Write: []string{"Inbox"}}}, notes.ErrForbidden},
		{"read-only", notes.CreateRequest{Title: "x", Scope: notes.Scope{ReadOnly: true}}, notes.ErrReadOnly},
	}
	before := f.files()
	for _, tt := range refused {
		_, err := f.Create(ctx, tt.r)
		require.Error(t, err, tt.name)
		if tt.want != nil {
			require.ErrorIs(t, err, tt.want, tt.name)
			domainError(t, err)
		}
	}
	assert.Equal(t, before, f.files(), "a refused write leaves nothing behind")
}

// Arguments never overwrite values in the content's own front matter.
func TestCreateMergesFrontMatter(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	for i, tt := range []struct {
		r    notes.CreateRequest
		want string
	}{
		{notes.CreateRequest{Content: "---\ntags: [call] # of today\nstatus: open\n---\nx\n", Tags: []string{"work", "#Call"}},
			"---\ntags: [call, work] # of today\nstatus: open\n---\nx\n"},
		{notes.CreateRequest{Content: "---\ntags:\n- a\n- b\n---\nx\n", Tags: []string{"c"}, FrontMatter: map[string]any{"tags": []any{"B", "d"}}},
			"---\ntags:\n- a\n- b\n- d\n- c\n---\nx\n"},
		{notes.CreateRequest{Content: "---\ntags: a, b\n---\n", Tags: []string{"b", "c"}}, "---\ntags: a, b, c\n---\n"},
		{notes.CreateRequest{Content: "---\ntags: a b\n---\n", Tags: []string{"b", "c"}}, "---\ntags: a b c\n---\n"},
		{notes.CreateRequest{Content: "---\nTags: [a]\n---\n", FrontMatter: map[string]any{"tags": "b"}}, "---\nTags: [a, b]\n---\n"},
		{notes.CreateRequest{Content: "---\ntags:\nn: 1\n---\n", Tags: []string{"b"}}, "---\ntags:\n  - b\nn: 1\n---\n"},
		{notes.CreateRequest{Title: "x", Content: "y\n", FrontMatter: map[string]any{"title": nil}}, "y\n"},
		{notes.CreateRequest{Content: "---\ntag: a\n---\n", Tags: []string{"a"}}, "---\ntag: a\n---\n"},
		{notes.CreateRequest{Content: "x\n", Tags: []string{"b"}, FrontMatter: map[string]any{"tags": []any{"a"}}}, "---\ntags:\n  - a\n  - b\n---\nx\n"},
		{notes.CreateRequest{Content: "---\nn: 1 # one\ndue: 2026-01-02\n---\n", FrontMatter: map[string]any{"n": 1.0, "due": "2026-01-02", "m": true, "none": nil}},
			"---\nn: 1 # one\ndue: 2026-01-02\nm: true\n---\n"},
		{notes.CreateRequest{Content: "+++\ntags = [\"a\"]\n+++\n", Tags: []string{"b"}}, "+++\ntags = [\"a\", \"b\"]\n+++\n"},
	} {
		tt.r.Path = fmt.Sprintf("N%d.md", i)
		_, err := f.Create(ctx, tt.r)
		require.NoError(t, err, tt.r.Content)
		assert.Equal(t, tt.want, f.onDisk(tt.r.Path))
	}
	before := f.files()
	for _, tt := range []struct {
		r    notes.CreateRequest
		want string
	}{
		{notes.CreateRequest{Path: "C.md", Content: "---\nstatus: open\n---\n", FrontMatter: map[string]any{"Status": "done"}}, `"Status" has different values in the content's front matter and in front_matter`},
		{notes.CreateRequest{Title: "T", Content: "---\ntitle: Other\n---\n"}, `"title" has different values in the content's front matter and in title`},
		{notes.CreateRequest{Path: "C.md", Content: "---\na: [\n---\n", Tags: []string{"b"}}, `front matter "tags" cannot be written`},
	} {
		_, err := f.Create(ctx, tt.r)
		require.ErrorIs(t, err, notes.ErrInvalid)
		assert.ErrorContains(t, err, tt.want)
	}
	assert.Equal(t, before, f.files())
}

// Names that differ only in case or Unicode form are the same name.
func TestCreate_EqualIgnoringCase(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "Recipes/Rye Bread.md", "x\n", "Cafe\u0301.md", "y\n")
	before := f.files()
	for _, tt := range []struct {
		r     notes.CreateRequest
		taken string
	}{
		{notes.CreateRequest{Title: "Rye bread", Folder: "Recipes"}, "Recipes/Rye Bread.md"},
		{notes.CreateRequest{Path: "Recipes/rye bread"}, "Recipes/Rye Bread.md"},
		{notes.CreateRequest{Title: "Caf\u00e9"}, "Caf\u00e9.md"},
		{notes.CreateRequest{Title: "CAFE\u0301"}, "Caf\u00e9.md"},
	} {
		_, err := f.Create(ctx, tt.r)
		require.ErrorIs(t, err, notes.ErrExists)
		assert.Equal(t, []string{tt.taken}, domainError(t, err).Candidates)
	}
	assert.Equal(t, before, f.files())
	w, err := f.Create(ctx, notes.CreateRequest{Title: "Wheat", Path: "Recipes/"})
	require.NoError(t, err)
	assert.Equal(t, "Recipes/Wheat.md", w.Path)
}

// A new note makes no folder that differs from another only in case.
func TestCreate_FolderEqualIgnoringCase(t *testing.T) {
	ctx := t.Context()
	f := newFixture(t, "Work/Plans/a.md", "x\n", "b.md", "y\n")
	before := f.files()
	is := func(want string, err error) {
		t.Helper()
		require.ErrorIs(t, err, notes.ErrInvalid)
		assert.Equal(t, []string{want}, domainError(t, err).Candidates)
		assert.Equal(t, before, f.files())
	}
	_, err := f.Create(ctx, notes.CreateRequest{Path: "work/c.md"})
	is("Work/c.md", err)
	_, err = f.Create(ctx, notes.CreateRequest{Path: "Work/plans/new/c.md"})
	is("Work/Plans/new/c.md", err)
	_, err = f.Move(ctx, notes.MoveRequest{Note: "b.md", To: "work/plans/"})
	is("Work/Plans/b.md", err)
	_, err = f.Move(ctx, notes.MoveRequest{Note: "b.md", To: "Work/plans/"})
	is("Work/Plans/b.md", err)
	_, err = f.Create(ctx, notes.CreateRequest{Path: "work/c.md", Scope: notes.Scope{Read: []string{"b.md"}}})
	require.ErrorIs(t, err, notes.ErrForbidden, "the spelling of another scope's folder is not shown")
}

// A new note may divert links to another one of its name, as in Obsidian: they are named.
func TestCreate_DivertedLinks(t *testing.T) {
	f := newFixture(t, "Work/Boat.md", "# Hull\n", "Work/Near.md", "[[Boat]]\n", "Daily/D.md", "[[Boat#Hull|hull]] [[boat]]\n",
		"Daily/Path.md", "[[Work/Boat]] [[New]] [[#x]]\n", "Top.md", "[x](Work/Boat.md)\n", "Other/Even.md", "![[Boat]]\n", "Secret/S.md", "[[Boat]]\n")
	create := func(p string, scope ...string) []string {
		w, err := f.Create(t.Context(), notes.CreateRequest{Path: p, Content: "x\n", Scope: notes.Scope{Read: scope}})
		require.NoError(t, err)
		f.requireConsistent()
		_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: w.Change})
		require.NoError(t, err)
		return w.LinkedFrom
	}
	assert.Equal(t, []string{"Daily/D.md"}, create("Daily/Deep/Boat.md"))
	assert.Equal(t, []string{"Daily/D.md", "Other/Even.md", "Secret/S.md"}, create("Third/Boat.md"), "as near as the other note")
	assert.Equal(t, []string{"Daily/D.md", "Other/Even.md"}, create("Third/Boat.md", "Third", "Daily", "Other", "Work"))
	assert.Empty(t, create("Third/Boat.md", "Third", "Daily"), "the other note is out of scope")
	assert.Empty(t, create("New.md"))
	f.write("Work/Other.md", "---\naliases: [New, Old]\n---\n# Title\n")
	f.write("Top.md", "#[[Title]] [[Work/Old]]\n")
	f.reconcile()
	assert.Equal(t, []string{"Daily/Path.md"}, create("New.md"), "a link by an alias")
	assert.Equal(t, []string{"Top.md"}, create("Title.md"), "a tag by a title")
	assert.Empty(t, create("New.md", "Daily", "New.md"), "the other note is out of scope")
	assert.Empty(t, create("Old.md"), "a link with another path")
	assert.Empty(t, create("Work/Deep/Boat.md", "Work", "Top.md"))
}

func TestCreate_NumbersEqualFileNames(t *testing.T) {
	f := newFixture(t)
	for _, tt := range []struct{ title, path string }{{"a/b", "a-b.md"}, {"a:b", "a-b 2.md"}, {"A|B", "A-B 3.md"}} {
		w, err := f.Create(context.Background(), notes.CreateRequest{Title: tt.title})
		require.NoError(t, err)
		assert.Equal(t, tt.path, w.Path)
		assert.Equal(t, tt.title, w.Title)
	}
}

func TestEdit_ChangesOnlyNamedBytes(t *testing.T) {
	ctx := context.Background()
	text := "\ufeff---\r\nb: 1 # keep\r\na: 'x'\r\n---\r\n# T\r\n\r\nold text\r\n## Two\r\nend"
	f := newFixture(t, "N.md", text)
	require.NoError(t, os.Chmod(filepath.Join(f.dir, "N.md"), 0o640))
	w, err := f.Edit(ctx, notes.EditRequest{Note: "N", Edits: []notes.Edit{{Op: "replace_text", Old: "old", New: "new"}}, Author: notes.Author{Name: "c", Version: "2"}})
	require.NoError(t, err)
	assert.Equal(t, strings.Replace(text, "old", "new", 1), f.onDisk("N.md"))
	assert.Contains(t, w.Diff, "+new text")
	info, err := os.Stat(filepath.Join(f.dir, "N.md"))
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	}
	f.requireConsistent()

	t.Run("all or none", func(t *testing.T) {
		before := f.onDisk("N.md")
		_, err := f.Edit(ctx, notes.EditRequest{Note: "N", Edits: []notes.Edit{{Op: "append", Content: "x"}, {Op: "replace_text", Old: "nowhere", New: ""}}})
		require.ErrorIs(t, err, notes.ErrInvalid)
		assert.Equal(t, before, f.onDisk("N.md"))
	})
	t.Run("dry run", func(t *testing.T) {
		before := f.onDisk("N.md")
		w, err := f.Edit(ctx, notes.EditRequest{Note: "N", DryRun: true, Edits: []notes.Edit{{Op: "append", Content: "tail"}}})
		require.NoError(t, err)
		assert.Contains(t, w.Diff, "+tail")
		assert.Equal(t, before, f.onDisk("N.md"))
	})
	t.Run("expected hash", func(t *testing.T) {
		_, err := f.Edit(ctx, notes.EditRequest{Note: "N", ExpectedHash: notes.Hash([]byte(text)), Edits: []notes.Edit{{Op: "append", Content: "x"}}})
		e := domainError(t, err)
		require.ErrorIs(t, err, notes.ErrConflict)
		assert.Equal(t, notes.Hash([]byte(f.onDisk("N.md"))), e.Hash)
		assert.Contains(t, e.Diff, "+new text", "it shows what has changed since")
		for _, hash := range []string{notes.ShortHash(notes.Hash([]byte(text))), e.Hash[:11], e.Hash + "0"} {
			_, err = f.Edit(ctx, notes.EditRequest{Note: "N", ExpectedHash: hash, Edits: []notes.Edit{{Op: "append", Content: "x"}}})
			if len(hash) == 12 {
				assert.Equal(t, e.Diff, domainError(t, err).Diff)
			} else {
				require.ErrorIs(t, err, notes.ErrInvalid, hash)
			}
		}
		_, err = f.Edit(ctx, notes.EditRequest{Note: "N", ExpectedHash: notes.ShortHash(e.Hash), Edits: []notes.Edit{{Op: "append", Content: "x"}}})
		require.NoError(t, err)
	})
	t.Run("history", func(t *testing.T) {
		page, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "N"})
		require.NoError(t, err)
		require.Len(t, page.Revisions, 3)
		assert.Equal(t, notes.Author{Name: "c", Version: "2"}, page.Revisions[1].Author)
		assert.Equal(t, notes.Outside, page.Revisions[2].Author)
		assert.Equal(t, 1, page.Revisions[1].Added)
		assert.Equal(t, 1, page.Revisions[1].Removed)
		_, err = f.History().Restore(ctx, notes.RestoreRequest{Note: "N", Revision: page.Revisions[2].Revision})
		require.NoError(t, err)
		assert.Equal(t, text, f.onDisk("N.md"))
		f.requireConsistent()
	})
}

// TestSaveBetweenCheckAndRename: an editor saves after notesd has compared the file and
// before it changes the name.
func TestSaveBetweenCheckAndRename(t *testing.T) {
	ctx := context.Background()
	writes := map[string]func(f *fixture) (notes.Written, error){
		"edit": func(f *fixture) (notes.Written, error) {
			return f.Edit(ctx, notes.EditRequest{Note: "N", Edits: []notes.Edit{{Op: "append", Content: "ours"}}})
		},
		"delete": func(f *fixture) (notes.Written, error) {
			return f.Delete(ctx, notes.DeleteRequest{Note: "N"})
		},
		"move": func(f *fixture) (notes.Written, error) { return f.Move(ctx, notes.MoveRequest{Note: "N", To: "M.md"}) },
		"move with change": func(f *fixture) (notes.Written, error) {
			return f.Move(ctx, notes.MoveRequest{Note: "N", To: "d/M.md", UpdateLinks: true})
		},
	}
	const original, theirs = "original [x](other.md)\n", "what they saved, sized\n" // of one size
	saves := map[string]func(f *fixture){
		"in place": func(f *fixture) { f.write("N.md", theirs) },
		"by rename": func(f *fixture) {
			f.write("N.md.swp", theirs)
			f.rename("N.md.swp", "N.md")
		},
	}
	for writeName, write := range writes {
		for saveName, save := range saves {
			t.Run(writeName+", saved "+saveName, func(t *testing.T) {
				f := newFixture(t, "N.md", original, "other.md", "o\n")
				f.failpoint = func(step string) error {
					if step == "before swap 0" {
						save(f)
					}
					return nil
				}
				_, err := write(f)
				require.ErrorIs(t, err, notes.ErrConflict)
				assert.Equal(t, notes.Hash([]byte(theirs)), domainError(t, err).Hash)
				assert.Equal(t, map[string]string{"N.md": theirs, "other.md": "o\n"}, f.files())
				f.failpoint = nil
				f.reconcile()
				f.requireConsistent()
			})
		}
	}
}

// TestSaveBeforeCheck: an editor saves while notesd stages its text. A change that does not
// depend on the text that the editor replaced is made to the new text.
func TestSaveBeforeCheck(t *testing.T) {
	ctx := context.Background()
	edits := func(expected string, e ...notes.Edit) func(f *fixture) error {
		return func(f *fixture) error {
			_, err := f.Edit(ctx, notes.EditRequest{Note: "N", Edits: e, ExpectedHash: expected})
			return err
		}
	}
	const before, theirs = "# H\n\n- [ ] a #x\n", "# H\n\ntheirs\n\n- [ ] a #x\n"
	for name, c := range map[string]struct {
		write  func(f *fixture) error
		saves  int
		want   string
		refuse bool
	}{
		"append":                    {edits("", notes.Edit{Op: "append", Content: "ours"}), 1, theirs + "\nours\n", false},
		"append, saved three times": {edits("", notes.Edit{Op: "append", Content: "ours"}), 3, theirs + "\nours\n", false},
		"append, always saved":      {edits("", notes.Edit{Op: "append", Content: "ours"}), 100, theirs, true},
		"append, with a hash":       {edits(notes.Hash([]byte(before)), notes.Edit{Op: "append", Content: "ours"}), 1, theirs, true},
		"replace_text":              {edits("", notes.Edit{Op: "replace_text", Old: "- [ ] a", New: "- [ ] b"}), 1, "# H\n\ntheirs\n\n- [ ] b #x\n", false},
		"replace_section":           {edits("", notes.Edit{Op: "replace_section", Heading: "H", Content: "ours"}), 1, theirs, true},
		"replace_all":               {edits("", notes.Edit{Op: "replace_all", Content: "ours"}), 1, theirs, true},
		"toggle_task by line":       {edits("", notes.Edit{Op: "toggle_task", Line: 3}), 1, theirs, true},
		"rename_tag": {func(f *fixture) error {
			_, err := f.RenameTag(ctx, notes.RenameTagRequest{Tag: "x", To: "y"})
			return err
		}, 1, "# H\n\ntheirs\n\n- [ ] a #y\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "N.md", before)
			saved := 0
			f.failpoint = func(step string) error {
				if step == "staged" && saved < c.saves {
					saved++
					f.write("N.md", theirs+strings.Repeat(" ", c.saves-saved))
				}
				return nil
			}
			err := c.write(f)
			if c.refuse {
				require.ErrorIs(t, err, notes.ErrConflict)
			} else {
				require.NoError(t, err)
			}
			f.failpoint = nil
			f.reconcile()
			f.requireConsistent()
			assert.Equal(t, c.want, strings.TrimRight(f.onDisk("N.md"), " "))
		})
	}
}

// TestRemovedSince: another program removes or moves one of many notes while notesd changes a
// tag. The other notes are changed, and the moved one too.
func TestRemovedSince(t *testing.T) {
	for _, at := range []string{"journalled", "staged", "before swap 0"} {
		for name, remove := range map[string]func(f *fixture){
			"removed": func(f *fixture) { f.remove("A.md") },
			"moved":   func(f *fixture) { f.rename("A.md", "sub/A.md") },
		} {
			t.Run(name+", "+at, func(t *testing.T) {
				f := newFixture(t, "A.md", "a #x", "B.md", "b #x")
				f.failpoint = func(step string) error {
					if step == at {
						f.failpoint = nil
						remove(f)
					}
					return nil
				}
				written, err := f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "x", To: "y"})
				require.NoError(t, err)
				assert.Empty(t, written.Conflicts)
				f.requireConsistent()
				for name, text := range f.files() {
					assert.Contains(t, text, "#y", name)
				}
			})
		}
	}
}

func TestCreate_ConcurrentFile(t *testing.T) {
	f := newFixture(t)
	f.failpoint = func(step string) error {
		if step == "before swap 0" {
			f.write("New.md", "theirs")
		}
		return nil
	}
	_, err := f.Create(context.Background(), notes.CreateRequest{Title: "New", Content: "ours"})
	require.ErrorIs(t, err, notes.ErrExists)
	assert.Equal(t, map[string]string{"New.md": "theirs"}, f.files())
}

func TestLateWrite_KeptInHistory(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "N.md", "original\n")
	editor, err := os.OpenFile(filepath.Join(f.dir, "N.md"), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	f.failpoint = func(step string) error {
		if step == "stored" { // the editor still has the displaced file open
			_, err := editor.WriteString("late words\n")
			return errors.Join(err, editor.Close())
		}
		return nil
	}
	_, err = f.Edit(ctx, notes.EditRequest{Note: "N", Edits: []notes.Edit{{Op: "append", Content: "ours"}}})
	if runtime.GOOS == "windows" { // Windows does not replace open files
		require.ErrorIs(t, err, notes.ErrConflict)
		require.NoError(t, editor.Close())
		assert.Equal(t, map[string]string{"N.md": "original\n"}, f.files())
		return
	}
	require.NoError(t, err)
	page, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "N"})
	require.NoError(t, err)
	found := false
	for _, r := range page.Revisions {
		found = found || r.Hash == notes.Hash([]byte("original\nlate words\n"))
	}
	assert.True(t, found, "%+v", page.Revisions)
}

// TestLateWrite_Moved checks that a text saved to a note while it is moved and rewritten is in
// the history of that note, and makes no other at its old path.
func TestLateWrite_Moved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not replace open files")
	}
	for _, killed := range []bool{false, true} {
		for from, to := range map[string]string{"N.md": "Sub/N.md", "P/": "Sub/P"} {
			f := newFixture(t, "N.md", "[o](Other.md)\n", "P/A.md", "[o](../Other.md)\n", "Other.md", "o\n")
			old, note := from, to
			if from == "P/" {
				old, note = "P/A.md", "Sub/P/A.md"
			}
			text := f.onDisk(old) + "late words\n"
			editor, err := os.OpenFile(filepath.Join(f.dir, filepath.FromSlash(old)), os.O_WRONLY|os.O_APPEND, 0)
			require.NoError(t, err)
			f.failpoint = func(step string) error {
				if step == "stored" { // the editor still has the displaced file open
					_, err := editor.WriteString("late words\n")
					return errors.Join(err, editor.Close())
				}
				if step == "finished" && killed {
					return errKilled
				}
				return nil
			}
			_, err = f.Move(t.Context(), notes.MoveRequest{Note: from, To: to, UpdateLinks: true})
			if killed {
				require.ErrorIs(t, err, errKilled)
				f.restart()
			} else {
				require.NoError(t, err)
			}
			f.reconcile()
			f.requireConsistent()
			assert.NotZero(t, f.revisionOf(note, text), "%s, killed %t", note, killed)
			assert.Equal(t, []string{note}, f.column(f.store.History(), `SELECT path FROM documents`))
		}
	}
}

// TestTwoSavesAroundAnExchange: the first save causes the exchange to be reverted; the
// second writes to the new file before that. Afterwards the note holds the second save, and
// history has the first.
func TestTwoSavesAroundAnExchange(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "N.md", "original\n")
	f.failpoint = func(step string) error {
		if step != "before swap 0" {
			return nil
		}
		temps, err := filepath.Glob(filepath.Join(f.dir, store.TempPrefix+"*"))
		require.NoError(t, err)
		require.Len(t, temps, 1)
		ours, err := os.OpenFile(temps[0], os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		_, err = ours.WriteString("second\n")
		return errors.Join(err, ours.Close(), f.writeFile("N.md", "first\n"))
	}
	_, err := f.Edit(ctx, notes.EditRequest{Note: "N", Edits: []notes.Edit{{Op: "append", Content: "ours"}}})
	require.ErrorIs(t, err, notes.ErrConflict)
	assert.Equal(t, map[string]string{"N.md": "original\n\nours\nsecond\n"}, f.files())
	f.reconcile()
	page, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "N"})
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(page.Revisions, func(r notes.Revision) bool { return r.Hash == notes.Hash([]byte("first\n")) }), "%+v", page.Revisions)
}

// The same in a note of a folder that moves: the displaced save is kept in the history of the
// note at its new path.
func TestTwoSavesAroundAnExchange_MovedFolder(t *testing.T) {
	f := newFixture(t, "P/A.md", "[q](../Q.md)\n", "Q.md", "q\n")
	f.failpoint = func(step string) error {
		if step != "before swap 1" {
			return nil
		}
		temps, err := filepath.Glob(filepath.Join(f.dir, "Sub/P", store.TempPrefix+"*"))
		require.NoError(t, err)
		require.Len(t, temps, 1)
		return errors.Join(f.writeFile("Sub/P/A.md", "first\n"), os.WriteFile(temps[0], []byte("second\n"), 0o600))
	}
	moved, err := f.Move(t.Context(), notes.MoveRequest{Note: "P/", To: "Sub/P", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"Sub/P/A.md"}, moved.Conflicts)
	assert.Equal(t, map[string]string{"Q.md": "q\n", "Sub/P/A.md": "second\n"}, f.files())
	f.failpoint = nil
	f.reconcile()
	assert.NotZero(t, f.revisionOf("Sub/P/A.md", "first\n"))
	assert.Equal(t, []string{"Sub/P/A.md"}, f.column(f.store.History(), `SELECT path FROM documents`))
}

func TestRepeatedRequestIsAnsweredFromTheJournal(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	r := notes.CreateRequest{Title: "Once", Content: "x", RequestKey: "k1"}
	first, err := f.Create(ctx, r)
	require.NoError(t, err)
	again, err := f.Create(ctx, r)
	require.NoError(t, err)
	assert.Equal(t, first, again)
	f.restart()
	again, err = f.Create(ctx, r)
	require.NoError(t, err)
	assert.Equal(t, first.Hash, again.Hash)
	assert.Len(t, f.files(), 1)
}

// A repeated request gets its stored answer, whatever became of the note. Reusing its key
// for another request is an error.
func TestRequestKeyIsBoundToItsRequest(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "N.md", "n\n", "L.md", "[[N]]\n")
	first, again := notes.BindRequest("k", "delete_note", "N"), notes.BindRequest("k", "delete_note", "L")
	repeated, err := f.Repeated(ctx, first)
	require.NoError(t, err)
	assert.False(t, repeated)
	d, err := f.Delete(ctx, notes.DeleteRequest{Note: "N", RequestKey: first})
	require.NoError(t, err)
	repeated, err = f.Repeated(ctx, first)
	require.NoError(t, err)
	assert.True(t, repeated)
	f.write("N.md", "another\n")
	f.reconcile()
	same, err := f.Delete(ctx, notes.DeleteRequest{Note: "N", RequestKey: first})
	require.NoError(t, err)
	assert.Equal(t, d, same)
	assert.Equal(t, []string{"L.md"}, same.LinkedFrom)
	assert.Equal(t, "another\n", f.onDisk("N.md"))

	before := f.files()
	_, err = f.Repeated(ctx, again)
	require.ErrorIs(t, err, notes.ErrInvalid)
	_, err = f.Delete(ctx, notes.DeleteRequest{Note: "L", RequestKey: again})
	require.ErrorIs(t, err, notes.ErrInvalid)
	_, err = f.Create(ctx, notes.CreateRequest{Title: "New", RequestKey: notes.BindRequest("k", "create_note", "New")})
	require.ErrorIs(t, err, notes.ErrInvalid)
	domainError(t, err)
	assert.Equal(t, before, f.files())
}

func TestDeleteAndRestore(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "N.md", "text\n", "Linker.md", "see [[N]]\n")
	d, err := f.Delete(ctx, notes.DeleteRequest{Note: "N"})
	require.NoError(t, err)
	assert.Equal(t, []string{"Linker.md"}, d.LinkedFrom)
	assert.NotContains(t, f.files(), "N.md")
	f.requireConsistent()
	page, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "N"})
	require.NoError(t, err)
	require.Len(t, page.Revisions, 2)
	assert.Empty(t, page.Revisions[0].Hash)
	for _, r := range page.Revisions {
		_, err = f.History().Restore(ctx, notes.RestoreRequest{Note: "N.md", Revision: r.Revision})
		require.NoError(t, err, "also by the revision of the deletion")
		assert.Equal(t, "text\n", f.onDisk("N.md"))
	}
	f.requireConsistent()
	report, err := f.Links(ctx, "Linker", notes.LinkQuery{})
	require.NoError(t, err)
	require.Len(t, report.Outgoing, 1)
	assert.Equal(t, "N.md", report.Outgoing[0].To)
}

func TestForget_LeavesNoTrace(t *testing.T) {
	ctx := context.Background()
	secret := "xyzzy-plugh-" + strings.Repeat("4711", 10)
	f := newFixture(t, "Secret.md", secret, "Other.md", "o")
	_, err := f.Edit(ctx, notes.EditRequest{Note: "Secret", Edits: []notes.Edit{{Op: "append", Content: secret}}})
	require.NoError(t, err)
	_, err = f.History().Forget(ctx, "Secret", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrExists, "a living note is not forgotten")
	f.exec(f.store.Notes(), `INSERT INTO models (name, source, dimension, state) VALUES ('m', '', 1, 'ready')`)
	f.exec(f.store.Notes(), `INSERT INTO embeddings (model, hash, vector) SELECT 1, hash, hash FROM chunks`)
	_, err = f.Delete(ctx, notes.DeleteRequest{Note: "Secret"})
	require.NoError(t, err)
	done, err := f.History().Forget(ctx, "Secret", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, notes.Forgotten{Paths: []string{"Secret.md"}, Versions: 2}, done)
	assert.Equal(t, 1, f.view.resets, "followers are built anew")
	f.requireConsistent()
	_, err = f.History().Revisions(ctx, notes.HistoryQuery{Note: "Secret"})
	require.ErrorIs(t, err, notes.ErrNotFound)
	f.requireNoTrace(secret, "Secret", "secret")
	present := f.column(f.store.Notes(), `SELECT hash FROM chunks`)
	assert.Equal(t, present, f.column(f.store.Notes(), `SELECT hash FROM embeddings`), "a vector reveals what a text is about")
}

// TestForget_NameLikeAPassage forgets a note whose path looks like a heading in another one.
func TestForget_NameLikeAPassage(t *testing.T) {
	f := newFixture(t, "Plan#1.md", "one\n", "Plan.md", "two\n")
	for _, note := range []string{"Plan#1.md", "Plan.md"} {
		_, err := f.Delete(t.Context(), notes.DeleteRequest{Note: note})
		require.NoError(t, err)
	}
	done, err := f.History().Forget(t.Context(), "Plan#1.md", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, []string{"Plan#1.md"}, done.Paths)
	page, err := f.History().Revisions(t.Context(), notes.HistoryQuery{Note: "Plan.md#1"})
	require.NoError(t, err)
	assert.Equal(t, "Plan.md", page.Revisions[0].Path)
}

func TestSymlinkIsWrittenThrough(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "real/Target.md", "text\n")
	outside := filepath.Join(t.TempDir(), "out.md")
	require.NoError(t, os.WriteFile(outside, []byte("outside"), 0o644))
	require.NoError(t, os.Symlink("real/Target.md", filepath.Join(f.dir, "Link.md")))
	f.reconcile()
	_, err := f.Edit(ctx, notes.EditRequest{Note: "Link.md", Edits: []notes.Edit{{Op: "append", Content: "more"}}})
	require.NoError(t, err)
	assert.Equal(t, "text\n\nmore\n", f.onDisk("real/Target.md"))
	info, err := os.Lstat(filepath.Join(f.dir, "Link.md"))
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink, "the symlink is still one")
	paths, _ := f.queue.Take()
	require.NoError(t, f.reconcilePaths(ctx, paths))
	f.requireConsistent()

	f.remove("Link.md")
	require.NoError(t, os.Symlink(outside, filepath.Join(f.dir, "Link.md")))
	_, err = f.Edit(ctx, notes.EditRequest{Note: "Link.md", Edits: []notes.Edit{{Op: "append", Content: "more"}}})
	require.Error(t, err)
	data, err := os.ReadFile(outside)
	require.NoError(t, err)
	assert.Equal(t, "outside", string(data))
}

func TestWrite_FaultsKeepOldText(t *testing.T) {
	ctx := context.Background()
	appendTo := func(f *fixture) error {
		_, err := f.Edit(ctx, notes.EditRequest{Note: "N", Edits: []notes.Edit{{Op: "append", Content: "more"}}})
		return err
	}
	tests := []struct {
		name    string
		arrange func(t *testing.T, f *fixture)
		want    error
		says    string
	}{
		{"a hard link", func(t *testing.T, f *fixture) {
			require.NoError(t, os.Link(filepath.Join(f.dir, "N.md"), filepath.Join(f.dir, "twin.txt")))
		}, notes.ErrForbidden, "hard link"},
		{"a read-only file", func(t *testing.T, f *fixture) {
			full := filepath.Join(f.dir, "N.md")
			require.NoError(t, os.Chmod(full, 0o444))
			t.Cleanup(func() { assert.NoError(t, os.Chmod(full, 0o644)) }) // Windows cannot remove read-only files
		}, notes.ErrForbidden, "read-only"},
		{"a lock", holdLock, notes.ErrConflict, "lock"},
		{"an immutable file", func(t *testing.T, f *fixture) {
			full := filepath.Join(f.dir, "N.md")
			if err := exec.Command("chattr", "+i", full).Run(); err != nil {
				t.Skip("chattr +i is not possible here")
			}
			t.Cleanup(func() { assert.NoError(t, exec.Command("chattr", "-i", full).Run()) })
		}, notes.ErrForbidden, "permission to write there is denied"},
		{"removed between read and write", func(_ *testing.T, f *fixture) {
			f.failpoint = func(step string) error {
				if step == "staged" {
					f.remove("N.md")
				}
				return nil
			}
		}, notes.ErrConflict, "removed"},
		{"a server that lost the file", func(_ *testing.T, f *fixture) {
			f.failpoint = func(step string) error {
				if step == "create" {
					return &fs.PathError{Op: "open", Path: "/outside", Err: syscall.ESTALE}
				}
				return nil
			}
		}, notes.ErrUnavailable, "the system reports: stale"},
		{"a failing database", func(t *testing.T, f *fixture) {
			require.NoError(t, f.store.History().Write(t.Context(), func(tx *sql.Tx) error {
				_, err := tx.Exec(`PRAGMA query_only = 1`) // on the only writing connection
				return err
			}))
		}, notes.ErrUnavailable, "database cannot be used: attempt to write a readonly"},
		{"a failing sync", func(_ *testing.T, f *fixture) {
			f.failpoint = func(step string) error {
				if step == "staged" {
					return syscall.EIO
				}
				return nil
			}
		}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, "N.md", "old\n")
			tt.arrange(t, f)
			err := appendTo(f)
			require.Error(t, err)
			if tt.want != nil {
				require.ErrorIs(t, err, tt.want)
				assert.Contains(t, domainError(t, err).Error(), tt.says)
			}
			f.failpoint = nil
			for name, text := range f.files() {
				assert.NotContains(t, name, store.TempPrefix)
				assert.Equal(t, "old\n", text)
			}
		})
	}
}

// The lock on a note to be moved is reported with the note's name so far.
func TestMove_HeldFile(t *testing.T) {
	f := newFixture(t, "N.md", "old\n")
	f.failpoint = func(step string) error {
		if step == "before swap 0" {
			return errHeld
		}
		return nil
	}
	_, err := f.Move(t.Context(), notes.MoveRequest{Note: "N", To: "M.md"})
	require.ErrorIs(t, err, notes.ErrConflict)
	assert.Equal(t, "N.md", domainError(t, err).Path)
}

// TestFullAndReadOnlyDisks requires root, for real mounts.
func TestFullAndReadOnlyDisks(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", dir).Run(); err != nil {
		t.Skip("a tmpfs cannot be mounted here")
	}
	t.Cleanup(func() { assert.NoError(t, exec.Command("umount", dir).Run()) })
	f := &fixture{t: t, dir: dir, state: t.TempDir(), view: newMirror(), clock: &clock{}}
	f.clock.now = f.clock.now.AddDate(2200, 0, 0)
	f.write("N.md", strings.Repeat("old ", 20000))
	f.open(Options{})
	defer func() { assert.NoError(t, f.store.Close()) }()
	f.reconcile()
	before := f.files()
	for range 3 {
		_, err := f.Edit(ctx, notes.EditRequest{Note: "N", Edits: []notes.Edit{{Op: "append", Content: strings.Repeat("new ", 50000)}}})
		require.Error(t, err)
		assert.Contains(t, domainError(t, err).Error(), "full")
		_, err = f.Create(ctx, notes.CreateRequest{Title: "Big", Folder: "x/y", Content: strings.Repeat("new ", 80000)})
		assert.Contains(t, domainError(t, err).Error(), "full")
	}
	assert.Equal(t, before, f.files())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no folder is left either")

	require.NoError(t, exec.Command("mount", "-o", "remount,ro", dir).Run())
	_, err = f.Edit(ctx, notes.EditRequest{Note: "N", Edits: []notes.Edit{{Op: "append", Content: "x"}}})
	require.ErrorIs(t, err, notes.ErrReadOnly)
	assert.Equal(t, before, f.files())
}

// TestCostlyEditsAreComputedOutsideTheLock also checks that the edits apply to the text
// that the note has when they are written.
func TestCostlyEditsAreComputedOutsideTheLock(t *testing.T) {
	ctx := context.Background()
	long := strings.Repeat("a line of text\n", maxLockedEdits/15)
	edits := notes.EditRequest{Note: "A.md", Edits: []notes.Edit{{Op: "append", Content: "one"}, {Op: "append", Content: "two"}}}

	f := newFixture(t, "A.md", long)
	drafts := 0
	f.failpoint = func(step string) error {
		if step == "drafted" {
			drafts++
			require.True(t, f.mu.TryLock(), "the lock is free")
			f.mu.Unlock()
			if drafts == 1 {
				f.write("A.md", long+"an editor's line\n")
			}
		}
		return nil
	}
	_, err := f.Edit(ctx, edits)
	require.NoError(t, err)
	assert.Equal(t, 2, drafts)
	assert.Equal(t, long+"an editor's line\n\none\n\ntwo\n", f.onDisk("A.md"))

	f = newFixture(t, "A.md", long)
	f.failpoint = func(step string) error {
		if step == "drafted" {
			f.write("A.md", f.onDisk("A.md")+"again\n")
		}
		return nil
	}
	_, err = f.Edit(ctx, edits)
	require.ErrorIs(t, err, notes.ErrConflict)
	assert.NotContains(t, f.onDisk("A.md"), "one")

	f = newFixture(t, "A.md", long)
	edits.Edits = slices.Repeat(edits.Edits, 100)
	_, err = f.Edit(ctx, notes.EditRequest{Note: "A.md", Edits: slices.Repeat(edits.Edits, 2)})
	require.ErrorIs(t, err, notes.ErrInvalid, "too many at once")
	assert.Contains(t, err.Error(), "at most 200")
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = f.Edit(canceled, edits)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, long, f.onDisk("A.md"))
}

// TestCreate_InvalidTags checks that a tag that Obsidian would not read is rejected, as by add_tag,
// with how to write one.
func TestCreate_InvalidTags(t *testing.T) {
	f := newFixture(t, "B.md", "b\n")
	for tag, why := range map[string]string{"#two  words": `write "two-words"`, "1984": "not only digits", "a,b": "is no tag"} {
		_, err := f.Create(context.Background(), notes.CreateRequest{Title: "A", Tags: []string{"one", tag}})
		require.ErrorIs(t, err, notes.ErrInvalid)
		assert.Contains(t, domainError(t, err).Detail, why)
		_, err = f.Edit(context.Background(), notes.EditRequest{Note: "B", Edits: []notes.Edit{{Op: "add_tag", Tag: tag}}})
		require.ErrorContains(t, err, why)
	}
	assert.Len(t, f.files(), 1)
	_, err := f.Create(context.Background(), notes.CreateRequest{Title: "A", Tags: []string{" one ", "", "#a/b/", "two-words"}})
	require.NoError(t, err)
	assert.Contains(t, f.onDisk("A.md"), "tags:\n  - one\n  - a/b\n  - two-words\n")
}

// TestEdit_NoteBeingSaved checks that a note that another program has just emptied, to save
// it in place, keeps its text in the store and is not edited until the program has written
// the new text or some time has passed.
func TestEdit_NoteBeingSaved(t *testing.T) {
	f := newFixture(t, "a.md", "text\n")
	ctx := context.Background()
	add := func() error {
		_, err := f.Edit(ctx, notes.EditRequest{Note: "a.md", Edits: []notes.Edit{{Op: "append", Content: "added"}}})
		return err
	}
	clockAfter := func(age time.Duration) { // sets the clock relative to the last change of the file
		info, err := os.Stat(filepath.Join(f.dir, "a.md"))
		require.NoError(t, err)
		f.clock.mu.Lock()
		defer f.clock.mu.Unlock()
		f.clock.now = info.ModTime().Add(age)
	}
	f.view.kinds()
	for _, saved := range []string{"saved text\n", ""} {
		f.write("a.md", "")
		clockAfter(2*time.Second - 20*time.Millisecond)
		f.reconcile()
		assert.Empty(t, f.view.kinds(), "it keeps its text")
		<-f.queue.Signal() // Run sets its timer
		assert.Equal(t, 20*time.Millisecond, f.rereads.next().Sub(f.opt.Now()), "it is read again")
		require.ErrorIs(t, add(), notes.ErrConflict)
		assert.Empty(t, f.onDisk("a.md"))
		f.write("a.md", saved)
		clockAfter(2 * time.Second)
		f.reconcile()
		assert.Len(t, f.view.kinds(), 1)
		require.NoError(t, add())
		assert.Equal(t, strings.TrimLeft(saved+"\nadded\n", "\n"), f.onDisk("a.md"))
		f.view.kinds()
	}
	f.requireConsistent()
}

package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
	"notesd/notes"
	"notesd/notes/store"
)

// TestChooseTarget_Folders checks that links resolve within each folder of a vault with
// several, as in Obsidian, and by the titles of Logseq pages.
func TestChooseTarget_Folders(t *testing.T) {
	s := openStore(t, t.TempDir())
	s.Several = []string{"home", "work"}
	require.NoError(t, s.SetLogseq(t.Context(), map[string]string{"work": ""}))
	all := []string{"home/Plan.md", "work/Plan.md", "work/Area/Plan.md", "home/Only.md", "work/a___b.md", "home/a___b.md", "work/x/Twin.md", "work/y/Twin.md", "work/case.md", "work/Sub/Case.md", "work/pic.png"}
	candidates := map[string][]store.Target{}
	for i, p := range all {
		target := store.Target{ID: int64(i + 1), Path: p}
		if !notes.IsNoteName(p) {
			target.ID = 0
		}
		s.AddTarget(candidates, store.LinkKey(p), target)
	}
	for _, tt := range []struct {
		from, link string
		kind       notes.LinkKind
		want       string // "" if unresolved, "?" if ambiguous
	}{
		{"home/A.md", "Plan", markdown.LinkWiki, "home/Plan.md"},
		{"work/A.md", "Plan", markdown.LinkWiki, "work/Plan.md"},
		{"work/Area/A.md", "Plan", markdown.LinkWiki, "work/Plan.md"},
		{"work/Area/A.md", "Plan.md", markdown.LinkMarkdown, "work/Area/Plan.md"},
		{"work/A.md", "/Area/Plan", markdown.LinkWiki, "work/Area/Plan.md"},
		{"work/A.md", "Only", markdown.LinkWiki, ""},
		{"work/A.md", "home/Only", markdown.LinkWiki, "home/Only.md"},
		{"work/A.md", "HOME/only.md", markdown.LinkMarkdown, "home/Only.md"},
		{"work/A.md", "pic.png", markdown.LinkEmbed, "work/pic.png"},
		{"work/A.md", "Twin", markdown.LinkWiki, "?"},
		{"work/x/A.md", "Twin", markdown.LinkWiki, "work/x/Twin.md"},
		{"work/A.md", "Case", markdown.LinkWiki, "work/case.md"},
		{"work/Sub/A.md", "./Case", markdown.LinkWiki, "work/Sub/Case.md"},
		{"work/Sub/A.md", "../case", markdown.LinkWiki, "work/case.md"},
		{"work/A.md", "a/b", markdown.LinkWiki, "work/a___b.md"},
		{"work/A.md", "A/B", markdown.LinkWiki, "work/a___b.md"},
		{"work/A.md", "a/b", markdown.LinkMarkdown, ""},
		{"work/A.md", "a/b", markdown.LinkImage, ""},
		{"home/A.md", "a/b", markdown.LinkWiki, ""},
	} {
		got, state := s.ChooseTarget(tt.from, tt.link, tt.kind, candidates[store.LinkKey(tt.link)])
		switch {
		case tt.want == "?":
			assert.Zero(t, got.ID, "%+v", tt)
			assert.NotContains(t, []int{0, store.LinkResolved, store.LinkAttachment}, state, "%+v", tt)
		case tt.want == "":
			assert.Zero(t, got, "%+v", tt)
			assert.Zero(t, state, "%+v", tt)
		default:
			assert.Equal(t, tt.want, got.Path, "%+v", tt)
			assert.Equal(t, notes.IsNoteName(tt.want), state == store.LinkResolved, "%+v", tt)
			assert.Equal(t, !notes.IsNoteName(tt.want), state == store.LinkAttachment, "%+v", tt)
		}
	}
	assert.Equal(t, "a/b", s.PageTitle("work/sub/a___b.md"))
	assert.Empty(t, s.PageTitle("work/a___b.png"))
	assert.Empty(t, s.PageTitle("home/a___b.md"))
}

// TestInVault checks the conversion of app links and absolute paths to paths in the
// vault.
func TestInVault(t *testing.T) {
	root := t.TempDir()
	home, work := filepath.Join(root, "Home"), filepath.Join(root, "w", "Work")
	several := &store.Layout{Several: []string{"home", "work"}, Roots: map[string]string{home: "home", work: "work"}}
	one := &store.Layout{Roots: map[string]string{home: ""}}
	composed := &store.Layout{Roots: map[string]string{filepath.Join(root, "Pers\u00f6nlich"): ""}}
	decomposed := &store.Layout{Roots: map[string]string{filepath.Join(root, "Perso\u0308nlich"): ""}}
	for _, tt := range []struct {
		layout    *store.Layout
		ref, want string
	}{
		{several, "Plan", "Plan"},
		{several, filepath.Join(work, "Sub", "Plan.md"), "work/Sub/Plan.md"},
		{several, home + "/Sub/", "home/Sub/"},
		{several, filepath.Join(home, "Sub") + string(filepath.Separator), "home/Sub/"},
		{several, filepath.FromSlash("home/Sub/"), "home/Sub/"},
		{several, home, "home"},
		{several, home + "2/Plan.md", filepath.ToSlash(home) + "2/Plan.md"},
		{several, filepath.Join(root, "Plan.md"), filepath.ToSlash(root) + "/Plan.md"},
		{several, "obsidian://open?vault=WORK&file=Sub%2FPlan", "work/Sub/Plan"},
		{several, "obsidian://open?vault=Other&file=Plan", "Plan"},
		{several, "file:///" + strings.TrimPrefix(filepath.ToSlash(work), "/") + "/A%20b.md", "work/A b.md"},
		{one, filepath.Join(home, "Plan.md"), "Plan.md"},
		{one, "obsidian://open?vault=Home&file=Plan", "Plan"},
		{composed, filepath.Join(root, "Perso\u0308nlich", "A\u0308.md"), "\u00c4.md"},
		{composed, filepath.Join(root, "Pers\u00f6nlich", "A.md"), "A.md"},
		{decomposed, filepath.Join(root, "Pers\u00f6nlich", "Sub") + "/", "Sub/"},
	} {
		assert.Equal(t, tt.want, tt.layout.InVault(tt.ref), tt.ref)
	}
}

// TestDailyFolder checks that periodic notes are in the configured folder, else in one
// whose app has settings for them, else in the first that the caller may read.
func TestDailyFolder(t *testing.T) {
	daily := &notes.Periodic{Notes: map[notes.Unit]notes.PeriodicNotes{notes.Day: {}}}
	layout := func(set string, apps map[string]store.App) *store.Layout {
		l := &store.Layout{Several: []string{"a", "b", "c"}}
		l.Apps.Store(&apps)
		l.Daily.Store(&set)
		return l
	}
	inC := map[string]store.App{"c": {Periodic: daily}}
	for _, tt := range []struct {
		layout *store.Layout
		read   []string
		want   string
	}{
		{layout("", nil), nil, "a"},
		{layout("", inC), nil, "c"},
		{layout("b", inC), nil, "b"},
		{layout("b", inC), []string{"A/x", "c"}, "c"},
		{layout("", inC), []string{"b"}, "b"},
		{layout("", nil), []string{"b/Sub/"}, "b"},
		{layout("", nil), []string{"elsewhere"}, "a"},
	} {
		assert.Equal(t, tt.want, tt.layout.DailyFolder(notes.Scope{Read: tt.read}), "%q", tt.read)
	}
	assert.Empty(t, (&store.Layout{}).DailyFolder(notes.Scope{}))
	assert.NotNil(t, layout("", nil).AppOf("a/N.md").Periodic)
	assert.Same(t, daily, layout("", inC).AppOf("c/N.md").Periodic)
}

// TestMoment_Words checks the parsing of times, ages, and the first and last moments of
// periods.
func TestMoment_Words(t *testing.T) {
	l := &store.Layout{}
	l.Apps.Store(&map[string]store.App{})
	now := time.Date(2031, 5, 15, 12, 0, 0, 0, time.Local) // a Thursday
	for _, tt := range []struct{ text, first, last string }{
		{"yesterday", "2031-05-14 00:00:00", "2031-05-14 23:59:59"},
		{"today", "2031-05-15 00:00:00", "2031-05-15 12:00:00"},
		{"this month", "2031-05-01 00:00:00", "2031-05-15 12:00:00"},
		{"next month", "2031-06-01 00:00:00", "2031-06-01 00:00:00"},
		{"friday", "2031-05-09 00:00:00", "2031-05-09 23:59:59"},
		{"36h", "2031-05-14 00:00:00", "2031-05-14 00:00:00"},
		{"3 hours ago", "2031-05-15 09:00:00", "2031-05-15 09:00:00"},
		{"an hour ago", "2031-05-15 11:00:00", "2031-05-15 11:00:00"},
		{"7d", "2031-05-08 00:00:00", "2031-05-08 23:59:59"},
		{"0d", "2031-05-15 00:00:00", "2031-05-15 12:00:00"},
		{"1 day ago", "2031-05-14 00:00:00", "2031-05-14 23:59:59"},
		{"2 Weeks", "2031-05-01 00:00:00", "2031-05-01 23:59:59"},
		{"a month ago", "2031-04-15 00:00:00", "2031-04-15 23:59:59"},
		{"2031-05-14 09:30", "2031-05-14 09:30:00", "2031-05-14 09:30:00"},
	} {
		for want, last := range map[string]bool{tt.first: false, tt.last: true} {
			if tt.first == tt.last {
				want = tt.last
			}
			at, ok := l.Moment(tt.text, now, last)
			require.True(t, ok, tt.text)
			assert.Equal(t, want, at.Format(time.DateTime), "%s, %t", tt.text, last)
		}
	}
	for _, text := range []string{"", "soon", "-3h", "-7d", "ago", "days ago", "2031-13-01"} {
		_, ok := l.Moment(text, now, true)
		assert.False(t, ok, text)
	}
}

// TestPeriodicPath checks that, without settings, daily notes are named like most of
// the newest ones.
func TestPeriodicPath(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  map[string]string
	}{
		"no daily notes": {nil, map[string]string{"today": "2031-05-15.md", "this week": "2031-W20.md", "this month": "2031-05.md", "Plan": ""}},
		"a folder by year": {map[string]string{"Log/2031/2031-05-01.md": "", "Log/2030/2030-12-31.md": "", "2029-01-01.md": ""},
			map[string]string{"today": "Log/2031/2031-05-15.md", "this year": "Log/2031.md"}},
		"Logseq's": {map[string]string{"journals/2031_05_01.md": ""}, map[string]string{"tomorrow": "journals/2031_05_16.md"}},
		"a tie":    {map[string]string{"b/2031-05-01.md": "", "a/2031-05-02.md": ""}, map[string]string{"today": "a/2031-05-15.md"}},
	} {
		w := newWorld(t, tt.files)
		for words, want := range tt.want {
			p, _, err := w.PeriodicPath(t.Context(), words, notes.Scope{})
			require.NoError(t, err)
			assert.Equal(t, want, p, "%s: %s", name, words)
		}
	}
}

// TestSetDates checks that changed rules update the dates of all notes, and that equal
// rules write nothing.
func TestSetDates(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, map[string]string{"A.md": "---\nwhen: 2020-02-03\ncreated: 2019-01-01\n---\n", "B.md": "b", "Log/03.02.2020.md": "c", "Dendron.md": "---\nupdated: 1654023600000\n---\n"})
	dates := func(s *store.Store) map[string]string {
		page, err := s.List(ctx, notes.ListQuery{Fields: []string{"created"}})
		require.NoError(t, err)
		all := map[string]string{}
		for _, m := range page.Notes {
			all[m.Path] = m.Date.Format(time.DateOnly)
		}
		return all
	}
	before := dates(w.Store)
	assert.NotEqual(t, "2020-02-03", before["A.md"])
	updated := time.UnixMilli(1654023600000).Format(time.DateOnly)
	assert.Equal(t, updated, before["Dendron.md"])
	rules := func() *notes.DateRules {
		r := &notes.DateRules{Keys: []string{"when"}, Names: []notes.NameFormat{{Folder: "Log", Format: "DD.MM.YYYY"}}}
		r.Compile()
		return r
	}
	require.NoError(t, w.SetDates(ctx, rules()))
	after := map[string]string{"A.md": "2020-02-03", "B.md": before["B.md"], "Log/03.02.2020.md": "2020-02-03", "Dendron.md": updated}
	assert.Equal(t, after, dates(w.Store))
	oldest, err := w.List(ctx, notes.ListQuery{Sort: "created"})
	require.NoError(t, err)
	assert.Equal(t, "A.md", oldest.Notes[3].Path, "a note begins at the earliest date that is known")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	require.NoError(t, w.SetDates(ended, rules()), "nothing is written")
	require.Error(t, w.SetDates(ended, &notes.DateRules{}))
	assert.Equal(t, after, dates(w.Store))

	copied := t.TempDir()
	require.NoError(t, w.Notes().Backup(ctx, filepath.Join(copied, store.NotesFile)))
	again := openStore(t, copied)
	require.NoError(t, again.SetDates(ended, rules()), "they are kept with the notes")
	assert.Equal(t, w.ID(), again.ID())
	head := again.Head()
	assert.Equal(t, w.Head(), head)
}

// TestOpen_Damaged checks that a damaged database is set aside with a warning, and that
// readable rows of history are carried over.
func TestOpen_Damaged(t *testing.T) {
	for i := range 4 {
		file, size := []string{store.NotesFile, store.HistoryFile}[i%2], []int64{100, 0}[i/2]
		dir := t.TempDir()
		s, err := store.Open(t.Context(), dir)
		require.NoError(t, err)
		op := editOf("A.md", "old\n", "new\n")
		require.NoError(t, s.Begin(t.Context(), op, nil))
		op.Files[0].State = store.StateDone
		_, err = s.Finish(t.Context(), op, nil, op.Written())
		require.NoError(t, err)
		assert.Empty(t, s.Warnings())
		assert.Positive(t, s.Size())
		id := s.ID()
		require.NoError(t, s.Close())
		require.NoError(t, os.Truncate(filepath.Join(dir, file), size))

		s = openStore(t, dir)
		require.Len(t, s.Warnings(), 1)
		assert.Contains(t, s.Warnings()[0], file+" was damaged; it was set aside as "+file)
		assert.Equal(t, file == store.HistoryFile, id == s.ID(), "notes.db that is rebuilt is another store")
		aside, err := filepath.Glob(filepath.Join(dir, file+".*-*"))
		require.NoError(t, err)
		assert.NotEmpty(t, aside)
		page, err := s.Page(t.Context(), "A.md", notes.HistoryQuery{})
		require.NoError(t, err)
		assert.Equal(t, file == store.NotesFile, len(page.Revisions) == 2)
	}
}

// TestOpen_KilledInSetAside checks that a start which was killed after it had set aside a damaged
// history, but neither its log nor the salvaged history in its place, is completed by the next.
func TestOpen_KilledInSetAside(t *testing.T) {
	keep := func(s *store.Store, p string) {
		op := editOf(p, "old\n", "new\n")
		require.NoError(t, s.Begin(t.Context(), op, nil))
		op.Files[0].State = store.StateDone
		_, err := s.Finish(t.Context(), op, nil, op.Written())
		require.NoError(t, err)
	}
	other := openStore(t, t.TempDir())
	keep(other, "Damaged.md")
	log, err := os.ReadFile(other.History().Path() + "-wal")
	require.NoError(t, err)

	dir := t.TempDir()
	s, err := store.Open(t.Context(), dir)
	require.NoError(t, err)
	assert.Empty(t, s.Warnings())
	keep(s, "A.md")
	require.NoError(t, s.Close())
	path := filepath.Join(dir, store.HistoryFile)
	require.NoError(t, os.Rename(path, path+".salvaged"))
	require.NoError(t, os.WriteFile(path+"-wal", log, 0o600))

	s = openStore(t, dir)
	assert.Len(t, s.Warnings(), 1)
	page, err := s.Page(t.Context(), "A.md", notes.HistoryQuery{})
	require.NoError(t, err)
	assert.Len(t, page.Revisions, 2)
	docs, err := s.Documents(t.Context(), "Damaged.md")
	require.NoError(t, err)
	assert.Empty(t, docs, "the log belongs to another database")
	aside, err := filepath.Glob(path + ".damaged-*-wal")
	require.NoError(t, err)
	assert.Len(t, aside, 1)
	assert.NoFileExists(t, path+".salvaged")
}

// TestHasMostOf checks that notes are found at any path, and that a store that is
// small, unrelated or missing never matches.
func TestHasMostOf(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, map[string]string{"New/A.md": "a", "B.md": "b", "C.md": "c", "D.md": "d", "Empty.md": ""})
	for name, tt := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"most of them":    {map[string]string{"A.md": "a", "B.md": "b", "C.md": "c", "X.md": "x", "Y.md": "y"}, true},
		"half of them":    {map[string]string{"A.md": "a", "B.md": "b", "C.md": "c", "X.md": "x", "Y.md": "y", "Z.md": "z"}, false},
		"two":             {map[string]string{"A.md": "a", "B.md": "b"}, false},
		"empty ones only": {map[string]string{"A.md": "", "B.md": "", "C.md": "", "D.md": ""}, false},
	} {
		other := newWorld(t, tt.files)
		dir := t.TempDir()
		require.NoError(t, other.Notes().Backup(ctx, filepath.Join(dir, store.NotesFile)))
		assert.Equal(t, tt.want, w.HasMostOf(ctx, dir), name)
		assert.Equal(t, tt.want, w.HasMostOf(ctx, dir), "%s, once more", name)
	}
	assert.False(t, w.HasMostOf(ctx, t.TempDir()))
	is, err := w.IsOf(ctx, w.dir)
	require.NoError(t, err)
	assert.True(t, is)
	is, err = w.IsOf(ctx, t.TempDir())
	require.NoError(t, err)
	assert.False(t, is)
}

func TestIsOf_ManyNotes(t *testing.T) {
	const many = 2500
	files := map[string]string{}
	name := func(i int) string { return fmt.Sprintf("%04d.md", i) }
	for i := range many {
		files[name(i)] = "x"
	}
	w := newWorld(t, files)
	for deleted, want := range []bool{true, true, false} { // thirds of the files
		is, err := w.IsOf(t.Context(), w.dir)
		require.NoError(t, err)
		assert.Equal(t, want, is, "%d thirds are deleted", deleted)
		for i := deleted; i < many; i += 3 {
			require.NoError(t, os.Remove(filepath.Join(w.dir, name(i))))
		}
	}
}

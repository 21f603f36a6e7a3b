package vault

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// dayOf returns the stored day of the note, or "mtime" if it has none.
func (f *fixture) dayOf(name string) string {
	f.t.Helper()
	m, err := f.Lookup(context.Background(), name, notes.Scope{})
	require.NoError(f.t, err)
	if m.Date.Equal(m.Modified) {
		return "mtime"
	}
	return m.Date.Format(time.DateOnly)
}

func TestDates(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"Plain.md", "x", "mtime"},
		{"Daily/2026-02-16.md", "x", "2026-02-16"},
		{"2026-02-16 Standup.md", "x", "2026-02-16"},
		{"journals/2020_09_14.md", "x", "2020-09-14"},
		{"Weeks/2026-W07.md", "x", "2026-02-09"},
		{"Weeks/2020-W53.md", "x", "2020-12-28"},
		{"2021-W53.md", "x", "mtime"}, // 2021 has 52 weeks
		{"2026-02-30.md", "x", "mtime"},
		{"2026-02_16.md", "x", "mtime"},
		{"2026-02-161.md", "x", "mtime"},
		{"1066-10-14 Hastings.md", "x", "mtime"},
		{"2023-04-12T10_20_30.002+02_00.md", "x", "2023-04-12"}, // of Google Keep
		{"Roam/March 3rd, 2021.md", "x", "2021-03-03"},
		{"March 32nd, 2021.md", "x", "mtime"},
		{"On March 3rd, 2021.md", "x", "mtime"},
		{"Front.md", "---\ndate: 2024-05-06\nupdated: 2025-01-01\n---\nx", "2024-05-06"},
		{"Linter.md", "---\ndate created: 2022-01-13T19:49:14\n---\nx", "2022-01-13"},
		{"Linter modified.md", "---\ndate created: 2022-01-13\ndate modified: 2023-03-04\n---\nx", "2023-03-04"},
		{"Linter long.md", "---\ndate created: Thursday, January 13th 2022, 7:49:14 pm\n---\nx", "2022-01-13"},
		{"dendron.note.md", "---\nupdated: 1612345678901\ncreated: 1609459200000\n---\nx", "2021-02-03"},
		{"Digits.md", "---\nupdated: 20230105101500\ncreated: 202301051015\n---\nx", "mtime"},
		{"Snake.md", "---\nDate_Created: 2022-01-14\n---\nx", "2022-01-14"},
		{"2026-02-17.md", "---\ndate modified: 2026-03-01\n---\nx", "2026-02-17"}, // modified later, but the name has its day
		{"2026-02-18.md", "---\ndate: 2026-02-01\n---\nx", "2026-02-01"},
		{"Mine.md", "---\npublished: 2019-08-07\ndate: 2024-05-06\n---\nx", "2024-05-06"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, test.name, test.text)
			assert.Equal(t, test.want, f.dayOf(test.name))
		})
	}
}

// The settings of Obsidian and its plugins determine the names of periodic notes, and
// changing them affects existing notes.
func TestDatesFollowObsidian(t *testing.T) {
	f := newFixture(t, "Journal/2026/02/16th February.md", "x", "Weekly/26 week 7.md", "x", "Q/2026-Q2.md", "x", "Other/2026/02/16th February.md", "x")
	assert.Equal(t, "mtime", f.dayOf("Journal/2026/02/16th February.md"))
	before := f.store.Head()

	f.write(".obsidian/daily-notes.json", `{"folder": "Journal/", "format": "YYYY/MM/Do MMMM", "template": "T"}`)
	f.write(".obsidian/plugins/periodic-notes/data.json", `{"weekly": {"enabled": true, "format": "YY [week] w", "folder": "weekly"},
		"quarterly": {"enabled": true, "format": "", "folder": "Q"}, "yearly": {"enabled": false}}`)
	f.reconcile()
	assert.Equal(t, "2026-02-16", f.dayOf("Journal/2026/02/16th February.md"))
	assert.Equal(t, "mtime", f.dayOf("Other/2026/02/16th February.md"))
	assert.Equal(t, "2026-02-09", f.dayOf("Weekly/26 week 7.md"))
	assert.Equal(t, "2026-04-01", f.dayOf("Q/2026-Q2.md"))
	after := f.store.Head()
	assert.Equal(t, before, after, "a date is no change of the note: nothing is indexed or embedded again")

	f.restart()
	f.write("Journal/2026/02/17th February.md", "x")
	require.NoError(t, f.reconcilePaths(t.Context(), []string{"Journal/2026/02/17th February.md"}))
	assert.Equal(t, "2026-02-17", f.dayOf("Journal/2026/02/17th February.md"))

	f.write(".obsidian/daily-notes.json", `{"format": `) // as while being written
	f.reconcile()
	assert.Equal(t, "mtime", f.dayOf("Journal/2026/02/16th February.md"))
}

// A day is stored as the time at which it begins, which depends on the time zone.
func TestDatesInAnotherTimeZone(t *testing.T) {
	before := time.Local
	t.Cleanup(func() { time.Local = before })
	time.Local = time.FixedZone("east", 9*60*60)
	f := newFixture(t, "Daily/2026-02-16.md", "x", "Front.md", "---\ndate: 2024-05-06\n---\nx")
	for _, hours := range []int{-5, 14} {
		time.Local = time.FixedZone("", hours*60*60)
		f.restart()
		f.reconcile()
		for name, day := range map[string]string{"Daily/2026-02-16.md": "2026-02-16", "Front.md": "2024-05-06"} {
			assert.Equal(t, day, f.dayOf(name))
			page, err := f.List(t.Context(), notes.ListQuery{Filter: notes.Filter{Where: map[string]any{"file.cday": day}}})
			require.NoError(t, err)
			assert.Equal(t, 1, page.Total, "%s is created on %s at %d", name, day, hours)
		}
	}
}

// Settings of the app are read only inside the vault, up to a size limit.
func TestAppSettingsAreBounded(t *testing.T) {
	f := newFixture(t, "16.02.2026 a.md", "x")
	outside := filepath.Join(t.TempDir(), "daily-notes.json")
	require.NoError(t, os.WriteFile(outside, []byte(`{"format": "DD.MM.YYYY [a]"}`), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(f.dir, ".obsidian"), 0o700))
	inside := filepath.Join(f.dir, ".obsidian", "daily-notes.json")
	require.NoError(t, os.Symlink(outside, inside))
	f.reconcile()
	assert.Equal(t, "mtime", f.dayOf("16.02.2026 a.md"))

	require.NoError(t, os.Remove(inside))
	large := append([]byte(`{"format": "DD.MM.YYYY [a]", "x": "`), make([]byte, 1<<20)...)
	require.NoError(t, os.WriteFile(inside, append(large, `"}`...), 0o600))
	f.reconcile()
	assert.Equal(t, "mtime", f.dayOf("16.02.2026 a.md"))

	f.write(".obsidian/daily-notes.json", `{"format": "DD.MM.YYYY [a]"}`)
	f.reconcile()
	assert.Equal(t, "2026-02-16", f.dayOf("16.02.2026 a.md"))
}

// Notes in a database without stored date rules are dated again.
func TestDatesAfterAnUpgrade(t *testing.T) {
	f := newFixture(t, "Daily/2026-02-16.md", "x", "A.md", "---\npublished: 2019-08-07\n---\nx")
	assert.Equal(t, "mtime", f.dayOf("A.md"))
	require.NoError(t, f.store.Notes().Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `UPDATE notes SET date = mtime; DELETE FROM store WHERE key = 'dates'`)
		return err
	}))
	require.NoError(t, f.store.Close())
	f.open(Options{Dates: []string{"Published"}})
	f.reconcile()
	assert.Equal(t, "2026-02-16", f.dayOf("2026-02-16"))
	assert.Equal(t, "2019-08-07", f.dayOf("A.md"))
}

// A new mtime changes the date of a note only if the note has no date of its own.
func TestDates_NewMtime(t *testing.T) {
	f := newFixture(t, "A.md", "x", "2026-02-16.md", "x")
	at := time.Date(2025, 6, 7, 8, 9, 10, 0, time.UTC)
	for _, name := range []string{"A.md", "2026-02-16.md"} {
		require.NoError(t, os.Chtimes(filepath.Join(f.dir, name), at, at))
	}
	f.reconcile()
	m, err := f.Lookup(t.Context(), "A.md", notes.Scope{})
	require.NoError(t, err)
	assert.True(t, m.Modified.Equal(at))
	assert.True(t, m.Date.Equal(at))
	assert.Equal(t, "2026-02-16", f.dayOf("2026-02-16.md"))
}

// No format, however odd, causes a failure or matches a name that is not a date.
func FuzzNameFormat(f *testing.F) {
	for _, seed := range []string{"YYYY-MM-DD", "YYYY/MM-MMMM/YYYY-MM-DD-dddd", "gggg-[W]ww", "]", "[", "[a]b]", "Do", "", "日YYYY年M月D日", "((("} {
		f.Add(seed, "2026-02-16")
	}
	f.Fuzz(func(t *testing.T, format, name string) {
		n := notes.NameFormat{Format: format}
		n.Compile()
		if day, ok := n.Match(name); ok {
			assert.False(t, day.Year() < 1900 || day.Year() >= 2250)
		}
		_, err := json.Marshal(notes.DateRules{Names: []notes.NameFormat{n}})
		assert.NoError(t, err)
	})
}

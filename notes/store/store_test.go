package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault"
)

// world is a store behind a vault in a temp folder, with a clock.
type world struct {
	*store.Store
	vault *vault.Vault
	t     testing.TB
	dir   string

	mu  sync.Mutex
	now time.Time
}

func (w *world) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(d time.Duration) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
	return w.now
}

// newWorld creates a vault with these files, which map paths to texts.
func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	w := &world{t: t, dir: notestest.Vault(t, files), now: time.Date(2031, 5, 15, 12, 0, 0, 0, time.Local)}
	var err error
	w.Store, err = store.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	w.vault, err = vault.New(t.Context(), w.Store, w.dir, vault.Options{Now: w.Now})
	require.NoError(t, err)
	w.reconcile()
	return w
}

func (w *world) reconcile() {
	w.t.Helper()
	require.NoError(w.t, w.vault.Reconcile(context.Background()))
}

// save writes a file as another program would, and scans.
func (w *world) save(name, text string) {
	w.t.Helper()
	full := filepath.Join(w.dir, filepath.FromSlash(name))
	require.NoError(w.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(w.t, os.WriteFile(full, []byte(text), 0o644))
	w.reconcile()
}

// list returns the paths of notes that match a filter, sorted.
func (w *world) list(f notes.Filter) []string {
	w.t.Helper()
	page, err := w.List(context.Background(), notes.ListQuery{Filter: f, Sort: "path"})
	require.NoError(w.t, err)
	paths := []string{}
	for _, m := range page.Notes {
		paths = append(paths, m.Path)
	}
	require.Len(w.t, paths, page.Total)
	return paths
}

type object = map[string]any

// TestWhere checks conditions on front matter, inline fields and file properties.
func TestWhere(t *testing.T) {
	w := newWorld(t, map[string]string{
		"Tasks/A.md":      "---\nstatus: open\ndue: 2031-05-16\npeople: [Ann, Ben]\n---\nrating:: 8\n",
		"Tasks/B.md":      "---\nstatus: done\ndue: 2031-05-20\n---\n- [ ] call (who:: [[Ann]]) \n- **Last Contact**:: 2031-05-14T10:00\n",
		"Notes/C.md":      "status:: open\nrating:: 12\npeople:: [[Ann]], [[Cid]]\nurgent:: true\n",
		"Notes/Deep/D.md": "---\nproject: {name: Big, lead: Ann}\n---\n```\nstatus:: open\n```\n",
	})
	for name, tt := range map[string]struct {
		where object
		want  []string
	}{
		"front matter and inline": {object{"status": "open"}, []string{"Notes/C.md", "Tasks/A.md"}},
		"not in code":             {object{"status": object{"exists": false}}, []string{"Notes/Deep/D.md"}},
		"numbers as numbers":      {object{"rating": object{"gt": 8}}, []string{"Notes/C.md"}},
		"booleans":                {object{"urgent": true}, []string{"Notes/C.md"}},
		"has, of links":           {object{"people": object{"has": "Ann"}}, []string{"Notes/C.md", "Tasks/A.md"}},
		"a link as its text":      {object{"who": "Ann"}, []string{"Tasks/B.md"}},
		"a link as written":       {object{"who": "[[Ann]]"}, []string{"Tasks/B.md"}},
		"one of several links":    {object{"people": "cid"}, []string{"Notes/C.md"}},
		"contains":                {object{"who": object{"contains": "ann"}}, []string{"Tasks/B.md"}},
		"a key with a blank":      {object{"last-contact": "yesterday"}, []string{"Tasks/B.md"}},
		"or":                      {object{"or": []any{object{"status": "done"}, object{"rating": object{"gte": 12}}}}, []string{"Notes/C.md", "Tasks/B.md"}},
		"$or and a field":         {object{"$or": []any{object{"status": "done"}, object{"status": "open"}}, "folder": "Tasks"}, []string{"Tasks/A.md", "Tasks/B.md"}},
		"not, of a group":         {object{"not": object{"status": "open"}}, []string{"Notes/Deep/D.md", "Tasks/B.md"}},
		"not, of an operator":     {object{"status": object{"not": object{"has": "op"}}}, []string{"Notes/Deep/D.md", "Tasks/B.md"}},
		"not, of a value":         {object{"status": object{"not": "open"}}, []string{"Notes/Deep/D.md", "Tasks/B.md"}},
		"and in or":               {object{"or": []any{object{"and": []any{object{"status": "open"}, object{"rating": 8}}}, object{"project.name": "big"}}}, []string{"Notes/Deep/D.md", "Tasks/A.md"}},
		"one of, in a list":       {object{"people": object{"in": []any{"Ben", "cid"}}}, []string{"Notes/C.md", "Tasks/A.md"}},
		"none of, in a list":      {object{"people": object{"nin": []any{"Cid"}, "exists": true}}, []string{"Tasks/A.md"}},
		"none of":                 {object{"status": object{"nin": []any{"open", "done"}}}, []string{"Notes/Deep/D.md"}},
		"file.name":               {object{"file.name": "D"}, []string{"Notes/Deep/D.md"}},
		"file.folder":             {object{"file.folder": object{"has": "Deep"}}, []string{"Notes/Deep/D.md"}},
		"folder":                  {object{"folder": "notes"}, []string{"Notes/C.md"}},
		"tomorrow":                {object{"due": "tomorrow"}, []string{"Tasks/A.md"}},
		"a weekday":               {object{"due": "friday"}, []string{"Tasks/A.md"}},
		"a coming day":            {object{"due": object{"lt": "in 4 days"}}, []string{"Tasks/A.md"}},
		"a past day":              {object{"due": object{"gt": "2 weeks ago", "lt": "last monday"}}, []string{}},
		"a time of a day":         {object{"last-contact": object{"gt": "2031-05-14T09:00"}}, []string{"Tasks/B.md"}},
		"this week, to its end":   {object{"due": object{"lte": "this week"}}, []string{"Tasks/A.md"}},
		"after this week":         {object{"due": object{"gt": "this week"}}, []string{"Tasks/B.md"}},
		"in a month":              {object{"due": "2031-05"}, []string{"Tasks/A.md", "Tasks/B.md"}},
		"from a named month on":   {object{"due": object{"gte": "May 2031"}}, []string{"Tasks/A.md", "Tasks/B.md"}},
		"from a day on":           {object{"due": object{"gte": "2031-05-16", "lt": "2031-05-20"}}, []string{"Tasks/A.md"}},
	} {
		assert.Equal(t, tt.want, w.list(notes.Filter{Where: tt.where}), name)
	}
	assert.Equal(t, []string{"Notes/C.md"}, w.list(notes.Filter{Folder: "Notes", Where: object{"status": "open"}}))
	for _, where := range []object{
		{"status": object{"is": 1}}, {"or": []any{object{"status": object{"$like": 1}}}}, {"not": object{"a": object{"not": object{"is": 1}}}},
		deep(20),
	} {
		_, err := w.List(t.Context(), notes.ListQuery{Filter: notes.Filter{Where: where}})
		require.ErrorIs(t, err, notes.ErrInvalid)
	}
	page, err := w.List(t.Context(), notes.ListQuery{Sort: "path", Fields: []string{"Rating", "people", "file.name", "nothing"}})
	require.NoError(t, err)
	assert.Equal(t, object{"Rating": "12", "people": []any{"[[Ann]]", "[[Cid]]"}, "file.name": "C"}, page.Notes[0].Fields)
	assert.Equal(t, object{"file.name": "D"}, page.Notes[1].Fields)
}

func deep(levels int) object {
	where := object{"a": 1}
	for range levels {
		where = object{"not": where}
	}
	return where
}

// TestWhyNothing checks that the parts of a filter that match no note by themselves are
// described, with similar values.
func TestWhyNothing(t *testing.T) {
	w := newWorld(t, map[string]string{"Work/A.md": "---\nstatus: open\npeople: ['[[Anna Lee]]', Bo]\nDue-date:\nisbn: 9780374159122\n---\nowner:: Ann\n\n#urgent", "Home/B.md": "b"})
	for _, tt := range []struct {
		filter notes.Filter
		want   []string
	}{
		{notes.Filter{Folder: "Nope"}, []string{`there is no folder "Nope" with notes; there are: "Home", "Work"`}},
		{notes.Filter{Tags: []string{"urgnt"}}, []string{`no note has the tag "urgnt"; near: "urgent"`}},
		{notes.Filter{Where: object{"not": object{"onwer": "Ann"}}}, []string{`no note has the key "onwer" in its front matter or as key:: value; near: "owner"`}},
		{notes.Filter{Where: object{"owner": "Anne"}}, []string{`no note has "owner" "Anne"; near: "Ann"`}},
		{notes.Filter{Where: object{"isbn": "9780374159123"}}, []string{`no note has "isbn" "9780374159123"; near: "9780374159122"`}},
		{notes.Filter{Where: object{"people": object{"contains": "Anna"}}}, []string{`no note has "people" "Anna"; near: "[[Anna Lee]]"`}},
		{notes.Filter{Where: object{"people": object{"has": "Anna Lee"}}, Folder: "Home"}, nil},
		{notes.Filter{Where: object{"owner": "Ann"}, Folder: "Home"}, nil},
		{notes.Filter{Where: object{"owner": object{"exists": false}}, Folder: "Work"}, nil},
		{notes.Filter{Where: object{"due date": object{"exists": true}}}, []string{`the key "due date" has no value in any note`}},
		{notes.Filter{Glob: "*.txt"}, []string{`no note has a path that matches "*.txt"; the names of notes end in .md, and other files are not listed`}},
		{notes.Filter{Glob: "lan"}, []string{`no note has a path that matches "lan"; "*lan*" matches a part of the name`}},
		{notes.Filter{Glob: "!Work/**"}, []string{`no note has a path that matches "!Work/**"; a glob does not exclude, a condition on the path does, such as {"path":{"not":{"contains":"Archive/"}}}`}},
		{notes.Filter{Glob: "Works/*.md"}, []string{`no note has a path that matches "Works/*.md"`}},
		{notes.Filter{Glob: "a*", Tags: []string{"urgent"}, Scope: []string{"Work"}}, nil},
		{notes.Filter{Glob: "a*", Scope: []string{"Home"}}, []string{`no note has a path that matches "a*"`}},
		{notes.Filter{After: time.Date(2091, 1, 1, 0, 0, 0, 0, time.Local)}, []string{"no note is dated on or after 2091-01-01"}},
		{notes.Filter{Before: time.Date(1971, 1, 1, 0, 0, 0, 0, time.Local)}, []string{"no note is dated before 1971-01-01"}},
		{notes.Filter{After: time.Date(1971, 1, 1, 0, 0, 0, 0, time.Local), Before: time.Date(1971, 1, 1, 0, 0, 0, 0, time.Local)}, []string{"no day is from 1971-01-01 on and before 1971-01-01, which is exclusive", "no note is dated before 1971-01-01"}},
		{notes.Filter{Where: object{"status": "open"}, Scope: []string{"Home"}}, []string{`no note has the key "status" in its front matter or as key:: value`}},
	} {
		why, err := w.WhyNothing(t.Context(), tt.filter)
		require.NoError(t, err)
		assert.Equal(t, tt.want, why)
	}
}

// TestUpgrade_ReadsFields checks that fields of notes stored by an older version are read.
func TestUpgrade_ReadsFields(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "status:: open\n", "B.md": "b\n"})
	require.NoError(t, w.Notes().Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `UPDATE notes SET inline = '', parser = 1`)
		return err
	}))
	assert.Empty(t, w.list(notes.Filter{Where: object{"status": "open"}}))
	w.reconcile()
	assert.Equal(t, []string{"A.md"}, w.list(notes.Filter{Where: object{"status": "open"}}))
	w.save("A.md", "status:: done\n")
	assert.Empty(t, w.list(notes.Filter{Where: object{"status": "open"}}))
}

// TestCreated_Corrected checks that a later creation time in the front matter replaces an earlier
// one, as in a store that is rebuilt, also when dates are read by other rules.
func TestCreated_Corrected(t *testing.T) {
	files := map[string]string{"Copy.md": "---\ncreated: 2019-05-01\n---\n", "Mid.md": "---\ncreated: 2023-01-01\n---\n", "Plain.md": "x\n"}
	w := newWorld(t, files)
	order := func(w *world) (paths []string) {
		page, err := w.List(t.Context(), notes.ListQuery{Sort: "created"})
		require.NoError(t, err)
		for _, m := range page.Notes {
			paths = append(paths, m.Path)
		}
		return paths
	}
	assert.Equal(t, []string{"Plain.md", "Mid.md", "Copy.md"}, order(w))
	files["Copy.md"] = "---\ncreated: 2026-01-01\n---\n"
	w.save("Copy.md", files["Copy.md"])
	assert.Equal(t, []string{"Plain.md", "Copy.md", "Mid.md"}, order(w))
	assert.Equal(t, order(newWorld(t, files)), order(w))

	require.NoError(t, w.Notes().Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `UPDATE notes SET created = 0 WHERE path = 'Copy.md'`) // as by an earlier version
		return err
	}))
	require.NoError(t, w.SetDates(t.Context(), &notes.DateRules{Version: -1}))
	assert.Equal(t, []string{"Plain.md", "Copy.md", "Mid.md"}, order(w))

	w.advance(time.Hour)
	w.save("Plain.md", "y\n")
	w.save("Late.md", "z\n")
	assert.Equal(t, []string{"Late.md", "Plain.md", "Copy.md", "Mid.md"}, order(w), "a note without a date keeps the time at which it was found")
}

// BenchmarkResolve resolves filters on 10 000 notes, of which nine tenths match.
func BenchmarkResolve(b *testing.B) {
	files := map[string]string{}
	for i := range 10_000 {
		files[fmt.Sprintf("Folder %d/Note %d.md", i%10, i)] = "---\nstatus: open\nrating: 3\n---\ntext\n"
	}
	w := newWorld(b, files)
	for name, f := range map[string]notes.Filter{"not paths": {NotPaths: []string{"Folder 3/"}}, "where": {Where: object{"rating": 3}}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				set, err := w.Resolve(b.Context(), f)
				require.NoError(b, err)
				require.GreaterOrEqual(b, set.Len(), 9000)
			}
		})
	}
}

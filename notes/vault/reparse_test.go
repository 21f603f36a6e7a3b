package vault

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// TestReparse: notes from another version of the parser are parsed again, once, without
// new versions in the history.
func TestReparse(t *testing.T) {
	f := newFixture(t, "A.md", "# Title\n\n#tag [[B]]\n", "B.md", "b\n")
	f.exec(f.store.Notes(), `UPDATE notes SET title = 'Old', parser = parser - 1`)
	const documents = `SELECT path FROM documents ORDER BY path`
	known := f.column(f.store.History(), documents)
	before := f.view.position.Seq
	f.restart()
	f.reconcile()
	assert.Equal(t, known, f.column(f.store.History(), documents), "no rows that are never removed")
	assert.Equal(t, []string{"Title", "B"}, f.column(f.store.Notes(), `SELECT title FROM notes ORDER BY path`))
	assert.Greater(t, f.view.position.Seq, before, "followers are fed")
	assert.Len(t, f.revisions("A.md"), 1)
	f.requireConsistent()

	before = f.view.position.Seq
	f.restart()
	f.reconcile()
	assert.Equal(t, before, f.view.position.Seq, "only once")
}

// TestReparse_KeepsThePast: a version does not become younger when it is parsed again.
func TestReparse_KeepsThePast(t *testing.T) {
	f := newFixture(t, "A.md", "one\n", "B.md", "b\n")
	begins, err := f.store.HistoryBegins(t.Context())
	require.NoError(t, err)
	f.clock.Advance(time.Hour)
	f.write("A.md", "one and two\n")
	f.reconcile()
	f.clock.Advance(time.Minute)
	between := f.clock.Now()
	f.clock.Advance(time.Hour)
	f.exec(f.store.Notes(), `UPDATE notes SET parser = parser - 1`)
	f.restart()
	was, err := f.History().ReadAt(t.Context(), "A.md", between, notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "one and two\n", was.Content)
	after, err := f.store.HistoryBegins(t.Context())
	require.NoError(t, err)
	assert.Equal(t, begins, after)
}

// TestReparse_UnreadableNote: a note that cannot be read while all notes are parsed again keeps
// its text, and is parsed once it can be read.
func TestReparse_UnreadableNote(t *testing.T) {
	f := newFixture(t, "A.md", "a\n", "B.md", "b\n")
	f.exec(f.store.Notes(), `UPDATE notes SET parser = parser - 1`)
	f.failpoint = func(step string) error {
		if step == readStep+"A.md" {
			return syscall.EIO
		}
		return nil
	}
	f.reconcile()
	f.failpoint = nil
	assert.Equal(t, []string{"a\n"}, f.texts("A.md"))
	f.requireConsistent()

	f.exec(f.store.Notes(), `UPDATE notes SET title = 'Old'`)
	f.restart()
	f.reconcile()
	assert.Equal(t, []string{"A", "Old"}, f.column(f.store.Notes(), `SELECT title FROM notes ORDER BY path`), "A.md is parsed now")
	f.exec(f.store.Notes(), `UPDATE notes SET title = 'Old'`)
	f.reconcile()
	assert.Equal(t, []string{"Old", "Old"}, f.column(f.store.Notes(), `SELECT title FROM notes ORDER BY path`), "once")
}

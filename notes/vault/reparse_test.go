package vault

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// TestReparse: notes from another version of the parser are parsed again, once, without
// new versions in the history.
func TestReparse(t *testing.T) {
	f := newFixture(t, "A.md", "# Title\n\n#tag [[B]]\n", "B.md", "b\n")
	f.exec(f.store.Notes(), `UPDATE notes SET title = 'Old'`)
	require.NoError(t, f.store.SaveSetting(t.Context(), parserSetting, notes.ParserVersion-1))
	before := f.view.position.Seq
	f.restart()
	f.reconcile()
	assert.Equal(t, []string{"Title", "B"}, f.column(f.store.Notes(), `SELECT title FROM notes ORDER BY path`))
	assert.Greater(t, f.view.position.Seq, before, "followers are fed")
	assert.Len(t, f.revisions("A.md"), 1)
	f.requireConsistent()

	before = f.view.position.Seq
	f.restart()
	f.reconcile()
	assert.Equal(t, before, f.view.position.Seq, "only once")
}

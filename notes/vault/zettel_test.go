package vault

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// TestZettelIDs checks that a link with only the timestamp at the start of a note's name
// leads to the note, and stays unchanged as long as the name has it.
func TestZettelIDs(t *testing.T) {
	f := newFixture(t, "202602140930 Tides.md", "x", "20260214093055-moon.md", "x", "202602140931x.md", "x", "A.md", "[[202602140930]] and [[202602140930 Tides]]",
		"B.md", "[[20260214093055]]", "C.md", "[[202602140931]]", "D.md", "[[202602140932]]", "E.md", "[m](202602140930)",
		"202602140933—Ebbe.md", "x", "F.md", "[[202602140933]]")
	for note, want := range map[string]string{"A": "202602140930 Tides.md", "B": "20260214093055-moon.md", "C": "", "D": "", "E": "", "F": "202602140933—Ebbe.md"} {
		assert.Equal(t, want, f.leadsTo(note), note)
	}
	meta, err := f.Lookup(t.Context(), "[[202602140930]]", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "202602140930 Tides.md", meta.Path)
	f.write("sub/202602140932 New.md", "x")
	f.reconcile()
	assert.Equal(t, "sub/202602140932 New.md", f.leadsTo("D"), "a note that is made later")

	f.move("202602140930", "sub/202602140930 Ebb.md")
	assert.Equal(t, "[[202602140930]] and [[202602140930 Ebb]]", f.onDisk("A.md"))
	f.move("202602140930", "Ebb.md")
	assert.Equal(t, "[[Ebb]] and [[Ebb]]", f.onDisk("A.md"))

	f.write("202602140932 Twin.md", "x")
	f.write("other/202602140932 Twin.md", "x")
	f.reconcile()
	assert.Equal(t, "202602140932 Twin.md", f.leadsTo("D"), "the nearest, as for names")
	f.requireConsistent()
}

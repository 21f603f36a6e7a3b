package vault

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// TestMoveInTwoScans checks that a file which one scan finds deleted, and a later scan finds
// elsewhere, is the same note, if it is clear which.
func TestMoveInTwoScans(t *testing.T) {
	const pause = 5 * time.Second
	tests := []struct {
		name         string
		files        []string // path, text, …
		gone         []string
		after        time.Duration
		appear       []string // path, text, …
		moved, fresh map[string]string
	}{
		{name: "a folder",
			files: []string{"A/x.md", "x", "A/sub/y.md", "y", "z.md", "z"}, gone: []string{"A/x.md", "A/sub/y.md"}, after: pause,
			appear: []string{"B/x.md", "x", "B/sub/y.md", "y"}, moved: map[string]string{"B/x.md": "A/x.md", "B/sub/y.md": "A/sub/y.md"}},
		{name: "another name",
			files: []string{"A.md", "a"}, gone: []string{"A.md"}, after: 9 * time.Minute, appear: []string{"B.md", "a"}, moved: map[string]string{"B.md": "A.md"}},
		{name: "another text",
			files: []string{"A/x.md", "x"}, gone: []string{"A/x.md"}, after: pause, appear: []string{"B/x.md", "x, edited"}, fresh: map[string]string{"B/x.md": ""}},
		{name: "long after",
			files: []string{"A/x.md", "x"}, gone: []string{"A/x.md"}, after: 11 * time.Minute, appear: []string{"B/x.md", "x"}, fresh: map[string]string{"B/x.md": ""}},
		{name: "empty notes",
			files: []string{"A/x.md", ""}, gone: []string{"A/x.md"}, after: pause, appear: []string{"B/x.md", ""}, fresh: map[string]string{"B/x.md": ""}},
		{name: "equal notes with different names",
			files: []string{"A/x.md", "t", "A/y.md", "t"}, gone: []string{"A/x.md", "A/y.md"}, after: pause,
			appear: []string{"B/y.md", "t", "B/x.md", "t"}, moved: map[string]string{"B/x.md": "A/x.md", "B/y.md": "A/y.md"}},
		{name: "equal notes with the same name",
			files: []string{"A/x.md", "t", "B/x.md", "t"}, gone: []string{"A/x.md", "B/x.md"}, after: pause, appear: []string{"C/x.md", "t"}, fresh: map[string]string{"C/x.md": ""}},
		{name: "two copies of one note",
			files: []string{"A.md", "a"}, gone: []string{"A.md"}, after: pause, appear: []string{"B.md", "a", "C.md", "a"}, fresh: map[string]string{"B.md": "", "C.md": ""}},
		{name: "from a template that exists",
			files: []string{"Template.md", "t", "A.md", "t"}, gone: []string{"A.md"}, after: pause, appear: []string{"B.md", "t"}, fresh: map[string]string{"B.md": ""}},
		{name: "with the name, from a template that exists",
			files: []string{"Template.md", "t", "A/x.md", "t"}, gone: []string{"A/x.md"}, after: pause, appear: []string{"B/x.md", "t"}, moved: map[string]string{"B/x.md": "A/x.md"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tt.files...)
			for _, p := range tt.gone {
				f.remove(p)
			}
			f.reconcile()
			f.clock.Advance(tt.after)
			f.view.kinds()
			for i := 0; i < len(tt.appear); i += 2 {
				f.write(tt.appear[i], tt.appear[i+1])
			}
			f.reconcile()
			f.requireConsistent()
			var want []string
			for p, from := range tt.moved {
				want = append(want, "create "+from+" → "+p)
				newest := f.revisions(p)[0]
				assert.Equal(t, []string{"move", from, p}, []string{newest.Operation, newest.OldPath, newest.Path})
				_, err := f.Read(context.Background(), notes.URI(from), notes.Scope{})
				assert.Equal(t, p, domainError(t, err).MovedTo)
			}
			for p := range tt.fresh {
				want = append(want, "create "+p)
				assert.Len(t, f.revisions(p), 1)
			}
			assert.ElementsMatch(t, want, f.view.kinds())
		})
	}
}

// TestMoveInTwoScans_ThereAndBack checks that the history of a note follows it to another
// path and back, and that a file that reappears at its own path has not moved.
func TestMoveInTwoScans_ThereAndBack(t *testing.T) {
	f := newFixture(t, "A/x.md", "one")
	f.save("A/x.md", "two")
	for _, path := range [][2]string{{"A/x.md", "B/x.md"}, {"B/x.md", "A/x.md"}, {"A/x.md", "A/x.md"}} {
		f.remove(path[0])
		f.reconcile()
		f.save(path[1], "two")
	}
	f.requireConsistent()
	var operations []string
	for _, r := range f.revisions("A/x.md") {
		operations = append(operations, r.Operation)
	}
	assert.Equal(t, []string{"edit", "delete", "move", "delete", "move", "delete", "edit", "found"}, operations)

	_, err := f.Delete(context.Background(), notes.DeleteRequest{Note: "A/x.md"})
	require.NoError(t, err)
	f.save("B/x.md", "two")
	assert.Contains(t, f.texts("B/x.md"), "one", "the note was there")
	assert.Equal(t, "found", f.revisions("B/x.md")[0].Operation, "a tool has deleted the note, not moved it")
}

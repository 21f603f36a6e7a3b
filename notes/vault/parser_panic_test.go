package vault

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// TestParserPanics: a note on which the parser panics is skipped and stays as it was in the
// store, and a text on which it panics is not written.
func TestParserPanics(t *testing.T) {
	f := newFixture(t, "A.md", "a\n", "B.md", "b\n")
	require.NoError(t, f.store.Close())
	var log bytes.Buffer
	f.open(Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	f.failpoint = func(step string) error {
		if step == parseStep+"A.md" || step == parseStep+"New.md" {
			panic("slice bounds out of range")
		}
		return nil
	}
	f.write("A.md", "call DEADLINE\n")
	f.write("B.md", "more\n")
	f.reconcile()
	f.reconcile()
	assert.Equal(t, 1, strings.Count(log.String(), "slice bounds out of range"), log.String())
	assert.Equal(t, []string{"a\n"}, f.texts("A.md"))
	assert.Equal(t, []string{"more\n", "b\n"}, f.texts("B.md"), "others are read")
	st, err := f.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []notes.Skipped{{Path: "A.md", Reason: skipParser}}, st.Skipped)

	files := f.files()
	_, err = f.Edit(t.Context(), notes.EditRequest{Note: "A", Edits: []notes.Edit{{Op: "append", Content: "text"}}})
	require.ErrorIs(t, err, notes.ErrInvalid)
	_, err = f.Create(t.Context(), notes.CreateRequest{Path: "New.md", Content: "text"})
	require.ErrorIs(t, err, notes.ErrInvalid)
	assert.ErrorContains(t, err, "nothing was written")
	assert.Equal(t, files, f.files())

	f.failpoint = nil
	f.restart()
	assert.Equal(t, []string{"call DEADLINE\n", "a\n"}, f.texts("A.md"))
	f.requireConsistent()
}

// TestRecovery_Title: the answer to a request that a crash interrupted has the title, unless the
// parser panics on the text now, as another version may; that note is skipped.
func TestRecovery_Title(t *testing.T) {
	for _, panics := range []bool{false, true} {
		f := newFixture(t)
		f.killAt(4)
		r := notes.CreateRequest{Path: "New.md", Content: "# A title\n", RequestKey: "k"}
		_, err := f.Create(t.Context(), r)
		require.ErrorIs(t, err, errKilled)
		require.NoError(t, f.store.Close())
		f.open(Options{Log: slog.New(slog.DiscardHandler)})
		f.failpoint = func(step string) error {
			if panics && step == parseStep+"New.md" {
				panic("slice bounds out of range")
			}
			return nil
		}
		f.reconcile()
		answer, err := f.Create(t.Context(), r)
		require.NoError(t, err)
		want, paths := "A title", []string{"A title"}
		if panics {
			want, paths = "", nil
		}
		assert.Equal(t, want, answer.Title)
		assert.Equal(t, "# A title\n", f.onDisk("New.md"))
		assert.Equal(t, paths, f.column(f.store.Notes(), `SELECT title FROM notes`))
	}
}

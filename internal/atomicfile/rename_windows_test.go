package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/atomicfile"
)

// A virus scanner or a sync program opens a file for a moment after it has changed.
func TestDir_FileHeldForAMoment(t *testing.T) {
	for name, change := range map[string]func(d *atomicfile.Dir) error{
		"exchange": func(d *atomicfile.Dir) error { return d.Exchange("temp", "note.md") },
		"move":     func(d *atomicfile.Dir) error { return d.Move("note.md", d, "moved.md") },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			root, err := os.OpenRoot(folder)
			require.NoError(t, err)
			defer root.Close()
			d, err := atomicfile.OpenDir(root, ".")
			require.NoError(t, err)
			defer d.Close()
			require.NoError(t, os.WriteFile(filepath.Join(folder, "note.md"), []byte("old"), 0o600))
			require.NoError(t, d.Stage("temp", []byte("new"), nil))
			held, err := os.Open(filepath.Join(folder, "note.md"))
			require.NoError(t, err)

			errWait := errors.New("waits")
			d.Before = func(call string) error {
				if call == "wait" {
					return errWait
				}
				return nil
			}
			require.ErrorIs(t, change(d), errWait)
			data, err := os.ReadFile(filepath.Join(folder, "note.md"))
			require.NoError(t, err)
			assert.Equal(t, "old", string(data))

			waits := 0
			d.Before = func(call string) error {
				if call == "wait" {
					if waits++; waits == 2 {
						return held.Close()
					}
				}
				return nil
			}
			require.NoError(t, change(d))
			assert.Equal(t, 2, waits)
		})
	}
}

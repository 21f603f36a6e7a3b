//go:build !windows

package watcher

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSubtree_Spelled(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "Cafe", "New"), 0o755))
	s := newSubtree()
	for _, dir := range []string{"", "Cafe", "Cafe/new"} {
		require.NoError(t, s.Add(filepath.Join(root, dir)))
	}
	tests := []struct{ name, reported, want string }{
		{"as added", "Cafe/a.md", "Cafe/a.md"},
		{"another case", "CAFE/A.md", "Cafe/A.md"},
		{"the directory itself", "cafe", "Cafe"},
		{"its new name", "cafe/New", "Cafe/New"},
		{"a name that the disk does not list", "cafe/NEW", "Cafe/new"},
		{"below one that was not added", ".git/config", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := s.spelled(filepath.Join(root, tt.reported))
			assert.Equal(t, tt.want != "", ok)
			if ok {
				assert.Equal(t, filepath.Join(root, tt.want), got)
			}
		})
	}
	require.NoError(t, s.Remove(filepath.Join(root, "Cafe")))
	_, ok := s.spelled(filepath.Join(root, "cafe", "a.md"))
	assert.False(t, ok)
}

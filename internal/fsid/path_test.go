package fsid

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Hard links give a file several names. With a listing that contains only one of them,
// this simulates a disk that ignores case or normalization.
func TestListedName(t *testing.T) {
	const composed, decomposed = "Caf\u00e9", "Cafe\u0301"
	dir := t.TempDir()
	for _, names := range [][]string{{"Notes", "notes", "nOTES", "NOTES"}, {composed, decomposed, "cAF\u00e9", "cAFE\u0301"}} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, names[0]), nil, 0o600))
		for _, other := range names[1:] {
			if err := os.Link(filepath.Join(dir, names[0]), filepath.Join(dir, other)); err != nil {
				t.Skip("SKIPPED: this disk is one itself: ", err)
			}
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plain"), nil, 0o600))
	listing := func(names ...string) func(string) ([]string, error) {
		return func(string) ([]string, error) { return names, nil }
	}
	for _, tt := range []struct {
		name string
		list func(string) ([]string, error)
		want string
	}{
		{"notes", listing("plain", "Notes"), "Notes"},
		{"NOTES", listing("Notes"), "Notes"},
		{"Notes", listing("Notes", "notes"), "Notes"},
		{"notes", listing("Notes", "notes"), "notes"},
		{decomposed, listing(composed), composed},
		{composed, listing(decomposed), decomposed},
		{"notes", listing("something"), "notes"},
		{"notes", func(string) ([]string, error) { return nil, errors.New("it may not be read") }, "notes"},
		{"plain", func(string) ([]string, error) { panic("an ordinary disk is not listed") }, "plain"},
		{"missing", nil, "missing"},
	} {
		assert.Equal(t, tt.want, listedName(dir, tt.name, tt.list), tt.name)
	}
	assert.Equal(t, filepath.Join(dir, "notes"), listedPath(filepath.Join(dir, "notes")), "this disk lists both")
}

func TestOtherSpellings(t *testing.T) {
	assert.Equal(t, []string{"tOPLANTı.MD"}, otherSpellings("Toplantı.md"), "a disk may not have I for ı")
	assert.Equal(t, []string{"ПАПКА 1"}, otherSpellings("папка 1"), "it has no others")
	assert.Empty(t, otherSpellings("笔记"))
}

func TestBelow(t *testing.T) {
	vault := t.TempDir()
	outside := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(vault, "sub"), 0o700))
	cases := map[string]string{
		vault: ".", filepath.Join(vault, "sub"): "sub", filepath.Join(vault, "new", "newer"): filepath.Join("new", "newer"),
		vault + "/sub/../x": "x", outside: "", vault + "-2": "", filepath.Dir(vault): "",
	}
	if runtime.GOOS != "windows" {
		link := filepath.Join(outside, "link")
		require.NoError(t, os.Symlink(filepath.Join(vault, "sub"), link))
		cases[filepath.Join(link, "new")] = filepath.Join("sub", "new")
	}
	for path, want := range cases {
		rest, ok := Below(vault, path)
		assert.Equal(t, want, rest, path)
		assert.Equal(t, want != "", ok, path)
	}
	_, ok := Below(filepath.Join(outside, "none"), filepath.Join(outside, "none", "x"))
	assert.True(t, ok, "a folder need not exist")
}

// Links lead to the same path as [filepath.EvalSymlinks], which cannot be used while the disk
// at the end does not answer.
func TestReadLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	vault := filepath.Join(dir, "disk", "Vault")
	require.NoError(t, os.MkdirAll(filepath.Join(vault, "Sub"), 0o700))
	for name, target := range map[string]string{"relative": filepath.Join("disk", "Vault"), "absolute": filepath.Join(dir, "relative"), "circle": "circle"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("SKIPPED: no symbolic links: ", err)
		}
	}
	for _, name := range []string{"relative", "absolute", filepath.Join("disk", "Vault")} {
		assert.Equal(t, vault, readLinks(filepath.Join(dir, name)))
		assert.Equal(t, filepath.Join(vault, "Sub", "New"), readLinks(filepath.Join(dir, name, "Sub", "New")))
	}
	assert.Equal(t, filepath.Join(dir, "circle"), readLinks(filepath.Join(dir, "circle")))

	// The disk hangs below dir/disk, for each of several callers.
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan struct{})
		defer close(answers)
		go func() {
			_, _ = InTime("link "+filepath.Join(dir, "disk"), time.Hour, func() (any, error) { <-answers; return nil, nil })
		}()
		time.Sleep(2 * time.Second)
		for range 2 {
			assert.Equal(t, vault, readLinks(filepath.Join(dir, "relative")))
		}
	})
}

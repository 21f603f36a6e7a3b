package web

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
)

// TestVendored compares the vendored scripts with their checksums, and the size of
// everything that a page loads with its limit.
func TestVendored(t *testing.T) {
	sums, err := files.ReadFile("static/vendor/SHA256SUMS")
	require.NoError(t, err)
	for line := range strings.Lines(string(sums)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		assert.Equal(t, want, checksum(t, "static/vendor/"+name), name)
	}
	const most = 150 << 10
	assert.Less(t, weight(t), most)
}

func checksum(t *testing.T, name string) string {
	t.Helper()
	data, err := files.ReadFile(name)
	require.NoError(t, err)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// weight returns the total size in bytes of all static files, each compressed.
func weight(t *testing.T) int {
	t.Helper()
	var n counter
	require.NoError(t, fs.WalkDir(files, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := files.Open(name)
		require.NoError(t, err)
		defer f.Close()
		z := gzip.NewWriter(&n)
		_, err = io.Copy(z, f)
		require.NoError(t, err)
		return z.Close()
	}))
	return int(n)
}

// TestStatic_IDs checks that no heading of a note has an id of the page's own elements,
// which have a hyphen: the id of a heading has none.
func TestStatic_IDs(t *testing.T) {
	layout, err := files.ReadFile("templates/layout.html")
	require.NoError(t, err)
	style, err := files.ReadFile("static/style.css")
	require.NoError(t, err)
	ids := append(regexp.MustCompile(`\bid="([^"]*)"`).FindAllStringSubmatch(string(layout), -1), regexp.MustCompile(`(?m)^#([\w-]+)`).FindAllStringSubmatch(string(style), -1)...)
	require.Len(t, ids, 7)
	for _, id := range ids {
		assert.NotEqual(t, id[1], markdown.AnchorID(id[1]))
	}
}

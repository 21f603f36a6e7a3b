//go:build unix

package daemon_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/daemon"
)

func TestDaemonIsFoundOverALongPath(t *testing.T) {
	runtime, err := os.MkdirTemp("/tmp", "n") // t.TempDir leaves no room for a socket's path
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(runtime) })
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	dir := filepath.Join(t.TempDir(), strings.Repeat("long ", 30))
	t.Cleanup(func() { endDaemon(t, dir) })
	c := startClient(t, dir)
	_, err = c.initialize()
	require.NoError(t, err)
	holder, err := daemon.ReadHolder(dir)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(holder.Socket), 103)
	// A client with another environment still finds the daemon.
	t.Setenv("XDG_RUNTIME_DIR", "")
	_, err = daemon.Probe(context.Background(), dir)
	require.NoError(t, err)
}

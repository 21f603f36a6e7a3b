//go:build unix

package hosts

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The owner of settings that root changes, as with sudo, can still read and write them.
func TestWrite_KeepsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: no other user can give a file away")
	}
	file := filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(file, []byte("{}"), 0o600))
	require.NoError(t, os.Chown(file, 4242, 4343))
	s, err := Host{servers: "s", File: func(Env) string { return file }}.Read(Env{})
	require.NoError(t, err)
	backup, err := s.Write([]byte("{ }"), time.Now())
	require.NoError(t, err)
	for _, name := range []string{file, backup} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		owner := info.Sys().(*syscall.Stat_t)
		assert.Equal(t, []uint32{4242, 4343}, []uint32{owner.Uid, owner.Gid}, name)
	}
}

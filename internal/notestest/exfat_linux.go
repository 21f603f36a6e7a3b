package notestest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// MountExFAT mounts a new exFAT disk, as found on USB sticks: it is case-insensitive, and
// supports neither links nor renames that swap or fail if the target exists.
func MountExFAT(tb testing.TB) string {
	tb.Helper()
	run := func(name string, args ...string) string {
		out, err := exec.CommandContext(tb.Context(), name, args...).CombinedOutput()
		if err != nil {
			tb.Skipf("SKIPPED: %s: %v %s", name, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	image, at := filepath.Join(tb.TempDir(), "disk"), tb.TempDir()
	require.NoError(tb, os.WriteFile(image, nil, 0o600))
	require.NoError(tb, os.Truncate(image, 64<<20))
	run("mkfs.exfat", image)
	device := run("losetup", "--find", "--show", image)
	tb.Cleanup(func() { _ = exec.CommandContext(context.Background(), "losetup", "--detach", device).Run() })
	run("mount.exfat-fuse", device, at)
	tb.Cleanup(func() { _ = exec.CommandContext(context.Background(), "umount", "--lazy", at).Run() })
	return at
}

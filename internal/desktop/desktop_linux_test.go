package desktop

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The command that opened the browser may end before the browser is open, and Ctrl-C in
// its terminal must not end the browser.
func TestLaunch_Survives(t *testing.T) {
	dir := t.TempDir()
	wait, opened := filepath.Join(dir, "wait"), filepath.Join(dir, "opened")
	require.NoError(t, syscall.Mkfifo(wait, 0o600))
	script := fmt.Sprintf("#!/bin/sh\nread -r _ <%s\nread -r pid _ _ _ _ session _ </proc/$$/stat\necho \"$1 $((pid - session))\" >%s\n", wait, opened)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))

	Launch("http://127.0.0.1/login/x")
	require.NoError(t, os.WriteFile(wait, []byte("\n"), 0o600))
	var text []byte
	require.Eventually(t, func() bool {
		text, _ = os.ReadFile(opened)
		return strings.HasSuffix(string(text), "\n")
	}, time.Minute, time.Millisecond, "the browser is open")
	assert.Equal(t, "http://127.0.0.1/login/x 0\n", string(text), "it leads a session")
}

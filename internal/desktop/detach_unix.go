//go:build unix

package desktop

import (
	"os/exec"
	"syscall"
)

// detach makes a command run in a session of its own, which the terminal's Ctrl-C does not
// reach: xdg-open may be the parent of the browser that it starts.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

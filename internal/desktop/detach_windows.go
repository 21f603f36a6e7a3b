package desktop

import "os/exec"

// detach does nothing: Windows starts browsers outside the console.
func detach(*exec.Cmd) {}

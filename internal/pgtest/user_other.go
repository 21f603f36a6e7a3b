//go:build !unix

package pgtest

import "os/exec"

func giveAway(string) error   { return nil }
func unprivileged(*exec.Cmd)  {}
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

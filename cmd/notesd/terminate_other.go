//go:build !unix

package main

import "os"

// terminate ends a process, which cannot be asked to stop here. Nothing is lost
// by it: that is what a crash would do.
func terminate(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

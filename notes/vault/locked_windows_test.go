//go:build !unix

package vault

import "testing"

func holdLock(t *testing.T, _ *fixture) {
	t.Helper()
	t.Skip("locks are the system's own here")
}

func mkfifo(string) error { return nil } // not supported

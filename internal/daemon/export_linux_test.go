package daemon

import "os"

// Relay processes of the tests use the launcher in TEST_DAEMON_SHELL instead of the
// system's.
func init() {
	if shell := os.Getenv("TEST_DAEMON_SHELL"); shell != "" {
		systemShell = shell
	}
}

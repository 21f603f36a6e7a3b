package daemon

import "os"

// A relay process of the tests uses the launcher that TEST_DAEMON_SHELL names
// instead of the system's.
func init() {
	if shell := os.Getenv("TEST_DAEMON_SHELL"); shell != "" {
		systemShell = shell
	}
}

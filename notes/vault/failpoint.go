package vault

import (
	"errors"
)

// failpoint lets tests inject failures. A nil failpoint is a no-op.
type failpoint func(step string) error

func (f failpoint) step(name string) error {
	if f == nil {
		return nil
	}
	return f(name)
}

// errKilled is returned by fail-points to simulate the end of the program; no cleanup
// follows it.
var errKilled = errors.New("killed")

//go:build unix && !darwin

package atomicfile

import (
	"os"
	"syscall"
)

func copyCreated(*os.File, *syscall.Stat_t) {}

package kernel

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAssemblyIsPrinted fails if the assembly is not what the program in asm
// prints.
func TestAssemblyIsPrinted(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command to run the program with")
	}
	out, err := exec.Command(tool, "run", "-C", "asm", ".", "-check").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

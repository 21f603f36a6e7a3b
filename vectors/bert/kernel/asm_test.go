package kernel

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAssemblyIsPrinted fails if the assembly is not up to date, by running the tests of
// the module asm.
func TestAssemblyIsPrinted(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command to run the program with")
	}
	run := exec.Command(tool, "test", "-C", "asm", ".")
	run.Env = append(os.Environ(), "GOOS=", "GOARCH=") // not those this test was built for
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// constantBytes matches an instruction printed as bytes or as a word, because Go's
// assembler does not support it, with its GNU syntax as a comment.
var constantBytes = regexp.MustCompile(`(?m)^\t((?:BYTE|WORD) [^/]*) // (.*)$`)

// TestEncodings disassembles every instruction printed as constants with LLVM, and
// compares the result with the comment.
func TestEncodings(t *testing.T) {
	if _, err := exec.LookPath("llvm-mc"); err != nil {
		t.Skip("no llvm-mc to disassemble with: on Debian it is in the package llvm")
	}
	for arch, flags := range map[string][]string{
		"amd64": {"-triple=x86_64", "-mattr=+avxvnni"},
		"arm64": {"-triple=aarch64", "-mattr=+dotprod,+i8mm"},
	} {
		t.Run(arch, func(t *testing.T) {
			files, err := filepath.Glob("*_" + arch + ".s")
			require.NoError(t, err)
			var input strings.Builder
			var want []string
			for _, file := range files {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				for _, m := range constantBytes.FindAllStringSubmatch(string(text), -1) {
					for _, b := range instructionBytes(t, m[1]) {
						fmt.Fprintf(&input, "%#02x ", b)
					}
					input.WriteByte('\n')
					want = append(want, m[2])
				}
			}
			require.NotEmpty(t, want)
			run := exec.Command("llvm-mc", append(flags, "-disassemble")...)
			run.Stdin = strings.NewReader(input.String())
			out, err := run.CombinedOutput()
			require.NoError(t, err, "%s", out)
			got := slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool {
				return line == "" || strings.HasPrefix(line, "\t.")
			})
			require.Len(t, got, len(want))
			for i := range got {
				assert.Equal(t, strings.Fields(want[i]), disassembled(got[i]))
			}
		})
	}
}

// instructionBytes returns the bytes of BYTE and WORD statements.
func instructionBytes(t *testing.T, statements string) (out []byte) {
	for statement := range strings.SplitSeq(statements, "; ") {
		kind, value, _ := strings.Cut(statement, " $")
		bits, err := strconv.ParseUint(value, 0, 32)
		require.NoError(t, err)
		if kind == "WORD" {
			out = binary.LittleEndian.AppendUint32(out, uint32(bits))
		} else {
			out = append(out, byte(bits))
		}
	}
	return out
}

// disassembled returns the fields of a line, using the comments' names for instructions
// that have two.
func disassembled(line string) []string {
	fields := strings.Fields(line)
	if last := len(fields) - 1; strings.HasPrefix(fields[0], "sshll") && fields[last] == "#0" {
		fields[0] = strings.Replace(fields[0], "sshll", "sxtl", 1)
		fields = append(fields[:last-1], strings.TrimSuffix(fields[last-1], ","))
	}
	return fields
}

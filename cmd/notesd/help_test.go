package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"

	"notesd/internal/service"
)

const screenLines, screenColumns = 30, 80

func TestHelpFitsAScreen(t *testing.T) {
	root := (&app{}).rootCommand()
	all := rootHelp(root)
	for line := range strings.Lines(all) {
		assert.LessOrEqual(t, len([]rune(line)), screenColumns, line)
	}
	for _, cmd := range root.Commands() {
		t.Run(cmd.Name(), func(t *testing.T) {
			help := commandHelp(cmd)
			assert.Equal(t, cmd.Example, examplesOf(help), "the examples stand at the end")
			assert.Contains(t, all, "\n  "+cmd.Name()+" ", "the program's own help names the command")
			lines := strings.Split(strings.TrimSuffix(help, "\n"), "\n")
			assert.LessOrEqual(t, len(lines), screenLines)
			for _, line := range lines {
				assert.LessOrEqual(t, len([]rune(line)), screenColumns, line)
			}
			examples := strings.Split(examplesOf(help), "\n")
			assert.Len(t, examples, 2)
			for _, e := range examples {
				assert.Regexp(t, `^  .*notesd .+`, e)
			}
		})
	}
}

func examplesOf(help string) string {
	_, examples, _ := strings.Cut(help, "Examples:\n")
	return strings.TrimSuffix(examples, "\n")
}

func TestEveryCommandWithAResultHasJSON(t *testing.T) {
	for _, cmd := range (&app{}).rootCommand().Commands() {
		if serves(cmd) || printsText(cmd) {
			continue
		}
		assert.NotNil(t, cmd.Flags().Lookup("json"), cmd.Name())
	}
}

func serves(cmd *cobra.Command) bool {
	return slices.Contains([]string{"mcp", "mirror", "serve", "web"}, cmd.Name())
}

func printsText(cmd *cobra.Command) bool { return cmd.Name() == "completion" || cmd.Name() == "help" }

// TestWrongFlags passes an invalid value to every flag that is not a string.
func TestWrongFlags(t *testing.T) {
	seen := map[string]bool{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if strings.HasPrefix(f.Value.Type(), "string") {
				return
			}
			seen[f.Value.Type()] = true
			failure := service.FailureOf(flagProblem(cmd, cmd.ParseFlags([]string{"--" + f.Name + "=x"})))
			assert.Regexp(t, "^--"+f.Name+` must be .+, not "x"$`, failure.Message)
			assert.Contains(t, failure.Hint, cmd.CommandPath()+" -h")
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk((&app{}).rootCommand())
	assert.Contains(t, seen, "intSlice")
}

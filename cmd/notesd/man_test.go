package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestManPageHasEveryCommand(t *testing.T) {
	root := (&app{}).rootCommand()
	page := manPage(root)
	for _, cmd := range root.Commands() {
		d := docOf(cmd)
		_, section, found := strings.Cut(page, "\n.SS "+roff(d.Usage)+"\n")
		require.True(t, found, d.Name)
		section, _, _ = strings.Cut(section, "\n.SS ")
		assert.Contains(t, section, roff(strings.Join(d.Examples, "\n")), d.Name)
		for _, f := range d.Flags {
			assert.Contains(t, section, roff(strings.Fields(f.Name)[0]), d.Name)
		}
	}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, ".") {
			assert.Regexp(t, `^\.(TH|SH|SS|TP|B|I|BI|RI|PP|EX|EE)( |\n)`, line)
		}
	}
}

func TestRoff(t *testing.T) {
	assert.Equal(t, `\&.SH a\-b\e`+"\n"+`\(aqq\(aq`, roff(".SH a-b\\\n'q'"))
}

// groff formats the page without warnings, if it is installed.
func TestManPageIsValid(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed")
	}
	cmd := exec.CommandContext(t.Context(), groff, "-Kutf8", "-man", "-Tutf8", "-ww", "-z")
	cmd.Stdin = strings.NewReader(manPage((&app{}).rootCommand()))
	warnings, err := cmd.CombinedOutput()
	require.NoError(t, err)
	assert.Empty(t, string(warnings))
}

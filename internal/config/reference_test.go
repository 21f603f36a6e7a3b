package config

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
)

//go:generate go test -run TestReference -update .

// TestReference compares docs/reference/settings.md with the example file and the
// settings.
func TestReference(t *testing.T) {
	text, err := os.ReadFile(exampleFile)
	require.NoError(t, err)
	page := settingsPage(string(text))
	for _, s := range settings {
		assert.Contains(t, page, "`"+s.key+"`")
	}
	notestest.Generated(t, "docs/reference/settings.md", page)
}

var (
	section = regexp.MustCompile(`^\[(\w+)\]$`)
	line    = regexp.MustCompile(`^#([a-z_]+) = (.*)$`)
)

func settingsPage(example string) string {
	var b strings.Builder
	b.WriteString("# Settings\n\n<!-- Generated from notesd.example.toml by go generate ./internal/config. Do not edit. -->\n\n" +
		"`vault.read_only` is the key `read_only` in the table `[vault]`. `notesd config --example` prints a file with every setting.\n")
	prefix := ""
	for i, paragraph := range strings.Split(strings.TrimSpace(example), "\n\n") {
		var prose []string
		var keys []setting
		var defaults []string
		for l := range strings.Lines(paragraph) {
			l = strings.TrimRight(l, "\n")
			if m := section.FindStringSubmatch(l); m != nil {
				prefix = m[1] + "."
				fmt.Fprintf(&b, "\n## %s\n", m[1])
			} else if m := line.FindStringSubmatch(l); m != nil {
				s, _ := find(prefix + m[1])
				keys, defaults = append(keys, s), append(defaults, m[2])
			} else {
				prose = append(prose, markdown(strings.TrimPrefix(strings.TrimPrefix(l, "#"), " ")))
			}
		}
		if len(keys) == 0 {
			if i == 0 {
				prose = prose[2:] // a title and an empty line
			}
			fmt.Fprintf(&b, "\n%s", paragraphs(prose))
			continue
		}
		for j, s := range keys {
			fmt.Fprintf(&b, "\n%s `%s`\n", map[bool]string{true: "##", false: "###"}[prefix == ""], s.key)
			if j == 0 {
				fmt.Fprintf(&b, "\n%s", paragraphs(prose))
			}
			fmt.Fprintf(&b, "\nDefault: `%s`. %s\n", defaults[j], origins(s.key))
		}
	}
	return b.String()
}

// paragraphs joins lines into paragraphs, with empty lines around lists.
func paragraphs(lines []string) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 && strings.HasPrefix(l, "- ") != strings.HasPrefix(lines[i-1], "- ") {
			b.WriteString("\n")
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}

var row = regexp.MustCompile(`^  (\w+) +(.*)$`)

// markdown converts a line of a comment to Markdown; an indented line is a list item.
func markdown(line string) string {
	if m := row.FindStringSubmatch(line); m != nil {
		return "- " + m[1] + ": `" + m[2] + "`"
	}
	return strings.ReplaceAll(line, "*", `\*`)
}

// origins describes where a setting can be set and to whom it applies.
func origins(key string) string {
	names := []string{"`" + variable(key) + "`"}
	for short, long := range shortForms {
		if long == key {
			names = append(names, "`"+short+"`")
		}
	}
	var flags []string
	for flag, long := range flagKeys {
		if long == key {
			flags = append(flags, "`--"+flag+"`")
		}
	}
	slices.Sort(names)
	text := "Variable: " + strings.Join(names, " or ") + "."
	if len(flags) > 0 {
		text += " Flag: " + strings.Join(flags, " or ") + "."
	}
	if slices.Contains(sessionKeys, key) {
		text += " Each client has its own."
	} else if isDaemons(key) {
		text += " Belongs to the daemon."
	}
	return text
}

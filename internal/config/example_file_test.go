package config

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const exampleFile = "../../notesd.example.toml"

// A setting in the example is commented out with a bare '#', prose with '# '.
var commentedSetting = regexp.MustCompile(`(?m)^#([a-z_]+ = )`)

func TestExampleFileHoldsEveryDefault(t *testing.T) {
	text, err := os.ReadFile(exampleFile)
	require.NoError(t, err)
	whole := commentedSetting.ReplaceAllString(string(text), "$1")

	entries, problems := parseFile(exampleFile, []byte(whole))
	require.Empty(t, problems)
	byKey := map[string]any{}
	for _, e := range entries {
		byKey[e.key] = e.value
	}
	for _, s := range settings {
		value, ok := byKey[s.key]
		if assert.True(t, ok, "%s is not documented in %s", s.key, exampleFile) {
			got, err := fromTOML(value, s.typ)
			assert.NoError(t, err, s.key)
			assert.Equal(t, s.def, got, "the default of %s", s.key)
		}
		delete(byKey, s.key)
	}
	assert.Empty(t, byKey, "documented, but not settings")
}

func TestExampleFileChangesNothing(t *testing.T) {
	cfg, err := configOf(Load(Sources{File: exampleFile}))
	require.NoError(t, err)
	want := Default()
	assert.Equal(t, &want, cfg)
}

func TestExampleFileExplainsEverySetting(t *testing.T) {
	text, err := os.ReadFile(exampleFile)
	require.NoError(t, err)
	for paragraph := range strings.SplitSeq(string(text), "\n\n") {
		if commentedSetting.MatchString(paragraph) {
			assert.Regexp(t, `(?m)^# \S`, paragraph, "a setting without a word on what it does")
		}
	}
}

package archtest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// depguardRule is one rule of the linter's configuration.
type depguardRule struct {
	Files []string `yaml:"files"`
	Allow []string `yaml:"allow"`
	Deny  []struct {
		Pkg  string `yaml:"pkg"`
		Desc string `yaml:"desc"`
	} `yaml:"deny"`
}

func depguardRules(t *testing.T) map[string]depguardRule {
	t.Helper()
	text, err := os.ReadFile(root + "/.golangci.yml")
	require.NoError(t, err)
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]depguardRule `yaml:"rules"`
				} `yaml:"depguard"`
			} `yaml:"settings"`
		} `yaml:"linters"`
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	return config.Linters.Settings.Depguard.Rules
}

// The linter has a rule with the same imports and the same reason for each
// layer; the leaves share one.
func TestLinterHasTheSameLayers(t *testing.T) {
	rules := depguardRules(t)
	for pkg, layer := range layers {
		switch pkg {
		case "cmd/notesd":
			continue // may import everything
		case ".", "examples", "internal/archtest", "internal/notestest":
			continue // only data or tests, or only for them
		}
		name := pkg
		if len(layer.imports) == 0 {
			name = "leaves"
		}
		rule, ok := rules[name]
		if !assert.True(t, ok, "no depguard rule for %s", name) {
			continue
		}
		assert.Contains(t, rule.Files, "**/"+pkg+"/*.go", "files of the depguard rule %s", name)
		assert.ElementsMatch(t, layer.imports, allowed(rule), "imports of %s", pkg)
		require.Len(t, rule.Deny, 1, name)
		assert.Equal(t, module, rule.Deny[0].Pkg)
		assert.Equal(t, layer.why, rule.Deny[0].Desc, "reason of %s", name)
	}
}

// allowed returns the rule's imports of this module, in the table's spelling.
func allowed(rule depguardRule) []string {
	var imports []string
	for _, path := range rule.Allow {
		imports = append(imports, strings.TrimSuffix(strings.TrimPrefix(path, module+"/"), "$"))
	}
	return imports
}

// Each foreign module that one package answers for has that package as the
// exception to its rule.
func TestLinterGivesModulesToTheSamePackages(t *testing.T) {
	for name, rule := range depguardRules(t) {
		for _, deny := range rule.Deny {
			if !isThirdParty(deny.Pkg) {
				continue
			}
			for pkg, layer := range layers {
				mayUse := slices.ContainsFunc(layer.thirdParty, func(m string) bool {
					return strings.HasPrefix(m, deny.Pkg)
				})
				excepted := slices.Contains(rule.Files, "!**/"+pkg+"/*.go")
				assert.Equal(t, mayUse, excepted, "depguard rule %s: is %s excepted?", name, pkg)
			}
		}
	}
}

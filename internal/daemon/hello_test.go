package daemon

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSupersedes(t *testing.T) {
	// In ascending order, as in section 11 of Semantic Versioning.
	rising := []string{
		"0.9.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2",
		"1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "v1.0.1+build", "1.2.0", "1.10.0", "2.0.0-0.20260101000000-abcdef", "2.0.0",
	}
	for i, a := range rising {
		for j, b := range rising {
			x, y := Identity{Version: a, Wire: 1}, Identity{Version: b, Wire: 1}
			assert.Equal(t, i > j, x.Supersedes(y), "%s and %s", a, b)
		}
	}
	tests := []struct {
		name   string
		a, b   Identity
		ab, ba bool
	}{
		{"a build without version", Identity{1, "(devel)", 0}, Identity{1, "1.0.0", 0}, false, false},
		{"the wire decides between equals", Identity{2, "1.0.0", 0}, Identity{1, "1.0.0", 0}, true, false},
		{"and where versions say nothing", Identity{2, "dev", 0}, Identity{1, "1.0.0", 0}, true, false},
		{"not against the version", Identity{2, "1.0.0", 0}, Identity{1, "1.1.0", 0}, false, true},
		{"build data does not count", Identity{1, "1.0.0+a", 0}, Identity{1, "1.0.0+b", 0}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.ab, tt.a.Supersedes(tt.b))
			assert.Equal(t, tt.ba, tt.b.Supersedes(tt.a))
		})
	}
}

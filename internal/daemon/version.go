package daemon

import (
	"cmp"
	"strconv"
	"strings"
)

// Supersedes reports whether a program a should replace a daemon b: its version
// is newer, or, where versions do not tell, its wire number is. It is a strict
// order, so that two programs never replace each other in turn.
func (a Identity) Supersedes(b Identity) bool {
	if order, ok := compareVersions(a.Version, b.Version); ok && order != 0 {
		return order > 0
	}
	return a.Wire > b.Wire
}

// compareVersions orders two versions by the rules of Semantic Versioning 2.0.0,
// section 11. It reports false when one of them is no version, as in a build
// without one.
func compareVersions(a, b string) (int, bool) {
	x, okX := parseVersion(a)
	y, okY := parseVersion(b)
	if !okX || !okY {
		return 0, false
	}
	for i := range x.core {
		if c := cmp.Compare(x.core[i], y.core[i]); c != 0 {
			return c, true
		}
	}
	return comparePrerelease(x.prerelease, y.prerelease), true
}

type version struct {
	core       [3]uint64 // major, minor, patch
	prerelease string
}

func parseVersion(s string) (version, bool) {
	var v version
	s, _, _ = strings.Cut(strings.TrimPrefix(s, "v"), "+")
	core, prerelease, _ := strings.Cut(s, "-")
	parts := strings.Split(core, ".")
	if len(parts) != len(v.core) {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 64)
		if err != nil {
			return v, false
		}
		v.core[i] = n
	}
	v.prerelease = prerelease
	return v, true
}

// comparePrerelease orders what follows the hyphen: a release is newer than its
// prereleases, numbers are older than words, fewer fields older than more.
func comparePrerelease(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(len(b), len(a))
	}
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, errM := strconv.ParseUint(x[i], 10, 64)
		n, errN := strconv.ParseUint(y[i], 10, 64)
		c := strings.Compare(x[i], y[i])
		switch {
		case errM == nil && errN == nil:
			c = cmp.Compare(m, n)
		case errM == nil:
			c = -1
		case errN == nil:
			c = 1
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

package notes

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Ignore determines which files and folders of a vault notesd does not read, watch or
// write: hidden ones (.obsidian, .git, .trash and any other name with a leading dot),
// node_modules, the recycle bin of Windows, Logseq's backups, and those that match the
// user's patterns.
type Ignore struct {
	patterns []string
}

// packagesFolder is where npm installs packages, each with a README.md. Like Logseq and
// Foam, notesd expects no notes there.
const packagesFolder = "node_modules"

// recycleBin is where Windows keeps deleted files, in the root of a disk, which may be the
// vault.
const recycleBin = "$RECYCLE.BIN"

// logseqBackups is where Logseq keeps old versions of pages, which it does not list.
const logseqBackups = "/logseq/bak"

// NewIgnore compiles patterns: * within a name, ** across folders, ?, [a-z],
// {a,b}. One without '/' applies to names at any depth, one with '/', such as
// "/Archive", to the path from the vault; a trailing '/' is allowed.
func NewIgnore(patterns []string) (*Ignore, error) {
	ig := &Ignore{}
	for _, p := range patterns {
		p = Nfc(strings.TrimRight(strings.TrimSpace(p), "/"))
		if p == "" {
			continue
		}
		if !doublestar.ValidatePattern(p) {
			return nil, fmt.Errorf("ignore pattern %q is malformed", p)
		}
		ig.patterns = append(ig.patterns, p)
	}
	return ig, nil
}

// Match reports whether the vault-relative path, or a folder above it, is ignored.
func (ig *Ignore) Match(p string) bool {
	for end := 0; end < len(p); end++ {
		slash := strings.IndexByte(p[end:], '/')
		if slash < 0 {
			break
		}
		end += slash
		if ig.MatchOne(p[:end]) {
			return true
		}
	}
	return ig.MatchOne(p)
}

// MatchOne reports whether p itself is ignored, without regard to the folders above it.
func (ig *Ignore) MatchOne(p string) bool {
	name := path.Base(p)
	if strings.HasPrefix(name, ".") || name == packagesFolder || strings.EqualFold(name, recycleBin) || strings.HasSuffix("/"+p, logseqBackups) {
		return true
	}
	for _, pattern := range ig.patterns {
		subject := name
		if strings.Contains(pattern, "/") {
			pattern, subject = strings.TrimLeft(pattern, "/"), p
		}
		if doublestar.MatchUnvalidated(pattern, subject) {
			return true
		}
	}
	return false
}

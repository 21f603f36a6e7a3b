//go:build !unix

package notes

import (
	"io/fs"
	"os"
)

// hardLinks: Windows replaces a file with ReplaceFile, and refuses by itself.
func hardLinks(fs.FileInfo) int { return 1 }

// locked: a file that is open elsewhere refuses to be replaced there.
func locked(*os.File) bool { return false }

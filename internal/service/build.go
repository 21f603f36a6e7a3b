package service

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"notesd/internal/daemon"
)

// Build describes how the program was built.
type Build struct {
	Version  string `json:"version"` // module version: a release or pseudo-version, "(devel)" without either
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"` // of the revision
	Modified bool   `json:"modified"`       // built from a modified working tree
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ThisBuild returns the build of the running program.
var ThisBuild = sync.OnceValue(func() Build {
	b := Build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(info.Main.Version, b.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
})

func (b Build) String() string {
	return fmt.Sprintf("notesd %s (%s, %s)", b.Version, b.Go, b.Platform)
}

// Version returns the version of the running program.
func Version() string { return ThisBuild().Version }

// identity identifies this process to daemons and to other processes that want the
// lock.
func identity() daemon.Identity { return daemon.NewIdentity(Version(), os.Getpid()) }

package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/spf13/cobra"

	"notesd/internal/daemon"
)

// build is what the program knows of how it was built.
type build struct {
	Version  string `json:"version"` // of the module: a release, or the commit's pseudo-version; "(devel)" without either
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"` // of the revision
	Modified bool   `json:"modified"`       // built from changed files
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

var thisBuild = sync.OnceValue(func() build {
	b := build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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

func (b build) String() string {
	return fmt.Sprintf("notesd %s (%s, %s)", b.Version, b.Go, b.Platform)
}

func version() string { return thisBuild().Version }

// identity describes this process to others that want the same vault.
var identity = sync.OnceValue(func() daemon.Identity { return daemon.NewIdentity(version(), os.Getpid()) })

func versionCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version [--json]",
		Short: "Print which notesd this is",
		Example: `  notesd version
  notesd version --json`,
		Args: takes(),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.out.json(thisBuild())
			}
			_, err := fmt.Fprintln(a.out, thisBuild())
			return err
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

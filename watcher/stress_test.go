package watcher

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

var (
	stressOps  = flag.Int("watcher.ops", 2000, "random operations in TestStress")
	stressSeed = flag.Uint64("watcher.seed", 0, "seed of TestStress; 0 takes a new one")
)

// TestStress performs random operations on a small tree, so that names are reused often,
// and compares the owner's view with the disk from time to time.
func TestStress(t *testing.T) {
	seed := *stressSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	for _, opt := range backends {
		opt.Ignore = func(rel string) bool { return path.Base(rel) == ".git" }
		t.Run(opt.name, func(t *testing.T) {
			t.Logf("repeat with -watcher.seed=%d -watcher.ops=%d", seed, *stressOps)
			s := &stress{
				rand:    rand.New(rand.NewPCG(seed, 0)),
				vault:   newVault(t, t.TempDir(), opt.Options, opt.adapt),
				outside: t.TempDir(),
			}
			for i := range *stressOps {
				s.step(i)
				if s.rand.IntN(100) == 0 {
					s.settle()
				}
			}
			s.sentinel()
			assert.Equal(t, []string{"started"}, s.rescans)
		})
	}
}

type stress struct {
	*vault
	rand    *rand.Rand
	outside string // a folder to move things to and from
}

// path returns one of a few hundred random paths, which may or may not exist.
func (s *stress) path() string {
	names := []string{"a", "b", "c", "d.md", "e.md", ".git"}
	p := s.root
	for range 1 + s.rand.IntN(4) {
		p = filepath.Join(p, names[s.rand.IntN(len(names))])
	}
	return p
}

// step performs one operation. It may fail, depending on the state of the disk, and the
// error is ignored.
func (s *stress) step(i int) {
	p, q := s.path(), s.path()
	away := filepath.Join(s.outside, fmt.Sprint(s.rand.IntN(3)))
	switch s.rand.IntN(12) {
	case 0, 1, 2:
		_ = os.WriteFile(p, fmt.Append(nil, "text ", i), 0o644)
	case 3, 4:
		_ = os.MkdirAll(p, 0o755)
		_ = os.WriteFile(filepath.Join(p, "e.md"), fmt.Append(nil, "deep ", i), 0o644)
	case 5:
		_ = os.MkdirAll(p, 0o755)
	case 6:
		_ = os.RemoveAll(p)
	case 7, 8:
		_ = os.Rename(p, q)
	case 9:
		_ = os.Rename(p, away)
	case 10:
		_ = os.Rename(away, p)
	case 11:
		_ = os.Chmod(p, fs.FileMode(0o600|s.rand.IntN(0o200)))
		if fi, err := os.Lstat(p); err == nil && fi.IsDir() {
			_ = os.Chmod(p, 0o755)
		}
	}
}

package mirror

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/internal/pgtest"
)

// TestExFAT_RespelledFolder: of two nodes on disks that ignore case, one renames folders in case
// only. The other follows, with what it has changed in them and not committed yet.
func TestExFAT_RespelledFolder(t *testing.T) {
	s := pgtest.New(t)
	a, b := &node{t: t, dir: notestest.MountExFAT(t)}, &node{t: t, dir: notestest.MountExFAT(t)}
	for i := range 5 {
		a.save(fmt.Sprintf("projects/sub/%d.md", i), fmt.Sprint(i))
	}
	a.save("projects/Top.md", "t")
	a.open(s.URL(), "team", t.TempDir())
	b.open(s.URL(), "team", t.TempDir())
	agree(t, a, b)
	rename := func(from, to string) {
		for _, at := range []string{"away", to} { // the driver does not rename in case only
			require.NoError(t, os.Rename(filepath.Join(a.dir, from), filepath.Join(a.dir, at)))
			from = at
		}
	}
	rename("projects/sub", "projects/Sub")
	rename("projects", "Projects")
	rename("Projects/Sub/1.md", "Projects/Sub/one.md")
	b.save("projects/sub/2.md", "of b")
	b.save("projects/sub/New.md", "n")
	want := map[string]string{"Projects/Top.md": "t", "Projects/Sub/0.md": "0", "Projects/Sub/one.md": "1", "Projects/Sub/2.md": "of b", "Projects/Sub/3.md": "3", "Projects/Sub/4.md": "4", "Projects/Sub/New.md": "n"}
	a.sync()
	assert.Equal(t, want, agree(t, b, a))
	assert.Equal(t, 3, s.Count(`SELECT count(*) FROM batches`), "the first files, the move, and the changes of b")
}

package search

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"notesd/notes"
)

func rss() (cur, peak string) {
	b, _ := os.ReadFile("/proc/self/status")
	for _, l := range bytes.Split(b, []byte("\n")) {
		if bytes.HasPrefix(l, []byte("VmRSS")) {
			cur = string(l)
		}
		if bytes.HasPrefix(l, []byte("VmHWM")) {
			peak = string(l)
		}
	}
	return
}

func cpu() time.Duration {
	var ru syscall.Rusage
	_ = syscall.Getrusage(0, &ru)
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

func bigUpdates(root string) (ups []update, total int64) {
	_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".md") {
			return err
		}
		id := int64(len(ups) + 1)
		info, _ := d.Info()
		total += info.Size()
		ups = append(ups, update{id: id, seq: uint64(id), load: func(context.Context) (*notes.Note, error) {
			return readNote(root, p, id)
		}})
		return nil
	})
	return
}

func readNote(root, p string, id int64) (*notes.Note, error) {
	b, err := os.ReadFile(p)
	if err != nil {
		return nil, err
	}
	rel, _ := filepath.Rel(root, p)
	n := &notes.Note{ID: id, Path: rel, Content: string(b), Title: strings.TrimSuffix(filepath.Base(p), ".md")}
	for i, l := range strings.Split(n.Content, "\n") {
		if strings.HasPrefix(l, "# ") || strings.HasPrefix(l, "## ") {
			n.Headings = append(n.Headings, notes.Heading{Text: strings.TrimLeft(l, "# "), Line: i + 1})
		}
	}
	return n, nil
}

func TestBig(t *testing.T) {
	root := os.Getenv("BIG")
	if root == "" {
		t.Skip()
	}
	ups, total := bigUpdates(root)
	dir := filepath.Join(t.TempDir(), "x")
	x, err := OpenIndex(context.Background(), dir, IndexOptions{})
	require.NoError(t, err)
	runtime.GC()
	c0, start := cpu(), time.Now()
	for i := 0; i < len(ups); i += 1000 {
		part := ups[i:min(i+1000, len(ups))]
		require.NoError(t, x.apply(context.Background(), notes.Position{Store: "s", Seq: part[len(part)-1].seq}, part))
	}
	wall := time.Since(start)
	cur, peak := rss()
	st, _ := x.Stats()
	t.Logf("%d notes %d MB: wall %v cpu %v; %s %s; segs %d bytes %d MB", len(ups), total>>20, wall, cpu()-c0, cur, peak, st.Segments, st.Bytes>>20)
	require.NoError(t, x.Close())
	t.Logf("closed after %v cpu %v", time.Since(start), cpu()-c0)
	start = time.Now()
	x, err = OpenIndex(context.Background(), dir, IndexOptions{})
	require.NoError(t, err)
	st, _ = x.Stats()
	t.Logf("open %v; segs %d bytes %d MB pos %v", time.Since(start), st.Segments, st.Bytes>>20, st.Position)
	c0 = cpu()
	time.Sleep(4 * time.Second)
	st, _ = x.Stats()
	t.Logf("after 4 s: cpu %v segs %d bytes %d MB", cpu()-c0, st.Segments, st.Bytes>>20)
	qs := []string{"battle of waterloo", "steam engine invention", "roman emperor constantine christianity", "chemical composition of water", "japan navy", "electric telegraph cable atlantic", "what is the population of the province", "history of the british museum library", "hydraulics pressure pump", "poet born in florence and died in exile"}
	for round := 0; round < 3; round++ {
		start = time.Now()
		for _, q := range qs {
			p := simplePlan(q)
			r, err := x.rank(context.Background(), &p, nil, 10)
			require.NoError(t, err)
			require.NotEmpty(t, r.best)
		}
		t.Logf("mean %v", time.Since(start)/time.Duration(len(qs)))
	}
	cur, peak = rss()
	t.Logf("%s %s", cur, peak)
	x.Close()
}

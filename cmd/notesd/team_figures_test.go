package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/internal/pgtest"
	"notesd/internal/service"
	"notesd/notes"
	"notesd/notes/pglog"
)

// TestTeamFigures prints performance figures of a vault in PostgreSQL, with the built
// program and a server on the same machine that does not sync to disk. TEAM_FIGURES is
// the number of samples of each figure. The notes are generated, 500 or BENCH_NOTES, or a
// copy of BENCH_VAULT; with BENCH_STATE, a state of that vault, its vectors are included.
// It never fails for being slow.
//
//	TEAM_FIGURES=200 BENCH_NOTES=10000 go test -timeout 60m -v -run TeamFigures ./cmd/notesd
func TestTeamFigures(t *testing.T) {
	samples, _ := strconv.Atoi(os.Getenv("TEAM_FIGURES"))
	if samples == 0 {
		t.Skip("SKIPPED: TEAM_FIGURES is not set")
	}
	f := newFigures(t)
	first := f.place("team", true)
	began := time.Now()
	first.run(t, "index")
	f.print("the first folder is in the database after", "%.1f s", time.Since(began).Seconds())
	a := f.node(first)
	if f.state != "" {
		want := f.report(a).Semantic.Embedded
		eventually(t, "the vectors are in the database", func() bool { return f.server.Count(`SELECT count(*) FROM vectors`) >= want })
	}
	second := f.place("team", false)
	began = time.Now()
	second.run(t, "index", "--wait")
	took := time.Since(began)
	b := f.node(second)
	r := f.report(b)
	f.print("a new node has caught up after", "%.1f s (%d notes, %d vectors)", took.Seconds(), r.Notes, r.Semantic.Embedded)

	const note = "Figures.md"
	require.False(t, a.tool("create_note", map[string]any{"title": "Figures", "path": note, "content": "figuresbegin"}).IsError)
	b.whenFoundIn(note, "figuresbegin", time.Now())
	require.Nil(t, b.call("resources/subscribe", map[string]any{"uri": notes.URI(note)}).Error)
	var found, notified, wrote []time.Duration
	for range samples {
		word := unlikeOthers()
		sent := time.Now()
		require.False(t, a.tool("edit_note", map[string]any{"note": note, "edits": []any{map[string]any{"op": "replace_all", "content": word}}}).IsError)
		at := time.Now()
		wrote = append(wrote, at.Sub(sent))
		heard := make(chan time.Duration, 1)
		go func() { heard <- b.whenUpdated(notes.URI(note), at) }()
		found = append(found, b.whenFoundIn(note, word, at))
		notified = append(notified, <-heard)
	}
	f.percentiles("a write by a tool is answered after", wrote)
	f.percentiles("from the answer to found on the other node", found)
	f.percentiles("from the answer to a subscriber's notification there", notified)

	f.searches(samples, b)
	for _, h := range []*peer{a, b} {
		require.NoError(t, h.end())
	}
	for _, vaults := range []int{1, 16} {
		var clients, nodes []*peer
		for i := range 16 {
			if i < vaults {
				nodes = append(nodes, f.node(f.place(fmt.Sprintf("writes-%d-of-%d", i, vaults), false)))
			}
			clients = append(clients, nodes[i%vaults])
		}
		f.print(fmt.Sprintf("writes by the tools of 16 clients, %d vaults", vaults), "%.0f a second", f.writes(clients, samples))
		for _, h := range nodes {
			require.NoError(t, h.end())
		}
	}
}

type figures struct {
	t       *testing.T
	server  *pgtest.Server
	exe     string
	files   string // path of the notes
	state   string // "": without vectors
	queries []string
}

func newFigures(t *testing.T) *figures {
	f := &figures{t: t, server: pgtest.Start(t), files: os.Getenv("BENCH_VAULT"), state: os.Getenv("BENCH_STATE")}
	var err error
	f.exe, err = buildOnce()
	require.NoError(t, err)
	if f.files == "" {
		f.files = t.TempDir()
		spec := notestest.Spec{Notes: envInt(t, "BENCH_NOTES", defaultBenchNotes), Seed: 1}
		require.NoError(t, notestest.Generate(f.files, spec))
		f.queries = notestest.Queries(spec, 500)
	} else {
		f.queries = queriesFrom(t, f.files)
	}
	return f
}

// place returns a place of the vault, filled with the notes or empty. If vault is "", it
// is not in a database.
func (f *figures) place(vault string, filled bool) place {
	p := newPlace(f.t, nil)
	p.program = f.exe
	if vault != "" {
		p.env = append(p.env, "NOTESD_STORE_POSTGRES="+f.server.URL(), "NOTESD_STORE_VAULT="+vault)
	}
	if f.state != "" {
		p.configure(f.t, "")
	}
	if filled {
		require.NoError(f.t, os.CopyFS(p.vault, os.DirFS(f.files)))
		if f.state != "" {
			require.NoError(f.t, os.CopyFS(p.state, os.DirFS(f.state)))
			require.NoError(f.t, os.Remove(filepath.Join(p.state, "vault.json"))) // it refers to the other folder
		}
	}
	return p
}

func (f *figures) node(p place) *peer {
	h := p.launch(f.t, "mcp", "--in-process", "--log-level", "error")
	h.initialize()
	h.ready()
	return h
}

func (f *figures) report(h *peer) (r service.Report) {
	h.decode(h.call("notesd/status", map[string]any{}), &r)
	return r
}

func (f *figures) print(what, format string, values ...any) {
	load, _ := os.ReadFile("/proc/loadavg") // Linux only
	f.t.Logf("%-52s %s   (load %s)", what, fmt.Sprintf(format, values...), strings.Join(strings.Fields(string(load))[:1], " "))
}

func (f *figures) percentiles(what string, times []time.Duration) {
	slices.Sort(times)
	at := func(percent int) float64 {
		return float64(times[min(len(times)-1, len(times)*percent/100)].Microseconds()) / 1000
	}
	f.print(what, "p50 %.1f ms, p95 %.1f ms", at(50), at(95))
}

// writes makes every client create n notes, and returns the notes created per second.
func (f *figures) writes(clients []*peer, n int) float64 {
	var wg sync.WaitGroup
	began := time.Now()
	for i, h := range clients {
		wg.Go(func() {
			for j := range n {
				r := h.tool("create_note", map[string]any{"title": fmt.Sprintf("%d %d", i, j), "content": "some words"})
				assert.False(f.t, r.IsError, "%v", r.Content)
			}
		})
	}
	wg.Wait()
	return float64(len(clients)*n) / time.Since(began).Seconds()
}

// searches compares searches on the node, while it follows a hundred writes per second,
// with those of a local vault with the same notes, alternately.
func (f *figures) searches(n int, node *peer) {
	local := f.node(f.place("", true))
	ctx, cancel := context.WithCancel(f.t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		db, err := pglog.Open(f.server.URL(), slog.New(slog.DiscardHandler))
		if !assert.NoError(f.t, err) {
			return
		}
		defer func() { assert.NoError(f.t, db.Close()) }()
		l := db.Log("team")
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ctx.Err() == nil; i++ {
			text := []byte(fmt.Sprintf("# Written %d\n\n%s\n", i, strings.Repeat("some words of a note that is written ", 50)))
			_, err := l.Commit(context.Background(), notes.Batch{ID: unlikeOthers(), Kind: "create", Changes: []notes.FileChange{{Path: fmt.Sprintf("Written/%d.md", i), After: notes.Hash(text), Data: text}}})
			assert.NoError(f.t, err)
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	times := map[*peer][]time.Duration{}
	began, from := time.Now(), f.report(node).Shared.Seq
	for i := range 5 * n {
		for _, h := range []*peer{node, local} {
			params := map[string]any{"name": "search_notes", "arguments": map[string]any{"query": f.queries[i%len(f.queries)]}}
			times[h] = append(times[h], h.timed("tools/call", params))
		}
	}
	rate := float64(f.report(node).Shared.Seq-from) / time.Since(began).Seconds()
	cancel()
	writing.Wait()
	f.percentiles(fmt.Sprintf("a search on the node, which follows %.0f writes/s", rate), times[node])
	f.percentiles("a search in a vault of its own", times[local])
	require.NoError(f.t, local.end())
}

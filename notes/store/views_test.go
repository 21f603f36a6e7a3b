package store_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/fsid"
	"notesd/internal/notestest"
	"notesd/notes"
	"notesd/notes/store"
)

// TestPages_UnderChange checks that a client that reads a list page by page sees every
// unchanged note exactly once, whatever changes between two pages.
func TestPages_UnderChange(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(81, 1))
	now := time.Date(2031, 5, 15, 12, 0, 0, 0, time.Local)
	s := openStore(t, t.TempDir())
	s.Now = func() time.Time { return now }
	paths, serial := map[int64]string{}, 0
	entry := func(kind notes.ChangeKind, id int64, p string) store.Entry {
		now = now.Add(time.Duration(rng.IntN(3)) * time.Second) // some at the same time
		text := fmt.Sprintf("---\ntitle: T%02d\n---\n%*s", rng.IntN(30), rng.IntN(40), "x")
		e := store.Entry{Kind: kind, ID: id, Path: p, OldPath: paths[id], DiskPath: p, Stat: fsid.Stat{Size: int64(len(text)), Mtime: now.UnixNano()}, Note: notes.Parse(p, []byte(text), now)}
		if kind != notes.Moved {
			e.OldPath = ""
		}
		if kind == notes.Deleted {
			e.Path, e.Note = paths[id], nil
		}
		return e
	}
	apply := func(entries ...store.Entry) []int64 {
		changes, err := s.Apply(ctx, entries, nil, false)
		require.NoError(t, err)
		var ids []int64
		for _, c := range changes {
			ids = append(ids, c.NoteID)
			if paths[c.NoteID] = c.Path; c.Kind == notes.Deleted {
				delete(paths, c.NoteID)
			}
		}
		return ids
	}
	name := func() string {
		serial++
		return fmt.Sprintf("%s%03d.md", []string{"a/", "B/", "", "ü/"}[rng.IntN(4)], (serial*37)%1000)
	}
	for range 60 {
		apply(entry(notes.Created, 0, name()))
	}
	for round := range notestest.Rounds(30) {
		sort := []string{"modified", "date", "created", "size", "title", "path"}[round%6]
		still := maps.Clone(paths) // notes unchanged since the first page
		seen := map[int64]int{}
		q := notes.ListQuery{Sort: sort, Limit: 1 + rng.IntN(15)}
		for {
			page, err := s.List(ctx, q)
			require.NoError(t, err)
			require.Equal(t, len(paths), page.Total)
			for _, m := range page.Notes {
				seen[m.ID]++
				require.Equal(t, paths[m.ID], m.Path)
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
			for range rng.IntN(4) {
				ids := slices.Sorted(maps.Keys(paths))
				id := ids[rng.IntN(len(ids))]
				var touched []int64
				switch rng.IntN(4) {
				case 0:
					touched = apply(entry(notes.Created, 0, name()))
				case 1:
					touched = apply(entry(notes.Modified, id, paths[id]))
				case 2:
					touched = apply(entry(notes.Moved, id, name()))
				case 3:
					touched = apply(entry(notes.Deleted, id, ""))
				}
				delete(still, touched[0])
			}
		}
		for id, p := range still {
			require.Equal(t, 1, seen[id], "%s by %s", p, sort)
		}
	}
}

// TestGraph_Oracle checks the graph, the orphans, the notes that link to a note and the
// counts by month against the links and dates of each note.
func TestGraph_Oracle(t *testing.T) {
	ctx := t.Context()
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(82, seed))
		files := randomFiles(rng, 20)
		for i := range 6 {
			files[fmt.Sprintf("c/Alone %d.md", i)] = fmt.Sprintf("---\ndate: 20%02d-%02d-15\ncreated: 20%02d-%02d-15\n---\nno links\n", 10+rng.IntN(20), 1+rng.IntN(12), 10+rng.IntN(20), 1+rng.IntN(12))
		}
		w := newWorld(t, files)
		for _, scope := range []notes.Scope{{}, {Read: []string{"a"}}, {Read: []string{"A/b", "c"}}} {
			all := w.list(notes.Filter{Scope: scope.Read})
			links := map[[2]string]bool{}
			for _, p := range all {
				report, err := w.Links(ctx, notes.URI(p), notes.LinkQuery{Direction: "out", Limit: 1000, Scope: scope})
				require.NoError(t, err)
				for _, l := range report.Outgoing {
					if !l.Attachment {
						links[[2]string{p, l.To}] = true
					}
				}
			}
			g, err := w.Graph(ctx, scope)
			require.NoError(t, err)
			nodes, edges := []string{}, map[[2]string]bool{}
			for _, n := range g.Nodes {
				nodes = append(nodes, n.Path)
			}
			for _, l := range g.Links {
				edges[[2]string{g.Nodes[l[0]].Path, g.Nodes[l[1]].Path}] = true
			}
			assert.ElementsMatch(t, all, nodes)
			require.Equal(t, links, edges, "%+v", scope)
			linked := map[string]bool{}
			from := map[string][]string{}
			for l := range links {
				linked[l[0]], linked[l[1]] = true, true
				from[l[1]] = append(from[l[1]], l[0])
			}
			orphans := slices.DeleteFunc(slices.Clone(all), func(p string) bool { return linked[p] })
			require.Equal(t, orphans, w.list(notes.Filter{Orphans: true, Scope: scope.Read}), "%+v", scope)
			for _, p := range all {
				m, err := w.Lookup(ctx, notes.URI(p), scope)
				require.NoError(t, err)
				got, err := w.LinkedFrom(ctx, m.ID, scope)
				require.NoError(t, err)
				require.ElementsMatch(t, from[p], got, p)
			}
			folders, err := w.Folders(ctx, scope)
			require.NoError(t, err)
			in := map[string]int{}
			for _, p := range all {
				in[p[:max(0, strings.LastIndexByte(p, '/'))]]++
			}
			for _, f := range folders {
				require.Equal(t, in[f.Folder], f.Notes)
			}
			require.Len(t, folders, len(in))
		}
	}
}

// TestWhyNothing_Oracle checks that exactly those parts of a filter are described that
// match no note by themselves.
func TestWhyNothing_Oracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(83, 1))
	w := newWorld(t, randomFiles(rng, 25))
	some := func(list ...string) []string {
		if rng.IntN(2) == 0 {
			return nil
		}
		return []string{list[rng.IntN(len(list))]}
	}
	named := 0
	for range 150 {
		scope := some("a", "A/b", "c", "nowhere")
		parts := notes.Filter{Paths: some("a/", "A/b/T", "zzz", "c/none"), Tags: some("t1", "#T2", "t0/s1", "t9", "t0/none")}
		if folder := some("a", "A/B", "nope", "c", "a/none"); folder != nil {
			parts.Folder = folder[0]
		}
		var want []string
		alone := func(f notes.Filter, what string) {
			if f.Scope = scope; len(w.list(f)) == 0 {
				want = append(want, what)
			}
		}
		if parts.Folder != "" {
			alone(notes.Filter{Folder: parts.Folder}, "there is no folder "+notes.Quote(parts.Folder))
		}
		for _, p := range parts.Paths {
			alone(notes.Filter{Paths: []string{p}}, "no note has a path that begins with "+notes.Quote(p))
		}
		for _, tag := range parts.Tags {
			alone(notes.Filter{Tags: []string{tag}}, "no note has the tag "+notes.Quote(tag))
		}
		parts.Scope = scope
		why, err := w.WhyNothing(t.Context(), parts)
		require.NoError(t, err)
		require.Len(t, why, len(want), "%+v: %q", parts, why)
		for i := range why {
			require.True(t, strings.HasPrefix(why[i], want[i]), "%q begins %q", why[i], want[i])
		}
		named += len(why)
	}
	assert.Greater(t, named, 40)
}

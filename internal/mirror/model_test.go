package mirror

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/internal/pgtest"
	"notesd/notes"
	"notesd/notes/pglog"
)

// Three nodes with running mirrors: clients that move between them append, create and
// move with tools, an editor saves in the first folder, and the database is killed. Each
// change has a unique word. Once idle, all folders and the log are equal; every word of
// an acknowledged write is in exactly one note or conflict copy, except for what the
// editor overwrote between its reading and its saving.
func TestNodesAgree(t *testing.T) {
	s := pgtest.Start(t)
	const shared = 6
	files := map[string]string{}
	for i := range shared {
		files[fmt.Sprintf("Shared %d.md", i)] = "begin\n"
	}
	nodes := []*node{newNode(t, s.URL(), "model", files), newNode(t, s.URL(), "model", nil), newNode(t, s.URL(), "model", nil)}
	beginning, _, err := nodes[0].m.log.Snapshot(t.Context())
	require.NoError(t, err)
	agree(t, nodes...)
	ctx, cancel := context.WithCancel(t.Context())
	var running, working sync.WaitGroup
	for _, n := range nodes {
		running.Go(func() { assert.NoError(t, n.Run(ctx)) })
		running.Go(func() { n.m.Run(ctx) })
	}
	var mu sync.Mutex
	var words []string
	done := func(word string) {
		mu.Lock()
		defer mu.Unlock()
		words = append(words, word)
	}
	rounds := notestest.Rounds(40)
	for client := range 3 {
		rng := rand.New(rand.NewPCG(7, uint64(client)))
		working.Go(func() {
			for i, try := 0, 0; i < rounds; try++ {
				word := fmt.Sprintf("client%dword%dx", client, try)
				n := nodes[rng.IntN(len(nodes))]
				note := fmt.Sprintf("Shared %d.md", rng.IntN(shared))
				var err error
				switch rng.IntN(6) {
				case 0:
					_, err = n.Create(ctx, notes.CreateRequest{Path: "New/" + word + ".md", Content: word})
				case 1:
					folder := [...]string{"", "F/", "G/"}[rng.IntN(3)]
					if _, err = n.Move(ctx, notes.MoveRequest{Note: note[:len(note)-3], To: folder + note, UpdateLinks: true}); err == nil {
						i++
						continue
					}
				default:
					_, err = n.Edit(ctx, notes.EditRequest{Note: note[:len(note)-3], Edits: []notes.Edit{{Op: "append", Content: word}}})
				}
				if !errors.Is(err, notes.ErrUnavailable) { // otherwise the database is unavailable
					i++
				}
				var refused *notes.Error
				if err == nil {
					done(word)
				} else if !errors.As(err, &refused) {
					assert.NoError(t, err)
				}
			}
		})
	}
	working.Go(func() {
		rng := rand.New(rand.NewPCG(8, 8))
		for i := range rounds {
			word := fmt.Sprintf("editorword%dx", i)
			p := fmt.Sprintf("Shared %d.md", rng.IntN(shared))
			name := filepath.Join(nodes[0].dir, p)
			text, err := os.ReadFile(name)
			if err != nil {
				continue // it has moved
			}
			temp := filepath.Join(nodes[0].dir, ".editor.tmp")
			if assert.NoError(t, os.WriteFile(temp, append(text, word+"\n"...), 0o644)) && assert.NoError(t, os.Rename(temp, name)) {
				nodes[0].Changed([]string{p})
				nodes[0].m.Changed([]string{p})
			}
		}
	})
	for range 3 {
		s.Kill()
		s.Run()
	}
	working.Wait()
	cancel()
	running.Wait()
	got := agree(t, nodes...)
	all := ""
	copies := 0
	for p, text := range got {
		all += text + "\n"
		if strings.Contains(p, "(conflict ") {
			copies++
		}
		for _, word := range strings.Fields(text) {
			if strings.Contains(word, "word") {
				require.Equal(t, 1, strings.Count(text, word), "%s twice in %s", word, p)
			}
		}
	}
	gone := savedOver(t, nodes[0], beginning)
	for _, word := range words {
		require.True(t, strings.Contains(all, word) || gone[word], "an acknowledged write is lost: %s", word)
	}
	t.Logf("%d acknowledged writes of clients, %d notes, %d conflict copies", len(words), len(got), copies)
	assert.NotEmpty(t, words)
	_, logged, err := nodes[0].m.log.Snapshot(t.Context())
	require.NoError(t, err)
	hashes := map[string]string{}
	for _, f := range logged {
		hashes[f.Path] = f.Hash
	}
	for p, text := range got {
		assert.Equal(t, notes.Hash([]byte(text)), hashes[p], p)
	}
	assert.Len(t, hashes, len(got))
}

// savedOver returns the words removed by saves of the node's editor.
func savedOver(t *testing.T, n *node, beginning pglog.Position) map[string]bool {
	t.Helper()
	gone := map[string]bool{}
	head, _, err := n.m.log.Snapshot(t.Context())
	require.NoError(t, err)
	for at := beginning; at != head; {
		entries, err := n.m.log.Changes(t.Context(), at, 100)
		require.NoError(t, err)
		for _, e := range entries {
			at = e.Position
			for _, c := range e.Changes {
				if e.Author != n.m.opt.Author || c.Before == "" || c.After == "" {
					continue
				}
				texts, err := n.m.log.Contents(t.Context(), []string{c.Before, c.After})
				require.NoError(t, err)
				for _, word := range strings.Fields(string(texts[c.Before])) {
					if !strings.Contains(string(texts[c.After]), word) {
						gone[word] = true
					}
				}
			}
		}
	}
	return gone
}

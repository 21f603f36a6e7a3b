package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/daemon"
	"notesd/mcp/tools"
)

// TestRelaysOutliveKilledDaemons runs eight hosts with relays, two of them writing, while
// their daemon is killed again and again. No call fails, and every acknowledged write is
// on disk, once, and found.
//
//	STORM_KILLS=100 go test -run RelaysOutlive ./cmd/notesd
func TestRelaysOutliveKilledDaemons(t *testing.T) {
	t.Parallel()
	kills := envInt(t, "STORM_KILLS", 8)
	p := newPlace(t, someNotes)
	s := &storm{place: p, over: make(chan struct{})}
	var hosts sync.WaitGroup
	for i := range stormHosts {
		hosts.Go(func() { s.host(t, i, i < 2) })
	}
	s.kill(t, kills)
	close(s.over)
	hosts.Wait()
	t.Logf("%d daemons killed, %d writes, %d reads", kills, s.writes.Load(), s.reads.Load())
	assert.Positive(t, s.writes.Load())
	s.check(t)
	s.nothingIsLeft(t)
}

const stormHosts = 8

type storm struct {
	place         place
	over          chan struct{}
	writes, reads atomic.Int64

	mu      sync.Mutex
	written map[string]string // path → its word
}

// host works until the storm is over.
func (s *storm) host(t *testing.T, number int, writes bool) {
	h := s.place.launch(t, "mcp", "--log-level", "error")
	h.initialize()
	for i := 0; ; i++ {
		select {
		case <-s.over:
			assert.NoError(t, h.end())
			return
		default:
		}
		if !writes {
			if m := h.call("tools/call", map[string]any{"name": "search_notes", "arguments": map[string]any{"query": "stays"}}); !succeeded(t, m) {
				return
			}
			s.reads.Add(1)
			continue
		}
		word := fmt.Sprintf("word%dq%d", number, i)
		path := fmt.Sprintf("Storm/%s.md", word)
		m := h.call("tools/call", map[string]any{"name": "create_note", "arguments": map[string]any{"title": word, "path": path, "content": word}})
		if !succeeded(t, m) {
			return
		}
		s.writes.Add(1)
		s.mu.Lock()
		if s.written == nil {
			s.written = map[string]string{}
		}
		s.written[path] = word
		s.mu.Unlock()
	}
}

// succeeded reports whether a call returned a result that is not a failure.
func succeeded(t *testing.T, m message) bool {
	if !assert.Nil(t, m.Error) {
		return false
	}
	var r toolResult
	return assert.NoError(t, json.Unmarshal(m.Result, &r)) && assert.False(t, r.IsError, "%s", m.Result)
}

// killAfter is the number of calls that a daemon answers before it is killed, so that
// each makes progress even on a slow machine.
const killAfter = 10

// kill kills daemons one after another.
func (s *storm) kill(t *testing.T, daemons int) {
	seen := int64(0)
	for range daemons {
		eventually(t, "a daemon that has answered is killed", func() bool {
			if s.reads.Load()+s.writes.Load() < seen+killAfter {
				return false
			}
			id, err := daemon.Probe(t.Context(), s.place.state)
			if err != nil {
				return false // none is running at the moment
			}
			<-time.After(rand.N(4 * testPoll)) // so that it is not always right after a response
			process, err := os.FindProcess(id.PID)
			return err == nil && process.Kill() == nil
		})
		seen = s.reads.Load() + s.writes.Load()
	}
}

func (s *storm) check(t *testing.T) {
	var all tools.ListResult
	require.NoError(t, json.Unmarshal([]byte(s.place.run(t, "list", "--json", "--folder", "Storm")), &all))
	assert.Equal(t, len(s.written), all.Total, "each write happened once, and nothing else")
	h := s.place.launch(t, "mcp")
	h.initialize()
	for path, word := range s.written {
		text, err := os.ReadFile(filepath.Join(s.place.vault, filepath.FromSlash(path)))
		if assert.NoError(t, err) {
			assert.Contains(t, string(text), word)
		}
		assert.Equal(t, []string{path}, h.found(word))
	}
	require.NoError(t, h.end())
}

package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
)

// TestDiskToolsAndSubscriberAgree changes a vault at random, concurrently through the
// disk and through the tools, while a subscriber maintains a view of it from
// notifications and reads alone. When changes stop, disk, store, index and the
// subscriber's view are equal.
//
//	MODEL_OPS=10000 TEST_SEED=7 go test -run SubscriberAgree ./cmd/notesd
func TestDiskToolsAndSubscriberAgree(t *testing.T) {
	t.Parallel()
	ops, seed := envInt(t, "MODEL_OPS", notestest.Rounds(400)), envInt(t, "TEST_SEED", 1)
	t.Logf("MODEL_OPS=%d TEST_SEED=%d", ops, seed)
	agree(t, newPlace(t, map[string]string{"Start.md": "word0x\n"}), ops, seed)
}

// TestDiskToolsAndSubscriberOfFoldersAgree does the same in a vault of two folders,
// between which notes and folders move.
func TestDiskToolsAndSubscriberOfFoldersAgree(t *testing.T) {
	t.Parallel()
	ops, seed := envInt(t, "MODEL_OPS", notestest.Rounds(200)), envInt(t, "TEST_SEED", 1)
	t.Logf("MODEL_OPS=%d TEST_SEED=%d", ops, seed)
	agree(t, newFolders(t, map[string]string{"home/" + staying: "word0x\n", "work/" + staying: "word1x\n"}), ops, seed)
}

// staying is a note that never changes, so that no folder is ever suddenly empty.
const staying = "Stays.md"

func agree(t *testing.T, p place, ops, seed int) {
	sub := newSubscriber(t, p.launch(t, "mcp"))
	writer := p.launch(t, "mcp")
	writer.initialize()

	const rounds = 4 // pauses at which everything is compared
	for round := range rounds {
		var both sync.WaitGroup
		done := make(chan struct{})
		both.Go(func() {
			a := &actor{p: p, rng: rand.New(rand.NewPCG(uint64(seed), uint64(2*round))), prefix: fmt.Sprintf("d%d", round)}
			for range ops / rounds / 2 {
				a.onDisk()
			}
		})
		both.Go(func() {
			a := &actor{p: p, rng: rand.New(rand.NewPCG(uint64(seed), uint64(2*round+1))), prefix: fmt.Sprintf("t%d", round)}
			for range ops / rounds / 2 {
				a.byTool(writer)
			}
		})
		go func() {
			defer close(done)
			both.Wait()
		}()
		sub.follow(done)
		sub.agrees(p)
		requireIndexed(t, writer, notestest.Read(t, p.vault))
	}
}

// requireIndexed requires that every note is found by the last word added to it.
func requireIndexed(t *testing.T, h *peer, files map[string]string) {
	t.Helper()
	for path, text := range files {
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		word := words[len(words)-1]
		found := h.call("tools/call", map[string]any{"name": "search_notes", "arguments": map[string]any{"query": word, "mode": "text", "limit": 50}})
		require.Contains(t, string(found.Result), `"path":"`+path+`"`, "%s by %s", path, word)
	}
}

// actor changes the vault.
type actor struct {
	p      place
	rng    *rand.Rand
	prefix string
	n      int
}

func (a *actor) word() string {
	a.n++
	return fmt.Sprintf("%sword%dx", a.prefix, a.n)
}

func (a *actor) path() string {
	return fmt.Sprintf("%s%sn%d.md", a.folder(), []string{"", "a/", "b/", "a/c/", "b/d/e/"}[a.rng.IntN(5)], a.rng.IntN(40))
}

// folder returns the prefix of a path in a random folder of the vault.
func (a *actor) folder() string {
	if len(a.p.folders) == 0 {
		return ""
	}
	return a.p.folders[a.rng.IntN(len(a.p.folders))] + "/"
}

// pick returns an existing file or folder below the vault, or "".
func (a *actor) pick(folder bool) string {
	var found []string
	_ = filepath.WalkDir(a.p.vault, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() == folder && name != a.p.vault && !strings.HasPrefix(d.Name(), ".") && d.Name() != staying && !(folder && slices.Contains(a.p.folders, d.Name())) {
			found = append(found, name)
		}
		return nil // the other actor may have removed entries meanwhile
	})
	if len(found) == 0 {
		return ""
	}
	return found[a.rng.IntN(len(found))]
}

// onDisk changes files like an editor, a sync tool or a shell. Operations that fail
// because of the other actor are ignored.
func (a *actor) onDisk() {
	switch a.rng.IntN(10) {
	case 0, 1, 2: // save in place
		a.save(filepath.Join(a.p.vault, a.path()))
	case 3, 4: // save by rename
		full := filepath.Join(a.p.vault, a.path())
		temp := full + ".tmp~"
		a.save(temp)
		_ = os.Rename(temp, full)
		_ = os.Remove(temp)
	case 5:
		if f := a.pick(false); f != "" {
			_ = os.Remove(f)
		}
	case 6:
		if f := a.pick(false); f != "" {
			full := filepath.Join(a.p.vault, a.path())
			_ = os.MkdirAll(filepath.Dir(full), 0o755)
			_ = os.Rename(f, full)
		}
	case 7:
		if d := a.pick(true); d != "" {
			_ = os.Rename(d, filepath.Join(a.p.vault, a.folder()+fmt.Sprintf("dir%d", a.rng.IntN(4))))
		}
	case 8:
		deep := filepath.Join(a.p.vault, a.folder(), "a", "c", "x", "y")
		_ = os.MkdirAll(deep, 0o755)
		a.save(filepath.Join(deep, "deep.md"))
	case 9:
		<-time.After(time.Duration(a.rng.IntN(120)) * time.Millisecond) // pausing is one of the operations
	}
}

func (a *actor) save(full string) {
	_ = os.MkdirAll(filepath.Dir(full), 0o755)
	_ = os.WriteFile(full, []byte("# Note\n\nsome text "+a.word()+"\n"), 0o644)
}

// byTool changes notes like an agent. Rejections (an existing path, a deleted or changed
// note) are valid results; internal errors are not.
func (a *actor) byTool(h *peer) {
	args := map[string]any{}
	var tool string
	existing := ""
	if f := a.pick(false); f != "" {
		rel, _ := filepath.Rel(a.p.vault, f)
		existing = filepath.ToSlash(rel)
	}
	switch op := a.rng.IntN(8); {
	case op < 3 || existing == "":
		tool, args["path"], args["title"], args["content"] = "create_note", a.path(), "", "# Note\n\n"+a.word()
	case op < 5:
		tool, args["note"], args["edits"] = "edit_note", existing, []any{map[string]any{"op": "append", "content": a.word()}}
	case op < 6:
		tool, args["note"] = "delete_note", existing
	case op < 7:
		tool, args["note"], args["to"] = "move_note", existing, a.path()
	default:
		tool, args["query"] = "search_notes", "text"
	}
	m := h.call("tools/call", map[string]any{"name": tool, "arguments": args})
	assert.Nil(h.t, m.Error, "%s %v", tool, args)
	assert.NotContains(h.t, string(m.Result), "internal error", "%s %v", tool, args)
}

// subscriber maintains a view of the vault from notifications and reads alone.
type subscriber struct {
	*peer
	view       map[string]string // path → text
	subscribed map[string]bool   // URIs
}

func newSubscriber(t *testing.T, h *peer) *subscriber {
	t.Helper()
	s := &subscriber{peer: h, view: map[string]string{}, subscribed: map[string]bool{}}
	h.initialize()
	s.list()
	return s
}

// list lists the resources, subscribes to them, and reads new ones.
func (s *subscriber) list() {
	cursor := ""
	for {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		var page struct {
			Resources []struct {
				URI string `json:"uri"`
			} `json:"resources"`
			NextCursor string `json:"nextCursor"`
		}
		require.NoError(s.t, json.Unmarshal(s.call("resources/list", params).Result, &page))
		for _, r := range page.Resources {
			if strings.HasPrefix(r.URI, "note:///") && !s.subscribed[r.URI] {
				s.subscribed[r.URI] = true
				s.call("resources/subscribe", map[string]any{"uri": r.URI})
				s.read(r.URI)
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			return
		}
	}
}

// read updates one resource in the view.
func (s *subscriber) read(uri string) {
	path, err := url.PathUnescape(strings.TrimPrefix(uri, "note:///"))
	require.NoError(s.t, err)
	m := s.call("resources/read", map[string]any{"uri": uri})
	if m.Error != nil {
		delete(s.view, path)
		delete(s.subscribed, uri)
		s.call("resources/unsubscribe", map[string]any{"uri": uri})
		return
	}
	var read struct {
		Contents []struct {
			Text string `json:"text"`
		} `json:"contents"`
	}
	require.NoError(s.t, json.Unmarshal(m.Result, &read))
	require.Len(s.t, read.Contents, 1)
	s.view[path] = read.Contents[0].Text
}

// follow handles notifications until done is closed.
func (s *subscriber) follow(done <-chan struct{}) {
	for {
		select {
		case m := <-s.others:
			s.notified(m)
		case <-done:
			return
		}
	}
}

// agrees handles notifications until the view equals the disk.
func (s *subscriber) agrees(p place) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		if disk := notestest.Read(s.t, p.vault); fmt.Sprint(disk) == fmt.Sprint(s.view) {
			return
		}
		select {
		case m := <-s.others:
			s.notified(m)
		case <-deadline:
			require.Zero(s.t, s.dropped.Load(), "the subscriber was too slow for its notifications")
			s.explain(p)
			require.Equal(s.t, notestest.Read(s.t, p.vault), s.view, "the subscriber's view")
		}
	}
}

// explain logs the program's own results for each note that is wrong or missing in the
// view, to distinguish a lost notification from a store that differs from the disk.
func (s *subscriber) explain(p place) {
	s.t.Helper()
	disk := notestest.Read(s.t, p.vault)
	wrong := map[string]bool{}
	for path, text := range s.view {
		if there, ok := disk[path]; !ok || there != text {
			wrong[path] = true
		}
	}
	for path := range disk {
		if _, ok := s.view[path]; !ok {
			wrong[path] = true
		}
	}
	listed := p.run(s.t, "list", "--json")
	for path := range wrong {
		uri := notes.URI(path)
		s.t.Logf("%s: subscribed %v, in the list of notes %v", path, s.subscribed[uri], strings.Contains(listed, `"`+path+`"`))
		m := s.call("resources/read", map[string]any{"uri": uri})
		s.t.Logf("%s: a read answers %s %v", path, m.Result, m.Error)
	}
	s.t.Logf("the daemon's log:\n%s", p.log(s.t))
}

func (s *subscriber) notified(m message) {
	switch m.Method {
	case "notifications/resources/updated":
		var updated struct {
			URI string `json:"uri"`
		}
		require.NoError(s.t, json.Unmarshal(m.Params, &updated))
		if s.subscribed[updated.URI] { // otherwise it was sent before we unsubscribed, and the removal of the note would not be announced
			s.read(updated.URI)
		}
	case "notifications/resources/list_changed":
		s.list()
	}
}

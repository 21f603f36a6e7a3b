package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/internal/pgtest"
	"notesd/internal/sqlite"
	"notesd/notes"
	"notesd/notes/pglog"
)

// TestTeamKilledAtRandom kills the parts of a team's vault at random moments: one of two
// nodes, the mirror of a third folder in which an editor saves, PostgreSQL itself, and
// connections, even in the middle of a commit. Clients write on any running node. When
// everything is idle, the folders, the log, every node's list, text search and vectors
// are equal; acknowledged writes are present once, and failed ones are not.
//
//	KILL_ROUNDS=500 TEST_SEED=7 go test -timeout 60m -run TeamKilledAtRandom ./cmd/notesd
func TestTeamKilledAtRandom(t *testing.T) {
	t.Parallel()
	rounds, seed := envInt(t, "KILL_ROUNDS", 6), envInt(t, "TEST_SEED", 1)
	t.Logf("KILL_ROUNDS=%d TEST_SEED=%d", rounds, seed)
	k := newTeamKiller(t, uint64(seed))
	faults := map[string]int{}
	for round := range rounds {
		for len(k.outcome) > 0 {
			<-k.outcome
		}
		for range 1 + k.rng.IntN(4) {
			k.awaitOutcome()
		}
		select { // in the middle of what follows
		case <-time.After(time.Duration(k.rng.IntN(60)) * time.Millisecond):
		case <-t.Context().Done():
		}
		require.False(t, t.Failed(), "round %d", round)
		faults[k.fault()]++
	}
	k.stop()
	k.check()
	t.Logf("%v; %d writes acknowledged, %d refused, %d with an unknown outcome; %d connections cut", faults, k.acknowledged, k.refused, k.unknown, k.proxy.Cuts())
	assert.Positive(t, k.acknowledged)
}

const teamShared = 5 // notes that all clients write to

type teamKiller struct {
	t         *testing.T
	rng       *rand.Rand
	server    *pgtest.Server
	proxy     *pgtest.Proxy
	nodes     [2]*teamNode
	mirror    place
	mirrorCmd *exec.Cmd
	beginning pglog.Position // before the first change

	ctx     context.Context
	cancel  context.CancelFunc
	working sync.WaitGroup
	outcome chan struct{} // signalled when a client's write has finished

	mu     sync.Mutex
	words  map[string]string // of acknowledged appends: name of the note
	own    map[string]string // acknowledged notes of one client or of the editor: text by path
	open   map[string]bool   // words of writes with an unknown outcome
	failed map[string]bool   // words of rejected writes
	saved  map[string]bool   // hashes of what the editor saved

	acknowledged, refused, unknown int
}

func newTeamKiller(t *testing.T, seed uint64) *teamKiller {
	vectors := newOllama(t)
	k := &teamKiller{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), server: pgtest.Start(t), outcome: make(chan struct{}, 1000),
		words: map[string]string{}, own: map[string]string{}, open: map[string]bool{}, failed: map[string]bool{}, saved: map[string]bool{},
	}
	k.proxy = k.server.Proxy()
	db, err := pglog.Open(k.server.URL(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	k.beginning, _, err = db.Log("team").Snapshot(t.Context())
	require.NoError(t, err)
	require.NoError(t, db.Close())
	k.ctx, k.cancel = context.WithCancel(t.Context())
	files := map[string]string{}
	for i := range teamShared {
		files[fmt.Sprintf("Shared %d.md", i)] = fmt.Sprintf("boat\n[[Shared %d]]\n", (i+1)%teamShared)
	}
	var places []place
	for i := range 3 {
		p := newPlace(t, files)
		p.configure(t, fmt.Sprintf("[semantic]\nprovider = 'ollama'\nmodel = 'test'\nurl = %q\n", vectors.URL))
		p.env = append(p.env, "NOTESD_STORE_POSTGRES="+k.proxy.URL(), "NOTESD_STORE_VAULT=team")
		inStep(t, p)
		places, files = append(places, p), nil
		if i < 2 {
			k.nodes[i] = &teamNode{t: t, place: p}
			k.nodes[i].start()
		}
	}
	k.mirror = places[2]
	k.startMirror()
	t.Cleanup(func() {
		k.cancel()
		for _, n := range k.nodes {
			n.kill()
		}
		_ = k.mirrorCmd.Process.Kill()
		_ = k.mirrorCmd.Wait()
		k.working.Wait()
	})
	for i := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 10+i))
		k.working.Go(func() { k.client(fmt.Sprintf("client%d", i), rng) })
	}
	k.working.Go(func() { k.editor(rand.New(rand.NewPCG(seed, 20))) })
	return k
}

func (k *teamKiller) startMirror() {
	args := []string{"mirror"}
	if k.rng.IntN(2) == 0 {
		args = append(args, k.mirror.vault) // otherwise the one in the configuration
	}
	k.mirrorCmd = k.mirror.command(args...)
	require.NoError(k.t, k.mirrorCmd.Start())
}

func (k *teamKiller) awaitOutcome() {
	select {
	case <-k.outcome:
	case <-time.After(patience):
		require.FailNow(k.t, "no write ends")
	}
}

// fault causes one fault, repairs the damage, and returns its name.
func (k *teamKiller) fault() string {
	switch n := k.rng.IntN(8); n {
	case 0, 1, 2, 3:
		k.nodes[n%2].kill()
		k.nodes[n%2].start()
		return "node killed"
	case 4:
		require.NoError(k.t, k.mirrorCmd.Process.Kill())
		_ = k.mirrorCmd.Wait()
		k.startMirror()
		return "mirror killed"
	case 5:
		k.server.Kill()
		for range k.rng.IntN(2) {
			k.awaitOutcome()
		}
		k.server.Run()
		return "PostgreSQL killed"
	case 6:
		k.proxy.CutAll()
		return "all connections cut"
	}
	k.proxy.CutAfter(1+k.rng.IntN(12), k.rng.IntN(2) == 0)
	return "one connection cut"
}

// stop ends the work and syncs all folders.
func (k *teamKiller) stop() {
	k.cancel()
	k.working.Wait()
	k.proxy.CutAfter(0, false)
	for _, n := range k.nodes {
		n.end()
	}
	eventually(k.t, "the mirror listens, and handles signals", func() bool { return len(k.mirror.daemons(k.t)) == 1 })
	require.NoError(k.t, terminate(k.mirrorCmd.Process.Pid))
	require.Zero(k.t, ended(k.t, k.mirrorCmd))
	places := k.places()
	for range 2 {
		inStep(k.t, places...)
	}
	k.server.Exec(`UPDATE vectors SET claimed = '-infinity' WHERE data IS NULL`) // expire the claims of killed nodes, to avoid waiting a minute
	for _, p := range places {
		p.run(k.t, "index", "--wait")
	}
}

func (k *teamKiller) places() []place {
	return []place{k.nodes[0].place, k.nodes[1].place, k.mirror}
}

// record records the outcome of a write that adds the word. A path means that it created,
// moved or, without a text, deleted the client's own note there.
func (k *teamKiller) record(word, from, path, text string, res toolResult, answered bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	failure := res.failure()
	switch {
	case answered && !res.IsError:
		k.acknowledged++
		if from != "" {
			delete(k.own, from)
		}
		if text != "" {
			k.own[path] = text
		}
		if from == "" && text == "" {
			k.words[word] = path
		}
	case answered && !strings.Contains(failure, "not known"):
		k.refused++
		if from == "" {
			k.failed[word] = true
		}
	default:
		k.unknown++
		k.open[word] = true
		delete(k.own, from)
	}
	select {
	case k.outcome <- struct{}{}:
	default: // enough
	}
}

// failure returns the message of a failed call.
func (r toolResult) failure() string {
	if !r.IsError || len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// client writes on any node until the end.
func (k *teamKiller) client(name string, rng *rand.Rand) {
	var mine []string // paths of its own notes
	for i := 0; k.ctx.Err() == nil; i++ {
		n := k.nodes[rng.IntN(len(k.nodes))]
		word := fmt.Sprintf("%sword%dx", name, i)
		op := rng.IntN(8)
		shared := fmt.Sprintf("Shared %d", rng.IntN(teamShared))
		switch {
		case op == 0:
			path, text := "Own/"+word+".md", word+"\nboat "+word+"\n"
			res, answered := n.tool("create_note", map[string]any{"title": word, "path": path, "content": text, "front_matter": map[string]any{"title": nil}})
			k.record(word, "", path, text, res, answered)
			if answered && !res.IsError {
				mine = append(mine, path)
			}
		case op < 3 && len(mine) > 0:
			at := rng.IntN(len(mine))
			path := mine[at]
			mine = slices.Delete(mine, at, at+1)
			k.mu.Lock()
			text := k.own[path]
			k.mu.Unlock()
			was := strings.TrimSuffix(filepath.Base(path), ".md")
			if op == 1 {
				res, answered := n.tool("delete_note", map[string]any{"note": path})
				k.record(was, path, "", "", res, answered)
				if res.IsError {
					mine = append(mine, path)
				}
				continue
			}
			to := fmt.Sprintf("Own/%d/%s.md", rng.IntN(3), was)
			res, answered := n.tool("move_note", map[string]any{"note": path, "to": to})
			if path == to {
				continue
			}
			k.record(was, path, to, text, res, answered)
			if answered && !res.IsError {
				mine = append(mine, to)
			} else if answered && !strings.Contains(res.failure(), "not known") {
				mine = append(mine, path)
			}
		case op == 3:
			folder := [...]string{"", "F/", "G/"}[rng.IntN(3)]
			n.tool("move_note", map[string]any{"note": shared, "to": folder + shared + ".md"})
		default:
			res, answered := n.tool("edit_note", map[string]any{"note": shared, "edits": []any{map[string]any{"op": "append", "content": word}}})
			k.record(word, "", shared, "", res, answered)
		}
	}
}

// editor saves in the mirrored folder until the end, by renaming like editors.
func (k *teamKiller) editor(rng *rand.Rand) {
	dir := k.mirror.vault
	temp := filepath.Join(dir, ".editor.tmp")
	var made []string
	for i := 0; ; i++ {
		select {
		case <-time.After(time.Duration(rng.IntN(100)) * time.Millisecond):
		case <-k.ctx.Done():
			return
		}
		word := fmt.Sprintf("editorword%dx", i)
		switch op := rng.IntN(6); {
		case op == 0:
			path, text := "Editor/"+word+".md", "bread "+word+"\n"
			notestest.Write(k.t, dir, map[string]string{path: text})
			k.mu.Lock()
			k.own[path] = text
			k.mu.Unlock()
			made = append(made, path)
		case op == 1 && len(made) > 0:
			path := made[0]
			made = made[1:]
			k.mu.Lock()
			delete(k.own, path)
			k.mu.Unlock()
			if err := os.Remove(filepath.Join(dir, path)); !assert.NoError(k.t, err) {
				return
			}
		default:
			name := filepath.Join(dir, [...]string{"", "F/", "G/"}[rng.IntN(3)]+fmt.Sprintf("Shared %d.md", rng.IntN(teamShared)))
			text, err := os.ReadFile(name)
			if err != nil {
				continue // it has moved
			}
			text = append(text, word+"\n"...)
			k.mu.Lock()
			k.saved[notes.Hash(text)] = true
			k.mu.Unlock()
			if !assert.NoError(k.t, os.WriteFile(temp, text, 0o600)) || !assert.NoError(k.t, os.Rename(temp, name)) {
				return
			}
		}
	}
}

// check compares everything once idle.
func (k *teamKiller) check() {
	t := k.t
	places := k.places()
	var folders []map[string]string
	for _, p := range places {
		files := notestest.Read(t, p.vault)
		maps.DeleteFunc(files, func(p, _ string) bool { return strings.HasPrefix(filepath.Base(p), ".") })
		folders = append(folders, files)
	}
	for i := range places {
		require.Equal(t, folders[0], folders[i], "the folders %s and %s", places[0].vault, places[i].vault)
	}
	got := folders[0]
	all := map[string][]string{} // by word: notes that contain it
	for p, text := range got {
		for _, word := range strings.Fields(text) {
			if strings.Contains(word, "word") && !slices.Contains(all[word], p) {
				all[word] = append(all[word], p)
			}
			if strings.Contains(word, "word") && strings.HasPrefix(filepath.Base(p), "Shared ") {
				require.Equal(t, 1, strings.Count(text, word), "%s is twice in %s", word, p)
			}
		}
	}
	gone := k.checkLog(got)
	for word, note := range k.words {
		require.True(t, all[word] != nil || gone[word], "an acknowledged write to %s is lost: %s", note, word)
	}
	for word, in := range all {
		names := map[string]bool{} // conflict copies also contain it, as do both names of a note moved and saved concurrently
		for _, p := range in {
			name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(p), ".md"), " (conflict ")
			names[name] = true
		}
		require.Len(t, names, 1, "%s was written twice: %v", word, in)
		require.False(t, k.failed[word], "a refused write was made: %s in %v", word, in)
	}
	for p, text := range k.own {
		require.Equal(t, text, got[p], p)
	}
	for p := range got {
		word := strings.TrimSuffix(filepath.Base(p), ".md")
		if _, acknowledged := k.own[p]; !acknowledged && (strings.HasPrefix(p, "Own/") || strings.HasPrefix(p, "Editor/")) {
			require.True(t, k.open[word], "%s was deleted or moved and is there; the log's changes of it: %s", p, k.changesOf(p))
		}
	}
	k.checkAnswers(got, all)
}

// checkLog compares the log with the folders, and returns the words that the editor
// overwrote.
func (k *teamKiller) checkLog(got map[string]string) (gone map[string]bool) {
	t := k.t
	db, err := pglog.Open(k.server.URL(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	l := db.Log("team")
	_, files, err := l.Snapshot(t.Context())
	require.NoError(t, err)
	want, hashes := map[string]string{}, map[string]string{}
	for p, text := range got {
		want[p] = notes.Hash([]byte(text))
	}
	for _, f := range files {
		hashes[f.Path] = f.Hash
	}
	require.Equal(t, want, hashes, "the log and the folders")

	gone = map[string]bool{}
	at := k.beginning
	for {
		entries, err := l.Changes(t.Context(), at, 1000)
		require.NoError(t, err)
		if len(entries) == 0 {
			return gone
		}
		for _, e := range entries {
			at = e.Position
			for _, c := range e.Changes {
				if !k.saved[c.After] || c.Before == "" || e.Author.Name == "test" {
					continue
				}
				texts, err := l.Contents(t.Context(), []string{c.Before, c.After})
				require.NoError(t, err)
				for _, word := range strings.Fields(string(texts[c.Before])) {
					if !strings.Contains(string(texts[c.After]), word) {
						gone[word] = true
					}
				}
			}
		}
	}
}

// changesOf lists the log's changes of a note, for failure messages.
func (k *teamKiller) changesOf(path string) string {
	db, err := pglog.Open(k.server.URL(), slog.New(slog.DiscardHandler))
	require.NoError(k.t, err)
	defer func() { require.NoError(k.t, db.Close()) }()
	l := db.Log("team")
	at := k.beginning
	var found strings.Builder
	for {
		entries, err := l.Changes(k.t.Context(), at, 1000)
		require.NoError(k.t, err)
		if len(entries) == 0 {
			return found.String()
		}
		for _, e := range entries {
			at = e.Position
			for _, c := range e.Changes {
				if c.Path == path || c.OldPath == path {
					fmt.Fprintf(&found, "\n%d %s %s by %s: %q → %q (%.8s → %.8s)", e.Seq, e.Mark, e.Kind, e.Author.Name, c.OldPath, c.Path, c.Before, c.After)
				}
			}
		}
	}
}

// checkAnswers compares the results of the nodes.
func (k *teamKiller) checkAnswers(got map[string]string, all map[string][]string) {
	t := k.t
	var names []string
	for p := range got {
		names = append(names, p)
	}
	sample := slices.Sorted(maps.Keys(all))
	k.rng.Shuffle(len(sample), func(i, j int) { sample[i], sample[j] = sample[j], sample[i] })
	var first map[string]string
	for _, p := range k.places() {
		h := p.launch(t, "mcp", "--in-process")
		h.initialize()
		var listed []string
		for cursor := ""; ; {
			args := map[string]any{"limit": 200}
			if cursor != "" {
				args["cursor"] = cursor
			}
			r := h.tool("list_notes", args)
			for _, n := range r.Structured["notes"].([]any) {
				listed = append(listed, n.(map[string]any)["path"].(string))
			}
			if cursor, _ = r.Structured["next_cursor"].(string); cursor == "" {
				break
			}
		}
		assert.ElementsMatch(t, names, listed)
		for _, word := range sample[:min(len(sample), 40)] {
			var found []string
			for _, hit := range h.tool("search_notes", map[string]any{"query": word, "mode": "text", "limit": 50}).Structured["results"].([]any) {
				found = append(found, hit.(map[string]any)["path"].(string))
			}
			assert.ElementsMatch(t, all[word], found, "%s on %s", word, p.vault)
		}
		require.NoError(t, h.end())
		status := p.report(t)
		assert.Zero(t, status.Semantic.Pending)
		assert.Zero(t, status.Shared.Pending)
		vectors := embeddings(t, p)
		if first == nil {
			first = vectors
		}
		assert.Equal(t, first, vectors, "vectors by the hash of their text")
	}
	assert.NotEmpty(t, first)
}

// embeddings returns the vectors of the passages of the place's notes.
func embeddings(t *testing.T, p place) map[string]string {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(p.state, "notes.db"), sqlite.NotesSchema)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	found := map[string]string{}
	require.NoError(t, sqlite.ForEach(t.Context(), db.Reader(), `SELECT DISTINCT e.hash, e.vector FROM embeddings e JOIN chunks c ON c.hash = e.hash`, nil, func(rows *sql.Rows) error {
		var hash, vector []byte
		err := rows.Scan(&hash, &vector)
		found[hex.EncodeToString(hash)] = hex.EncodeToString(vector)
		return err
	}))
	return found
}

// teamNode is a node that is killed and restarted while clients use it.
type teamNode struct {
	t     *testing.T
	place place

	mu     sync.Mutex
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	calls  map[int]chan toolResult
	nextID int
	gone   chan struct{} // closed when the process has exited
}

func (n *teamNode) start() {
	t := n.t
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cmd = n.place.command("mcp", "--in-process")
	var err error
	n.stdin, err = n.cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := n.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, n.cmd.Start())
	n.calls, n.gone = map[int]chan toolResult{}, make(chan struct{})
	go n.read(n.cmd, stdout, n.gone)
	n.write(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	n.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (n *teamNode) write(line string) { _, _ = io.WriteString(n.stdin, line+"\n") } // a dead node does not respond

func (n *teamNode) read(cmd *exec.Cmd, stdout io.Reader, gone chan struct{}) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var m message
		var id int
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil || json.Unmarshal(*m.ID, &id) != nil {
			continue // a truncated line, or a notification
		}
		n.mu.Lock()
		call := n.calls[id]
		delete(n.calls, id)
		n.mu.Unlock()
		if call == nil {
			continue
		}
		var r toolResult
		if assert.Nil(n.t, m.Error) && assert.NoError(n.t, json.Unmarshal(m.Result, &r)) {
			call <- r
		}
	}
	_ = cmd.Wait()
	close(gone)
}

// tool calls a tool, and reports whether the node responded.
func (n *teamNode) tool(name string, args map[string]any) (toolResult, bool) {
	n.mu.Lock()
	n.nextID++
	id, answer, gone := n.nextID, make(chan toolResult, 1), n.gone
	n.calls[id] = answer
	params, err := json.Marshal(map[string]any{"name": name, "arguments": args})
	assert.NoError(n.t, err)
	n.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, id, params))
	n.mu.Unlock()
	select {
	case r := <-answer:
		return r, true
	case <-gone:
		select {
		case r := <-answer: // sent before it died
			return r, true
		default:
			return toolResult{}, false
		}
	case <-time.After(patience):
		assert.Fail(n.t, "no answer to "+name)
		return toolResult{}, false
	}
}

func (n *teamNode) kill() {
	_ = n.cmd.Process.Kill()
	<-n.gone
}

// end closes the node's input and waits until it has exited.
func (n *teamNode) end() {
	require.NoError(n.t, n.stdin.Close())
	select {
	case <-n.gone:
		require.Zero(n.t, n.cmd.ProcessState.ExitCode())
	case <-time.After(patience):
		require.FailNow(n.t, "the node did not end")
	}
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
)

// TestKilledAtRandom kills the program with SIGKILL at random moments while a client
// writes, and checks each time that every acknowledged write is on disk and that after
// the next start no file is torn and no temp file is left; at the end, store and index
// must equal the disk.
//
//	KILL_ROUNDS=1000 TEST_SEED=7 go test -run KilledAtRandom ./cmd/notesd
func TestKilledAtRandom(t *testing.T) {
	t.Parallel()
	notestest.SkipInShort(t)
	rounds, seed := envInt(t, "KILL_ROUNDS", 10), envInt(t, "TEST_SEED", 1)
	t.Logf("KILL_ROUNDS=%d TEST_SEED=%d", rounds, seed)
	files := map[string]string{"Start.md": "start\n"}
	killAtRandom(t, newPlace(t, files), files, rounds, seed)
}

// TestKilledAtRandomWithFolders does the same in a vault of two folders, between which
// notes move.
func TestKilledAtRandomWithFolders(t *testing.T) {
	t.Parallel()
	notestest.SkipInShort(t)
	rounds, seed := envInt(t, "KILL_ROUNDS", 5), envInt(t, "TEST_SEED", 1)
	t.Logf("KILL_ROUNDS=%d TEST_SEED=%d", rounds, seed)
	files := map[string]string{"home/Start.md": "start\n", "work/.keep": ""}
	killAtRandom(t, newFolders(t, files), map[string]string{"home/Start.md": "start\n"}, rounds, seed)
}

func killAtRandom(t *testing.T, p place, files map[string]string, rounds, seed int) {
	k := &killer{t: t, place: p, rng: rand.New(rand.NewPCG(uint64(seed), 1)), want: files}
	for round := range rounds {
		k.round(round)
	}
	k.checkAll()
	t.Logf("%d acknowledged writes, %d killed in the middle of one", k.acknowledged, k.interrupted)
	assert.Positive(t, k.acknowledged)
}

func envInt(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}

type killer struct {
	t     *testing.T
	place place
	rng   *rand.Rand
	want  map[string]string // path → text, as acknowledged
	n     int               // notes created

	acknowledged, interrupted int
}

// change is one write and the state of the vault after it.
type change struct {
	tool  string
	args  map[string]any
	after map[string]string
}

// round runs the program until it is killed.
func (k *killer) round(round int) {
	t := k.t
	cmd := k.place.command("mcp", "--in-process")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	answers := bufio.NewReader(stdout)
	ask := func(line string) (json.RawMessage, bool) {
		if _, err := stdin.Write([]byte(line + "\n")); err != nil {
			return nil, false
		}
		for {
			answer, err := answers.ReadBytes('\n')
			if err != nil {
				return nil, false
			}
			var m message
			require.NoError(t, json.Unmarshal(answer, &m), "%s", answer)
			if m.ID != nil {
				require.Nil(t, m.Error, "%s", answer)
				return m.Result, true
			}
		}
	}
	_, ok := ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"killer","version":"1"}}}`)
	require.True(t, ok, "round %d: %s", round, &stderr)
	// The first response of a tool means that the store is open and that recovery from
	// the last kill is done or will precede the next write. On a busy machine no write
	// may finish before the kill, so some are awaited first.
	first, pause := 1+k.rng.IntN(4), time.Duration(20+k.rng.IntN(180))*time.Millisecond
	timer := time.AfterFunc(time.Hour, func() { _ = cmd.Process.Kill() })
	for id := 1; ; id++ {
		if id == first {
			timer.Reset(pause)
		}
		c := k.change()
		params, err := json.Marshal(map[string]any{"name": c.tool, "arguments": c.args})
		require.NoError(t, err)
		result, ok := ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, id, params))
		if !ok {
			k.settle(c)
			break
		}
		require.NotContains(t, string(result), `"isError":true`, "round %d: %s %v: %s", round, c.tool, c.args, result)
		k.want = c.after
		k.acknowledged++
	}
	timer.Stop()
	_ = cmd.Process.Kill()
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
}

// folder returns the prefix of a path in a random folder of the vault.
func (k *killer) folder() string {
	if len(k.place.folders) == 0 {
		return ""
	}
	return k.place.folders[k.rng.IntN(len(k.place.folders))] + "/"
}

// change returns a random next write.
func (k *killer) change() change {
	after := map[string]string{}
	var paths []string
	for p, text := range k.want {
		after[p] = text
		paths = append(paths, p)
	}
	pick := paths[k.rng.IntN(len(paths))]
	k.n++
	word := fmt.Sprintf("token%dx", k.n)
	switch op := k.rng.IntN(8); {
	case op < 3 || len(paths) < 4:
		p := k.folder() + fmt.Sprintf("dir%d/n%d.md", k.rng.IntN(5), k.n)
		after[p] = word + "\n" + strings.Repeat("filler ", k.rng.IntN(4000)) + "\n"
		return change{"create_note", map[string]any{"title": "x", "path": p, "content": after[p], "front_matter": map[string]any{"title": nil}}, after}
	case op < 6:
		after[pick] = k.want[pick] + word + "\n"
		return change{"edit_note", map[string]any{"note": pick, "edits": []any{map[string]any{"op": "replace_all", "content": after[pick]}}}, after}
	case op < 7:
		delete(after, pick)
		return change{"delete_note", map[string]any{"note": pick}, after}
	}
	to := k.folder() + fmt.Sprintf("moved%d/n%d.md", k.rng.IntN(3), k.n)
	after[to] = after[pick]
	delete(after, pick)
	return change{"move_note", map[string]any{"note": pick, "to": to}, after}
}

// settle starts the program once more and determines from the disk the outcome of the
// interrupted write, which must be done or not done.
func (k *killer) settle(c change) {
	k.place.run(k.t, "list", "--json", "--limit", "1")
	disk := k.disk()
	if fmt.Sprint(disk) == fmt.Sprint(c.after) {
		k.interrupted++
		k.want = c.after
		return
	}
	require.Equal(k.t, k.want, disk, "after a kill during %s %v", c.tool, c.args["path"])
}

func (k *killer) disk() map[string]string {
	k.t.Helper()
	files := notestest.Read(k.t, k.place.vault)
	delete(files, "work/.keep")
	return files
}

// checkAll requires that the program has each note with its hash and finds each by a
// unique word.
func (k *killer) checkAll() {
	t := k.t
	require.Equal(t, k.want, k.disk())
	h := k.place.launch(t, "mcp", "--in-process")
	h.initialize()
	for p, text := range k.want {
		word := "start"
		if i := strings.Index(text, "token"); i >= 0 {
			word, _, _ = strings.Cut(text[i:], "\n")
		}
		found := string(h.call("tools/call", map[string]any{"name": "search_notes", "arguments": map[string]any{"query": word, "mode": "text"}}).Result)
		assert.Contains(t, found, `"path":"`+p+`"`, "the index has %s by %s", p, word)
	}
	status := k.place.run(t, "list", "--json", "--limit", "1")
	assert.Contains(t, status, fmt.Sprintf(`"total": %d`, len(k.want)))
}

package vectors

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/sqlite"
	"notesd/notes/store"
	"notesd/notes/vault"
	"notesd/vectors/flat"
	"notesd/vectors/model"
)

// The killed process is the test binary, which with these variables runs only
// TestEmbedUntilKilled.
const (
	victimVault = "VECTORS_TEST_VAULT"
	victimState = "VECTORS_TEST_STATE"
	victimModel = "VECTORS_TEST_MODEL" // standIn or builtIn
)

const (
	standIn = "stand-in"
	builtIn = "built-in"
)

// killBatch is the number of texts that the victim embeds between commits.
const killBatch = 4

// TestIndex_KilledProcess kills a process four times with SIGKILL at random points of
// embedding. The index guarantees that a text whose vector was committed is never embedded
// again, that a kill loses at most the current batch, and that in the end there is one row for
// each text.
//
//	TEST_SEED=7 go test -run KilledWhileEmbedding ./vectors
func TestIndex_KilledProcess(t *testing.T) {
	seed := uint64(1)
	if s := os.Getenv("TEST_SEED"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		seed = uint64(n)
	}
	for _, c := range []struct {
		model string
		notes int
	}{{standIn, 60}, {builtIn, 14}} {
		t.Run(c.model, func(t *testing.T) {
			k := &killing{t: t, model: c.model, vault: t.TempDir(), state: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 2))}
			k.fill(c.notes)
			for range 4 {
				k.round(1 + k.rng.IntN(c.notes/2))
			}
			assert.True(t, k.run(1<<20), "it finishes")
			k.check()
		})
	}
}

type killing struct {
	t            *testing.T
	model        string
	vault, state string
	rng          *rand.Rand

	embedded map[string]int // how often, by hash
	total    int
}

// fill writes notes, some of which have equal sections.
func (k *killing) fill(n int) {
	k.embedded = map[string]int{}
	words := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu")
	for i := range n {
		var b strings.Builder
		for s := range 1 + k.rng.IntN(5) {
			fmt.Fprintf(&b, "## Section %d\n\n", s)
			for range 150 {
				b.WriteString(words[k.rng.IntN(len(words))] + " ")
			}
			b.WriteString("\n\n")
		}
		name := fmt.Sprintf("note%d.md", i)
		text := b.String()
		if i%5 == 4 { // a copy of another note: its texts have the same hashes
			name = fmt.Sprintf("copy%d/note%d.md", i, i-1)
			data, err := os.ReadFile(filepath.Join(k.vault, fmt.Sprintf("note%d.md", i-1)))
			require.NoError(k.t, err)
			text = string(data)
		}
		file := filepath.Join(k.vault, name)
		require.NoError(k.t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(k.t, os.WriteFile(file, []byte(text), 0o644))
	}
}

// round kills the victim after n texts, and checks the state that it left.
func (k *killing) round(n int) {
	committed, before := k.rows(k.state), k.total
	again := maps.Clone(k.embedded)
	if k.run(n) {
		return // it was faster
	}
	after := k.rows(k.state)
	for hash := range committed {
		assert.Equal(k.t, again[hash], k.embedded[hash], "a text that was there has been embedded again")
	}
	assert.LessOrEqual(k.t, k.total-before-(len(after)-len(committed)), killBatch, "texts that were embedded for nothing")
	assert.GreaterOrEqual(k.t, len(after), len(committed))
}

// run starts the victim, kills it after n texts, and reports whether it had completed before.
// The victim is a few texts ahead of the kill, which may thus come while it embeds, commits or
// writes its file.
func (k *killing) run(n int) (finished bool) {
	t := k.t
	cmd := exec.Command(os.Args[0], "-test.run=^TestEmbedUntilKilled$", "-test.v")
	cmd.Env = append(os.Environ(), victimVault+"="+k.vault, victimState+"="+k.state, victimModel+"="+k.model)
	cmd.Stderr = os.Stderr
	tokens, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	leave := strings.Repeat("x", n+k.rng.IntN(2*killBatch))
	go func() { _, _ = io.WriteString(tokens, leave) }() // the victim may be dead
	seen := 0
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if lines.Text() == "complete" {
			finished = true
		}
		hash, ok := strings.CutPrefix(lines.Text(), "embedded ")
		if !ok {
			continue
		}
		k.embedded[hash]++
		k.total++
		if seen++; seen == n {
			require.NoError(t, cmd.Process.Kill())
		}
	}
	err = cmd.Wait()
	require.Equal(t, finished, err == nil, "%v", err)
	return finished
}

// rows returns the vectors in a state directory, by hash.
func (k *killing) rows(state string) map[string]string {
	t := k.t
	out := map[string]string{}
	if _, err := os.Stat(filepath.Join(state, "notes.db")); err != nil {
		return out
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(state, "notes.db"), sqlite.NotesSchema)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	rows, err := db.Reader().Query(`SELECT hex(hash), vector FROM embeddings`)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	for rows.Next() {
		var hash string
		var vector []byte
		require.NoError(t, rows.Scan(&hash, &vector))
		out[strings.ToLower(hash)] = string(vector)
	}
	require.NoError(t, rows.Err())
	return out
}

// check compares the result with that of an undisturbed run, and with the chunks; and the file
// and the signs in memory with both.
func (k *killing) check() {
	t := k.t
	rows := k.rows(k.state)
	undisturbed := &killing{t: t, model: k.model, vault: k.vault, state: t.TempDir(), rng: k.rng, embedded: map[string]int{}}
	require.True(t, undisturbed.run(1<<20))
	want := undisturbed.rows(undisturbed.state)
	require.Equal(t, len(want), undisturbed.total, "without a kill every text is embedded once")
	require.Equal(t, want, rows, "the same texts, and the same vectors to the last bit")
	assert.LessOrEqual(t, k.total, len(rows)+4*killBatch)
	t.Logf("%d texts, embedded %d times in all", len(rows), k.total)

	ctx := context.Background()
	store, err := store.Open(ctx, k.state)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	index := NewIndex(store, k.state, Options{Embedder: k.embedder(nil, nil), Source: k.model})
	chunks, err := index.store.chunks(ctx)
	require.NoError(t, err)
	texts := map[string]bool{}
	for _, c := range withLeads(chunks) {
		texts[string(c.hash)] = true
	}
	require.Equal(t, len(texts), len(rows), "one row for each text") //nolint:testifylint // Len prints the rows
	require.NoError(t, index.loadAll(ctx))
	defer func() { require.NoError(t, index.Close()) }()
	requireConsistent(t, index)
	requireAgreement(t, index.serving, rows)
}

// requireAgreement checks that the cache file and the signs hold what SQLite has.
func requireAgreement(t *testing.T, s *space, rows map[string]string) {
	t.Helper()
	require.Len(t, s.slots.byKey, len(rows))
	for hash, half := range rows {
		slot, ok := s.slots.find(keyOf(hash))
		require.True(t, ok)
		record := make([]byte, s.slots.records.Size)
		key := keyOf(hash)
		copy(record, key[:])
		flat.PutVector(record, unpackHalf([]byte(half)))
		require.Equal(t, record, s.slots.records.At(int(slot)))
	}
	require.True(t, s.complete())
}

// embedder returns the victim's embedder, which reports the texts that it embeds, and waits for
// leave before each.
func (k *killing) embedder(out io.Writer, leave io.Reader) Embedder {
	inner := Embedder(newWordEmbedder("m1"))
	if k.model == builtIn {
		m, err := model.English()
		require.NoError(k.t, err)
		inner = NewTransformer(m)
	}
	return &announcing{Embedder: inner, out: out, leave: leave}
}

// announcing embeds one text after another and writes the hash of each.
type announcing struct {
	Embedder
	out   io.Writer
	leave io.Reader
}

func (a *announcing) Batch(int) int { return killBatch }

func (a *announcing) EmbedPassages(ctx context.Context, texts []string, _ int, done func(int, []float32)) error {
	for i, text := range texts {
		if _, err := io.ReadFull(a.leave, make([]byte, 1)); err != nil {
			return err
		}
		err := a.Embedder.EmbedPassages(ctx, []string{text}, 1, func(_ int, v []float32) {
			sum := sha256.Sum256([]byte(text))
			fmt.Fprintf(a.out, "embedded %s\n", hex.EncodeToString(sum[:]))
			done(i, v)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// TestEmbedUntilKilled is the victim.
func TestEmbedUntilKilled(t *testing.T) {
	k := &killing{t: t, vault: os.Getenv(victimVault), state: os.Getenv(victimState), model: os.Getenv(victimModel)}
	if k.vault == "" {
		t.Skip("it is run by TestIndex_KilledProcess")
	}
	ctx, cancel := context.WithCancel(context.Background())
	store, err := store.Open(ctx, k.state)
	require.NoError(t, err)
	vault, err := vault.New(ctx, store, k.vault, vault.Options{})
	require.NoError(t, err)
	index := NewIndex(store, k.state, Options{Embedder: k.embedder(os.Stdout, os.Stdin), Source: k.model})
	vault.Follow(index)
	require.NoError(t, vault.Reconcile(ctx))
	done := make(chan error, 1)
	go func() { done <- index.Run(ctx) }()
	require.Eventually(t, func() bool { return index.Status().State == StateReady }, patience, time.Millisecond)
	cancel()
	require.NoError(t, <-done)
	require.NoError(t, index.Close())
	require.NoError(t, store.Close())
	fmt.Fprintln(os.Stdout, "\ncomplete")
}

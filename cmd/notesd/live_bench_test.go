package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// BenchmarkLive measures the time from a save by another program until the note is found
// and a subscriber is notified, over pipes: for a subscriber in the process that serves
// the vault, next to a daemon, and for a client of the stateless protocol, through a
// relay and over HTTP.
//
//	BENCH_NOTES=10000 go test -run '^$' -bench Live -benchtime 200x ./cmd/notesd
func BenchmarkLive(b *testing.B) {
	m := newBench(b)
	m.run(b, "index")
	subscribers := map[string]func(b *testing.B, uris []string) *peer{
		"--in-process": func(b *testing.B, uris []string) *peer { return m.subscriber(b, uris, "mcp", "--in-process") },
		"mcp":          func(b *testing.B, uris []string) *peer { return m.subscriber(b, uris, "mcp") },
		"listen": func(b *testing.B, uris []string) *peer { // stateless protocol through a relay
			h := m.launch(b, "mcp", "--log-level", "error")
			h.listen(uris)
			return h
		},
		"listen-http": func(b *testing.B, uris []string) *peer {
			m.serve(b, "--http", "127.0.0.1:0")
			return m.listenHTTP(b, uris)
		},
	}
	for _, how := range slices.Sorted(maps.Keys(subscribers)) {
		for name, save := range map[string]func(full, text string) error{"in-place": saveInPlace, "atomic": saveAtomically} {
			b.Run(how+"/"+name, func(b *testing.B) { m.live(b, subscribers[how], save) })
			stopDaemon(b, m.state)
		}
	}
}

// subscriber returns a client of the protocol with sessions.
func (m *bench) subscriber(b *testing.B, uris []string, args ...string) *peer {
	b.Helper()
	h := m.launch(b, append(args, "--log-level", "error")...)
	h.initialize()
	h.ready()
	for _, uri := range uris {
		require.Nil(b, h.call("resources/subscribe", map[string]any{"uri": uri}).Error)
	}
	return h
}

func saveInPlace(full, text string) error { return os.WriteFile(full, []byte(text), 0o644) }

// saveAtomically writes a temp file and renames it, like most editors.
func saveAtomically(full, text string) error {
	temp := full + "~"
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, full)
}

// live saves one note after another.
func (m *bench) live(b *testing.B, subscribe func(b *testing.B, uris []string) *peer, save func(full, text string) error) {
	paths := m.paths(b, 40)
	var uris []string
	texts := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join(m.vault, path))
		require.NoError(b, err)
		texts[path] = string(text)
		uris = append(uris, notes.URI(path))
	}
	sub := subscribe(b, uris)
	searcher := m.launch(b, "mcp", "--log-level", "error") // uses the other process or its daemon
	searcher.initialize()
	searcher.ready()
	rng := rand.New(rand.NewPCG(1, 2))
	var searchable, notified []time.Duration
	for i := 0; b.Loop(); i++ {
		path := paths[i%len(paths)]
		word := unlikeOthers()
		at := time.Now()
		require.NoError(b, save(filepath.Join(m.vault, path), texts[path]+"\n"+word+"\n"))
		told := make(chan time.Duration, 1)
		go func() { told <- sub.whenUpdated(notes.URI(path), at) }()
		searchable = append(searchable, searcher.whenFoundIn(path, word, at))
		took := <-told
		require.Positive(b, took, "the subscriber is told of %s", path)
		notified = append(notified, took)
		b.StopTimer()
		<-time.After(time.Duration(rng.IntN(100)) * time.Millisecond) // so that saves are not in phase with the program
		b.StartTimer()
	}
	reportPercentiles(b, searchable, "found")
	reportPercentiles(b, notified, "told")
	require.NoError(b, searcher.end())
}

// paths returns n notes from all over the vault.
func (m *bench) paths(b *testing.B, n int) []string {
	b.Helper()
	var all []string
	require.NoError(b, filepath.WalkDir(m.vault, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			rel, _ := filepath.Rel(m.vault, path)
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	}))
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

// whenUpdated returns how long after since the client is notified of a resource, or 0 if
// it is not.
func (h *peer) whenUpdated(uri string, since time.Time) time.Duration {
	deadline := time.After(patience)
	for {
		select {
		case m := <-h.others:
			if updatedURI(m) == uri {
				return time.Since(since)
			}
		case <-deadline:
			return 0
		}
	}
}

// updatedURI returns the resource in a notification of an update, or "".
func updatedURI(m message) string {
	var p struct {
		URI string `json:"uri"`
	}
	if m.Method != "notifications/resources/updated" || json.Unmarshal(m.Params, &p) != nil {
		return ""
	}
	return p.URI
}

// unlikeOthers returns a word that fuzzy search does not confuse with another one.
func unlikeOthers() string {
	word := make([]byte, 16)
	for i := range word {
		word[i] = 'a' + byte(rand.IntN(26))
	}
	return string(word)
}

// whenFoundIn returns how long after since a note is found by a word.
func (h *peer) whenFoundIn(path, word string, since time.Time) time.Duration {
	h.t.Helper()
	for !slices.Contains(h.found(word), path) {
		require.Less(h.t, time.Since(since), patience, "%s is never found", path)
		<-time.After(time.Millisecond) // pause between requests: two cores serve both sides
	}
	return time.Since(since)
}

// total returns the number of notes that contain a word.
func (h *peer) total(word string) int {
	h.t.Helper()
	r := h.tool("search_notes", map[string]any{"query": word, "mode": "text", "limit": 1})
	require.False(h.t, r.IsError, "%v", r.Content)
	return int(r.Structured["total"].(float64))
}

// whenFound returns how long after since the wanted number of notes is found by a word
// that no other note contains.
func (h *peer) whenFound(word string, want int, since time.Time) time.Duration {
	h.t.Helper()
	for h.total(word) < want {
		require.Less(h.t, time.Since(since), 2*patience, "%d of %d notes are found", h.total(word), want)
		<-time.After(20 * time.Millisecond) // pause between requests, which cost more the more is found
	}
	return time.Since(since)
}

func reportPercentiles(b *testing.B, times []time.Duration, unit string) {
	b.Helper()
	slices.Sort(times)
	for _, percent := range []int{50, 95, 99} {
		at := times[min(len(times)-1, len(times)*percent/100)]
		b.ReportMetric(float64(at.Microseconds())/1000, fmt.Sprintf("%s-p%d-ms", unit, percent))
	}
	b.ReportMetric(0, "ns/op")
}

// git runs git in the vault, ignoring all configuration files.
func (p place) git(t testing.TB, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir = p.vault
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
}

// needGit skips tests that need git if it is not installed.
func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not installed, so no checkout is tested")
	}
}

// branches creates two branches that differ in these notes: on the branch "there" each
// ends with the word.
func (p place) branches(t testing.TB, paths []string, word string) {
	t.Helper()
	p.git(t, "init", "-q", "-b", "here")
	p.git(t, "add", ".")
	p.git(t, "commit", "-q", "-m", "here")
	p.git(t, "checkout", "-q", "-b", "there")
	for _, path := range paths {
		f, err := os.OpenFile(filepath.Join(p.vault, path), os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString("\n" + word + "\n")
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	p.git(t, "commit", "-q", "-a", "-m", "there")
	p.git(t, "checkout", "-q", "here")
}

// BenchmarkCheckout measures the time from the start of a git checkout that changes 2 000
// notes (or all, if fewer) until all of them are found, and back.
func BenchmarkCheckout(b *testing.B) {
	needGit(b)
	m := newBench(b)
	paths, word := m.paths(b, 2000), unlikeOthers()
	m.branches(b, paths, word)
	m.run(b, "index")
	h := m.launch(b, "mcp", "--in-process", "--log-level", "error")
	h.initialize()
	h.ready()
	var all, after []time.Duration
	for b.Loop() {
		began := time.Now()
		m.git(b, "checkout", "-q", "there")
		done := time.Now()
		h.whenFound(word, len(paths), began)
		all, after = append(all, time.Since(began)), append(after, time.Since(done))
		b.StopTimer()
		m.git(b, "checkout", "-q", "here")
		eventually(b, "the checkout back is taken in", func() bool { return h.total(word) == 0 })
		b.StartTimer()
	}
	b.ReportMetric(float64(len(paths)), "notes")
	b.ReportMetric(slices.Max(all).Seconds(), "slowest-s")
	b.ReportMetric(slices.Max(after).Seconds(), "slowest-after-git-s")
	b.ReportMetric(0, "ns/op")
	require.NoError(b, h.end())
}

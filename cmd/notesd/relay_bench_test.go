package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"notesd/internal/daemon"
	"notesd/internal/service"
	"notesd/notes"
)

// direct returns a client connected to the place's daemon without a relay.
func (p place) direct(t testing.TB) *peer {
	t.Helper()
	conn, err := daemon.Dial(t.Context(), p.state, helloOfTest())
	require.NoError(t, err)
	h := &peer{t: t, stdin: conn, answers: map[int]chan message{}, others: make(chan message, 1000)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.read(conn)
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-ended
	})
	h.initialize()
	return h
}

func helloOfTest() daemon.Hello {
	return daemon.Hello{Wire: daemon.Wire, Version: service.Version(), Kind: daemon.KindMCP}
}

// timed makes a call and returns its response time.
func (h *peer) timed(method string, params any) time.Duration {
	began := time.Now()
	answer := <-h.send(method, params)
	took := time.Since(began)
	require.Nil(h.t, answer.Error)
	return took
}

// BenchmarkRelay measures the latency that the relay adds and the memory it uses: the
// same small calls, alternately direct and relayed.
func BenchmarkRelay(b *testing.B) {
	m := newBench(b)
	m.run(b, "index")
	m.serve(b)
	relayed := m.launch(b, "mcp", "--log-level", "error")
	relayed.initialize()
	direct := m.direct(b)
	read := map[string]any{"name": "read_note", "arguments": map[string]any{"note": m.paths(b, 1)[0], "max_bytes": 1000}}
	for range 100 {
		direct.timed("tools/call", read)
		relayed.timed("tools/call", read)
	}
	var without, with []time.Duration
	for b.Loop() {
		without = append(without, direct.timed("tools/call", read))
		with = append(with, relayed.timed("tools/call", read))
	}
	slices.Sort(without)
	slices.Sort(with)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(median(without)), "direct-p50-ms")
	b.ReportMetric(ms(median(with)), "relayed-p50-ms")
	b.ReportMetric(ms(median(with)-median(without)), "added-p50-ms")
	b.ReportMetric(ms(mean(with)-mean(without)), "added-mean-ms")
	reportMemory(b, relayed.cmd.Process.Pid, "RssAnon", "relay-anonymous-MB")
	b.ReportMetric(0, "ns/op")
	require.NoError(b, relayed.end())
}

// BenchmarkLongNotes reads a whole note and writes the same text to it, through the relay
// and over HTTP: notes of 64 KB to 16 MB, in lines of 40 bytes, each of which needs an
// escape in JSON.
//
//	go test -run '^$' -bench LongNotes ./cmd/notesd
func BenchmarkLongNotes(b *testing.B) {
	m := newBench(b)
	m.run(b, "index")
	m.serve(b, "--http", "127.0.0.1:0")
	cmd := m.command("mcp", "--log-level", "error")
	stdin, err := cmd.StdinPipe()
	require.NoError(b, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	clients := map[string]*sdk.ClientSession{
		"stdio": newSDKSession(b, &sdk.IOTransport{Reader: struct{ io.ReadCloser }{stdout}, Writer: stdin, MaxLineLength: -1}),
		"http":  newSDKSession(b, &sdk.StreamableClientTransport{Endpoint: m.report(b).Daemon.HTTP, HTTPClient: &http.Client{Transport: m.bearer(b)}}),
	}
	for _, size := range []int{64 << 10, 1 << 20, 4 << 20, 16 << 20} {
		text := strings.Repeat("A line of a note, of forty bytes in all\n", size/40)
		name := fmt.Sprintf("Long %d", size)
		_, err := clients["http"].CallTool(b.Context(), &sdk.CallToolParams{Name: "create_note", Arguments: map[string]any{"title": name, "content": text}})
		require.NoError(b, err)
		for _, how := range []string{"stdio", "http"} {
			client := clients[how]
			b.Run(fmt.Sprintf("read/%d/%s", size>>10, how), func(b *testing.B) {
				for b.Loop() {
					_, err := client.ReadResource(b.Context(), &sdk.ReadResourceParams{URI: notes.URI(name + ".md")})
					require.NoError(b, err)
				}
			})
			b.Run(fmt.Sprintf("write/%d/%s", size>>10, how), func(b *testing.B) {
				for b.Loop() {
					res, err := client.CallTool(b.Context(), &sdk.CallToolParams{Name: "edit_note", Arguments: map[string]any{"note": name, "edits": []any{map[string]any{"op": "replace_all", "content": text}}, "dry_run": true}})
					require.NoError(b, err)
					require.False(b, res.IsError)
				}
			})
		}
	}
}

func newSDKSession(b *testing.B, t sdk.Transport) *sdk.ClientSession {
	b.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(), t, nil)
	require.NoError(b, err)
	b.Cleanup(func() { _ = session.Close() })
	return session
}

// median returns the middle of sorted times.
func median(times []time.Duration) time.Duration { return times[len(times)/2] }

func mean(times []time.Duration) time.Duration {
	var sum time.Duration
	for _, t := range times {
		sum += t
	}
	return sum / time.Duration(len(times))
}

// BenchmarkFlood measures a client's searches alone, and while another client sends
// searches or reads as fast as it can.
func BenchmarkFlood(b *testing.B) {
	m := newBench(b)
	m.run(b, "index")
	m.serve(b)
	client := m.launch(b, "mcp", "--log-level", "error")
	client.initialize()
	client.ready()
	for name, flood := range map[string]func(h *peer, i int) <-chan message{
		"searches": func(h *peer, i int) <-chan message { return h.sendSearch(m.queries[(7*i)%len(m.queries)]) },
		"lists":    func(h *peer, _ int) <-chan message { return h.send("resources/list", map[string]any{}) },
	} {
		b.Run(name, func(b *testing.B) {
			var alone, beside []time.Duration
			i := 0
			ask := func() time.Duration {
				i++
				began := time.Now()
				answer := <-client.sendSearch(m.queries[i%len(m.queries)])
				require.Nil(b, answer.Error)
				return time.Since(began)
			}
			for range 100 {
				ask()
			}
			for range b.N {
				alone = append(alone, ask())
			}
			stop := m.flood(b, flood)
			for range b.N {
				beside = append(beside, ask())
			}
			answered, took := stop()
			slices.Sort(alone)
			slices.Sort(beside)
			at := len(alone) * 95 / 100
			b.ReportMetric(float64(alone[at].Microseconds())/1000, "alone-p95-ms")
			b.ReportMetric(float64(beside[at].Microseconds())/1000, "beside-p95-ms")
			b.ReportMetric(float64(beside[at])/float64(alone[at]), "times")
			b.ReportMetric(float64(answered)/took.Seconds(), "flood/s")
			b.ReportMetric(0, "ns/op")
		})
	}
	require.NoError(b, client.end())
}

func (h *peer) sendSearch(query string) <-chan message {
	return h.send("tools/call", map[string]any{"name": "search_notes", "arguments": map[string]any{"query": query}})
}

// flooding is the number of unanswered requests of the flooding client.
const flooding = 64

// flood keeps flooding requests in flight until stop is called, which returns the number
// of responses and the elapsed time.
func (m *bench) flood(b *testing.B, send func(h *peer, i int) <-chan message) (stop func() (int, time.Duration)) {
	b.Helper()
	h := m.launch(b, "mcp", "--log-level", "error")
	h.initialize()
	began := time.Now()
	over, done := make(chan struct{}), make(chan int)
	go func() {
		waiting := make(chan (<-chan message), flooding)
		answered := make(chan int)
		go func() {
			n := 0
			for answer := range waiting {
				<-answer
				n++
			}
			answered <- n
		}()
		for i := 0; ; i++ {
			select {
			case <-over:
				close(waiting)
				done <- <-answered
				return
			case waiting <- send(h, i):
			}
		}
	}()
	return func() (int, time.Duration) {
		close(over)
		n := <-done
		took := time.Since(began)
		require.NoError(b, h.end())
		return n, took
	}
}

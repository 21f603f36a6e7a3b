package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"notesd/notes"
	"notesd/notes/pglog"
)

// lagBound is how far a ready node may lag behind the database.
const lagBound = 10 * time.Second

// serveReady answers GET /readyz: 200, or 503 with the reasons. The request needs no
// token, so the response names no vault, and concurrent requests share one database
// query: a flood of them must not starve other users of the database.
func (s *Service) serveReady(w http.ResponseWriter, r *http.Request) {
	var reasons []string
	if s.draining.Load() {
		reasons = append(reasons, "the node is stopping")
	}
	states, _, _ := s.probing.Do("", func() (any, error) { return s.states(context.WithoutCancel(r.Context())), nil })
	for _, v := range states.([]vaultState) {
		switch own := v.name == ""; {
		case !v.open && own:
			reasons = append(reasons, "the vault is being opened")
		case !own && !v.begun: // it is being fetched; requests for it wait
		case pglog.IsAnswer(v.err):
			reasons = append(reasons, "the database refuses the node's queries; notesd status says why")
		case v.err != nil:
			reasons = append(reasons, "the database cannot be reached")
		case v.lag.Age > lagBound:
			reasons = append(reasons, fmt.Sprintf("a vault is more than %v behind the database", lagBound))
		}
	}
	slices.Sort(reasons)
	answer, status := map[string]any{"status": "ready"}, http.StatusOK
	if reasons = slices.Compact(reasons); len(reasons) > 0 {
		answer, status = map[string]any{"status": "not ready", "reasons": reasons}, http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // fails only if the client is gone
}

// serveMetrics answers GET /metrics.
func (s *Service) serveMetrics(w http.ResponseWriter, r *http.Request) {
	x := &exposition{}
	build := ThisBuild()
	x.family("notesd_build_info", "gauge", "The program, always 1.")
	x.sample("notesd_build_info", 1, "version", build.Version, "revision", build.Revision, "go", build.Go)
	all := s.states(r.Context())
	x.family("notesd_vaults_open", "gauge", "Vaults that are open, the own one among them.")
	x.sample("notesd_vaults_open", float64(len(all)))
	each := func(name, kind, help string, value func(v vaultState) (float64, bool)) {
		x.family(name, kind, help)
		for _, v := range all {
			if n, ok := value(v); ok && v.open {
				x.sample(name, n, "vault", v.name)
			}
		}
	}
	each("notesd_sessions", "gauge", "Clients that have a session.", func(v vaultState) (float64, bool) { return float64(v.sessions), true })
	each("notesd_notes", "gauge", "Notes.", func(v vaultState) (float64, bool) { return float64(v.notes), true })
	each("notesd_embeddings_pending", "gauge", "Passages that wait to be embedded.", func(v vaultState) (float64, bool) { return float64(v.pending), true })
	each("notesd_conflict_copies_total", "counter", "Copies of files that were changed here and elsewhere, since the vault was opened.", func(v vaultState) (float64, bool) { return float64(v.copies), v.shared })
	each("notesd_log_up", "gauge", "1 if the database answers.", func(v vaultState) (float64, bool) {
		if v.err != nil {
			return 0, v.shared
		}
		return 1, v.shared
	})
	each("notesd_feed_lag_versions", "gauge", "Changes in the database that this node does not have yet.", func(v vaultState) (float64, bool) { return float64(v.lag.Batches), v.shared && v.err == nil })
	each("notesd_feed_lag_seconds", "gauge", "Age of the oldest of them.", func(v vaultState) (float64, bool) { return v.lag.Age.Seconds(), v.shared && v.err == nil })
	s.metrics.write(x)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = io.WriteString(w, x.String()) // fails only if the client is gone
}

// A vaultState is the state of a vault that metrics and readiness report.
type vaultState struct {
	name     string // in the database; "": the node's own vault
	open     bool
	begun    bool // has caught up with the database once
	sessions int
	notes    int
	pending  int // passages to embed
	copies   int // conflict copies
	shared   bool
	reader   pglog.Reader
	lag      pglog.Lag
	err      error // why the lag is unknown
}

// states returns the states of the node's own vault and of the other open vaults.
func (s *Service) states(ctx context.Context) []vaultState {
	all := []vaultState{s.state(ctx, "")}
	node := s.node.Load()
	if node == nil {
		return all
	}
	for _, v := range node.opened() {
		all = append(all, v.service.state(ctx, v.name))
	}
	readers := make([]pglog.Reader, len(all))
	for i, v := range all {
		readers[i] = v.reader
	}
	ctx, cancel := context.WithTimeout(ctx, Waits.Database)
	defer cancel()
	lags, err := node.db.Behind(ctx, readers)
	for i := range all {
		if all[i].err = err; err == nil {
			all[i].lag = lags[i]
		}
	}
	return all
}

// state returns the state of the vault that the service serves.
func (s *Service) state(ctx context.Context, name string) vaultState {
	v := vaultState{name: name, sessions: s.core.Sessions(), shared: s.cfg.Store.Postgres != ""}
	if v.open = s.isOpen() && isClosed(s.settled); !v.open {
		return v
	}
	if st, err := s.vault.Status(ctx); err == nil {
		v.notes = st.Notes
	}
	if s.vectors != nil {
		v.pending = s.vectors.Status().Pending
	}
	if s.mirror.Mirror != nil {
		v.begun = isClosed(s.mirror.Begun())
		v.copies = s.mirror.Copies()
		v.reader = pglog.Reader{Vault: s.cfg.Store.Vault, Seq: s.mirror.Followed()}
	}
	return v
}

// buckets are the upper bounds, in seconds, of the duration histogram.
var buckets = [...]float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// metrics counts tool calls. It is safe for concurrent use.
type metrics struct {
	mu    sync.Mutex
	tools map[string]*calls
}

type calls struct {
	results map[string]uint64        // by outcome: ok, conflict, error
	counts  [len(buckets) + 1]uint64 // by bucket; the last has no upper bound
	seconds float64
}

func newMetrics() *metrics { return &metrics{tools: map[string]*calls{}} }

// observe records a call.
func (m *metrics) observe(tool string, took time.Duration, err error) {
	result := "ok"
	switch {
	case errors.Is(err, notes.ErrConflict):
		result = "conflict"
	case err != nil:
		result = "error"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.tools[tool]
	if c == nil {
		c = &calls{results: map[string]uint64{}}
		m.tools[tool] = c
	}
	i, _ := slices.BinarySearch(buckets[:], took.Seconds())
	c.counts[i]++
	c.results[result]++
	c.seconds += took.Seconds()
}

// write writes the metrics of tool calls.
func (m *metrics) write(x *exposition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := slices.Sorted(maps.Keys(m.tools))
	x.family("notesd_tool_calls_total", "counter", "Calls of tools, by how they ended.")
	for _, tool := range names {
		for _, result := range slices.Sorted(maps.Keys(m.tools[tool].results)) {
			x.sample("notesd_tool_calls_total", float64(m.tools[tool].results[result]), "tool", tool, "result", result)
		}
	}
	const duration = "notesd_tool_duration_seconds"
	x.family(duration, "histogram", "How long calls of tools took.")
	for _, tool := range names {
		c, sum := m.tools[tool], uint64(0)
		for i, n := range c.counts {
			le := "+Inf"
			if i < len(buckets) {
				le = strconv.FormatFloat(buckets[i], 'g', -1, 64)
			}
			sum += n
			x.sample(duration+"_bucket", float64(sum), "tool", tool, "le", le)
		}
		x.sample(duration+"_sum", c.seconds, "tool", tool)
		x.sample(duration+"_count", float64(sum), "tool", tool)
	}
}

// exposition writes metrics in the Prometheus text format. The client library would add
// more than twenty packages to replace fifty lines.
type exposition struct{ strings.Builder }

// family starts a metric family; its samples follow.
func (x *exposition) family(name, kind, help string) {
	fmt.Fprintf(x, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes one value. labels alternate names and values; a label with an empty
// value is omitted.
func (x *exposition) sample(name string, value float64, labels ...string) {
	x.WriteString(name)
	sep := "{"
	for label := range slices.Chunk(labels, 2) {
		if key, value := label[0], label[1]; value != "" {
			fmt.Fprintf(x, `%s%s="%s"`, sep, key, escapeLabel.Replace(value))
			sep = ","
		}
	}
	if sep == "," {
		x.WriteString("}")
	}
	x.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

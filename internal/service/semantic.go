package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"notesd/internal/config"
	"notesd/internal/mirror"
	"notesd/mcp"
	"notesd/notes/store"
	"notesd/notes/vault"
	"notesd/vectors"
	"notesd/vectors/bert"
	"notesd/vectors/endpoint"
	"notesd/vectors/model"
	"notesd/vectors/table"
)

// openVectors returns the index of note vectors, or nil if semantic search is off.
func openVectors(cfg *config.Config, store *store.Store, vault *vault.Vault, e *embedders, m *mirror.Mirror, log *slog.Logger) (*vectors.Index, error) {
	s := cfg.Semantic
	if s.Provider == "off" {
		if err := vectors.DeleteFiles(cfg.State); err != nil {
			log.Warn("the vector files cannot be deleted", "err", err)
		}
		return nil, nil
	}
	o := vectors.Options{
		Open:    e.at,
		Threads: s.Threads,
		Wait:    func(ctx context.Context) error { return mcp.Await(ctx, vault.FirstScan()) },
		Log:     log,
	}
	if m != nil {
		o.Shared = m.Log().Database()
	}
	if s.AutoModel() {
		o.Auto = &vectors.Auto{English: BuiltinSource(config.English), Multilingual: BuiltinSource(config.Multilingual)}
	} else {
		var err error
		o.Source = e.source()
		if o.Embedder, err = e.at(o.Source); err != nil {
			return nil, err
		}
	}
	return vectors.NewIndex(store, cfg.State, o), nil
}

// remoteTimeout is how long a search waits for a server to embed the query; the
// built-in model takes milliseconds.
const remoteTimeout = time.Second

func semanticTimeout(s config.Semantic) time.Duration {
	if s.Remote() {
		return max(remoteTimeout, Waits.Semantic)
	}
	return Waits.Semantic
}

// embedders opens the embedder of each source once, and closes them together.
type embedders struct {
	semantic config.Semantic

	mu   sync.Mutex
	open map[string]vectors.Embedder // by source
}

func newEmbedders(s config.Semantic) *embedders {
	return &embedders{semantic: s, open: map[string]vectors.Embedder{}}
}

func (e *embedders) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	for _, opened := range e.open {
		if c, ok := opened.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	clear(e.open)
	return errors.Join(errs...)
}

// at returns the embedder of a source, opening it if necessary. A source on another
// machine is opened only if the configuration allows it.
func (e *embedders) at(source string) (vectors.Embedder, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if opened := e.open[source]; opened != nil {
		return opened, nil
	}
	opened, err := e.openSource(source)
	if err == nil {
		e.open[source] = opened
	}
	return opened, err
}

func (e *embedders) openSource(source string) (vectors.Embedder, error) {
	parts := strings.Split(source, "\n")
	if len(parts) != 3 {
		return openModel(source)
	}
	o := endpoint.Options{Provider: parts[0], Model: parts[1], URL: parts[2], AllowRemote: e.semantic.AllowRemote}
	if o.Provider == e.semantic.Provider && o.URL == e.semantic.URL {
		o.APIKey = string(e.semantic.APIKey) // no other server may receive it
	}
	return endpoint.New(o)
}

// openModel opens a model file, or the built-in model that source names. Models stay
// open until the program exits.
func openModel(source string) (vectors.Embedder, error) {
	m, _, err := Builtin(source)
	if err != nil {
		return nil, ModelFailure(source, err)
	}
	return vectors.NewTransformer(m), nil
}

// Builtin opens the model of a source and returns its location. The empty source is the
// English model: older databases, from before there were others, record it so.
func Builtin(source string) (m *bert.Model, where string, err error) {
	switch source {
	case "":
		m, err = model.English()
	case config.Multilingual:
		m, err = model.Multilingual()
	default:
		m, err = bert.OpenFile(source)
		return m, source, err
	}
	return m, "in the program", err
}

// ModelFailure returns the failure of a model that cannot be opened.
func ModelFailure(path string, err error) error {
	f := &Failure{Code: "config", Message: fmt.Sprintf("the model cannot be used: %v", err)}
	if filepath.IsAbs(path) {
		f.Hint = "Copy the file again from its source, or leave semantic.model out to use the model in the program."
	}
	return f
}

// source returns the source of the configured model: the path of a model file, "" or
// "multilingual" for a built-in model, or the provider, model and URL. The store
// records it, so that the model can still be opened after the configuration has
// changed.
func (e *embedders) source() string {
	s := e.semantic
	if !s.Remote() {
		return BuiltinSource(s.Model)
	}
	return strings.Join([]string{s.Provider, s.Model, s.URL}, "\n")
}

// BuiltinSource returns the source of a model that runs in this process. "auto" maps to
// the English model.
func BuiltinSource(model string) string {
	if model == config.Auto || model == config.English {
		return ""
	}
	return model
}

// tableModels provides the models of users' tables.
type tableModels struct {
	index     *vectors.Index
	embedders *embedders
}

// Current returns the model of the notes.
func (m tableModels) Current() (table.Model, string) {
	e, source := m.index.Model()
	if e == nil {
		return nil, "" // not a Model that holds a nil Embedder
	}
	return e, source
}

// Unrecorded returns the configured model. When tables did not yet record their model,
// "auto" meant the English one.
func (m tableModels) Unrecorded() string { return m.embedders.source() }

func (m tableModels) Open(source string) (table.Model, error) { return m.embedders.at(source) }

// Hurry lets embedding use all processors, unless the user has set a number, and at normal
// priority, because a user waits for this process.
func Hurry(cfg *config.Config) {
	vectors.Hurry()
	if cfg.Semantic.Threads == 0 {
		cfg.Semantic.Threads = runtime.GOMAXPROCS(0)
	}
}

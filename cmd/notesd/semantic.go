package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"notesd/internal/config"
	"notesd/notes"
	"notesd/search"
	"notesd/vectors"
	"notesd/vectors/bert"
	"notesd/vectors/model"
)

// openEmbedder opens the model that the configuration asks for, or returns nil
// when it wants none.
func openEmbedder(cfg *config.Config) (vectors.Embedder, error) {
	if cfg.Semantic.Provider == "off" {
		return nil, nil
	}
	return openModel(cfg.Semantic.Model)
}

// openMeaning makes the index of the notes' vectors, or nil without a model.
func openMeaning(cfg *config.Config, store *notes.Store, vault *notes.Vault, embedder vectors.Embedder, log *slog.Logger) *vectors.Index {
	if embedder == nil {
		return nil
	}
	return vectors.NewIndex(store, cfg.State, vectors.Options{
		Embedder: embedder,
		Source:   cfg.Semantic.Model,
		Previous: openModel,
		Threads:  cfg.Semantic.Threads,
		Wait:     func(ctx context.Context) error { return untilReady(ctx, vault) },
		Log:      log,
	})
}

// readyPoll is how often a vault is asked whether its first scan is done.
const readyPoll = 100 * time.Millisecond

func untilReady(ctx context.Context, vault *notes.Vault) error {
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for !vault.Ready() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// openModel opens a model file, or the model in the program when path is
// empty. Models stay open until the program ends.
func openModel(path string) (vectors.Embedder, error) {
	open := model.Default
	if path != "" {
		open = func() (*bert.Model, error) { return bert.OpenFile(path) }
	}
	m, err := open()
	if err != nil {
		return nil, fmt.Errorf("open the model: %w", err)
	}
	return vectors.NewTransformer(m), nil
}

// meaning lets the search ask the vectors: neither package knows the other.
type meaning struct{ *vectors.Index }

// semanticOf returns what the search is to ask, nil when there is nothing.
func semanticOf(index *vectors.Index) search.Semantic {
	if index == nil {
		return nil
	}
	return meaning{index}
}

func (m meaning) Nearest(ctx context.Context, text string, allowed *notes.IDSet, k int) ([]search.SemanticHit, error) {
	found, err := m.Index.Nearest(ctx, text, allowed, k)
	return semanticHits(found), err
}

func (m meaning) Cosines(ctx context.Context, text string, ids []int64) ([]search.SemanticHit, error) {
	found, err := m.Index.Cosines(ctx, text, ids)
	return semanticHits(found), err
}

func (m meaning) Coverage() search.Coverage {
	state, share := m.Index.Coverage()
	return search.Coverage{State: state, Coverage: share}
}

func semanticHits(found []vectors.Hit) []search.SemanticHit {
	out := make([]search.SemanticHit, len(found))
	for i, h := range found {
		out[i] = search.SemanticHit{NoteID: h.NoteID, Ordinal: h.Ordinal, Cosine: h.Cosine}
	}
	return out
}

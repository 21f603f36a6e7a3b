package bert_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"notesd/vectors/bert"
	"notesd/vectors/bert/kernel"
	"notesd/vectors/model"
)

// passage is a text of about the length of a chunk: 220 tokens.
var passage = strings.Repeat("The committee met in the old library to discuss the budget, "+
	"the new roof and the overdue repair of the heating; nobody had read the report. ", 8)

// eachModel runs a benchmark for both models on every tier that this machine supports.
func eachModel(b *testing.B, run func(b *testing.B, m *bert.Model)) {
	for _, name := range []string{"all-MiniLM-L6-v2", "multilingual-e5-small"} {
		for _, tier := range kernel.Tiers() {
			b.Run(name+"/"+tier, func(b *testing.B) {
				b.Setenv(bert.TierVariable, tier)
				m, err := bert.OpenFile("../model/" + name + ".ndmodel")
				require.NoError(b, err)
				defer func() { require.NoError(b, m.Close()) }()
				run(b, m)
			})
		}
	}
}

func BenchmarkDocuments(b *testing.B) {
	eachModel(b, func(b *testing.B, m *bert.Model) {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprint("threads=", threads), func(b *testing.B) {
				encoders := make([]*bert.Encoder, threads)
				for i := range encoders {
					encoders[i] = m.NewEncoder()
				}
				for b.Loop() {
					var embedding errgroup.Group
					for _, e := range encoders {
						embedding.Go(func() error { return e.Embed(b.Context(), passage, make([]float32, m.Dim())) })
					}
					require.NoError(b, embedding.Wait())
				}
				reportTokens(b, threads*len(m.TokenIDs(passage)))
			})
		}
	})
}

func BenchmarkQuery(b *testing.B) {
	queries := map[string]string{ // 12 tokens each
		"all-MiniLM-L6-v2":      "how do I undo the last commit without losing my",
		"multilingual-e5-small": "query: how do I undo the last",
	}
	eachModel(b, func(b *testing.B, m *bert.Model) {
		query := queries[m.Name()]
		require.Len(b, m.TokenIDs(query), 12)
		e, vec := m.NewEncoder(), make([]float32, m.Dim())
		for b.Loop() {
			require.NoError(b, e.Embed(context.Background(), query, vec))
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	m := defaultModel(b)
	n := 0
	for b.Loop() {
		n = len(m.TokenIDs(passage))
	}
	reportTokens(b, n)
}

func reportTokens(b *testing.B, each int) {
	b.ReportMetric(float64(each)*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}

func defaultModel(tb testing.TB) *bert.Model {
	m, err := model.English()
	require.NoError(tb, err)
	return m
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		m, err := bert.OpenFile("../model/all-MiniLM-L6-v2.ndmodel")
		require.NoError(b, err)
		require.NoError(b, m.Close())
	}
}

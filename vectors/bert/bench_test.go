package bert_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"notesd/vectors/bert"
	"notesd/vectors/model"
)

// passage is a text of about the length of a chunk: 220 tokens.
var passage = strings.Repeat("The committee met in the old library to discuss the budget, "+
	"the new roof and the overdue repair of the heating; nobody had read the report. ", 8)

func BenchmarkDocument(b *testing.B) {
	m := defaultModel(b)
	e, vec := m.NewEncoder(), make([]float32, m.Dim())
	for b.Loop() {
		require.NoError(b, e.Embed(context.Background(), passage, vec))
	}
	reportTokens(b, len(m.TokenIDs(passage)))
}

func BenchmarkDocuments2Threads(b *testing.B) {
	m := defaultModel(b)
	texts := make([]string, 32)
	for i := range texts {
		texts[i] = passage
	}
	for b.Loop() {
		require.NoError(b, m.EmbedAll(context.Background(), texts, 2, func(int, []float32) {}))
	}
	reportTokens(b, len(texts)*len(m.TokenIDs(passage)))
}

func BenchmarkQuery(b *testing.B) {
	m := defaultModel(b)
	const query = "how do I undo the last commit without losing my"
	require.Len(b, m.TokenIDs(query), 12)
	e, vec := m.NewEncoder(), make([]float32, m.Dim())
	for b.Loop() {
		require.NoError(b, e.Embed(context.Background(), query, vec))
	}
}

func BenchmarkTokens(b *testing.B) {
	m := defaultModel(b)
	n := 0
	for b.Loop() {
		n = m.Tokens(passage)
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

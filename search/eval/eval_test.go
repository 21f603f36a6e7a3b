package eval

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/search"
)

// Computed by hand. The relevant documents are a (2), b (1) and c (1); the ranking x a y
// b has the grades 0 2 0 1.
func TestScore(t *testing.T) {
	relevant := map[string]int{"a": 2, "b": 1, "c": 1}
	s := score(relevant, []string{"x", "a", "y", "b"})
	ideal := 2 + 1/math.Log2(3) + 1/math.Log2(4)
	assert.InDelta(t, (2/math.Log2(3)+1/math.Log2(5))/ideal, s.NDCG10, 1e-9)
	assert.InDelta(t, 0.540586, s.NDCG10, 1e-6)
	assert.InDelta(t, 0.5, s.MRR10, 1e-9)
	assert.InDelta(t, 2.0/3, s.Recall5, 1e-9)
	assert.Equal(t, [depth]float64{0, 1. / 2, 1. / 3, 2. / 4, 2. / 5, 2. / 6, 2. / 7, 2. / 8, 2. / 9, 2. / 10}, s.Precision)
	assert.Equal(t, [depth]float64{0, 1. / 3, 1. / 3, 2. / 3, 2. / 3, 2. / 3, 2. / 3, 2. / 3, 2. / 3, 2. / 3}, s.Recall)
	assert.Equal(t, Scores{Queries: 1}, score(relevant, nil))
	assert.InDelta(t, 1, score(relevant, []string{"a", "c", "b"}).NDCG10, 1e-9)

	far := score(map[string]int{"r": 1}, []string{"1", "2", "3", "4", "5", "r"})
	assert.Zero(t, far.Recall5)
	assert.InDelta(t, 1, far.Recall10, 1e-9)
	assert.InDelta(t, 1.0/6, far.MRR10, 1e-9)
}

// fixed answers every query with the same notes.
func fixed(paths ...string) Ask {
	return func(_ context.Context, _ search.Mode, query string) ([]string, error) {
		if query == "nothing" {
			return nil, nil
		}
		return slices.Clone(paths), nil
	}
}

func write(t *testing.T, docs, queries, judgements string) (string, string, string) {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for i, text := range []string{docs, queries, judgements} {
		name := filepath.Join(dir, []string{"docs.jsonl", "queries.jsonl", "qrels.tsv"}[i])
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		names = append(names, name)
	}
	return names[0], names[1], names[2]
}

func TestRun_Averages(t *testing.T) {
	s, err := Load(write(t,
		`{"id":"a","title":"A","text":"one"}`+"\n\n"+`{"id":"b/../x","text":"two"}`,
		`{"id":"1","text":"first"}`+"\n"+`{"id":"2","text":"nothing"}`+"\n"+`{"id":"3","text":"not judged"}`+"\r\n",
		"query\tdoc\tgrade\n1\ta\t1\n1\tb/../x\t0\n2 0 a 1\n3\ta\t-1\n"))
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, s.WriteVault(dir))
	text, err := os.ReadFile(filepath.Join(dir, "a.md"))
	require.NoError(t, err)
	assert.Equal(t, "# A\n\none\n", string(text))
	text, err = os.ReadFile(filepath.Join(dir, "document-1.md"))
	require.NoError(t, err)
	assert.Equal(t, "two\n", string(text))

	r, err := s.Run(context.Background(), fixed("document-1.md", "a.md"), search.ModeText)
	require.NoError(t, err)
	assert.Equal(t, map[search.Mode]Scores{search.ModeText: {
		NDCG10: 1 / math.Log2(3) / 2, Recall5: .5, Recall10: .5, MRR10: .25, Queries: 2,
		Precision: [depth]float64{0, 1. / 4, 1. / 6, 1. / 8, 1. / 10, 1. / 12, 1. / 14, 1. / 16, 1. / 18, 1. / 20},
		Recall:    [depth]float64{0, .5, .5, .5, .5, .5, .5, .5, .5, .5}}}, r.Modes)
}

func TestAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "questions.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"vault":"v","queries":[{"id":1,"query":"one","expected":["a.md","b.md"]},{"query":"two","expected":["c.md"]},{"query":"three","expected":["d.md"]}]}`), 0o600))
	questions, err := LoadQuestions(file)
	require.NoError(t, err)
	var a Answers
	a.Add(questions[0], []string{"b.md", "a.md"})
	a.Add(questions[1], []string{"1.md", "2.md", "3.md", "4.md", "5.md", "6.md", "7.md", "c.md"})
	a.Add(questions[2], []string{"1.md"})
	a = a.Mean()
	assert.InDelta(t, 1.0/3, a.Hit1, 1e-9)
	assert.InDelta(t, 1.0/3, a.Hit5, 1e-9)
	assert.InDelta(t, 2.0/3, a.Hit10, 1e-9)
	assert.InDelta(t, (1+1.0/8)/3, a.MRR10, 1e-9)
	require.Len(t, a.Misses, 2)
	assert.Equal(t, 8, a.Misses[0].Rank)
	assert.Equal(t, []string{"1.md", "2.md", "3.md", "4.md", "5.md"}, a.Misses[0].Found)
	assert.Equal(t, []string{"1.md"}, a.Misses[1].Found)

	for text, want := range map[string]string{"{": "unexpected end", "{}": `no "queries"`, `{"queries":[{"query":"x"}]}`: "question 1 needs"} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := LoadQuestions(file)
		assert.ErrorContains(t, err, want)
	}
}

func TestLoad_Errors(t *testing.T) {
	doc, query, judgement := `{"id":"a","text":"x"}`, `{"id":"1","text":"x"}`, "1\ta\t1"
	for name, c := range map[string]struct{ docs, queries, judgements, want string }{
		"json":    {doc + "\n{", query, judgement, "docs.jsonl:2"},
		"no id":   {`{"text":"x"}`, query, judgement, `docs.jsonl:1: document without "id"`},
		"twice":   {doc + "\n" + doc, query, judgement, "same id"},
		"query":   {doc, "[]", judgement, "queries.jsonl:1"},
		"columns": {doc, query, "1\ta\t1\nabc", "qrels.tsv:2: want query, document and grade"},
		"none":    {doc, query, "1\ta\t0", "no query has a relevant document"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(write(t, c.docs, c.queries, c.judgements))
			assert.ErrorContains(t, err, c.want)
		})
	}
	_, err := Load("none", "none", "none")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Question is a query for an existing vault, with the notes that answer it.
type Question struct {
	ID       json.RawMessage `json:"id,omitempty"` // any JSON value
	Query    string          `json:"query"`
	Expected []string        `json:"expected"` // paths in the vault; any of them counts
}

// LoadQuestions reads {"queries": [question, …]}.
func LoadQuestions(name string) ([]Question, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var file struct {
		Queries []Question `json:"queries"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i, q := range file.Queries {
		if strings.TrimSpace(q.Query) == "" || len(q.Expected) == 0 {
			return nil, fmt.Errorf(`%s: question %d needs "query" and "expected"`, name, i+1)
		}
	}
	if len(file.Queries) == 0 {
		return nil, fmt.Errorf("%s: %w", name, errors.New(`there are no "queries"`))
	}
	return file.Queries, nil
}

// Answers are the averages over questions, and the results that ranked first instead of
// an expected note.
type Answers struct {
	Hit1      float64 `json:"hit@1"`
	Hit5      float64 `json:"hit@5"`
	Hit10     float64 `json:"hit@10"`
	MRR10     float64 `json:"mrr@10"`
	Questions int     `json:"questions"`
	Misses    []Miss  `json:"misses"`
}

// Miss is a question whose first hit is not an expected note.
type Miss struct {
	Question
	Rank  int      `json:"rank"`  // of the first expected note, starting at 1; 0: not in the first ten
	Found []string `json:"found"` // the notes ranked above it, best first
}

// Add adds the paths found for a question, best first.
func (a *Answers) Add(q Question, found []string) {
	a.Questions++
	found = found[:min(len(found), depth)]
	rank := slices.IndexFunc(found, func(p string) bool { return slices.Contains(q.Expected, p) }) + 1
	if rank != 1 {
		before := found[:min(len(found), 5)]
		if rank > 0 {
			before = found[:min(rank-1, 5)]
		}
		a.Misses = append(a.Misses, Miss{Question: q, Rank: rank, Found: slices.Clone(before)})
	}
	if rank == 0 {
		return
	}
	n := func(within int) float64 {
		if rank <= within {
			return 1
		}
		return 0
	}
	a.Hit1 += n(1)
	a.Hit5 += n(5)
	a.Hit10++
	a.MRR10 += 1 / float64(rank)
}

// Mean returns the averages of the added questions.
func (a Answers) Mean() Answers {
	n := float64(max(1, a.Questions))
	a.Hit1, a.Hit5, a.Hit10, a.MRR10 = a.Hit1/n, a.Hit5/n, a.Hit10/n, a.MRR10/n
	return a
}

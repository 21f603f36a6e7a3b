// Package eval measures how well searches find what people judged relevant.
//
// A judged set consists of documents, queries, and judgements (qrels) of which document
// answers which query. Load reads a set, WriteVault writes its documents as the notes of
// a vault, and Run scores what searches of that vault find for every query, so the result is
// the quality that users get.
//
// The measures follow trec_eval: nDCG with linear gain and a log2 discount, relative to
// the ideal ranking of all judged documents; averages are over every query with at least
// one relevant document, and a query without results counts as 0.
package eval

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"notesd/search"
)

// Ask returns the paths of the notes that a search finds, best first.
type Ask func(ctx context.Context, mode search.Mode, query string) ([]string, error)

// Scores are the averages over the judged queries.
type Scores struct {
	NDCG10   float64 `json:"ndcg@10"`
	Recall5  float64 `json:"recall@5"`
	Recall10 float64 `json:"recall@10"`
	MRR10    float64 `json:"mrr@10"`
	Queries  int     `json:"queries"`

	// Precision and Recall have a value for each depth from 1 to 10.
	Precision [depth]float64 `json:"precision"`
	Recall    [depth]float64 `json:"recall"`
}

// Report is the result of an evaluation.
type Report struct {
	Modes map[search.Mode]Scores `json:"modes"`
}

// depth is the number of hits evaluated.
const depth = 10

// Run evaluates every query in every mode.
func (s *Set) Run(ctx context.Context, ask Ask, modes ...search.Mode) (Report, error) {
	report := Report{Modes: map[search.Mode]Scores{}}
	for _, mode := range modes {
		var sum Scores
		for _, q := range s.Queries {
			relevant := s.relevant(q.ID)
			if len(relevant) == 0 {
				continue
			}
			found, err := ask(ctx, mode, q.Text)
			if err != nil {
				return Report{}, fmt.Errorf("query %s: %w", q.ID, err)
			}
			for i, p := range found {
				found[i] = s.ids[strings.TrimSuffix(path.Base(p), ".md")]
			}
			sum.add(score(relevant, found))
		}
		report.Modes[mode] = sum.mean()
	}
	return report, nil
}

// relevant returns the positive judgements of a query.
func (s *Set) relevant(query string) map[string]int {
	out := map[string]int{}
	for doc, grade := range s.Judgements[query] {
		if grade > 0 {
			out[doc] = grade
		}
	}
	return out
}

// score evaluates one ranking.
func score(relevant map[string]int, found []string) Scores {
	out := Scores{Queries: 1}
	grades := make([]int, len(found))
	for i, doc := range found {
		grades[i] = relevant[doc]
	}
	hits := 0.0
	for k := range depth {
		if k < len(grades) && grades[k] > 0 {
			if hits++; hits == 1 {
				out.MRR10 = 1 / float64(k+1)
			}
		}
		out.Precision[k], out.Recall[k] = hits/float64(k+1), hits/float64(len(relevant))
	}
	var ideal []int
	for _, grade := range relevant {
		ideal = append(ideal, grade)
	}
	slices.SortFunc(ideal, func(a, b int) int { return b - a })
	out.NDCG10 = gain(grades) / gain(ideal)
	out.Recall5, out.Recall10 = out.Recall[4], out.Recall[9]
	return out
}

// gain is the discounted cumulative gain of the first ten grades.
func gain(grades []int) float64 {
	sum := 0.0
	for i, g := range grades[:min(10, len(grades))] {
		sum += float64(g) / math.Log2(float64(i+2))
	}
	return sum
}

func (s *Scores) add(o Scores) {
	s.NDCG10 += o.NDCG10
	s.Recall5 += o.Recall5
	s.Recall10 += o.Recall10
	s.MRR10 += o.MRR10
	s.Queries += o.Queries
	for k := range depth {
		s.Precision[k] += o.Precision[k]
		s.Recall[k] += o.Recall[k]
	}
}

func (s Scores) mean() Scores {
	n := float64(max(1, s.Queries))
	m := Scores{NDCG10: s.NDCG10 / n, Recall5: s.Recall5 / n, Recall10: s.Recall10 / n, MRR10: s.MRR10 / n, Queries: s.Queries}
	for k := range depth {
		m.Precision[k], m.Recall[k] = s.Precision[k]/n, s.Recall[k]/n
	}
	return m
}

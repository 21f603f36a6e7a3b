package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"notesd/internal/config"
	"notesd/internal/service"
	"notesd/mcp/tools"
	"notesd/search"
	"notesd/search/eval"
)

// evalModes lists the modes that an evaluation compares, in the order of the
// table.
var evalModes = []search.Mode{search.ModeText, search.ModeSemantic, search.ModeHybrid}

func evalCommand(a *app) *cobra.Command {
	var docs, queries, qrels, questions, mode, html string
	cmd := &cobra.Command{
		Use:   "eval --docs FILE --queries FILE --qrels FILE [flags]",
		Short: "Measure retrieval quality on a judged set",
		Long: `Measure how well searches find what people judged relevant: index the documents
in a temporary place, ask every query, score the first ten results. --questions
asks the vault itself, and names what stood before the notes that were expected.`,
		Example: `  notesd eval --docs docs.jsonl --queries queries.jsonl --qrels qrels.tsv
  notesd eval --vault ~/Notes --questions questions.json --mode hybrid`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if questions != "" {
				return a.askQuestions(cmd, questions, mode, html)
			}
			if err := needs(cmd, "docs", "queries", "qrels"); err != nil {
				return err
			}
			modes, err := modesOf(mode)
			if err != nil {
				return err
			}
			set, err := eval.Load(docs, queries, qrels)
			if err != nil {
				return err
			}
			cfg, err := a.configuration(cmd)
			if err != nil {
				return err
			}
			r, took, err := a.evaluate(cmd.Context(), cfg, set, modes)
			if err == nil && html != "" {
				err = scoresReport(r, took).save(html)
			}
			if err != nil {
				return err
			}
			return a.result(r, func() { a.printScores(r) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&docs, "docs", "", `documents, lines of {"id","title","text"} in a `+"`file`")
	flags.StringVar(&queries, "queries", "", `queries, lines of {"id","text"} in a `+"`file`")
	flags.StringVar(&qrels, "qrels", "", "judgements, lines of query, document, grade in a `file`")
	flags.StringVar(&questions, "questions", "", `{"queries": [{"query","expected": [paths]}]} in a `+"`file`")
	flags.StringVar(&mode, "mode", "", "`mode`: text, semantic or hybrid (all three)")
	flags.StringVar(&html, "html", "", "also write a report with charts to this `file`")
	completes(cmd, "mode", completeWords("text", "semantic", "hybrid"))
	return cmd
}

func modesOf(flag string) ([]search.Mode, error) {
	if flag == "" {
		return evalModes, nil
	}
	for _, m := range evalModes {
		if string(m) == flag {
			return []search.Mode{m}, nil
		}
	}
	return nil, service.Usagef("Use text, semantic or hybrid.", "--mode %q is unknown", flag)
}

// askQuestions searches the vault for the questions of a file.
func (a *app) askQuestions(cmd *cobra.Command, file, mode, html string) error {
	modes, err := modesOf(mode)
	if err != nil {
		return err
	}
	questions, err := eval.LoadQuestions(file)
	if err != nil {
		return err
	}
	return a.withClient(cmd, func(ctx context.Context, c *client) error {
		if _, err := c.bringUpToDate(ctx); err != nil {
			return err
		}
		if semanticIn(modes) {
			if _, err := a.untilEmbedded(ctx, c, nil); err != nil {
				return err
			}
		}
		answers, took := map[search.Mode]eval.Answers{}, latencies{}
		for _, m := range modes {
			var sum eval.Answers
			for _, q := range questions {
				var res tools.SearchResult
				begun := time.Now()
				if err := c.call(ctx, "search_notes", map[string]any{"query": q.Query, "mode": string(m), "limit": 10}, &res); err != nil {
					return err
				}
				took.add(m, begun)
				found := make([]string, len(res.Results))
				for i, r := range res.Results {
					found[i] = r.Path
				}
				sum.Add(q, found)
			}
			answers[m] = sum.Mean()
		}
		if html != "" {
			if err := answersReport(answers, took).save(html); err != nil {
				return err
			}
		}
		return a.result(map[string]any{"modes": answers}, func() { a.printAnswers(answers) })
	})
}

func (o *output) printAnswers(answers map[search.Mode]eval.Answers) {
	fmt.Fprintf(o.out, "%-9s %8s %8s %9s %8s %9s\n", "mode", "hit@1", "hit@5", "hit@10", "mrr@10", "questions")
	var last eval.Answers
	for _, m := range evalModes {
		if s, ok := answers[m]; ok {
			fmt.Fprintf(o.out, "%-9s %8.4f %8.4f %9.4f %8.4f %9d\n", m, s.Hit1, s.Hit5, s.Hit10, s.MRR10, s.Questions)
			last = s
		}
	}
	for _, miss := range last.Misses {
		place := "not found"
		if miss.Rank > 0 {
			place = fmt.Sprintf("at %d", miss.Rank)
		}
		fmt.Fprintf(o.out, "\n%s\n  expected %s, %s; before it %s\n", o.out.line(miss.Query), o.out.line(strings.Join(miss.Expected, ", ")), place, o.out.line(strings.Join(miss.Found, ", ")))
	}
}

// semanticIn reports whether a mode needs vectors.
func semanticIn(modes []search.Mode) bool {
	return slices.ContainsFunc(modes, func(m search.Mode) bool { return m != search.ModeText })
}

// evaluate serves the documents of the set as a vault and searches that.
func (a *app) evaluate(ctx context.Context, cfg *config.Config, set *eval.Set, modes []search.Mode) (r eval.Report, took latencies, err error) {
	took = latencies{}
	dir, err := os.MkdirTemp("", "notesd-eval-")
	if err != nil {
		return r, took, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	mine := *cfg
	service.Hurry(&mine)
	if !semanticIn(modes) {
		mine.Semantic.Provider = "off"
	}
	mine.Vault = config.Vault{Path: filepath.Join(dir, "vault")}
	mine.State = filepath.Join(dir, "state")
	if err := errors.Join(os.Mkdir(mine.Vault.Path, 0o700), os.Mkdir(mine.State, 0o700)); err != nil {
		return r, took, err
	}
	if err := set.WriteVault(mine.Vault.Path); err != nil {
		return r, took, err
	}
	s := service.New(&mine, service.DiscardLogs(), !service.Watching)
	err = s.Run(ctx, func(ctx context.Context) error {
		return inMemory(ctx, a, s, func(ctx context.Context, c *client) error {
			if _, err := a.untilIndexed(ctx, c, nil); err != nil {
				return err
			}
			if _, err := a.untilEmbedded(ctx, c, nil); err != nil {
				return err
			}
			r, err = set.Run(ctx, timed{s, took}, modes...)
			return err
		})
	})
	return r, took, err
}

func (o *output) printScores(r eval.Report) {
	fmt.Fprintf(o.out, "%-9s %8s %8s %9s %8s %8s\n", "mode", "ndcg@10", "recall@5", "recall@10", "mrr@10", "queries")
	for _, m := range evalModes {
		s, ok := r.Modes[m]
		if !ok {
			continue
		}
		fmt.Fprintf(o.out, "%-9s %8.4f %8.4f %9.4f %8.4f %8d\n", m, s.NDCG10, s.Recall5, s.Recall10, s.MRR10, s.Queries)
	}
}

// latencies are how long the searches of each mode took.
type latencies map[search.Mode][]time.Duration

func (l latencies) add(m search.Mode, begun time.Time) { l[m] = append(l[m], time.Since(begun)) }

// timed notes how long searches take.
type timed struct {
	eval.Searcher
	took latencies
}

func (t timed) Search(ctx context.Context, q search.Query) (search.Result, error) {
	defer t.took.add(q.Mode, time.Now())
	return t.Searcher.Search(ctx, q)
}

// byMode returns a line or bars for each mode that has values.
func byMode[T any](of map[search.Mode]T, values func(T) []float64) []series {
	var all []series
	for _, m := range evalModes {
		if v, ok := of[m]; ok {
			all = append(all, series{string(m), values(v)})
		}
	}
	return all
}

// chart shows how long the quickest part of the searches took, in milliseconds.
func (l latencies) chart() chart {
	parts := []int{10, 25, 50, 75, 90, 95, 99, 100}
	c := chart{Title: "Latency: milliseconds within which so many of the searches were answered"}
	for _, part := range parts {
		c.Places = append(c.Places, fmt.Sprintf("%d %%", part))
	}
	c.Series = byMode(l, func(took []time.Duration) []float64 {
		took = slices.Sorted(slices.Values(took))
		var values []float64
		for _, part := range parts {
			values = append(values, float64(took[(len(took)*part+99)/100-1].Microseconds())/1000)
		}
		return values
	})
	return c
}

func scoresReport(r eval.Report, took latencies) *report {
	queries := 0
	for _, s := range r.Modes {
		queries = s.Queries
	}
	depths := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}
	return &report{
		Title: "Retrieval quality", Subtitle: fmt.Sprintf("%s, notesd %s, %s", thousands(queries)+" judged queries", service.Version(), time.Now().Format(time.DateOnly)),
		Charts: []chart{
			{Title: "Scores by mode", Bars: true, Places: []string{"nDCG@10", "recall@5", "recall@10", "MRR@10"},
				Series: byMode(r.Modes, func(s eval.Scores) []float64 { return []float64{s.NDCG10, s.Recall5, s.Recall10, s.MRR10} })},
			{Title: "Precision in the first so many hits", Places: depths, Series: byMode(r.Modes, func(s eval.Scores) []float64 { return s.Precision[:] })},
			{Title: "Recall in the first so many hits", Places: depths, Series: byMode(r.Modes, func(s eval.Scores) []float64 { return s.Recall[:] })},
			took.chart(),
		},
	}
}

func answersReport(answers map[search.Mode]eval.Answers, took latencies) *report {
	questions := 0
	for _, a := range answers {
		questions = a.Questions
	}
	return &report{
		Title: "Answers of the vault", Subtitle: fmt.Sprintf("%s, notesd %s, %s", count(questions, "question"), service.Version(), time.Now().Format(time.DateOnly)),
		Charts: []chart{
			{Title: "An expected note among the first so many hits, by mode", Bars: true, Places: []string{"hit@1", "hit@5", "hit@10", "MRR@10"},
				Series: byMode(answers, func(a eval.Answers) []float64 { return []float64{a.Hit1, a.Hit5, a.Hit10, a.MRR10} })},
			took.chart(),
		},
	}
}

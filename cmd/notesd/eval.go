package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"notesd/internal/config"
	"notesd/internal/service"
	"notesd/mcp/tools"
	"notesd/notes"
	"notesd/search"
	"notesd/search/eval"
)

// evalModes lists the modes compared by an evaluation, in the order of the table.
var evalModes = []search.Mode{search.ModeText, search.ModeSemantic, search.ModeHybrid}

func evalCommand(a *app) *cobra.Command {
	var docs, queries, qrels, questions, mode string
	cmd := &cobra.Command{
		Use:   "eval --docs FILE --queries FILE --qrels FILE [flags]",
		Short: "Measure retrieval quality on a judged set",
		Long: `Measure retrieval quality with relevance judgements: index the documents in a
temporary directory, run every query, and score the first ten results.
--questions runs queries against the vault itself, and lists what ranked above
the expected notes.`,
		Example: `  notesd eval --docs docs.jsonl --queries queries.jsonl --qrels qrels.tsv
  notesd eval --vault ~/Notes --questions questions.json --mode hybrid`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			modes, err := modesOf(mode)
			if err != nil {
				return err
			}
			if questions != "" {
				return a.askQuestions(cmd, questions, modes)
			}
			if docs == "" || queries == "" || qrels == "" {
				return service.Usagef("See notesd eval -h.", "eval needs --questions, or --docs, --queries and --qrels")
			}
			set, err := eval.Load(docs, queries, qrels)
			if err != nil {
				return err
			}
			cfg, err := a.configuration(cmd)
			if err != nil {
				return err
			}
			r, err := a.evaluate(cmd.Context(), cfg, set, modes)
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

// askQuestions runs the questions in a file as searches of the vault.
func (a *app) askQuestions(cmd *cobra.Command, file string, modes []search.Mode) error {
	questions, err := eval.LoadQuestions(file)
	if err != nil {
		return err
	}
	for _, q := range questions {
		for i, p := range q.Expected {
			q.Expected[i] = notes.Nfc(p) // as results have it
		}
	}
	return a.withClient(cmd, func(ctx context.Context, c *client) error {
		if _, err := c.bringUpToDate(ctx); err != nil {
			return err
		}
		if semanticIn(modes) {
			if _, err := c.untilEmbedded(ctx, nil); err != nil {
				return err
			}
		}
		answers := map[search.Mode]eval.Answers{}
		for _, m := range modes {
			var sum eval.Answers
			for _, q := range questions {
				found, err := c.found(ctx, m, q.Query)
				if err != nil {
					return err
				}
				sum.Add(q, found)
			}
			answers[m] = sum.Mean()
		}
		return a.result(map[string]any{"modes": answers}, func() { a.printAnswers(answers) })
	})
}

// found returns the paths of the first ten notes that a search finds.
func (c *client) found(ctx context.Context, mode search.Mode, query string) ([]string, error) {
	var res tools.SearchResult
	err := c.call(ctx, "search_notes", map[string]any{"query": query, "mode": string(mode), "limit": 10}, &res)
	found := make([]string, len(res.Results))
	for i, r := range res.Results {
		found[i] = r.Path
	}
	return found, err
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

// evaluate serves the documents of the set as a vault and searches it.
func (a *app) evaluate(ctx context.Context, cfg *config.Config, set *eval.Set, modes []search.Mode) (r eval.Report, err error) {
	dir, err := os.MkdirTemp("", "notesd-eval-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	mine := *cfg
	service.Hurry(&mine)
	if !semanticIn(modes) {
		mine.Semantic.Provider = "off"
	}
	mine.Vault = config.Vault{Path: filepath.Join(dir, "vault")}
	mine.State = filepath.Join(dir, "state")
	mine.Store = config.Store{}    // a team's database would get the documents
	mine.Limits.CallsPerSecond = 0 // no limit: a set may have thousands of queries
	if err := errors.Join(os.Mkdir(mine.Vault.Path, 0o700), os.Mkdir(mine.State, 0o700)); err != nil {
		return r, err
	}
	if err := set.WriteVault(mine.Vault.Path); err != nil {
		return r, err
	}
	s := service.New(&mine, service.DiscardLogs(), !service.Watching)
	err = s.Run(ctx, func(ctx context.Context) error {
		return a.inMemory(ctx, s, func(ctx context.Context, c *client) error {
			if _, err := c.untilIndexed(ctx, nil); err != nil {
				return err
			}
			if _, err := c.untilEmbedded(ctx, nil); err != nil {
				return err
			}
			r, err = set.Run(ctx, c.found, modes...)
			return err
		})
	})
	return r, err
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

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"notesd/internal/phrase"
	"notesd/vectors/table"
)

var searchVectors = define(Tool{
	Name:        "search_vectors",
	Title:       "Search a vector table",
	Description: "Rows of a vector table nearest to a vector or text. Use it on tables, not notes. Higher scores are nearer; l2 is negated.",
	Effect:      Reads,
	Tables:      true,
	input: mustSchema(`{
		"type": "object",
		"properties": {
			"table_name": {"type": "string"},
			"query_vector": {"type": "array", "items": {"type": "number"}},
			"query_text": {"type": "string"},
			"limit": {"type": "integer", "maximum": 100},
			"filter": {"type": "object", "description": "as where"}
		},
		"required": ["table_name"]
	}`),
	output: mustJSON(`{
		"type": "object",
		"properties": {
			"results": {"type": "array", "items": {
				"type": "object",
				"properties": {
					"id": {"type": "string"},
					"score": {"type": "number"},
					"metadata": {"type": "object"}
				}
			}},
			"truncated": {"type": "boolean", "description": "results were left out because all are too long"},
			"notes": {"type": "array", "items": {"type": "string"}}
		},
		"required": ["results", "truncated"]
	}`),
}, runSearchVectors)

type searchVectorsArgs struct {
	TableName   string         `json:"table_name"`
	QueryVector []float64      `json:"query_vector"`
	QueryText   string         `json:"query_text"`
	Limit       int            `json:"limit"`
	Filter      map[string]any `json:"filter"`
}

type vectorHit struct {
	ID       string          `json:"id"`
	Score    float64         `json:"score"`
	Metadata json.RawMessage `json:"metadata"`
}

type SearchVectorsResult struct {
	Results   []vectorHit `json:"results"`
	Truncated bool        `json:"truncated"`
	Notes     []string    `json:"notes,omitempty"`
}

func runSearchVectors(ctx context.Context, in *invocation, a searchVectorsArgs) (Outcome, error) {
	hits, err := in.Tables.Search(ctx, table.Query{
		Table: a.TableName, Vector: float32s(a.QueryVector), Text: a.QueryText, Limit: a.Limit, Where: a.Filter,
	})
	if err != nil {
		return Outcome{}, err
	}
	result, _ := fit(in.Limits.ResultBytes-in.reserve(), len(hits), func(n int) Outcome {
		out := SearchVectorsResult{Results: []vectorHit{}, Truncated: n < len(hits)}
		var lines strings.Builder
		for _, h := range hits[:n] {
			fmt.Fprintf(&lines, "%.6g  %s  %s\n", h.Score, phrase.OneLine(h.ID), phrase.OneLine(string(h.Metadata)))
			out.Results = append(out.Results, vectorHit{ID: h.ID, Score: h.Score, Metadata: h.Metadata})
		}
		text := phrase.Count(len(out.Results), "row")
		if out.Truncated {
			out.Notes = []string{"the others do not fit; ask for fewer, or keep metadata short"}
			text = fmt.Sprintf("%d of %d rows: %s", n, len(hits), out.Notes[0])
		}
		if lines.Len() > 0 {
			text += ", the nearest first: score, id, metadata\n" + fence("vectors", a.TableName, lines.String())
		}
		return Outcome{Structured: out, Text: text}
	})
	return result, nil
}

func (o SearchVectorsResult) withRemarks(remarks ...string) any {
	o.Notes = append(o.Notes, remarks...)
	return o
}

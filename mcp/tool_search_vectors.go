package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"notesd/vectors/table"
)

var searchVectors = define(tool{
	name:        "search_vectors",
	title:       "Search a vector table",
	description: "Rows of a vector table nearest to a vector or text. Use it on tables, not notes. Higher scores are nearer; l2 is negated.",
	effect:      reads,
	tables:      true,
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
			"truncated": {"type": "boolean", "description": "results were left out because all are too long"}
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

type searchVectorsOutput struct {
	Results   []vectorHit `json:"results"`
	Truncated bool        `json:"truncated"`
}

func runSearchVectors(ctx context.Context, in *invocation, a searchVectorsArgs) (outcome, error) {
	hits, err := in.tables().Search(ctx, table.Query{
		Table: a.TableName, Vector: float32s(a.QueryVector), Text: a.QueryText, Limit: a.Limit, Where: a.Filter,
	})
	if err != nil {
		return outcome{}, err
	}
	out := searchVectorsOutput{Results: []vectorHit{}}
	var lines strings.Builder
	for _, h := range hits {
		line := fmt.Sprintf("%.6g  %s  %s\n", h.Score, oneLine(h.ID), oneLine(string(h.Metadata)))
		if out.Truncated = lines.Len() > 0 && lines.Len()+len(line) > in.limit; out.Truncated {
			break
		}
		lines.WriteString(line)
		out.Results = append(out.Results, vectorHit{ID: h.ID, Score: h.Score, Metadata: h.Metadata})
	}
	text := plural(len(out.Results), "row")
	if out.Truncated {
		text = fmt.Sprintf("%d of %d rows: the others do not fit; ask for fewer, or keep metadata short", len(out.Results), len(hits))
	}
	if lines.Len() > 0 {
		text += ", the nearest first: score, id, metadata\n" + fence("vectors", a.TableName, lines.String())
	}
	return outcome{structured: out, text: text}, nil
}

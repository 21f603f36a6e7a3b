package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A schema is what the argument decoder needs of a tool's input schema. The
// schemas are written by hand, within a subset that every host takes: an object
// of properties with one type each, no references, no combinators.
type schema struct {
	raw      json.RawMessage
	params   []param // in the order of their names
	required []string
	byName   map[string]param
}

// A param is one argument.
type param struct {
	name    string
	Type    string   `json:"type"`
	Enum    []string `json:"enum"`
	Minimum *float64 `json:"minimum"`
	Maximum *float64 `json:"maximum"`
	Items   *param   `json:"items"`
}

// mustSchema parses a schema of ours; a mistake in one is a programmer's.
func mustSchema(text string) schema {
	var wire struct {
		Type       string           `json:"type"`
		Properties map[string]param `json:"properties"`
		Required   []string         `json:"required"`
	}
	if err := json.Unmarshal([]byte(text), &wire); err != nil {
		panic(fmt.Errorf("schema: %w: %s", err, text))
	}
	if wire.Type != "object" {
		panic(fmt.Errorf("schema: not an object: %s", text))
	}
	s := schema{raw: compactJSON(text), required: wire.Required, byName: make(map[string]param, len(wire.Properties))}
	for name, p := range wire.Properties {
		p.name = name
		s.byName[name] = p
		s.params = append(s.params, p)
	}
	slices.SortFunc(s.params, func(a, b param) int { return strings.Compare(a.name, b.name) })
	for _, name := range s.required {
		if _, ok := s.byName[name]; !ok {
			panic(fmt.Errorf("schema: %q is required but not described", name))
		}
	}
	return s
}

func (s schema) names() []string {
	names := make([]string, len(s.params))
	for i, p := range s.params {
		names[i] = p.name
	}
	return names
}

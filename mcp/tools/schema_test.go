package tools

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOutputOf(t *testing.T) {
	type inner struct {
		Path  string   `json:"path"`
		Lines []int    `json:"lines"`
		Tags  []string `json:"tags,omitempty" doc:"of the note"`
	}
	type Base struct {
		Total int `json:"total"`
	}
	type result struct {
		Base
		Notes []inner         `json:"notes"`
		Best  *inner          `json:"best,omitempty"`
		Score float64         `json:"score" doc:"from 0"`
		Done  bool            `json:"done"`
		Raw   json.RawMessage `json:"raw"`
		Any   map[string]any  `json:"any"`
	}
	inside := `{"type":"object","properties":{"lines":{"type":"array"},"tags":{"type":"array","description":"of the note"}},"required":["path","lines"]}`
	assert.JSONEq(t, `{"type":"object","required":["total","notes","score","done","raw","any"],"properties":{
		"notes":{"type":"array","items":`+inside+`},
		"best":`+inside+`,
		"score":{"type":"number","description":"from 0"},
		"raw":{"type":"object"},
		"any":{"type":"object"}
	}}`, string(outputOf[result]()()))
}

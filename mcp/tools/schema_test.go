package tools

import (
	"bytes"
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
	inside := `{"type":"object","properties":{"tags":{"type":"array","description":"of the note"}},"required":["path","lines"],"additionalProperties":true}`
	assert.JSONEq(t, `{"type":"object","required":["total","notes","score","done","raw","any"],"properties":{
		"notes":{"type":"array","items":`+inside+`},
		"best":`+inside+`,
		"score":{"type":"number","description":"from 0"}
	},"additionalProperties":true}`, string(outputOf[result]()()))
}

func TestInputOf(t *testing.T) {
	type inner struct {
		Op string `json:"op" required:"true" enum:"add,remove"`
	}
	type Base struct {
		ID string `json:"id"`
	}
	type arguments struct {
		Note *string `json:"note" required:"true" doc:"path, \"A > B\""`
		Base
		Limit  int             `json:"limit" min:"1" max:"50"`
		Tags   []string        `json:"tags"`
		Vector []float64       `json:"vector"`
		Edits  []inner         `json:"edits"`
		Where  map[string]any  `json:"where"`
		Raw    json.RawMessage `json:"raw"`
	}
	want := []byte(`{"type":"object","properties":{"note":{"type":"string","description":"path, \"A > B\""},"id":{"type":"string"},` +
		`"limit":{"type":"integer","minimum":1,"maximum":50},"tags":{"type":"array","items":{"type":"string"}},"vector":{"type":"array","items":{"type":"number"}},` +
		`"edits":{"type":"array","items":{"type":"object","properties":{"op":{"type":"string","enum":["add","remove"]}},"required":["op"]}},` +
		`"where":{"type":"object"},"raw":{"type":"object"}},"required":["note"]}`)
	assert.True(t, bytes.Equal(want, inputOf[arguments]()().raw), "the order of keys counts: %s", inputOf[arguments]()().raw)
	assert.JSONEq(t, `{"type":"object","properties":{}}`, string(inputOf[struct{}]()().raw))
}

// A client of strict function schemas must pass every argument, and passes 0 for a number
// that the call leaves out.
func TestRestoreNoteAllowsNoChange(t *testing.T) {
	schema := restoreNote.input()
	for _, name := range []string{"revision", "change"} {
		assert.Nil(t, schema.byName[name].Minimum, name)
	}
}

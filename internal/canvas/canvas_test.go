package canvas_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"notesd/internal/canvas"
)

// Cards are numbered from top to bottom and name the innermost group with a label that they
// are in.
func TestText(t *testing.T) {
	text, ok := canvas.Text([]byte(`{"nodes":[
		{"id":"c","type":"text","text":"inner","x":20,"y":30,"width":5,"height":5},
		{"id":"o","type":"group","label":"Outer","x":0,"y":0,"width":100,"height":100},
		{"id":"u","type":"group","x":15,"y":25,"width":12,"height":12},
		{"id":"i","type":"group","label":"Inner","x":10,"y":20,"width":50,"height":50},
		{"id":"f","type":"file","file":"A.md","subpath":"#H","x":90,"y":90,"width":50,"height":5}],
		"edges":[{"fromNode":"c","toNode":"f","label":"needs"},{"fromNode":"c","toNode":"gone"}]}`))
	assert.True(t, ok)
	assert.Equal(t, "[1] group Outer\n[2] (in Outer) group Inner\n[3] (in Inner) group\n[4] (in Inner) inner\n[5] A.md#H\n[4] -> [5] needs\n", text)
	for data, want := range map[string]bool{"": true, "{}": true, "{": false, "[]": false, `{"nodes":1}`: false} {
		_, ok := canvas.Text([]byte(data))
		assert.Equal(t, want, ok, data)
	}
}

// Only the first groups are compared with each card, so that the time is bounded.
func TestText_ManyGroups(t *testing.T) {
	var nodes strings.Builder
	for i := range 1500 { // each in the one before it
		fmt.Fprintf(&nodes, `{"id":"%d","label":"G%d","x":%d,"y":%d,"width":%d,"height":%d},`, i, i, i, i, 9000-2*i, 9000-2*i)
	}
	text, ok := canvas.Text([]byte(`{"nodes":[` + nodes.String() + `{"id":"c","text":"card","x":4000,"y":4000,"width":1,"height":1}]}`))
	assert.True(t, ok)
	assert.Contains(t, text, "\n[1501] (in G999) card\n")
}

// Package canvas shows a file in the JSON Canvas format (https://jsoncanvas.org/spec/1.0),
// such as Obsidian's canvases, as text, and edits the strings of its nodes.
package canvas

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A canvas is the content of a file.
type canvas struct {
	Nodes []node `json:"nodes"`
	Edges []struct {
		From  string `json:"fromNode"`
		To    string `json:"toNode"`
		Label string `json:"label"`
	} `json:"edges"`
}

type node struct {
	ID      string  `json:"id"`
	Text    string  `json:"text"`
	File    string  `json:"file"`
	Subpath string  `json:"subpath"`
	URL     string  `json:"url"`
	Label   string  `json:"label"` // of a group
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	Width   float64 `json:"width"`
	Height  float64 `json:"height"`
}

// Text returns the cards of a canvas, numbered from top to bottom, with the group that
// each is in, followed by the connections. ok is false if data is not a canvas.
func Text(data []byte) (text string, ok bool) {
	var c canvas
	if len(data) > 0 && json.Unmarshal(data, &c) != nil {
		return "", false
	}
	slices.SortStableFunc(c.Nodes, func(a, b node) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) })
	groups := slices.Clone(c.Nodes)
	groups = slices.DeleteFunc(groups, func(n node) bool { return n.Label == "" })
	groups = groups[:min(len(groups), maxGroups)]
	var b strings.Builder
	number := map[string]int{}
	for i, n := range c.Nodes {
		number[n.ID] = i + 1
		fmt.Fprintf(&b, "[%d] %s%s\n", i+1, n.groupIn(groups), cmp.Or(n.Text, n.File+n.Subpath, n.URL, strings.TrimSpace("group "+n.Label)))
	}
	for _, e := range c.Edges {
		if number[e.From] == 0 || number[e.To] == 0 { // Obsidian does not draw it either
			continue
		}
		b.WriteString(strings.TrimSpace(fmt.Sprintf("[%d] -> [%d] %s", number[e.From], number[e.To], e.Label)) + "\n")
	}
	return b.String(), true
}

// maxGroups limits the groups that a card may be in, since each card is compared with each.
const maxGroups = 1000

// groupIn returns in which of the groups a card is, the innermost one, or "".
func (n *node) groupIn(groups []node) string {
	var inner *node
	for i := range groups {
		g := &groups[i]
		holds := g.ID != n.ID && g.X <= n.X && g.Y <= n.Y && n.X+n.Width <= g.X+g.Width && n.Y+n.Height <= g.Y+g.Height
		if holds && (inner == nil || g.Width < inner.Width) {
			inner = g
		}
	}
	if inner == nil {
		return ""
	}
	return "(in " + inner.Label + ") "
}

package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"notesd/notes"
)

// board returns a canvas or base as if it were a note, and what it is; nil if ref names
// none. A canvas is shown as the text of its cards, a base as it is.
func (in *invocation) board(ctx context.Context, ref string, notFound error) (note *notes.Note, what string) {
	if !errors.Is(notFound, notes.ErrNotFound) {
		return nil, ""
	}
	a, err := in.attachmentNamed(ctx, ref)
	if err != nil {
		return nil, ""
	}
	note = &notes.Note{Path: a.Path, Title: path.Base(a.Path), Content: string(a.Data), Hash: notes.Hash(a.Data), Size: a.Size, Modified: a.Modified, Date: a.Modified}
	switch strings.ToLower(path.Ext(a.Path)) {
	case ".canvas":
		if text, ok := canvasText(a.Data); ok {
			note.Content = text
		}
		return note, "a canvas: its cards and connections as text; no tool changes it"
	case ".base":
		return note, "a base: views of notes by their fields; no tool changes it"
	}
	return nil, ""
}

// A canvas is a file in the JSON Canvas format.
type canvas struct {
	Nodes []canvasNode `json:"nodes"`
	Edges []struct {
		From  string `json:"fromNode"`
		To    string `json:"toNode"`
		Label string `json:"label"`
	} `json:"edges"`
}

type canvasNode struct {
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

// canvasText returns the cards of a canvas, numbered from top to bottom, with the group that
// each is in, followed by the connections. ok is false if data is not a canvas.
func canvasText(data []byte) (text string, ok bool) {
	var c canvas
	if len(data) > 0 && json.Unmarshal(data, &c) != nil {
		return "", false
	}
	slices.SortStableFunc(c.Nodes, func(a, b canvasNode) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) })
	var b strings.Builder
	number := map[string]int{}
	for i, n := range c.Nodes {
		number[n.ID] = i + 1
		fmt.Fprintf(&b, "[%d] %s%s\n", i+1, c.groupOf(n), cmp.Or(n.Text, n.File+n.Subpath, n.URL, strings.TrimSpace("group "+n.Label)))
	}
	for _, e := range c.Edges {
		b.WriteString(strings.TrimSpace(fmt.Sprintf("[%d] -> [%d] %s", number[e.From], number[e.To], e.Label)) + "\n")
	}
	return b.String(), true
}

// groupOf returns in which group a card is, the innermost one, or "".
func (c canvas) groupOf(n canvasNode) string {
	inner := canvasNode{}
	for _, g := range c.Nodes {
		holds := g.Label != "" && g.ID != n.ID && g.X <= n.X && g.Y <= n.Y && n.X+n.Width <= g.X+g.Width && n.Y+n.Height <= g.Y+g.Height
		if holds && (inner.ID == "" || g.Width < inner.Width) {
			inner = g
		}
	}
	if inner.ID == "" {
		return ""
	}
	return "(in " + inner.Label + ") "
}

package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"notesd/internal/session"
	"notesd/mcp/tools"
)

// Limits on the embeds (![[Note#Heading]]) of a page.
const (
	maxEmbedDepth = 3
	maxEmbeds     = 50
	maxEmbedBytes = 16 << 10
)

// An embedder renders the embeds of one page.
type embedder struct {
	vault *vault
	shown int
}

// of returns a function that renders the embeds of a text. above lists the texts that
// the text is nested in, the page's note first and the text itself last.
func (e *embedder) of(ctx context.Context, above []string) func(notePath, anchor string) template.HTML {
	return func(notePath, anchor string) template.HTML {
		part := anchor
		if last := anchorText(anchor); strings.HasPrefix(last, "^") {
			part = last // the headings above a block are not part of its name
		}
		this := strings.TrimSuffix(notePath+"#"+part, "#")
		where := notePage(notePath) + fragment(anchor)
		remark := func(format string, args ...any) template.HTML {
			return frame(where, this, template.HTML("<p class=\"remark\">"+template.HTMLEscapeString(fmt.Sprintf(format, args...))+"</p>")) //nolint:gosec // escaped
		}
		switch {
		case slices.Contains(above, this):
			return remark("This note embeds itself; it is not repeated.")
		case len(above) > maxEmbedDepth:
			return remark("Embeds are shown to a depth of %d.", maxEmbedDepth)
		case e.shown == maxEmbeds:
			return remark("A page shows %d embeds at most.", maxEmbeds)
		}
		e.shown++
		uri := noteURI(notePath)
		var meta tools.ReadResult
		var to destinations
		args := map[string]any{"note": uri, "max_bytes": maxEmbedBytes}
		if part != "" {
			args["note"] = uri + "#" + url.PathEscape(part)
		}
		err := together(
			func() error {
				err := e.vault.call(ctx, "read_note", args, &meta)
				if failure, ok := errors.AsType[*session.Failure](err); ok && failure.Code == "ambiguous" && len(failure.Candidates) > 0 {
					args["note"], args["heading"] = uri, failure.Candidates[0] // a link leads to the first, too
					err = e.vault.call(ctx, "read_note", args, &meta)
				}
				return err
			},
			func() (err error) {
				to, err = e.vault.destinations(ctx, uri)
				return err
			},
		)
		if failure, ok := errors.AsType[*session.Failure](err); ok && failure.Code == "not_found" {
			return missing(this, "there is no such heading or block", where)
		}
		if err != nil {
			return remark("It cannot be read now: %v", err)
		}
		to.note, to.inner, to.embed = meta.Path, fmt.Sprintf("e%d-", e.shown), e.of(ctx, append(slices.Clone(above), this))
		text := render([]byte(meta.Content), to)
		if meta.Truncated {
			text.HTML += template.HTML(`<p class="remark"><a href="` + template.HTMLEscapeString(where) + `">Read on</a></p>`) //nolint:gosec // escaped
		}
		return frame(where, this, text.HTML)
	}
}

// frame returns an embedded text below a link to its source.
func frame(where, name string, text template.HTML) template.HTML {
	label := strings.ReplaceAll(strings.Replace(path.Base(name), ".md", "", 1), "#", " › ")
	return template.HTML(`<p class="from"><a href="`+template.HTMLEscapeString(where)+`">`+template.HTMLEscapeString(label)+"</a></p>\n") + text //nolint:gosec // escaped
}

// missing returns a message about an embed whose target does not exist.
func missing(name, problem, where string) template.HTML {
	return template.HTML(`<p class="problem"><a class="unresolved" href="` + template.HTMLEscapeString(where) + `">` + //nolint:gosec // escaped
		template.HTMLEscapeString(name) + `</a> is missing: ` + template.HTMLEscapeString(problem) + ".</p>\n")
}

// An embedding is a node with the rendered text of an embed.
type embedding struct {
	ast.BaseBlock
	text template.HTML
}

var kindEmbedding = ast.NewNodeKind("Embedding")

func (*embedding) Kind() ast.NodeKind { return kindEmbedding }

func (n *embedding) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// An embedLink is a link that embeds its target.
type embedLink struct {
	node         *ast.Link
	name, anchor string
}

// transclude inserts embedded texts below the paragraphs with their links, and replaces
// paragraphs that contain nothing else.
func (f *finisher) transclude(source []byte) {
	last := map[ast.Node]ast.Node{}
	var blocks []ast.Node
	shown := map[ast.Node]bool{}
	for _, l := range f.embeds {
		block := l.node.Parent()
		for block != nil && block.Type() != ast.TypeBlock {
			block = block.Parent()
		}
		if block == nil || block.Kind() != ast.KindParagraph && block.Kind() != ast.KindTextBlock {
			continue // in a heading or table cell, keep the link
		}
		text, ok := f.embedded(l)
		if !ok {
			continue
		}
		node := &embedding{text: text}
		if lines, ok := block.AttributeString("data-l"); ok {
			node.SetAttributeString("data-l", lines)
		}
		if last[block] == nil {
			blocks, last[block] = append(blocks, block), block
		}
		block.Parent().InsertAfter(block.Parent(), last[block], node)
		last[block], shown[l.node] = node, true
	}
	for _, block := range blocks {
		alone := true
		for c := block.FirstChild(); c != nil && alone; c = c.NextSibling() {
			t, isText := c.(*ast.Text)
			alone = shown[c] || isText && len(strings.TrimSpace(string(t.Segment.Value(source)))) == 0
		}
		if alone {
			block.Parent().RemoveChild(block.Parent(), block)
		}
	}
}

// embedded returns the text that a link embeds, or false if its target is a file other
// than a note, or unknown.
func (f *finisher) embedded(l embedLink) (template.HTML, bool) {
	notePath, ok := f.to.notes[l.name]
	if l.name == "" {
		notePath, ok = f.to.note, true
	}
	switch {
	case ok && f.to.embed != nil:
		return f.to.embed(notePath, l.anchor), true
	case ok || f.to.files[l.name] != "":
		return "", false
	}
	return missing(l.name, "there is no such note or file", searchPage(l.name)), true
}

func (blockRenderer) embedding(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<div class="embed"`)
		html.RenderAttributes(w, n, nil)
		_, _ = w.WriteString(">\n" + string(n.(*embedding).text) + "</div>\n")
	}
	return ast.WalkSkipChildren, nil
}

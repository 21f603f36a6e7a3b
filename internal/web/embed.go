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
	"golang.org/x/sync/errgroup"
)

// What ![[Note#Heading]] shows of other notes is bounded.
const (
	maxEmbedDepth = 3
	maxEmbeds     = 50 // of a page
	maxEmbedBytes = 16 << 10
)

// An embedder renders what the notes of one page embed.
type embedder struct {
	vault *vault
	shown int
}

// of returns a function that renders what is embedded in a text, which is itself
// embedded in those above, the page's note first.
func (e *embedder) of(ctx context.Context, above []string) func(notePath, anchor string) template.HTML {
	return func(notePath, anchor string) template.HTML {
		this := strings.TrimSuffix(notePath+"#"+anchorText(anchor), "#")
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
		var meta noteMeta
		var links linkResult
		ref := uri
		if anchor != "" {
			ref += "#" + url.PathEscape(anchorText(anchor))
		}
		group, within := errgroup.WithContext(ctx)
		group.Go(func() error {
			return e.vault.call(within, "read_note", map[string]any{"note": ref, "max_bytes": maxEmbedBytes}, &meta)
		})
		group.Go(func() error { return e.vault.call(within, "note_links", map[string]any{"note": uri}, &links) })
		err := group.Wait()
		var refused *refusal
		if errors.As(err, &refused) {
			return missing(this, "there is no such heading or block", where)
		}
		if err != nil {
			return remark("It cannot be read now: %v", err)
		}
		to := destinationsOf(meta, links)
		to.inner, to.embed = fmt.Sprintf("e%d-", e.shown), e.of(ctx, append(slices.Clone(above), this))
		text, err := render([]byte(meta.Content), to)
		if err != nil {
			return remark("It cannot be shown: %v", err)
		}
		if meta.Truncated {
			text.HTML += template.HTML(`<p class="remark"><a href="` + template.HTMLEscapeString(where) + `">Read on</a></p>`) //nolint:gosec // escaped
		}
		return frame(where, this, text.HTML)
	}
}

// frame is an embedded text, below a link to where it is from.
func frame(where, name string, text template.HTML) template.HTML {
	label := strings.ReplaceAll(strings.Replace(path.Base(name), ".md", "", 1), "#", " › ")
	return template.HTML(`<p class="from"><a href="`+template.HTMLEscapeString(where)+`">`+template.HTMLEscapeString(label)+"</a></p>\n") + text //nolint:gosec // escaped
}

// missing names what is embedded and is not there.
func missing(name, problem, where string) template.HTML {
	return template.HTML(`<p class="problem"><a class="unresolved" href="` + template.HTMLEscapeString(where) + `">` + //nolint:gosec // escaped
		template.HTMLEscapeString(name) + `</a> is missing: ` + template.HTMLEscapeString(problem) + ".</p>\n")
}

// An embedding is a text that is shown within another.
type embedding struct {
	ast.BaseBlock
	text template.HTML
}

var kindEmbedding = ast.NewNodeKind("Embedding")

func (*embedding) Kind() ast.NodeKind { return kindEmbedding }

func (n *embedding) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// An embedLink is a link that embeds what it names.
type embedLink struct {
	node         *ast.Link
	name, anchor string
}

// transclude shows what links embed below the paragraphs that they stand in, and
// in place of a paragraph that has nothing else.
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
			continue // a heading, or the cell of a table, keeps the link
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

// embedded returns what a link embeds, unless it is a file that is no note.
func (f *finisher) embedded(l embedLink) (template.HTML, bool) {
	notePath, ok := f.to.notes[l.name]
	if l.name == "" {
		notePath, ok = f.to.note, true
	}
	switch {
	case ok && f.to.embed != nil:
		return f.to.embed(notePath, l.anchor), true
	case ok || f.to.file(l.name) != "":
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

package web

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"path"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/text/unicode/bidi"

	"notesd/internal/markdown"
)

// A rendered note is its text as HTML that cannot execute anything from the note: raw
// HTML is shown as text, links with an executable scheme have no destination, and a
// picture on another server is replaced by a link to it.
type rendered struct {
	HTML      template.HTML
	Outline   []section
	Direction string // of its first letter
}

// A section is a heading of the note.
type section struct {
	Level    int
	Text, ID string
}

// destinations resolves the links of a note.
type destinations struct {
	note  string            // path of the rendered note
	notes map[string]string // path of a note by link target, as in [markdown.Link]
	files map[string]string // the same for other files

	embed func(notePath, anchor string) template.HTML // renders ![[note#anchor]]; nil: as a link
	inner string                                      // prefix of footnote ids in an embedded text, which has no other ids; else ""
}

// render converts a note to HTML. The data-l attribute of every block is its range of
// lines in the whole note, such as "12-15".
func render(source []byte, to destinations) rendered {
	start := markdown.Parse(source).BodyStart
	skipped, body := bytes.Count(source[:start], []byte("\n")), source[start:]
	body = outdented(body)
	lines := markdown.LineStarts(body)
	out := rendered{}
	finish := &finisher{to: to, isEmbed: map[ast.Node]embedLink{}, out: &out, lineOf: func(offset int) int {
		return skipped + sort.SearchInts(lines, offset+1)
	}}
	md := goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough, extension.Linkify, extension.NewFootnote(extension.WithFootnoteIDPrefix(to.inner))),
		goldmark.WithParserOptions(dialect...),
		goldmark.WithParserOptions(
			parser.WithInlineParsers(util.Prioritized(wikilinkParser{finish.isEmbed}, 150)), // before goldmark's link parser
			parser.WithASTTransformers(util.Prioritized(finish, 2000)),                      // after those of the extensions
		),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blockRenderer{}, 100))),
	)
	md.Parser().AddOptions(&bounds{})
	var buf bytes.Buffer
	_ = md.Convert(body, &buf)             // only a writer can fail
	out.HTML = template.HTML(buf.String()) //nolint:gosec // goldmark and blockRenderer escape the text of the note
	return out
}

// A finisher sets the line ranges of blocks and the ids of headings, and resolves links
// to pages of this server.
type finisher struct {
	to     destinations
	out    *rendered
	lineOf func(offset int) int

	isEmbed map[ast.Node]embedLink // filled by the parser
	embeds  []embedLink            // in document order
}

func (f *finisher) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	source := reader.Source()
	ids := map[string]int{}
	var images []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if n.Type() == ast.TypeBlock {
			f.number(n)
			f.nameBlock(n, source)
		}
		switch n := n.(type) {
		case *ast.Text:
			f.out.Direction = cmp.Or(f.out.Direction, direction(n.Segment.Value(source)))
		case *ast.Heading:
			text := plain(n, source)
			id := markdown.AnchorID(text)
			if ids[id]++; ids[id] > 1 {
				id += strconv.Itoa(ids[id] - 1) // links omit the "-", like AnchorID
			}
			if f.to.inner == "" {
				n.SetAttributeString("id", []byte(id))
			}
			f.out.Outline = append(f.out.Outline, section{Level: n.Level, Text: text, ID: id})
		case *ast.Link:
			if embed, ok := f.isEmbed[n]; ok {
				f.embeds = append(f.embeds, embed)
			}
			f.link(n)
		case *ast.AutoLink:
			n.SetAttributeString("rel", []byte("noreferrer"))
			n.SetAttributeString("class", []byte("outward"))
		case *extast.Table: // wide ones scroll, also with the keyboard
			n.SetAttributeString("tabindex", []byte("0"))
		case *ast.Image:
			images = append(images, n)
		}
		return ast.WalkContinue, nil
	})
	for _, image := range images {
		f.image(image, source)
	}
	f.transclude(source)
}

// direction returns the direction of the first letter of a text, as an HTML attribute, or "" if
// there is none. With dir="auto", browsers would find it themselves, but again for each element
// that they parse, which takes ten seconds for 3 MB of HTML.
func direction(text []byte) string {
	for _, r := range string(text) {
		switch p, _ := bidi.LookupRune(r); p.Class() {
		case bidi.L:
			return "ltr"
		case bidi.R, bidi.AL:
			return "rtl"
		}
	}
	return ""
}

// nameBlock sets the id of a block whose text ends with one, as in "text ^id", and
// removes it from the text.
func (f *finisher) nameBlock(n ast.Node, source []byte) {
	last, ok := n.LastChild().(*ast.Text)
	if !ok {
		return
	}
	id, at := markdown.BlockID(last.Segment.Value(source))
	if id == "" {
		return
	}
	last.Segment = last.Segment.WithStop(last.Segment.Start + at)
	if _, inItem := n.(*ast.TextBlock); inItem { // rendered without a tag
		n = n.Parent()
	}
	if f.to.inner == "" {
		n.SetAttributeString("id", []byte("^"+markdown.AnchorID(id)))
	}
}

// number sets the line range of a block.
func (f *finisher) number(n ast.Node) {
	first, last, ok := extent(n)
	if !ok || n.Kind() == ast.KindDocument || n.Kind() == ast.KindList || f.to.inner != "" {
		return
	}
	n.SetAttributeString("data-l", fmt.Appendf(nil, "%d-%d", f.lineOf(first), f.lineOf(max(first, last-1))))
}

// extent returns the start and end of a node in the source.
func extent(n ast.Node) (first, last int, ok bool) {
	if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
		return n.Lines().At(0).Start, n.Lines().At(n.Lines().Len() - 1).Stop, true
	}
	switch n := n.(type) {
	case *ast.Text:
		return n.Segment.Start, n.Segment.Stop, true
	case *calloutTitle:
		return n.first, n.last, true
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		f, l, found := extent(c)
		if !found {
			continue
		}
		if !ok {
			first = f
		}
		last, ok = max(last, l), true
	}
	return first, last, ok
}

// link resolves a link's destination to a URL that a browser can follow.
func (f *finisher) link(n *ast.Link) {
	dest := string(n.Destination)
	if inner, ok := strings.CutPrefix(dest, "[["); ok { // [text]([[Note]]), as in Logseq
		dest = strings.TrimSuffix(inner, "]]")
	}
	if outward(dest) {
		n.SetAttributeString("rel", []byte("noreferrer"))
		n.SetAttributeString("class", []byte("outward"))
		return
	}
	target, anchor := markdown.Destination([]byte(dest))
	switch notePath, isNote := f.to.notes[target]; {
	case target == "" && f.to.inner != "":
		n.Destination = []byte(notePage(f.to.note) + fragment(anchor))
	case target == "":
		n.Destination = []byte("#" + markdown.AnchorID(anchorText(anchor)))
	case isNote:
		n.Destination = []byte(notePage(notePath) + fragment(anchor))
	default:
		if file := f.to.files[target]; file != "" {
			n.Destination = []byte(filePage(file))
			return
		}
		n.SetAttributeString("class", []byte("unresolved"))
		n.SetAttributeString("title", []byte("there is no such note"))
		n.Destination = []byte(searchPage(target))
	}
}

// searchPage returns the URL of a search for the target of an unresolved link.
func searchPage(target string) string {
	return "/?q=" + url.QueryEscape(strings.TrimSuffix(path.Base(target), ".md"))
}

// sized splits off the width and height in pixels from the text of a picture, such as
// "alt|300x200".
func sized(label string) (text, width, height string) {
	m := pictureSize.FindStringSubmatch(label)
	if m == nil {
		return label, "", ""
	}
	return label[:len(label)-len(m[0])], m[1], m[2]
}

var pictureSize = regexp.MustCompile(`(?:^|\|)\s*(\d{1,4})(?:x(\d{1,4}))?\s*$`)

// image resolves an image to a picture of the vault. Otherwise it replaces it by a link,
// which is an embed unless it leads outside the vault.
func (f *finisher) image(n *ast.Image, source []byte) {
	dest := string(n.Destination)
	target, anchor := markdown.Destination(n.Destination)
	label, width, height := sized(plain(n, source))
	file := f.to.files[target]
	if file != "" && picture(file) {
		n.Destination = []byte(filePage(file))
		n.SetAttributeString("loading", []byte("lazy"))
		if width != "" {
			n.SetAttributeString("width", []byte(width))
			if height != "" {
				n.SetAttributeString("height", []byte(height))
			}
			n.RemoveChildren(n)
			n.AppendChild(n, ast.NewString([]byte(cmp.Or(label, path.Base(file)))))
		}
		return
	}
	link := ast.NewLink()
	link.Destination = n.Destination
	switch {
	case outward(dest):
		link.SetAttributeString("rel", []byte("noreferrer"))
		link.SetAttributeString("class", []byte("outward"))
		label = cmp.Or(label, "picture")
		label += " (at " + host(dest) + ")"
	default:
		label = cmp.Or(label, strings.Trim(target+" › "+anchor, " ›"))
		f.embeds = append(f.embeds, embedLink{link, target, anchor})
		f.link(link)
	}
	link.AppendChild(link, ast.NewString([]byte(label)))
	n.Parent().ReplaceChild(n.Parent(), n, link)
}

func notePage(notePath string) string { return "/n/" + escapePath(notePath) }
func filePage(filePath string) string { return "/f/" + escapePath(filePath) }

func escapePath(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// fragment returns the URL fragment of a link's anchor, with '#', or "" if it is empty.
func fragment(anchor string) string {
	if anchor == "" {
		return ""
	}
	text := anchorText(anchor)
	if id, block := strings.CutPrefix(text, "^"); block {
		return "#^" + markdown.AnchorID(id)
	}
	return "#" + markdown.AnchorID(text)
}

// anchorText returns the last heading of an anchor such as A#B.
func anchorText(anchor string) string {
	return anchor[strings.LastIndexByte(anchor, '#')+1:]
}

// outward reports whether a destination is outside the vault. Go does not parse every URL
// that browsers open.
func outward(dest string) bool {
	u, err := url.Parse(dest)
	return err == nil && u.Scheme != "" || markdown.IsExternal([]byte(dest))
}

func host(dest string) string {
	if u, err := url.Parse(dest); err == nil && u.Host != "" {
		return u.Host
	}
	return "another place"
}

// picture reports whether browsers can display a file as a picture, by its extension.
func picture(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg", ".bmp":
		return true
	}
	return false
}

// plain returns the text of a node without markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Text:
				b.Write(n.Segment.Value(source))
			case *ast.String:
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// wikilinkParser parses [[Note#Heading|text]] and ![[file.png]] as links and images. It
// adds embeds other than pictures to the map.
type wikilinkParser struct{ embeds map[ast.Node]embedLink }

func (wikilinkParser) Trigger() []byte { return []byte{'!', '['} }

func (p wikilinkParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	embed := bytes.HasPrefix(line, []byte("![["))
	if !embed && !bytes.HasPrefix(line, []byte("[[")) {
		return nil
	}
	open := bytes.Index(line, []byte("[[")) + 2
	end := bytes.Index(line[open:], []byte("]]"))
	if end <= 0 {
		return nil
	}
	inside := string(line[open : open+end])
	target, label, labelled := strings.Cut(strings.Replace(inside, `\|`, "|", 1), "|")
	if strings.Contains(target, "[[") {
		return nil
	}
	block.Advance(open + end + 2)
	name, anchor := markdown.WikiDestination([]byte(target))
	switch _, width, _ := sized(label); {
	case embed && labelled && width != "": // label with the size of a picture
	case !labelled || embed:
		label = strings.Trim(strings.ReplaceAll(target, "#", " › "), " ›")
	}
	link := ast.NewLink()
	link.Destination = []byte(strings.ReplaceAll(url.PathEscape(name), ":", "%3A")) // a name has no scheme
	if anchor != "" {
		link.Destination = append(link.Destination, "#"+url.PathEscape(anchor)...)
	}
	var node ast.Node = link
	if embed && picture(name) {
		node = ast.NewImage(link)
	} else if embed {
		p.embeds[link] = embedLink{link, name, anchor}
	}
	node.AppendChild(node, ast.NewString([]byte(label)))
	return node
}

// blockRenderer renders the nodes that goldmark renders without attributes or not at
// all.
type blockRenderer struct{}

func (r blockRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindBlockquote, r.quote)
	reg.Register(ast.KindCodeBlock, r.code)
	reg.Register(ast.KindFencedCodeBlock, r.code)
	reg.Register(ast.KindHTMLBlock, r.htmlBlock)
	reg.Register(ast.KindRawHTML, r.rawHTML)
	reg.Register(kindTaskBox, r.taskBox)
	reg.Register(kindCalloutTitle, r.calloutTitle)
	reg.Register(kindEmbedding, r.embedding)
	reg.Register(kindHighlight, r.highlight)
}

func (blockRenderer) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<pre tabindex=\"0\"")
		html.RenderAttributes(w, n, nil)
		_, _ = w.WriteString("><code>")
		_, _ = w.Write(util.EscapeHTML(n.Lines().Value(source)))
		_, _ = w.WriteString("</code></pre>\n")
	}
	return ast.WalkSkipChildren, nil
}

// htmlBlock renders HTML as text and omits comments.
func (blockRenderer) htmlBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	block := n.(*ast.HTMLBlock)
	if entering && block.HTMLBlockType != ast.HTMLBlockType2 {
		_, _ = w.WriteString("<pre class=\"raw\" tabindex=\"0\"")
		html.RenderAttributes(w, n, nil)
		_ = w.WriteByte('>')
		_, _ = w.Write(util.EscapeHTML(n.Lines().Value(source)))
		if block.HasClosure() {
			_, _ = w.Write(util.EscapeHTML(block.ClosureLine.Value(source)))
		}
		_, _ = w.WriteString("</pre>\n")
	}
	return ast.WalkSkipChildren, nil
}

// harmless lists the inline tags that are passed through if they have no attributes, and what
// they become: if <u> is not closed, browsers continue it in the paragraphs that follow.
var harmless = map[string]string{"br": "br", "kbd": "kbd", "mark": "mark", "sub": "sub", "sup": "sup", "u": "ins"}

func (blockRenderer) rawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	raw := n.(*ast.RawHTML).Segments.Value(source)
	name := strings.TrimSpace(strings.Trim(string(raw), "</>"))
	switch {
	case bytes.HasPrefix(raw, []byte("<!--")):
	case harmless[strings.ToLower(name)] != "":
		_, _ = w.WriteString(strings.Replace(string(raw), name, harmless[strings.ToLower(name)], 1))
	default:
		_, _ = w.Write(util.EscapeHTML(raw))
	}
	return ast.WalkSkipChildren, nil
}

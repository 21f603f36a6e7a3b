package web

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"notesd/internal/markdown/tasks"
)

// dialect adds Obsidian's ==highlights==, %%comments%%, which are hidden, $math$, which is
// shown as written, tasks and callouts to the parser. For wikilinks see wikilinkParser.
var dialect = []parser.Option{
	parser.WithBlockParsers( // before paragraphs
		util.Prioritized(markedBlock{commentMark, ast.HTMLBlockType2}, 850),
		util.Prioritized(markedBlock{mathMark, ast.HTMLBlockType7}, 850),
	),
	parser.WithParagraphTransformers(util.Prioritized(callouts{}, 50)),
	parser.WithInlineParsers(util.Prioritized(taskBoxes{}, 0), util.Prioritized(highlights{}, 500), util.Prioritized(comments{}, 500), util.Prioritized(math{}, 150)), // math before links
}

// outdented returns the text with the outlines of Logseq, whose items are in tabs below a
// heading, at the start of the line. CommonMark would read them as code.
func outdented(body []byte) []byte {
	out := make([]byte, 0, len(body))
	tabs := 0 // of the outline's first item; 0 outside of an outline
	belowHeading, fenced := false, false
	for line := range bytes.Lines(body) {
		text := bytes.TrimLeft(line, "\t")
		indent := len(line) - len(text)
		switch {
		case util.IsBlank(line):
		case indent == 0:
			fenced = fenced != (bytes.HasPrefix(line, []byte("```")) || bytes.HasPrefix(line, []byte("~~~")))
			tabs, belowHeading = 0, !fenced && (line[0] == '#' || belowHeading && isProperty(line))
		default:
			if belowHeading && bytes.HasPrefix(text, []byte("- ")) {
				tabs = indent
			}
			belowHeading = false
		}
		out = append(out, line[min(tabs, indent):]...)
	}
	return out
}

// isProperty reports whether a line is a property of Logseq, such as "collapsed:: true".
func isProperty(line []byte) bool {
	key, _, found := bytes.Cut(line, []byte(":: "))
	return found && !bytes.ContainsAny(key, " \t")
}

// A highlight is text between "==".
type highlight struct{ ast.BaseInline }

var kindHighlight = ast.NewNodeKind("Highlight")

func (*highlight) Kind() ast.NodeKind { return kindHighlight }

func (n *highlight) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// highlights parses highlights as goldmark parses emphasis.
type highlights struct{}

func (highlights) Trigger() []byte                                { return []byte{'='} }
func (highlights) IsDelimiter(b byte) bool                        { return b == '=' }
func (highlights) CanOpenCloser(open, end *parser.Delimiter) bool { return open.Char == end.Char }
func (highlights) OnMatch(int) ast.Node                           { return &highlight{} }

func (h highlights) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	node := parser.ScanDelimiter(line, before, 2, h)
	if node == nil || node.OriginalLength > 2 || before == '=' {
		return nil
	}
	node.Segment = segment.WithStop(segment.Start + node.OriginalLength)
	block.Advance(node.OriginalLength)
	pc.PushDelimiter(node)
	return node
}

// A taskBox is the checkbox of a task.
type taskBox struct {
	ast.BaseInline
	mark   string
	status tasks.Status
}

var kindTaskBox = ast.NewNodeKind("TaskBox")

func (*taskBox) Kind() ast.NodeKind { return kindTaskBox }

func (n *taskBox) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// taskBoxes parses the box at the start of a list item, with any mark.
type taskBoxes struct{}

func (taskBoxes) Trigger() []byte { return []byte{'['} }

func (taskBoxes) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	if parent.HasChildren() || parent.PreviousSibling() != nil || parent.Parent().Kind() != ast.KindListItem {
		return nil
	}
	line, _ := block.PeekLine()
	mark, size, status := tasks.Marked(string(line[:min(len(line), len("[ ] ")+utf8.UTFMax)]))
	if mark == "" {
		return nil
	}
	block.Advance(size)
	return &taskBox{mark: mark, status: status}
}

var commentMark, mathMark = []byte("%%"), []byte("$$")

// math parses formulas within a paragraph, in which package markdown finds no markup
// either.
type math struct{}

// inlineMath matches $…$ on one line, with no space inside the marks and no digit after
// them, which leaves prices alone.
var inlineMath = regexp.MustCompile(`^(\$(?:\\.|[^\\$\s])(?:(?:\\.|[^\\$\n])*(?:\\.|[^\\$\s]))?\$)(?:\D|$)`)

func (math) Trigger() []byte { return []byte{'$'} }

func (math) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	formula := between(block, mathMark)
	if m := inlineMath.FindSubmatch(line); m != nil {
		formula = m[1]
		block.Advance(len(formula))
	}
	if formula == nil {
		return nil
	}
	node := ast.NewString(formula)
	node.SetRaw(true)
	return node
}

// comments parses comments within a paragraph.
type comments struct{}

func (comments) Trigger() []byte { return []byte{'%'} }

func (comments) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	if between(block, commentMark) == nil {
		return nil
	}
	return ast.NewString(nil)
}

// between reads a text that starts and ends with a mark, and may have several lines. It
// returns nil if there is none; the caller of a parser then resets the position.
func between(block text.Reader, mark []byte) (found []byte) {
	line, _ := block.PeekLine()
	if !bytes.HasPrefix(line, mark) {
		return nil
	}
	found = append(found, mark...)
	for block.Advance(len(mark)); ; block.AdvanceLine() {
		line, _ := block.PeekLine()
		if line == nil {
			return nil
		}
		if end := bytes.Index(line, mark); end >= 0 {
			block.Advance(end + len(mark))
			return append(found, line[:end+len(mark)]...)
		}
		found = append(found, line...)
	}
}

// A markedBlock parses text that starts with a mark at the start of a line and ends with
// it at the end of one, as an HTML block of a kind. It may contain blank lines.
type markedBlock struct {
	mark []byte
	kind ast.HTMLBlockType
}

func (b markedBlock) Trigger() []byte           { return b.mark[:1] }
func (markedBlock) CanInterruptParagraph() bool { return true }
func (markedBlock) CanAcceptIndentedLine() bool { return false }

func (b markedBlock) Open(_ ast.Node, reader text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " "), b.mark)
	_, after, ends := bytes.Cut(rest, b.mark)
	if !ok || ends && !util.IsBlank(after) || !ends && !bytes.Contains(reader.Source()[segment.Stop:], b.mark) {
		return nil, parser.NoChildren
	}
	node := ast.NewHTMLBlock(b.kind)
	node.Lines().Append(segment)
	reader.AdvanceToEOL()
	return node, parser.NoChildren
}

func (b markedBlock) Continue(n ast.Node, reader text.Reader, _ parser.Context) parser.State {
	if first := n.Lines().At(0); n.Lines().Len() == 1 && bytes.Count(first.Value(reader.Source()), b.mark) > 1 {
		return parser.Close
	}
	line, segment := reader.PeekLine()
	n.Lines().Append(segment)
	reader.AdvanceToEOL()
	if bytes.Contains(line, b.mark) {
		return parser.Close
	}
	return parser.Continue | parser.NoChildren
}

func (markedBlock) Close(ast.Node, text.Reader, parser.Context) {}

// callouts converts a quote that starts with "[!type]" to a callout. Its title is the
// rest of that line, or the type if that is blank. After the type, "+" makes it a
// foldable callout that is open, and "-" one that is folded.
type callouts struct{}

var calloutMark = regexp.MustCompile(`^\[!([^\[\]|\n]+)(?:\|[^\]\n]*)?\]([+-]?)[ \t]*`)

func (callouts) Transform(p *ast.Paragraph, reader text.Reader, _ parser.Context) {
	quote, ok := p.Parent().(*ast.Blockquote)
	if !ok || p.PreviousSibling() != nil {
		return
	}
	lines := p.Lines()
	first := lines.At(0)
	line := first.Value(reader.Source())
	m := calloutMark.FindSubmatch(line)
	if m == nil {
		return
	}
	kind := strings.ToLower(strings.TrimSpace(string(m[1])))
	title := &calloutTitle{fold: string(m[2]), first: first.Start, last: first.Stop}
	if util.IsBlank(line[len(m[0]):]) {
		_, size := utf8.DecodeRuneInString(kind)
		title.text = strings.ToUpper(kind[:size]) + kind[size:]
	} else {
		rest := first.WithStart(first.Start + len(m[0]))
		title.Lines().Append(rest.TrimRightSpace(reader.Source()))
	}
	quote.SetAttributeString("class", []byte("callout"))
	quote.SetAttributeString("data-callout", []byte(kind))
	if title.fold == "+" {
		quote.SetAttributeString("open", []byte{})
	}
	quote.InsertBefore(quote, p, title)
	if lines.Len() == 1 {
		quote.RemoveChild(quote, p)
		return
	}
	lines.SetSliced(1, lines.Len())
}

// A calloutTitle is the first block of a callout.
type calloutTitle struct {
	ast.BaseBlock
	fold        string // "+", "-" or ""
	text        string // default title, if the line has none
	first, last int    // offsets of the line in the source
}

var kindCalloutTitle = ast.NewNodeKind("CalloutTitle")

func (*calloutTitle) Kind() ast.NodeKind { return kindCalloutTitle }

func (n *calloutTitle) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// taskBox renders the marks that Markdown has as a checkbox, and the others in a box.
func (blockRenderer) taskBox(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	box := n.(*taskBox)
	switch box.mark {
	case " ", "x", "X":
		checked := ""
		if box.status == tasks.Done {
			checked = " checked"
		}
		_, _ = fmt.Fprintf(w, `<input type="checkbox" disabled aria-label="%s"%s>`, box.status, checked)
	default:
		label := strings.ReplaceAll(string(box.status), "_", " ")
		_, _ = fmt.Fprintf(w, `<span class="box" role="img" aria-label="%s">%s</span>`, label, util.EscapeHTML([]byte(box.mark)))
	}
	return ast.WalkContinue, nil
}

func (blockRenderer) highlight(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	return tag(w, "mark", n, entering)
}

func (blockRenderer) quote(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	name := "blockquote"
	if title, ok := n.FirstChild().(*calloutTitle); ok {
		name = cmp.Or(map[string]string{"": "div"}[title.fold], "details")
	}
	return tag(w, name, n, entering)
}

func (blockRenderer) calloutTitle(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	title, name := n.(*calloutTitle), "p"
	if title.fold != "" {
		name = "summary"
	}
	if !entering {
		_, _ = w.Write(util.EscapeHTML([]byte(title.text)))
	}
	return tag(w, name, n, entering)
}

// tag writes the start or end tag of an element.
func tag(w util.BufWriter, name string, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<" + name)
		html.RenderAttributes(w, n, nil)
		_ = w.WriteByte('>')
	} else {
		_, _ = w.WriteString("</" + name + ">")
	}
	if !entering && n.Type() == ast.TypeBlock || n.Kind() == ast.KindBlockquote {
		_ = w.WriteByte('\n')
	}
	return ast.WalkContinue, nil
}

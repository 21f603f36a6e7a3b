package web

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Limits on the markup that is rendered. The time that goldmark takes grows with the square
// or the cube of each, so that a small note could occupy the daemon for hours. What exceeds
// them is shown as it is written.
const (
	maxNesting     = 100      // lists and block quotes around a block, two levels for each list
	maxMarks       = 5000     // characters of inline markup in a paragraph, heading or table cell
	maxColumns     = 1000     // of a table
	maxAddedCells  = 1 << 16  // that the rows of a note's tables lack
	maxDefinitions = 64 << 10 // bytes of a paragraph that may start with link definitions
)

// bounds is a parser option that applies the limits to the parsers that goldmark has so far.
// It is for one text.
type bounds struct {
	block  ast.Node // the last one with inline text
	costly bool     // whether it has more than maxMarks
	added  int      // cells
}

// SetParserOption implements parser.Option.
func (b *bounds) SetParserOption(c *parser.Config) {
	for i, p := range c.InlineParsers {
		c.InlineParsers[i].Value = boundedInline{p.Value.(parser.InlineParser), b}
	}
	for i, p := range c.BlockParsers {
		c.BlockParsers[i].Value = boundedBlock{p.Value.(parser.BlockParser)}
	}
	for i, t := range c.ParagraphTransformers {
		c.ParagraphTransformers[i].Value = boundedParagraph{t.Value.(parser.ParagraphTransformer), b}
	}
}

type boundedInline struct {
	parser.InlineParser
	bounds *bounds
}

func (p boundedInline) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if b := p.bounds; b.block != parent {
		b.block, b.costly = parent, marks(parent.Lines(), block.Source()) > maxMarks
	}
	if p.bounds.costly {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// CloseBlock implements parser.CloseBlocker.
func (p boundedInline) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := p.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

func marks(lines *text.Segments, source []byte) (n int) {
	for _, line := range lines.Sliced(0, lines.Len()) {
		for _, c := range line.Value(source) {
			if bytes.IndexByte([]byte("[]*_~<`=$%"), c) >= 0 {
				n++
			}
		}
	}
	return n
}

type boundedBlock struct{ parser.BlockParser }

func (p boundedBlock) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if p.CanInterruptParagraph() && parent.Kind() != ast.KindList && nesting(parent) >= maxNesting {
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, reader, pc)
}

func nesting(n ast.Node) (levels int) {
	for ; n != nil && levels < maxNesting; n = n.Parent() {
		levels++
	}
	return levels
}

type boundedParagraph struct {
	parser.ParagraphTransformer
	bounds *bounds
}

func (p boundedParagraph) Transform(n *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := n.Lines()
	refused := false
	switch p.ParagraphTransformer {
	case parser.LinkReferenceParagraphTransformer:
		refused = lines.At(lines.Len()-1).Stop-lines.At(0).Start > maxDefinitions
	case extension.NewTableParagraphTransformer():
		refused = !p.bounds.permitsTable(lines.Sliced(0, lines.Len()), reader.Source())
	}
	if !refused {
		p.ParagraphTransformer.Transform(n, reader, pc)
	}
}

// permitsTable reports whether the lines may be a table, and counts the cells that goldmark
// would add to rows that have fewer than the line below the header.
func (b *bounds) permitsTable(lines []text.Segment, source []byte) bool {
	columns, added := 0, 0
	for _, line := range lines {
		value := line.Value(source)
		cells := bytes.Count(value, []byte("|")) + 1
		if columns == 0 && len(bytes.Trim(value, " \t\r\n|:-")) == 0 {
			columns = cells
		}
		added += max(0, columns-cells)
	}
	if columns > maxColumns || b.added+added > maxAddedCells {
		return false
	}
	b.added += added
	return true
}

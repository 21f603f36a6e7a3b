package markdown

import (
	"iter"

	"notesd/internal/markdown/tasks"
)

// Document is the result of [Parse] for one note. Offsets are byte offsets into the
// source; lines are numbered from 1, front matter included.
type Document struct {
	FrontMatter FrontMatter
	// BodyStart is the offset of the body, after the byte order mark and front
	// matter, if any.
	BodyStart int
	// Title is the title in front matter, else the text of the first heading of
	// level 1, else empty.
	Title string
	// Headings in text order.
	Headings []Heading
	// Tags without '#', in NFC: those of front matter first, then in text order.
	// They are unique regardless of case; the first spelling is kept.
	Tags []string
	// InlineTags are the occurrences of tags in the body, unordered: those with
	// '#', and the items of Logseq's property "tags::".
	InlineTags []InlineTag
	// Aliases are other names of the note, from front matter, in NFC.
	Aliases []string
	// Links in the order of Start.
	Links []Link
	// Blocks are the blocks with an id, in text order.
	Blocks []Block
	// Tasks in text order.
	Tasks []tasks.Place
	// TextEnd is the offset of the %%comments%% at the end of the note, in which plugins
	// such as Kanban and Excalidraw keep their data, or of the rule above them, as in the
	// footer of a template, or the length of the source.
	TextEnd int

	leaves        []leaf
	PropertiesEnd int // end of the page properties, 0 without any
}

// Paragraphs returns the starts and ends, up to the start of the next block, of the
// paragraphs, tables and texts of list items in src, in text order. d must be the result of
// [Parse] for src.
func (d *Document) Paragraphs(src []byte) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for i, l := range d.leaves {
			end := len(src)
			if i+1 < len(d.leaves) {
				end = d.leaves[i+1].start
			}
			if l.kind == leafParagraph && !yield(l.start, end) {
				return
			}
		}
	}
}

// FrontMatter is the block of metadata at the start of a note.
type FrontMatter struct {
	// Format is "yaml" or "toml", or empty if the note has no front matter.
	Format string
	// Start and End delimit the block with its delimiter lines; both are the start of
	// the note, after a byte order mark, if there is no block. InnerStart and InnerEnd
	// delimit the text between those lines.
	Start, End           int
	InnerStart, InnerEnd int
	// Values contains only string, bool, int64, float64, nil, []any and
	// map[string]any; dates, times, NaN and the infinities are strings. It is
	// nil if Err is set.
	Values map[string]any
	// Err is the error of decoding the block. The body is parsed nevertheless, and
	// title, tags and aliases are recovered where possible.
	Err error
	// ErrLine is the line of Err in the note, 0 if unknown.
	ErrLine int
}

// InlineTag is one occurrence of a tag in the body.
type InlineTag struct {
	// Start and End delimit the tag's name, without '#' and brackets.
	Start, End int
	// Property reports whether the tag is an item of a page property, where '#' is
	// optional.
	Property bool
}

// Heading is an ATX ("## Text") or Setext (underlined) heading.
type Heading struct {
	Level int
	// Text is the heading's text without inline markup and attributes, in NFC.
	Text string
	// ID is the explicit ID from an attribute {#id}, or empty. Links may name it.
	ID   string
	Line int
	// Start is the start of the heading's first line, ContentStart the start of the
	// line after the heading, and End the end of the section.
	Start, ContentStart, End int
	// TextStart and TextEnd delimit the text in the source, with its markup.
	TextStart, TextEnd int

	Nested bool // in a list item

	parent int // index of the heading whose section contains it, or -1
}

// LinkKind is the syntax of a link.
type LinkKind string

// The kinds of link.
const (
	LinkWiki        LinkKind = "wikilink"    // [[target]]
	LinkEmbed       LinkKind = "embed"       // ![[target]]
	LinkTag         LinkKind = "tag"         // #[[target]], a tag of which there may be a page
	LinkMarkdown    LinkKind = "markdown"    // [text](target), [label]: target, and <a href="target">
	LinkImage       LinkKind = "image"       // ![text](target), and <img src="target">
	LinkFrontMatter LinkKind = "frontmatter" // "[[target]]" in a front matter value
)

// Link is a reference to a note, a file or an external resource.
type Link struct {
	Kind LinkKind
	// Target is the path part in NFC, for Markdown links with escapes and
	// percent-encoding decoded. It is empty if the link points into its own note.
	Target string
	// Anchor is the heading or "^block" after '#', without the '#'.
	Anchor string
	// Alias is the display text, if given.
	Alias string
	Line  int
	// Start and End delimit the whole link, TargetStart and TargetEnd its path
	// part: the bytes that RewriteLinks of package edit replaces.
	Start, End             int
	TargetStart, TargetEnd int
	// AnchorStart and AnchorEnd delimit the anchor in the source; both are 0 if there
	// is no '#'.
	AnchorStart, AnchorEnd int
	// External reports whether the target is a URL with a scheme.
	External bool

	Quote quoting
}

// Block is a paragraph, list item or other block with an id.
type Block struct {
	// ID is the id without '^'.
	ID   string
	Line int
	// Start and End delimit the text of the block, including the id but not the
	// final line break. The text of a list item starts after its marker.
	Start, End int

	lineStart int
	item      bool // a list item
	itemEnd   int  // end of the list item, its children included
}

// Chunk is a passage of the body.
type Chunk struct {
	// Ordinal counts from 0.
	Ordinal int
	// Path lists the headings above the passage, outermost first.
	Path []string
	// Start and End are byte offsets; LineStart and LineEnd are the first and last
	// line, numbered from 1 over the whole source.
	Start, End         int
	LineStart, LineEnd int
	// Hash identifies the text embedded for the passage. [Chunks] leaves it empty.
	Hash string
}

// Heading returns the nearest heading above the chunk, or "".
func (c Chunk) Heading() string {
	if len(c.Path) == 0 {
		return ""
	}
	return c.Path[len(c.Path)-1]
}

package markdown

// Document is what [Parse] found in one note. All offsets are byte offsets into
// the source as given, all lines count from 1 over the whole source.
type Document struct {
	FrontMatter FrontMatter
	// BodyStart is the offset of the first byte after front matter, or after
	// the byte order mark, or 0.
	BodyStart int
	// Title is front matter's title, else the text of the first heading of
	// level 1, else empty.
	Title string
	// Headings in the order of the text.
	Headings []Heading
	// Tags without '#', front matter's first, then in the order of the text;
	// unique whatever their case, in the spelling met first, in NFC.
	Tags []string
	// InlineTags are the places of the tags in the body, in no order: those with
	// '#', and the items of Logseq's property "tags::".
	InlineTags []InlineTag
	// Aliases are other names of the note, from front matter, in NFC.
	Aliases []string
	// Links in the order of their Start.
	Links []Link
	// Blocks are the blocks that carry an id, in the order of the text.
	Blocks []Block
	// Tasks in the order of the text.
	Tasks []Task
	// TextEnd is the offset of the %%comments%% that end the note, in which plugins such
	// as Kanban and Excalidraw keep their data, or the length of the source.
	TextEnd int
	// BOM reports whether the source starts with a UTF-8 byte order mark.
	BOM bool

	leaves        []leaf
	PropertiesEnd int // end of the paragraph of page properties
}

// FrontMatter is the block of metadata that opens a note.
type FrontMatter struct {
	// Format is "yaml", "toml", or empty when the note has no front matter.
	Format string
	// Start and End hold the block with its delimiter lines; InnerStart and
	// InnerEnd what lies between the delimiter lines.
	Start, End           int
	InnerStart, InnerEnd int
	// Values holds only string, bool, int64, float64, nil, []any and
	// map[string]any; dates and times are strings, as are NaN and the
	// infinities. It is nil when Err is set.
	Values map[string]any
	// Err says why the block cannot be read; the body is parsed all the same
	// and tags are taken from it as far as possible.
	Err error
	// ErrLine is the line of the note that Err speaks of, 0 when unknown.
	ErrLine int
}

// InlineTag is one place where the body has a tag.
type InlineTag struct {
	// Start and End hold the tag's name, without '#' and brackets.
	Start, End int
	// Property reports whether it is an item of a page property, which needs no '#'.
	Property bool
}

// Heading is an ATX ("## Text") or Setext (underlined) heading.
type Heading struct {
	Level int
	// Text is the heading without inline markup and attributes, in NFC.
	Text string
	// ID is what an attribute {#id} gives, to which links lead; else empty.
	ID   string
	Line int
	// Start is the start of the heading's first line, ContentStart that of the
	// line after the heading, End that of the next heading which ends the
	// section, or the end of the note.
	Start, ContentStart, End int
	// TextStart and TextEnd hold the text as it is written.
	TextStart, TextEnd int

	Nested bool // in a list item
}

// LinkKind is how a link is written.
type LinkKind string

// The kinds of link.
const (
	LinkWiki        LinkKind = "wikilink"    // [[target]]
	LinkEmbed       LinkKind = "embed"       // ![[target]]
	LinkMarkdown    LinkKind = "markdown"    // [text](target), and [label]: target
	LinkImage       LinkKind = "image"       // ![text](target)
	LinkFrontMatter LinkKind = "frontmatter" // "[[target]]" in a front matter value
)

// Link is a reference to another note, to a file or to an outside resource.
type Link struct {
	Kind LinkKind
	// Target is the path part in NFC: for wikilinks as it is spelled, for
	// Markdown links with escapes and percent-encoding resolved. It is empty
	// when the link points into its own note.
	Target string
	// Anchor is the heading or "^block" after '#', without the '#'.
	Anchor string
	// Alias is the text that readers see, when it is given.
	Alias string
	Line  int
	// Start and End hold the whole link, TargetStart and TargetEnd its path
	// part: the bytes that [RewriteLinks] replaces.
	Start, End             int
	TargetStart, TargetEnd int
	// AnchorStart and AnchorEnd hold the anchor as it is written, both 0 without
	// a '#'.
	AnchorStart, AnchorEnd int
	// External reports whether the target is a URL with a scheme.
	External bool

	Quote quoting
}

// Block is a paragraph, list item or other block that carries an id.
type Block struct {
	// ID is without '^'.
	ID   string
	Line int
	// Start and End hold the text of the block with the id and without the
	// final line break; a list item's starts after its marker.
	Start, End int

	lineStart int
	item      bool // a list item, with its children ending at itemEnd
	itemEnd   int
}

// Task is a list item with a checkbox or a task word.
type Task struct {
	Line int
	// Start and End hold its text, from the mark to the end of the paragraph.
	Start, End int
	// Done reports whether nothing is left to do: done, cancelled, or marked with what
	// says neither.
	Done bool
}

// Chunk is a passage of the body.
type Chunk struct {
	// Ordinal counts from 0.
	Ordinal int
	// Path holds the headings above the passage, the outermost first.
	Path []string
	// Start and End are byte offsets, LineStart and LineEnd the first and the
	// last line, counted from 1 over the whole source.
	Start, End         int
	LineStart, LineEnd int
	// Hash names the text that is embedded for the passage. [Chunks] leaves it empty.
	Hash string
}

// Heading returns the nearest heading above the chunk, or "".
func (c Chunk) Heading() string {
	if len(c.Path) == 0 {
		return ""
	}
	return c.Path[len(c.Path)-1]
}

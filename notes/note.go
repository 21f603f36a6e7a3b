package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"time"

	"notesd/internal/markdown"
	"notesd/internal/markdown/tasks"
)

// Note is one Markdown file as the store knows it: the file's text and what
// the parser found in it. Values handed out are the caller's to keep; the
// store never changes one after returning it.
type Note struct {
	ID   int64  // stable while the note exists, through moves; never reused
	Path string // vault-relative, NFC, '/' between segments: the note's name
	Seq  uint64 // position in the change feed of the note's last change

	Title   string // front matter's title, else the first H1, else the file name
	Content string // the whole file, byte for byte, front matter included
	Hash    string // hex SHA-256 of the file's bytes
	Size    int64  // bytes

	Modified time.Time // the file's mtime
	Date     time.Time // front matter's date, else that of a daily note's name, else Modified: what filters and sorting by date use

	// FrontMatter holds only JSON values (string, bool, float64, []any,
	// map[string]any); it is nil when there is none or when it is broken, and
	// then FrontMatterError says why.
	FrontMatter      map[string]any
	FrontMatterError string
	// Inline has the text's "key:: value" fields. Only [Parse] sets it.
	Inline map[string]any

	Aliases   []string
	Tags      []string // without '#', as first spelled, unique without regard to case
	Headings  []Heading
	Links     []Link
	Chunks    []Chunk
	Tasks     []Task // of a note that was parsed, not of one that was loaded
	OpenTasks int
}

// Packed is a note that was read from a store. Unpack fills in what is kept packed:
// content, front matter, aliases, tags, headings and chunks. It is called once.
type Packed struct {
	*Note
	Unpack func() error
}

// Heading is one heading of a note.
type Heading struct {
	Level int // 1 to 6
	Text  string
	Line  int // from 1, over the whole file
}

// LinkKind says how a link is written.
type LinkKind = markdown.LinkKind

// Link is one link as written in a note. Links to other hosts (https:, mailto:)
// are not kept.
type Link struct {
	Kind   LinkKind
	Target string // as written, decoded, without anchor; empty for a link within the note
	Anchor string // heading or ^block after '#', without the '#'
	Alias  string // the text shown, where the link gives one
	Line   int    // from 1, over the whole file
}

// Chunk is a passage of a note: what a search hit shows and what is embedded.
// The chunks of a note cover its body in order and do not overlap. Its Hash is
// the hex SHA-256 of [Note.EmbedText]: equal hashes never need a second embedding.
type Chunk = markdown.Chunk

// Meta is what lists show of a note: a Note without its text and what was
// parsed from it.
type Meta struct {
	ID       int64
	Path     string
	Title    string
	Hash     string
	Size     int64
	Modified time.Time
	Date     time.Time
	Tags     []string
	Seq      uint64
	Fields   map[string]any // the fields that a list was asked for, those that the note has
}

// Passage is a chunk of a note together with what a reader needs to judge it.
type Passage struct {
	NoteID    int64
	Path      string
	Title     string
	Heading   string
	LineStart int
	LineEnd   int
	Text      string // untrusted: the note's own words
}

// Prose returns Content with spaces in place of data that programs have put there: an
// Excalidraw drawing, base64. It is what is searched, embedded and shown as a
// passage, and has the same offsets and lines.
func (n *Note) Prose() string { return markdown.Prose(n.Content) }

// Legible shortens what [Note.Prose] has blanked in a text, and any other run of
// so many spaces, to "…".
func Legible(prose string) string {
	if !strings.Contains(prose, blank) {
		return prose
	}
	return manyBlanks.ReplaceAllString(prose, " … ")
}

var (
	blank      = strings.Repeat(" ", 40)
	manyBlanks = regexp.MustCompile(`[ \r\n]*` + blank + `[ \r\n]*`)
)

// EmbedText is the text of a chunk as it is embedded: the title and the
// headings above it in front, so that a passage is found by what its note is
// about. The caller has replaced n's Content by its [Note.Prose].
func (n *Note) EmbedText(c Chunk) string {
	var b strings.Builder
	b.WriteString(n.Title)
	for i, h := range c.Path {
		if i == 0 && h == n.Title {
			continue
		}
		b.WriteString(" > ")
		b.WriteString(h)
	}
	b.WriteString("\n")
	b.WriteString(Legible(strings.TrimSpace(n.Content[c.Start:c.End])))
	return b.String()
}

// A lead is the title of a note and how its text begins, which says what a note of
// several passages is about.
const (
	leadWords = 45
	leadBytes = 600 // of scripts without spaces
)

// Lead returns the lead of a note, and where in Content it ends. It is within the
// first two passages. The caller has replaced n's Content by its [Note.Prose].
func (n *Note) Lead() (text string, end int) {
	if len(n.Chunks) == 0 {
		return n.Title, 0
	}
	var b strings.Builder
	b.WriteString(n.Title)
	separator := byte('\n')
	at, stop := n.Chunks[0].Start, n.Chunks[min(1, len(n.Chunks)-1)].End
	end = at
	for words := 0; at < stop && words < leadWords && b.Len() < len(n.Title)+leadBytes; {
		line, _, _ := strings.Cut(n.Content[at:stop], "\n")
		if !headingLine(line) {
			for w := range strings.FieldsSeq(line) {
				end = at + strings.Index(n.Content[at:], w) + len(w)
				at = end
				b.WriteByte(separator)
				b.WriteString(w[:min(len(w), leadBytes)])
				separator = ' '
				if words++; words == leadWords {
					return strings.ToValidUTF8(b.String(), ""), end
				}
			}
			line, _, _ = strings.Cut(n.Content[at:stop], "\n")
		}
		at += len(line) + 1
	}
	return strings.ToValidUTF8(b.String(), ""), end
}

// headingLine reports whether a line is an ATX heading.
func headingLine(line string) bool {
	rest := strings.TrimLeft(line, "#")
	return len(rest) < len(line) && len(line)-len(rest) <= 6 && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// Hash returns the hex SHA-256 that names the bytes of a file.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// TagCount is a tag and how many notes have it.
type TagCount struct {
	Tag   string `json:"tag"` // as most recently spelled
	Notes int    `json:"notes"`
}

// FolderCount is a folder and how many notes lie directly in it.
type FolderCount struct {
	Folder string `json:"folder"` // "" is the vault
	Notes  int    `json:"notes"`
}

// SetTasks gives the note's tasks the statuses that their marks have with the
// settings, and counts the open ones.
func (n *Note) SetTasks(settings *tasks.Settings) {
	n.OpenTasks = 0
	for i := range n.Tasks {
		t := &n.Tasks[i]
		if t.Status = settings.StatusOf(t.Mark); t.Status.IsOpen() {
			n.OpenTasks++
		}
	}
}

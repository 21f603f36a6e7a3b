package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"notesd/internal/markdown"
	"notesd/internal/markdown/tasks"
)

// Note is a Markdown file as stored: its text and what the parser found in it. The
// store never modifies a returned value.
type Note struct {
	ID   int64  // stable while the note exists, through moves; never reused
	Path string // vault-relative, NFC, with '/' between segments: the note's name
	Seq  uint64 // position in the change feed of the note's last change

	Title   string // the title in the front matter, else the first H1, else the file name
	Content string // the whole file, byte for byte, including front matter
	Hash    string // hex SHA-256 of the file's bytes
	Size    int64  // bytes

	Modified time.Time // the file's mtime
	Date     time.Time // used to filter and sort by date; see [DateRules]
	Created  time.Time // as the note says, else when it was first seen

	// FrontMatter holds only JSON values (string, bool, float64, []any, map[string]any)
	// and, in a parsed note, int64. It is nil if there is none or if it is malformed, which
	// FrontMatterError then describes.
	FrontMatter      map[string]any
	FrontMatterError string
	Inline           map[string]any // the "key:: value" fields of the text

	Aliases   []string
	Tags      []string // without '#', as first spelled, unique ignoring case
	Headings  []Heading
	Links     []Link
	Chunks    []Chunk
	Tasks     []Task // set for parsed notes, not for loaded ones
	OpenTasks int

	Part Anchor // of a note that was read by a reference: the part that this names, if any
}

// Heading is one heading of a note.
type Heading struct {
	Level int // 1 to 6
	Text  string
	Line  int // from 1, over the whole file
}

// LinkKind is the syntax of a link.
type LinkKind = markdown.LinkKind

// Link is a link as written in a note. Links to other hosts (https:, mailto:) are not
// kept.
type Link struct {
	Kind   LinkKind
	Target string // as written, decoded, without anchor; "" for a link within the note
	Anchor string // heading or ^block after '#', without the '#'
	Alias  string // the link's display text, if any
	Line   int    // from 1, over the whole file
}

// Chunk is a passage of a note, the unit that is embedded and shown in search results.
// The chunks of a note cover its body in order and do not overlap. Its Hash is the hex
// SHA-256 of [Note.EmbedText]; chunks with equal hashes share one embedding.
type Chunk = markdown.Chunk

// Meta is a note as shown in lists, without its text and most of what was parsed from
// it.
type Meta struct {
	ID       int64
	Path     string
	Title    string
	Size     int64
	Modified time.Time
	Date     time.Time
	Tags     []string
	Fields   map[string]any // the requested fields that the note has
}

// SemanticHit is a note found semantically.
type SemanticHit struct {
	NoteID  int64
	Ordinal int     // of the nearest chunk
	Cosine  float64 // of that chunk and the query
	// Near is the cosine on the scale of text scores, where 1 is all words of the query.
	Near float64
	// First is Near of the note's lead, see [Note.Lead], or of its first chunk if it has no
	// other.
	First float64
	// Missing is the share, from 0 to 1, of the note's chunks that have no vector yet, one of
	// which may be nearer.
	Missing float64
	// Across reports that the nearest chunk is in another language than the query.
	Across bool
}

// Spread describes values by their mean and their standard deviation.
type Spread struct{ Mean, Deviation float64 }

// Coverage is the state of semantic search, and the share of the vault's chunks, from 0 to 1,
// and their number that it can find.
type Coverage struct {
	State    string
	Coverage float64
	Passages int    // number of these chunks
	Former   bool   // another model replaces this one when its vectors are complete
	Why      string // what prevents full coverage; "" if nothing does, or if it only takes time
}

// Prose returns Content with embedded data, such as an Excalidraw drawing or base64,
// replaced by spaces. It has the same offsets and lines.
func (n *Note) Prose() string { return markdown.Prose(n.Content) }

// SearchText returns the text that is searched, embedded and shown in passages: Prose
// without the link reference definitions of notes. It has the same offsets and lines.
func (n *Note) SearchText() string { return markdown.WithoutDefinitions(n.Prose()) }

// Anchors returns a function that reports whether links can lead to a heading or block, as
// they name it, of the note with this text.
func Anchors(text []byte) (has func(anchor string) bool) {
	return markdown.NewAnchors(markdown.Parse(text), text).Has
}

// Legible replaces long runs of spaces by "…" where original, which has the same offsets,
// has other text: the data blanked by [Note.SearchText]. Without original, it replaces all
// of them.
func Legible(prose, original string) string {
	const space = " \r\n"
	var b strings.Builder
	for start := 0; ; {
		n := strings.Index(prose[start:], blank)
		if n < 0 {
			b.WriteString(prose[start:])
			return b.String()
		}
		from, end := start+n, len(prose)-len(strings.TrimLeft(prose[start+n:], " "))
		if original != "" && original[from:end] == prose[from:end] {
			b.WriteString(prose[start:end])
		} else {
			b.WriteString(strings.TrimRight(prose[start:from], space) + " … ")
			end = len(prose) - len(strings.TrimLeft(prose[from:], space))
		}
		start = end
	}
}

var blank = strings.Repeat(" ", 40)

// EmbedText returns the text that is embedded for a chunk: the title, the headings
// above the chunk, and the chunk itself, so that a passage is also found by the topic
// of its note. The caller must have replaced n's Content by its [Note.SearchText].
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
	b.WriteString(Legible(strings.TrimSpace(n.Content[c.Start:c.End]), ""))
	return b.String()
}

// A lead is the title of a note and the beginning of its text, which tell what a note
// with several passages is about.
const (
	leadWords = 45
	leadBytes = 600 // for scripts without spaces
)

// Lead returns the lead of a note and the offset in Content at which it ends, which is
// in the first two passages. The caller must have replaced n's Content by its
// [Note.SearchText].
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

// LeadHash returns the hash that the vector of a lead is kept under. The first two passages,
// whose hashes are given, determine the lead.
func LeadHash(first, second []byte) []byte {
	sum := sha256.Sum256(slices.Concat([]byte("lead"), first, second))
	return sum[:]
}

// headingLine reports whether a line is an ATX heading.
func headingLine(line string) bool {
	rest := strings.TrimLeft(line, "#")
	return len(rest) < len(line) && len(line)-len(rest) <= 6 && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// Hash returns the hex SHA-256 of the bytes of a file.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// TagCount is a tag with the number of notes that have it.
type TagCount struct {
	Tag   string `json:"tag"` // as spelled in one of the notes
	Notes int    `json:"notes"`
}

// FolderCount is a folder with the number of notes directly in it.
type FolderCount struct {
	Folder string `json:"folder"` // "" is the vault
	Notes  int    `json:"notes"`
}

// SetTasks sets the statuses of the note's tasks according to the settings, and counts
// the open ones.
func (n *Note) SetTasks(settings *tasks.Settings) {
	n.OpenTasks = 0
	for i := range n.Tasks {
		t := &n.Tasks[i]
		if t.Status = settings.StatusOf(t.Mark); t.Status.IsOpen() {
			n.OpenTasks++
		}
	}
}

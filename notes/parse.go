package notes

import (
	"bytes"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"notesd/internal/markdown"
)

// NotText returns the reason why data cannot be a note, or "".
func NotText(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return "UTF-16 text: save it as UTF-8"
	case bytes.IndexByte(data, 0) >= 0:
		return "not text: it contains NUL bytes"
	case !utf8.Valid(data):
		return "not UTF-8 text"
	}
	return ""
}

// ParserVersion is raised whenever [Parse] makes another note of the same bytes: with
// another title, or other tags, headings, links, tasks, fields or passages. The vault then parses all
// its notes again.
const ParserVersion = 11

// Parse parses the file at path into a note. It does not set ID and Seq; the store sets
// the date and the time of creation, according to its rules.
func Parse(path string, data []byte, mtime time.Time) *Note {
	doc := markdown.Parse(data)
	n := &Note{
		Path:     path,
		Title:    TitleOf(path, doc),
		Content:  string(data),
		Hash:     Hash(data),
		Size:     int64(len(data)),
		Modified: mtime,
		Date:     mtime,
		Created:  mtime,
		Aliases:  doc.Aliases,
		Tags:     doc.Tags,
	}
	n.FrontMatter = doc.FrontMatter.Values
	if doc.FrontMatter.Err != nil {
		n.FrontMatter, n.FrontMatterError = nil, doc.FrontMatter.Err.Error()
	}
	fields := doc.Fields(data)
	if FromNotion(path) {
		fields = append(doc.Properties(data), fields...)
	}
	n.Inline = InlineFields(fields)
	for _, h := range doc.Headings {
		n.Headings = append(n.Headings, Heading{Level: h.Level, Text: h.Text, Line: h.Line})
	}
	n.Tasks = TasksOf(data, doc)
	n.SetTasks(nil)
	for _, l := range doc.Links {
		home := l.Kind == markdown.LinkMarkdown && l.Target != "" && strings.Trim(l.Target, "./") == "" // [home](/) and [up](../) name no file
		if !l.External && !home {
			n.Links = append(n.Links, Link{Kind: l.Kind, Target: l.Target, Anchor: l.Anchor, Alias: l.Alias, Line: l.Line})
		}
	}
	shown := *n
	if shown.Content = n.SearchText(); shown.Content != n.Content {
		data = []byte(shown.Content)
	}
	n.Chunks = markdown.Chunks(data, doc)
	for i, c := range n.Chunks {
		n.Chunks[i].Hash = Hash([]byte(shown.EmbedText(c)))
	}
	return n
}

// FromNotion reports whether the note at path has the name of a page that Notion exported.
func FromNotion(path string) bool { return notionPage.MatchString(path) }

var notionPage = regexp.MustCompile(` [0-9a-f]{32}\.md$`)

// TitleOf returns the title of the note at path: the one in its front matter, else its
// first H1, else the file name.
func TitleOf(path string, doc *markdown.Document) string {
	if t := strings.TrimSpace(doc.Title); t != "" && t != "Excalidraw Data" { // the H1 of every drawing
		return t
	}
	return BaseName(path)
}

package notes

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"

	"notesd/internal/markdown"
)

// hashOf returns the hex SHA-256 that names the bytes of a file.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// notText says why data cannot be a note, or "".
func notText(data []byte) string {
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		return "not text: it has NUL bytes in it"
	case !utf8.Valid(data):
		return "not UTF-8 text"
	}
	return ""
}

// parseNote makes the note that the file at path with these bytes is. Its ID,
// Seq and Modified are left to the caller.
func parseNote(path string, data []byte, mtime time.Time) *Note {
	doc := markdown.Parse(data)
	n := &Note{
		Path:     path,
		Title:    titleOf(path, doc),
		Content:  string(data),
		Hash:     hashOf(data),
		Size:     int64(len(data)),
		Modified: mtime,
		Date:     mtime,
		Aliases:  doc.Aliases,
		Tags:     doc.Tags,
	}
	n.FrontMatter = doc.FrontMatter.Values
	if doc.FrontMatter.Err != nil {
		n.FrontMatter, n.FrontMatterError = nil, doc.FrontMatter.Err.Error()
	}
	if t, ok := frontMatterTime(n.FrontMatter, "date", "updated", "modified", "created"); ok {
		n.Date = t
	}
	for _, h := range doc.Headings {
		n.Headings = append(n.Headings, Heading{Level: h.Level, Text: h.Text, Line: h.Line})
	}
	for _, t := range doc.Tasks {
		if !t.Done {
			n.OpenTasks++
		}
	}
	for _, l := range doc.Links {
		if !l.External {
			n.Links = append(n.Links, Link{Kind: LinkKind(l.Kind), Target: l.Target, Anchor: l.Anchor, Alias: l.Alias, Line: l.Line})
		}
	}
	for _, c := range markdown.Chunks(data, doc, markdown.ChunkOptions{}) {
		chunk := Chunk{Ordinal: c.Ordinal, Path: c.Path, Start: c.Start, End: c.End, LineStart: c.LineStart, LineEnd: c.LineEnd}
		chunk.Hash = hashOf([]byte(n.EmbedText(chunk)))
		n.Chunks = append(n.Chunks, chunk)
	}
	return n
}

func titleOf(path string, doc *markdown.Document) string {
	if t := strings.TrimSpace(doc.Title); t != "" {
		return t
	}
	return baseName(path)
}

// EmbedText is the text of a chunk as it is embedded: the title and the
// headings above it in front, so that a passage is found by what its note is
// about.
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
	b.WriteString(strings.TrimSpace(n.Content[c.Start:c.End]))
	return b.String()
}

// dateLayouts are the ways to write a date that vaults use.
var dateLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04", "2006-01-02", "2006/01/02", "2006.01.02", "02.01.2006", "January 2, 2006", "Jan 2, 2006", "2 January 2006",
}

// ParseDate reads a date as notes and queries write it. Without a zone it is
// local time.
func ParseDate(s string) (time.Time, bool) {
	s = strings.Trim(strings.TrimSpace(s), "[]") // [[2026-01-31]] links a daily note
	for _, layout := range dateLayouts {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil && t.Year() > 0 && t.Year() < 2250 {
			return t, true // beyond 2262, nanoseconds since 1970 overflow
		}
	}
	return time.Time{}, false
}

func frontMatterTime(values map[string]any, keys ...string) (time.Time, bool) {
	for _, k := range keys {
		if s, ok := values[k].(string); ok {
			if t, ok := ParseDate(s); ok && t.Year() >= 1700 {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

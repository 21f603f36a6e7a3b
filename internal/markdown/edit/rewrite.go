package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"notesd/internal/markdown"
)

// RewriteLinks replaces the link targets for which rewrite returns a new one. Only the
// bytes of those targets change. The target of a wikilink or in a shortcode of Hugo is
// written verbatim, that of a Markdown link is percent-encoded (less so in angle
// brackets or an attribute of HTML), and that of a front matter link is escaped for the
// quotes around it. A link is kept if the new target equals the old one or cannot be written
// in that kind of link (see [CanTarget]). A target with quotes can still break front matter
// that the parser sees line by line, such as a multi-line string: see [SameBesidesTargets].
// doc must be the result of [markdown.Parse] for src.
func RewriteLinks(src []byte, doc *markdown.Document, rewrite func(markdown.Link) (newTarget string, ok bool)) []byte {
	var spans []replacement
	for _, l := range doc.Links {
		target, ok := rewrite(l)
		if !ok || markdown.NFC(target) == l.Target || !CanTarget(l, target) {
			continue
		}
		spans = append(spans, replacement{l.TargetStart, l.TargetEnd, encodeTarget(src, l, target)})
	}
	return replace(src, spans)
}

// replacement is a span of a text with its new text.
type replacement struct {
	start, end int
	text       string
}

// replace returns a copy of src with each span replaced by its text. Of spans that
// overlap, the first is replaced.
func replace(src []byte, spans []replacement) []byte {
	// Links are ordered by their starts, but in a link around an image,
	// [![a](b)](c), the target of the image comes first.
	slices.SortStableFunc(spans, func(a, b replacement) int { return a.start - b.start })
	out := make([]byte, 0, len(src)+len(src)/8)
	at := 0
	for _, r := range spans {
		if r.start >= at {
			out = append(append(out, src[at:r.start]...), r.text...)
			at = r.end
		}
	}
	return append(out, src[at:]...)
}

// RewriteAnchors replaces the link anchors for which rewrite returns a new one, like
// [RewriteLinks] for targets.
func RewriteAnchors(src []byte, doc *markdown.Document, rewrite func(markdown.Link) (newAnchor string, ok bool)) []byte {
	var spans []replacement
	for _, l := range doc.Links {
		if l.AnchorEnd == 0 {
			continue
		}
		if anchor, ok := rewrite(l); ok && anchor != l.Anchor && CanAnchor(l, anchor) {
			spans = append(spans, replacement{l.AnchorStart, l.AnchorEnd, encodeTarget(src, l, anchor)})
		}
	}
	return replace(src, spans)
}

// SameBesidesTargets reports whether two notes differ only in the targets of their
// links. The documents must be the results of [markdown.Parse] for a and b.
func SameBesidesTargets(a []byte, docA *markdown.Document, b []byte, docB *markdown.Document) bool {
	same := slices.EqualFunc(docA.Links, docB.Links, func(l, m markdown.Link) bool {
		return l.Kind == m.Kind && l.Anchor == m.Anchor && l.External == m.External
	})
	return same && bytes.Equal(withoutTargets(a, docA), withoutTargets(b, docB))
}

func withoutTargets(src []byte, doc *markdown.Document) []byte {
	spans := make([]replacement, len(doc.Links))
	for i, l := range doc.Links {
		spans[i] = replacement{l.TargetStart, l.TargetEnd, "\x00"} // no valid target
	}
	return replace(src, spans)
}

// CanTarget reports whether target can be written as the target of link l. A wikilink,
// for example, cannot contain brackets, '|', '#' or '^'.
func CanTarget(l markdown.Link, target string) bool {
	if target == "" || !utf8.ValidString(target) || strings.ContainsAny(target, "\x00\n\r") || l.External {
		return false
	}
	if l.Kind == markdown.LinkMarkdown || l.Kind == markdown.LinkImage {
		return true
	}
	if strings.ContainsAny(target, "[]|#^") || strings.TrimSpace(target) != target ||
		strings.HasSuffix(target, `\`) || markdown.IsExternal([]byte(target)) {
		return false
	}
	if l.Kind != markdown.LinkFrontMatter {
		return true
	}
	if strings.ContainsFunc(target, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return false
	}
	switch l.Quote {
	case markdown.LiteralQuoted:
		return !strings.Contains(target, "'")
	case markdown.Unquoted:
		return !strings.Contains(target, ": ") && !strings.HasSuffix(target, ":")
	case markdown.InBrackets:
		return !strings.ContainsAny(target, ",{}\"'`&*!%@?:") && !strings.HasPrefix(target, "-")
	}
	return true
}

// CanAnchor reports whether anchor can be written as the anchor of link l.
func CanAnchor(l markdown.Link, anchor string) bool {
	return CanTarget(l, strings.ReplaceAll(anchor, "#", "_"))
}

// encodeTarget encodes target for the syntax of l.
func encodeTarget(src []byte, l markdown.Link, target string) string {
	switch l.Kind {
	case markdown.LinkMarkdown, markdown.LinkImage:
		switch before := src[l.TargetStart-1]; before {
		case '=', '"', '\'', '`':
			if before != '=' && src[l.TargetStart-2] != '=' { // in a shortcode of Hugo
				return target
			}
			special := "%#<>\\`$|\"'?{}&"
			if bytes.IndexByte(src[l.TargetStart:l.TargetEnd], ' ') < 0 {
				special += " "
			}
			return percentEncode(target, special)
		case '<':
			return percentEncode(target, "%#<>\\`$|")
		}
		encoded := percentEncode(target, " %#<>\\`$|()[]\"?")
		if markdown.IsExternal([]byte(encoded)) {
			encoded = strings.ReplaceAll(strings.Replace(encoded, ":", "%3A", 1), "//", "%2F/")
		}
		return encoded
	case markdown.LinkFrontMatter:
		switch l.Quote {
		case markdown.SingleQuoted:
			return strings.ReplaceAll(target, "'", "''")
		case markdown.DoubleQuoted:
			return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(target)
		}
	}
	return target
}

// percentEncode percent-encodes control characters, the characters in special, and any
// '&' that would start a character reference.
func percentEncode(s, special string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c == 0x7f || strings.IndexByte(special, c) >= 0 || c == '&' && markdown.CharacterReference([]byte(s[i:])) > 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

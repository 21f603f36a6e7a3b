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
// bytes of those targets change. The target of a wikilink is written verbatim, that of
// a Markdown link is percent-encoded (less so in angle brackets), and that of a front
// matter link is escaped for the quotes around it. A link is kept if the new target
// equals the old one or cannot be written in that kind of link (see [CanTarget]). doc
// must be the result of [markdown.Parse] for src.
func RewriteLinks(src []byte, doc *markdown.Document, rewrite func(markdown.Link) (newTarget string, ok bool)) []byte {
	targets := make([]string, len(doc.Links))
	changed, metadata := false, false
	for i, l := range doc.Links {
		target, ok := rewrite(l)
		if !ok || markdown.NFC(target) == l.Target || !CanTarget(l, target) {
			continue
		}
		targets[i] = encodeTarget(src, l, target)
		changed = true
		metadata = metadata || l.Kind == markdown.LinkFrontMatter
	}
	if !changed {
		return bytes.Clone(src)
	}
	out := writeTargets(src, doc, targets, true)
	if metadata {
		if fm := markdown.ReadFrontMatter(out, doc.FrontMatter.Start); fm.Err != nil || fm.Format != doc.FrontMatter.Format {
			return writeTargets(src, doc, targets, false)
		}
	}
	return out
}

func writeTargets(src []byte, doc *markdown.Document, targets []string, metadata bool) []byte {
	// Links are ordered by their starts, but in a link around an image,
	// [![a](b)](c), the target of the image comes first.
	order := make([]int, len(doc.Links))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return doc.Links[a].TargetStart - doc.Links[b].TargetStart })
	out := make([]byte, 0, len(src)+len(src)/8)
	at := 0
	for _, i := range order {
		l := doc.Links[i]
		if targets[i] == "" || l.TargetStart < at || l.Kind == markdown.LinkFrontMatter && !metadata {
			continue
		}
		out = append(out, src[at:l.TargetStart]...)
		out = append(out, targets[i]...)
		at = l.TargetEnd
	}
	return append(out, src[at:]...)
}

// RewriteAnchors replaces the link anchors for which rewrite returns a new one, like
// [RewriteLinks] for targets.
func RewriteAnchors(src []byte, doc *markdown.Document, rewrite func(markdown.Link) (newAnchor string, ok bool)) []byte {
	var out []byte
	at := 0
	order := slices.Clone(doc.Links)
	slices.SortStableFunc(order, func(a, b markdown.Link) int { return a.AnchorStart - b.AnchorStart })
	for _, l := range order {
		if l.AnchorEnd == 0 || l.AnchorStart < at {
			continue
		}
		anchor, ok := rewrite(l)
		if !ok || anchor == l.Anchor || !CanAnchor(l, anchor) {
			continue
		}
		out = append(append(out, src[at:l.AnchorStart]...), encodeTarget(src, l, anchor)...)
		at = l.AnchorEnd
	}
	return append(out, src[at:]...)
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
	targets := make([]string, len(doc.Links))
	for i := range targets {
		targets[i] = "\x00" // no valid target
	}
	return writeTargets(src, doc, targets, true)
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
		if l.TargetStart > 0 && src[l.TargetStart-1] == '<' {
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

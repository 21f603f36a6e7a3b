package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"notesd/internal/phrase"
)

// wikilink reads the link that starts at start, with its "[[" at open. It returns the
// offset at which to continue, or 0 if this is not a wikilink.
func (in *inlineScanner) wikilink(start, open int, embed bool) int {
	closing := in.wikiEnd(open + 2)
	if closing < 0 || in.src[open+2] == '[' {
		return 0
	}
	inner := in.src[open+2 : closing]
	if bytes.Contains(inner, []byte("[[")) || bytes.IndexByte(inner, '\n') >= 0 {
		return 0 // "[[" is checked first: many of them before one line break stay linear
	}
	if string(inner) == "_TOC_" {
		return closing + 2 // the table of contents in wikis of GitLab, Azure DevOps and GitHub
	}
	l := splitWikilink(in.src, open+2, closing)
	l.Kind, l.Start, l.End, l.Line = LinkWiki, start, closing+2, in.lineOf(start)
	if embed {
		l.Kind = LinkEmbed
	}
	if l.Target != "" || l.Anchor != "" {
		in.add(l)
	}
	return closing + 2
}

// wikiEnd returns the offset of the first "]]" at or after i, or -1.
func (in *inlineScanner) wikiEnd(i int) int {
	if in.wikiClose < 0 || in.wikiClose >= i && in.wikiClose > in.start {
		return in.wikiClose
	}
	if n := bytes.Index(in.src[min(i, in.end):in.end], []byte("]]")); n >= 0 {
		in.wikiClose = i + n
	} else {
		in.wikiClose = -1
	}
	return in.wikiClose
}

// WikiDestination returns the target and anchor, as in [Link], of a wikilink without its
// brackets and alias.
func WikiDestination(inner []byte) (target, anchor string) {
	l := splitWikilink(inner, 0, len(inner))
	return l.Target, l.Anchor
}

// splitWikilink parses src[start:end] as target#anchor|alias. In tables, the bar is
// written "\|".
func splitWikilink(src []byte, start, end int) Link {
	var l Link
	target := src[start:end]
	if bar := bytes.IndexByte(target, '|'); bar >= 0 {
		l.Alias = cut(strings.TrimSpace(string(target[bar+1:])))
		target = target[:bar]
		if bar > 0 && target[bar-1] == '\\' {
			target = target[:bar-1]
		}
	}
	if IsExternal(target) {
		l.External = true
	} else {
		whole := target
		target, l.Anchor = splitAnchor(target)
		if n := len(target); n < len(whole) && whole[n] == '#' {
			l.AnchorEnd = start + len(bytes.TrimRight(whole, " \t"))
			l.AnchorStart = start + len(whole) - len(bytes.TrimLeft(whole[n+1:], " \t"))
			l.AnchorEnd = max(l.AnchorStart, l.AnchorEnd)
		}
	}
	trimmed := bytes.TrimLeft(target, " \t")
	l.TargetStart = start + len(target) - len(trimmed)
	trimmed = bytes.TrimRight(trimmed, " \t")
	l.TargetEnd = l.TargetStart + len(trimmed)
	l.Target = NFC(string(trimmed))
	return l
}

// splitAnchor splits a wikilink's target at '#', or at '^' before a block id.
func splitAnchor(target []byte) (path []byte, anchor string) {
	if i := bytes.IndexByte(target, '#'); i >= 0 {
		return target[:i], NFC(strings.TrimSpace(string(target[i+1:])))
	}
	if i := bytes.LastIndexByte(target, '^'); i >= 0 && isBlockID(bytes.TrimRight(target[i+1:], " ")) {
		return target[:i], strings.TrimSpace(string(target[i:]))
	}
	return target, ""
}

func isBlockID(b []byte) bool {
	return len(b) > 0 && !slices.ContainsFunc(b, func(c byte) bool { return !isLetter(c) && !isDigit(c) && c != '-' })
}

// external matches a URL with a scheme, or the ID of a block in Logseq and Roam. The schemes after
// which "//" is optional are listed.
var external = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9+.-]{0,32}:)?//|^(?i:mailto|tel|data|sms|geo|urn|javascript|cid|onenote):|^about:blank$|^\(\([\w-]+\)\)$`)

// IsExternal reports whether target is a URL with a scheme, starts with "//", or is a block's ID,
// ((6650a002)).
func IsExternal(target []byte) bool { return external.Match(target) }

// cut truncates s to maxText bytes. The result does not retain the memory of the rest.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.Clone(phrase.Cut(s, maxText))
}

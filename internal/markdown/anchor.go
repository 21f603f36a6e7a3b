package markdown

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Anchors resolves the anchors of links to one note. Links have more ways to name a
// heading than edits have: the text without some punctuation, as Obsidian writes it,
// or the slug that GitHub and site generators derive from it.
type Anchors struct {
	src        []byte
	headings   []Heading
	byID       map[string][]int // indexes of headings by AnchorID
	keys       [][2]string      // per heading, the AnchorID of its text and of its source
	blocks     map[string]bool  // ids in lower case
	excalidraw bool             // elements of the drawing are blocks too
	explicit   map[string]bool  // ids set by HTML or "{#id}"; nil until needed
}

// maxNamesakes bounds the number of headings with the same name whose parents are
// compared; with more, the parents are ignored.
const maxNamesakes = 64

// NewAnchors indexes the anchors of a note. doc must be the result of [Parse] for
// src. Anchors retains src.
func NewAnchors(doc *Document, src []byte) *Anchors {
	a := &Anchors{src: src, headings: doc.Headings, byID: map[string][]int{}, blocks: map[string]bool{}}
	for i, h := range doc.Headings {
		keys := [2]string{AnchorID(h.Text), AnchorID(string(src[h.Start:min(h.ContentStart, h.Start+maxText)]))}
		a.keys = append(a.keys, keys)
		for _, key := range slices.Compact(keys[:]) {
			a.byID[key] = append(a.byID[key], i)
		}
	}
	for _, b := range doc.Blocks {
		a.blocks[strings.ToLower(b.ID)] = true
	}
	_, a.excalidraw = doc.FrontMatter.Values["excalidraw-plugin"]
	return a
}

var lineAnchor = regexp.MustCompile(`(?i)^(?:L\d{1,9}(?:-L?\d{1,9})?|:~:.*|top)$`)

// Has reports whether the anchor, in the form of [Link.Anchor], leads to a heading, a
// block, or another target that programs support, such as lines ("L5-L9") or an id in
// HTML. It accepts the headings and ids that [FindSection] accepts; an ambiguous
// anchor leads to the first match.
func (a *Anchors) Has(anchor string) bool {
	anchor = strings.TrimSpace(anchor)
	if anchor == "" || lineAnchor.MatchString(anchor) {
		return true
	}
	block := anchor[strings.LastIndexByte(anchor, '#')+1:]
	if id, ok := strings.CutPrefix(block, "^"); ok {
		if a.excalidraw || a.blocks[strings.ToLower(id)] {
			return true
		}
		if isBlockID([]byte(id)) {
			return false
		}
	}
	_, name := SplitLevel(anchor)
	return slices.ContainsFunc(references(name), func(names []string) bool { return a.path(names) != nil }) || a.isExplicit(anchor)
}

// Follow returns an anchor that leads, after headings were renamed, to the heading to which
// anchor led before. If that leads through a renamed heading, its name in the anchor is
// replaced, by a slug if it was one; a heading's own ID does not change. If another heading
// has the same name, the anchor gets the names of the headings above, or a number if it is a
// slug. Follow reports false if no anchor leads there. after must have as many headings as a.
func (a *Anchors) Follow(after *Anchors, anchor string) (followed string, ok bool) {
	names, separator, found := a.locate(anchor)
	if found == nil {
		return anchor, true
	}
	followed = anchor
	for i, h := range found {
		if h < 0 || anchor == a.headings[h].ID {
			continue
		}
		was, text := a.headings[h].Text, after.headings[h].Text
		if key := AnchorID(names[i]); key == a.keys[h][1] && key != a.keys[h][0] {
			was, text = a.source(h), after.source(h)
		}
		if was == text {
			continue
		}
		name := nameInLinks(text)
		if old := slugNumber.ReplaceAllString(names[i], "$1"); names[i] != was && (names[i] == slug(was) || old == slug(was)) {
			name = slug(text)
		}
		names[i] = name
		followed = strings.Join(names, separator)
	}
	at := found[len(found)-1]
	if after.heading(followed) == at || after.isExplicit(followed) {
		return followed, true
	}
	text := after.headings[at].Text
	if anchor == slug(anchor) && anchor != a.headings[at].Text {
		numbered := slug(text)
		if n := slices.Index(after.byID[AnchorID(numbered)], at); n > 0 { // the first has no number
			numbered += "-" + strconv.Itoa(n)
		}
		if after.heading(numbered) == at {
			return numbered, true
		}
	}
	followed = nameInLinks(text)
	for p := after.headings[at].parent; after.heading(followed) != at; p = after.headings[p].parent {
		if p < 0 {
			return "", false
		}
		followed = nameInLinks(after.headings[p].Text) + "#" + followed
	}
	return followed, true
}

// heading returns the index of the heading to which anchor leads, or -1.
func (a *Anchors) heading(anchor string) int {
	if _, _, found := a.locate(anchor); found != nil {
		return found[len(found)-1]
	}
	return -1
}

// locate returns the headings to which anchor leads, as path does, with their names in the
// anchor and what separates these. found is nil if it leads to a block, or nowhere.
func (a *Anchors) locate(anchor string) (names []string, separator string, found []int) {
	_, name := SplitLevel(strings.TrimSpace(anchor))
	if name == "" || strings.HasPrefix(name[strings.LastIndexByte(name, '#')+1:], "^") {
		return nil, "", nil
	}
	for i, names := range references(name) {
		if found = a.path(names); found == nil {
			continue
		}
		if i == 1 && strings.Contains(name, ">") {
			return names, PathSeparator, found
		}
		return names, "#", found
	}
	return nil, "", nil
}

// source returns the text of a heading with its markup, such as the target of a link.
func (a *Anchors) source(heading int) string {
	h := a.headings[heading]
	return string(a.src[h.TextStart:h.TextEnd])
}

// notInLinks matches the characters of a heading that Obsidian omits in links to it.
var notInLinks = regexp.MustCompile(`[:#|^\\\r\n\[\]]|%%`)

// nameInLinks returns the text of a heading as Obsidian writes it in links to it.
func nameInLinks(text string) string {
	return strings.Join(strings.Fields(notInLinks.ReplaceAllString(text, " ")), " ")
}

// slug returns the anchor that GitHub generates for a heading.
func slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(text)) {
		switch {
		case isWord(r) || unicode.IsMark(r) || r == '-' || r == '_':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}

// path resolves names to the indexes of nested headings, outermost first, or nil if
// there is no such heading. Where the parents were not compared, only the last index
// is set and the others are -1. Of several headings with the same name it prefers one
// with exactly this text, then the first.
func (a *Anchors) path(names []string) []int {
	keys := make([]string, len(names))
	for i, name := range names {
		keys[i] = AnchorID(name)
	}
	last := len(keys) - 1
	found := a.byID[keys[last]]
	if len(found) == 0 {
		if i := a.numbered(names[last]); i >= 0 && last == 0 {
			return []int{i}
		}
		return nil
	}
	path := make([]int, len(names))
	if last == 0 || len(found) > maxNamesakes {
		for i := range path {
			path[i] = -1
		}
		path[last] = found[0]
		if i := slices.IndexFunc(found[:min(len(found), maxNamesakes)], func(i int) bool { return a.headings[i].Text == NFC(names[last]) }); i >= 0 {
			path[last] = found[i]
		}
		return path
	}
	for _, i := range found {
		left := last
		path[last] = i
		for p := a.headings[i].parent; p >= 0 && left > 0; p = a.headings[p].parent {
			if k := a.keys[p]; k[0] == keys[left-1] || k[1] == keys[left-1] {
				left--
				path[left] = p
			}
		}
		if left == 0 {
			return path
		}
	}
	return nil
}

var slugNumber = regexp.MustCompile(`^(.+)[-_](\d{1,6})$`)

// numbered returns the heading with a numbered slug such as "risks-1", the slug of the
// second heading "Risks", or -1.
func (a *Anchors) numbered(name string) int {
	m := slugNumber.FindStringSubmatch(name)
	if m == nil {
		return -1
	}
	found := a.byID[AnchorID(m[1])]
	if n, err := strconv.Atoi(m[2]); err == nil && n < len(found) {
		return found[n]
	}
	return -1
}

var explicitID = regexp.MustCompile(`(?i)(?:\s(?:id|name)\s*=\s*["']?|\{:?\s*#)([^\s"'>}]+)`)

// isExplicit reports whether HTML or an attribute in the note sets the id.
func (a *Anchors) isExplicit(id string) bool {
	if a.explicit == nil {
		a.explicit = map[string]bool{}
		if bytes.Contains(a.src, []byte("{")) || bytes.Contains(a.src, []byte("<")) {
			for _, m := range explicitID.FindAllSubmatch(a.src, -1) {
				a.explicit[string(m[1])] = true
			}
		}
	}
	return a.explicit[id]
}

// AnchorID returns the letters and digits of a heading or anchor in lower case, which
// are common to all notations of an anchor. If there are none, it returns the symbols,
// and without symbols the whole text in lower case.
func AnchorID(s string) string {
	folded := fold(s)
	letters := strings.Map(func(r rune) rune {
		if isWord(r) || unicode.IsMark(r) {
			return r
		}
		return -1
	}, folded)
	return cmp.Or(letters, folded, strings.ToLower(NFC(strings.TrimSpace(s))))
}

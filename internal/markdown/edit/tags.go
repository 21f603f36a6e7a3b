package edit

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"notesd/internal/markdown"
)

// AddTag adds a tag to a note, where the note has its tags: in front matter, in a page
// property "tags::", or on a line that contains only tags. Otherwise it adds a property
// to page properties, or a key to front matter if there are none. If the note already
// has the tag, AddTag changes nothing.
func AddTag(src []byte, tag string) ([]byte, error) {
	tag, err := tagName(tag)
	if err != nil {
		return nil, err
	}
	doc := markdown.Parse(src)
	if hasTag(doc.Tags, tag) {
		return bytes.Clone(src), nil
	}
	if len(tagKeys(doc)) > 0 {
		return addMetaTag(src, doc, tag)
	}
	places := tagPlaces(doc)
	last := len(places) - 1
	for ; last >= 0 && !places[last].Property; last-- {
		end, _ := markdown.LineAt(src, places[last].End)
		start := bytes.LastIndexByte(src[:places[last].Start], '\n') + 1
		if onlyTags(src, places, start, end) {
			break
		}
		for last > 0 && places[last-1].Start >= start && !places[last-1].Property {
			last--
		}
	}
	switch {
	case last >= 0:
		last := places[last]
		end, text := last.End, " #"+tag
		if bytes.HasPrefix(src[end:], []byte("]]")) {
			end += 2
		}
		if last.Property {
			if text = ", " + tag; src[last.Start-1] == '#' {
				text = ", #" + tag
			}
		}
		return checkTags(splice(src, end, end, text), append(slices.Clone(doc.Tags), tag))
	case doc.PropertiesEnd > 0 && doc.FrontMatter.Format == "":
		_, at := markdown.LineAt(src, doc.PropertiesEnd-1)
		line := "tags:: #" + tag // which Obsidian reads as a tag too
		if at == len(src) && src[at-1] != '\n' {
			line = lineEnding(src, at) + line
		} else {
			line += lineEnding(src, at)
		}
		return checkTags(splice(src, at, at, line), append(slices.Clone(doc.Tags), tag))
	}
	return addMetaTag(src, doc, tag)
}

// AddFrontMatterTag adds a tag to front matter, in the style of the existing tags, if
// it is not there already.
func AddFrontMatterTag(src []byte, tag string) ([]byte, error) {
	return addMetaTag(src, markdown.Parse(src), markdown.NFC(tag))
}

func addMetaTag(src []byte, doc *markdown.Document, tag string) ([]byte, error) {
	keys := tagKeys(doc)
	for _, key := range keys {
		for _, has := range markdown.TagValues(doc.FrontMatter.Values[key]) {
			if sameTag(markdown.TagName(has), tag) {
				return bytes.Clone(src), nil
			}
		}
	}
	key := append(keys, "tags")[0]
	var value any
	switch v := doc.FrontMatter.Values[key].(type) {
	case nil:
		value = []any{tag}
	case []any:
		value = append(slices.Clone(v), tag)
	case string:
		text, separator := strings.TrimSpace(v), ", "
		if text == "" {
			separator = ""
		} else if strings.Contains(text, " ") && !strings.Contains(text, ",") {
			separator = " "
		}
		value = text + separator + tag
	default:
		value = []any{v, tag}
	}
	return SetFrontMatter(src, key, value)
}

// RemoveTag removes a tag from front matter, page properties and the text of a note.
// Within a sentence, only the '#' is removed. Nested tags (tag/part) are separate tags
// and are kept. The tag may be one that [AddTag] rejects, because other programs write
// tags with spaces to front matter. The error is [markdown.ErrMissing] if the note does
// not have the tag.
func RemoveTag(src []byte, tag string) ([]byte, error) {
	tag, err := foundTag(tag)
	if err != nil {
		return nil, err
	}
	return changeTags(src, func(t string) (string, bool) { return "", sameTag(t, tag) })
}

// RenameTag renames a tag and those nested in it (old/part becomes new/part) in front
// matter, page properties and text. Like [RemoveTag], it accepts tags with spaces, as Logseq and
// Roam have them, and such a tag may become another with spaces. If a list
// already contains the new tag, the old one is removed. The error is [markdown.ErrMissing]
// if the note has neither the tag nor one nested in it.
func RenameTag(src []byte, tag, name string) ([]byte, error) {
	tag, err := foundTag(tag)
	if err != nil {
		return nil, err
	}
	if spaced := markdown.NFC(markdown.TagName(name)); strings.Contains(tag, " ") && markdown.IsTag(strings.ReplaceAll(spaced, " ", "_")) {
		name = spaced // in brackets or a list everywhere, as the tag is
	} else if name, err = tagName(name); err != nil {
		return nil, err
	}
	return changeTags(src, func(t string) (string, bool) {
		if t = markdown.NFC(t); sameTag(t, tag) {
			return name, true
		}
		if n := len(tag); len(t) > n && t[n] == '/' && sameTag(t[:n], tag) {
			return name + t[n:], true
		}
		return "", false
	})
}

// foundTag returns the name of a tag to search for, without '#' and brackets, in NFC.
func foundTag(tag string) (string, error) {
	name := markdown.NFC(markdown.TagName(tag))
	if name == "" || !utf8.ValidString(name) {
		return "", invalid("%q is no tag", tag)
	}
	return name, nil
}

// TagName returns the name of a tag to write, without '#', in NFC, or else why some program
// would not read it as a tag.
func TagName(tag string) (name, problem string) {
	name = markdown.NFC(strings.Trim(strings.TrimLeft(strings.TrimSpace(tag), "#"), "/"))
	switch {
	case strings.ContainsAny(name, " \t\r\n"):
		return "", fmt.Sprintf("a tag has no spaces: write %q", strings.Join(strings.Fields(name), "-"))
	case !markdown.IsTag(name):
		return "", fmt.Sprintf("%q is no tag: letters, digits (not only digits), _, - and / between parts make one", name)
	}
	return name, ""
}

func tagName(tag string) (string, error) {
	name, problem := TagName(tag)
	if problem != "" {
		return "", invalid("%s", problem)
	}
	return name, nil
}

// sameTag reports whether two tags are equal regardless of case, like
// [markdown.Document.Tags]. b must be in NFC.
func sameTag(a, b string) bool {
	return foldTag(a) == strings.ToLower(b)
}

func foldTag(tag string) string { return strings.ToLower(markdown.NFC(tag)) }

func hasTag(tags []string, tag string) bool {
	return slices.ContainsFunc(tags, func(t string) bool { return sameTag(t, tag) })
}

// tagKeys returns the keys of front matter that contain tags, as spelled there.
func tagKeys(doc *markdown.Document) (keys []string) {
	for _, name := range []string{"tags", "tag"} {
		if key, found := markdown.KeyOf(doc.FrontMatter.Values, name); found {
			keys = append(keys, key)
		}
	}
	return keys
}

// tagPlaces returns the occurrences of tags in the body in order, without duplicates:
// a property's item with a '#' is recorded twice.
func tagPlaces(doc *markdown.Document) []markdown.InlineTag {
	places := slices.Clone(doc.InlineTags)
	slices.SortStableFunc(places, func(a, b markdown.InlineTag) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	end := 0
	return slices.DeleteFunc(places, func(t markdown.InlineTag) bool {
		if t.Start < end {
			return true
		}
		end = t.End
		return false
	})
}

// maxTagLine bounds the length of a line that onlyTags examines, in bytes, because it
// does so for each tag on the line.
const maxTagLine = 10_000

// onlyTags reports whether src[start:end] contains only tags, white space and commas.
func onlyTags(src []byte, places []markdown.InlineTag, start, end int) bool {
	if end-start > maxTagLine {
		return false
	}
	i, _ := slices.BinarySearchFunc(places, start, func(t markdown.InlineTag, start int) int { return cmp.Compare(t.Start, start) })
	at := start
	for ; i < len(places) && places[i].End <= end; i++ {
		if len(bytes.Trim(src[at:places[i].Start], " \t,#[]")) > 0 {
			return false
		}
		at = places[i].End
	}
	return at > start && len(bytes.Trim(src[at:end], " \t,]")) == 0
}

// changeTags replaces each tag for which change returns true with the returned name,
// or removes it if the name is "".
func changeTags(src []byte, change func(tag string) (name string, ok bool)) ([]byte, error) {
	doc := markdown.Parse(src)
	var want []string
	found := false
	for _, t := range doc.Tags {
		name, ok := change(t)
		found = found || ok
		if !ok {
			name = t
		}
		if name != "" {
			want = append(want, name)
		}
	}
	switch {
	case len(doc.Tags) == 0:
		return nil, fmt.Errorf("%w: it has no tags", markdown.ErrMissing)
	case !found:
		return nil, fmt.Errorf("%w: it has no such tag; its tags are: %s", markdown.ErrMissing, shownTags(doc.Tags))
	}
	out, changed := changeInlineTags(src, doc, change)
	if fm := doc.FrontMatter; fm.Err != nil && !changed {
		return nil, &FrontMatterError{Key: "tags", Line: fm.ErrLine, Reason: fmt.Sprintf("%v; correct it first with replace_text", fm.Err)}
	}
	for _, key := range tagKeys(doc) {
		value := doc.FrontMatter.Values[key]
		if !slices.ContainsFunc(markdown.TagValues(value), func(tag string) bool { return matchesTag(tag, change) }) {
			continue
		}
		var err error
		if out, err = SetFrontMatter(out, key, changeTagValue(value, change)); err != nil {
			return nil, err
		}
	}
	return checkTags(out, want)
}

// checkTags returns out, or an error if its tags are not the wanted ones.
func checkTags(out []byte, want []string) ([]byte, error) {
	set := func(tags []string) map[string]bool {
		folded := map[string]bool{}
		for _, t := range tags {
			folded[foldTag(t)] = true
		}
		return folded
	}
	if got := markdown.Parse(out).Tags; !maps.Equal(set(got), set(want)) {
		return nil, invalid("the tags would become %s instead of %s; use replace_text", shownTags(got), shownTags(want))
	}
	return out, nil
}

// shownTags lists the first 50 tags for a message.
func shownTags(tags []string) string { return strings.Join(tags[:min(len(tags), 50)], ", ") }

func changeInlineTags(src []byte, doc *markdown.Document, change func(string) (string, bool)) (out []byte, changed bool) {
	at := 0
	all := tagPlaces(doc)
	has := map[string]bool{} // a property's list contains a tag once
	for _, t := range all {
		if name := markdown.TagName(string(src[t.Start:t.End])); t.Property && !matchesTag(name, change) {
			has[foldTag(name)] = true
		}
	}
	var line textLine
	for _, t := range all {
		text, ok := changeTag(string(src[t.Start:t.End]), change)
		if !ok {
			continue
		}
		changed = true
		if key := foldTag(markdown.TagName(text)); t.Property && has[key] {
			text = ""
		} else if t.Property {
			has[key] = true
		}
		start, end := t.Start, t.End
		if text == "" {
			if t.Start >= line.next {
				line.start = bytes.LastIndexByte(src[:t.Start], '\n') + 1
				line.end, line.next = markdown.LineAt(src, t.End)
			}
			start, end = removedWith(src, all, t, line)
			start = max(start, at)
		}
		out = append(append(out, src[at:start]...), text...)
		at = end
	}
	return append(out, src[at:]...), changed
}

// changeTag applies change to the tag in text and keeps the '#' or brackets around it.
func changeTag(text string, change func(string) (string, bool)) (changed string, ok bool) {
	core := markdown.TagName(text)
	name, ok := change(core)
	if !ok || name == "" {
		return name, ok
	}
	return strings.Replace(text, core, name, 1), true
}

func matchesTag(text string, change func(string) (string, bool)) bool {
	_, ok := change(markdown.TagName(text))
	return ok
}

// textLine is the span of a line in a note; next is where the line below starts.
type textLine struct{ start, end, next int }

// removedWith returns the span to delete when a tag of the body is removed: the whole
// line if it contains nothing else, unless it starts a list item that goes on below; only
// the '#' within a sentence; else the tag with the adjacent white space or comma.
func removedWith(src []byte, places []markdown.InlineTag, t markdown.InlineTag, line textLine) (start, end int) {
	start, end = t.Start, t.End
	if bytes.HasSuffix(src[:start], []byte("[[")) && bytes.HasPrefix(src[end:], []byte("]]")) {
		start, end = start-2, end+2
	}
	mark := start
	for start > line.start && src[start-1] == '#' {
		start--
	}
	before, after := src[line.start:start], src[end:line.end]
	first, last := len(markdown.LineMarkers.Find(before)) == len(before), isBlank(after)
	if t.Property {
		colon := bytes.Index(before, []byte("::"))
		first = isBlank(before[colon+2:])
	}
	more := -1
	if first && last {
		more = itemGoesOn(src[line.start:line.end], src[line.next:])
	}
	switch {
	case more >= 0: // blank lines would end an empty item
		return start, max(end, line.end+more)
	case first && last:
		return line.start, line.next
	case first:
		return start, end + len(after) - len(bytes.TrimLeft(after, " \t,"))
	case last || t.Property || onlyTags(src, places, end, line.end) || onlyTags(src, places, line.start, start):
		return line.start + len(bytes.TrimRight(before, " \t,")), end
	}
	return start, mark // the word stays
}

// itemGoesOn returns the number of bytes of blank lines between line, if it is the first of a
// list item, and the text or children of the item on the lines below, or -1 if it has none.
func itemGoesOn(line, below []byte) int {
	text := bytes.TrimLeft(line, " \t>")
	for at := 0; at < len(below) && markdown.ListMarker(text, false) > 0; {
		end, next := markdown.LineAt(below, at)
		if len(bytes.TrimLeft(below[at:end], " \t>")) > 0 {
			if more, ok := bytes.CutPrefix(below[at:end], line[:len(line)-len(text)]); ok && leadingSpace(more) != "" {
				return at
			}
			break
		}
		at = next
	}
	return -1
}

// changeTagValue changes the tags in a value of front matter. It returns nil if no tag
// remains.
func changeTagValue(value any, change func(string) (string, bool)) any {
	if list, ok := value.([]any); ok {
		if list = changeItems(list, change); len(list) > 0 {
			return list
		}
		return nil
	}
	var tags []any
	for _, tag := range markdown.TagValues(value) {
		tags = append(tags, strings.TrimSpace(tag))
	}
	var kept []string
	for _, tag := range changeItems(tags, change) {
		kept = append(kept, tag.(string))
	}
	if kept == nil {
		return nil
	}
	separator := " "
	if text, ok := value.(string); ok && strings.Contains(text, ",") {
		separator = ", "
	}
	return strings.Join(kept, separator)
}

// changeItems changes the tags in a list and removes the duplicates that result.
func changeItems(list []any, change func(string) (string, bool)) (out []any) {
	has := map[string]bool{"": true} // "" is a removed tag
	for _, item := range list {
		if text := fmt.Sprint(item); !matchesTag(text, change) {
			has[strings.ToLower(text)] = true
		}
	}
	for _, item := range list {
		text, ok := changeTag(fmt.Sprint(item), change)
		if !ok {
			out = append(out, item)
		} else if key := strings.ToLower(text); !has[key] {
			has[key] = true
			out = append(out, text)
		}
	}
	return out
}

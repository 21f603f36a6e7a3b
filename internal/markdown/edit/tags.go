package edit

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"notesd/internal/markdown"
)

// AddTag gives a note a tag that it does not have, in the way in which it has
// tags: in the list or text of its front matter, in a page property "tags::", or
// on a line that has nothing but tags; else in front matter. A note that has the
// tag stays as it is.
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
		if onlyTags(src, places, bytes.LastIndexByte(src[:places[last].Start], '\n')+1, end) {
			break
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
		line := "tags:: " + tag
		if at == len(src) && src[at-1] != '\n' {
			line = lineEnding(src) + line
		} else {
			line += lineEnding(src)
		}
		return checkTags(splice(src, at, at, line), append(slices.Clone(doc.Tags), tag))
	}
	return addMetaTag(src, doc, tag)
}

// AddFrontMatterTag gives front matter a tag that it does not have, written as those
// that it has are.
func AddFrontMatterTag(src []byte, tag string) ([]byte, error) {
	return addMetaTag(src, markdown.Parse(src), markdown.NFC(tag))
}

func addMetaTag(src []byte, doc *markdown.Document, tag string) ([]byte, error) {
	keys := tagKeys(doc)
	for _, key := range keys {
		for _, has := range markdown.TagValues(doc.FrontMatter.Values[key]) {
			if sameTag(coreOf(has), tag) {
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

// RemoveTag takes a tag from a note: from front matter, from a page property,
// and from the text, where a tag inside a sentence leaves its word. Nested tags
// (tag/part) are tags of their own and stay. The tag may be one that [AddTag] refuses,
// as other programs write tags with spaces to front matter. The error is [ErrMissing]
// when the note does not have it.
func RemoveTag(src []byte, tag string) ([]byte, error) {
	tag, err := foundTag(tag)
	if err != nil {
		return nil, err
	}
	out, _, err := changeTags(src, func(t string) (string, bool) { return "", sameTag(t, tag) })
	return out, err
}

// RenameTag renames a tag, as [RemoveTag] takes it, and those nested in it (old/part
// becomes new/part) in front matter, properties and text, and returns the number of
// places. Where a list has the new tag already, the old one goes. It fails with
// [ErrMissing] when the note has neither the tag nor one nested in it.
func RenameTag(src []byte, tag, name string) (out []byte, places int, err error) {
	if tag, err = foundTag(tag); err != nil {
		return nil, 0, err
	}
	if name, err = tagName(name); err != nil {
		return nil, 0, err
	}
	return changeTags(src, func(t string) (string, bool) {
		if sameTag(t, tag) {
			return name, true
		}
		if n := len(tag); len(t) > n && t[n] == '/' && sameTag(t[:n], tag) {
			return name + t[n:], true
		}
		return "", false
	})
}

// foundTag returns a tag that a note may have without '#' and brackets, in NFC.
func foundTag(tag string) (string, error) {
	name := markdown.NFC(coreOf(tag))
	if name == "" || !utf8.ValidString(name) {
		return "", invalid("%q is no tag", tag)
	}
	return name, nil
}

// tagName returns a tag without '#', in NFC, or an error that says why some program
// would not read it as a tag.
func tagName(tag string) (string, error) {
	name := markdown.NFC(strings.Trim(strings.TrimLeft(strings.TrimSpace(tag), "#"), "/"))
	switch {
	case strings.ContainsAny(name, " \t\r\n"):
		return "", invalid("a tag has no spaces: write %q", strings.Join(strings.Fields(name), "-"))
	case !markdown.IsTag(name):
		return "", invalid("%q is no tag: letters, digits (not only digits), _, - and / between parts make one", name)
	}
	return name, nil
}

// sameTag compares tags as [Document.Tags] does.
func sameTag(a, b string) bool {
	folded := strings.ToLower(markdown.NFC(a))
	return folded == strings.ToLower(b)
}

func hasTag(tags []string, tag string) bool {
	return slices.ContainsFunc(tags, func(t string) bool { return sameTag(t, tag) })
}

// tagKeys returns the keys of front matter that hold tags, as they are spelled.
func tagKeys(doc *markdown.Document) (keys []string) {
	for _, name := range []string{"tags", "tag"} {
		if key, found := markdown.KeyOf(doc.FrontMatter.Values, name); found {
			keys = append(keys, key)
		}
	}
	return keys
}

// tagPlaces returns the tags of the body in order, each place once: a property's
// item may have a '#'.
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

// maxTagLine bounds, in bytes, the line that is compared with its tags, which is
// done for each of them.
const maxTagLine = 10_000

// onlyTags reports whether src[start:end] has nothing but tags, white space and
// commas.
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

// changeTags replaces each tag for which change returns true by the name that it
// returns, or removes it for the name "".
func changeTags(src []byte, change func(tag string) (name string, ok bool)) (out []byte, places int, err error) {
	doc := markdown.Parse(src)
	var want []string
	for _, t := range doc.Tags {
		if name, ok := change(t); !ok {
			want = append(want, t)
		} else if name != "" {
			want = append(want, name)
		}
	}
	out, places = changeInlineTags(src, doc, change)
	for _, key := range tagKeys(doc) {
		value, n := changeTagValue(doc.FrontMatter.Values[key], change)
		if n == 0 {
			continue
		}
		places += n
		if out, err = SetFrontMatter(out, key, value); err != nil {
			return nil, 0, err
		}
	}
	if places == 0 {
		if fm := doc.FrontMatter; fm.Err != nil && !slices.Equal(want, doc.Tags) {
			return nil, 0, &FrontMatterError{Key: "tags", Line: fm.ErrLine, Reason: fmt.Sprintf("%v; correct it first with replace_text", fm.Err)}
		}
		if len(doc.Tags) == 0 {
			return nil, 0, fmt.Errorf("%w: it has no tags", markdown.ErrMissing)
		}
		return nil, 0, fmt.Errorf("%w: it has no such tag; its tags are: %s", markdown.ErrMissing, shownTags(doc.Tags))
	}
	out, err = checkTags(out, want)
	return out, places, err
}

// checkTags makes sure that a note has the tags wanted after an edit.
func checkTags(out []byte, want []string) ([]byte, error) {
	set := func(tags []string) map[string]bool {
		folded := map[string]bool{}
		for _, t := range tags {
			folded[strings.ToLower(markdown.NFC(t))] = true
		}
		return folded
	}
	if got := markdown.Parse(out).Tags; !maps.Equal(set(got), set(want)) {
		return nil, invalid("the tags would become %s instead of %s; use replace_text", shownTags(got), shownTags(want))
	}
	return out, nil
}

// shownTags lists the first of the tags.
func shownTags(tags []string) string { return strings.Join(tags[:min(len(tags), 50)], ", ") }

func changeInlineTags(src []byte, doc *markdown.Document, change func(string) (string, bool)) (out []byte, places int) {
	at := 0
	all := tagPlaces(doc)
	for _, t := range all {
		text, ok := changeTag(string(src[t.Start:t.End]), change)
		if !ok {
			continue
		}
		places++
		start, end := t.Start, t.End
		if text == "" {
			start, end = removedWith(src, all, t)
			start = max(start, at)
		}
		out = append(append(out, src[at:start]...), text...)
		at = end
	}
	return append(out, src[at:]...), places
}

// changeTag changes the tag that text is, with the '#' or brackets around it.
func changeTag(text string, change func(string) (string, bool)) (changed string, ok bool) {
	core := coreOf(text)
	name, ok := change(core)
	if !ok || name == "" {
		return name, ok
	}
	return strings.Replace(text, core, name, 1), true
}

// coreOf returns a tag without the '#' or brackets around it.
func coreOf(text string) string {
	text = strings.TrimLeft(strings.TrimSpace(text), "#")
	return strings.Trim(strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, "[["), "]]")), "/")
}

// lineStarter matches what may stand before the text of a line.
var lineStarter = regexp.MustCompile(`^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?:\[.\][ \t]+)?$`)

// removedWith returns what goes when a tag of the body is removed: its line when
// nothing else is on it, its '#' alone inside a sentence, else the tag with the
// white space or comma before or after it.
func removedWith(src []byte, places []markdown.InlineTag, t markdown.InlineTag) (start, end int) {
	lineStart := bytes.LastIndexByte(src[:t.Start], '\n') + 1
	lineEnd, next := markdown.LineAt(src, t.End)
	start, end = t.Start, t.End
	if bytes.HasSuffix(src[:start], []byte("[[")) && bytes.HasPrefix(src[end:], []byte("]]")) {
		start, end = start-2, end+2
	}
	mark := start
	for start > lineStart && src[start-1] == '#' {
		start--
	}
	before, after := src[lineStart:start], src[end:lineEnd]
	first, last := lineStarter.Match(before), isBlank(after)
	if t.Property {
		colon := bytes.Index(before, []byte("::"))
		first = isBlank(before[colon+2:])
	}
	switch {
	case first && last:
		return lineStart, next
	case first:
		return start, end + len(after) - len(bytes.TrimLeft(after, " \t,"))
	case last || t.Property || onlyTags(src, places, end, lineEnd) || onlyTags(src, places, lineStart, start):
		return lineStart + len(bytes.TrimRight(before, " \t,")), end
	}
	return start, mark // the word stays
}

// changeTagValue changes the tags in a value of front matter, and returns how
// many those are.
func changeTagValue(value any, change func(string) (string, bool)) (any, int) {
	switch v := value.(type) {
	case []any:
		list, places := changeItems(v, change)
		if len(list) == 0 {
			return nil, places
		}
		return list, places
	case string:
		separator, isSeparator := ", ", func(r rune) bool { return r == ',' || r == '\n' }
		if !strings.Contains(v, ",") {
			separator, isSeparator = " ", unicode.IsSpace
		}
		var items []any
		for _, part := range strings.FieldsFunc(v, isSeparator) {
			items = append(items, strings.TrimSpace(part))
		}
		list, places := changeItems(items, change)
		if len(list) == 0 {
			return nil, places
		}
		var parts []string
		for _, item := range list {
			parts = append(parts, item.(string))
		}
		return strings.Join(parts, separator), places
	case int64, float64:
		list, places := changeItems([]any{v}, change)
		if len(list) == 0 {
			return nil, places
		}
		return list[0], places
	}
	return value, 0
}

// changeItems changes the tags in a list; one that comes to be in it twice goes.
func changeItems(list []any, change func(string) (string, bool)) (out []any, places int) {
	has := map[string]bool{}
	texts := make([]string, len(list))
	changed := make([]bool, len(list))
	for i, item := range list {
		switch item.(type) {
		case string, int64, float64, bool:
			texts[i], changed[i] = changeTag(fmt.Sprint(item), change)
		}
		if !changed[i] {
			has[strings.ToLower(fmt.Sprint(item))] = true
		}
	}
	for i, item := range list {
		if !changed[i] {
			out = append(out, item)
			continue
		}
		places++
		if key := strings.ToLower(texts[i]); key != "" && !has[key] {
			has[key] = true
			out = append(out, texts[i])
		}
	}
	return out, places
}

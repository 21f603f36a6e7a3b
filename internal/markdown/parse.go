package markdown

import (
	"slices"
	"strings"
)

// Parse parses one note. It accepts any bytes; invalid parts, such as broken front
// matter, are reported in the result. The result does not retain src.
func Parse(src []byte) *Document {
	fm := ReadFrontMatter(src)
	doc := &Document{FrontMatter: fm, BodyStart: fm.End}
	tags := &tagSet{}
	if fm.Format != "" {
		readMetadata(doc, tags, src)
		addFrontMatterLinks(doc, src)
	}
	s := &scanner{cursor: cursor{src: src}, doc: doc, inline: inlineScanner{src: src, doc: doc, tags: tags, unclosed: map[string]int{}}}
	s.run(doc.BodyStart)
	s.inline.finish()
	doc.Tags = tags.list
	doc.TextEnd = len(src)
	for i, l := range slices.Backward(doc.leaves) {
		if l.kind != leafComment || src[l.start] != '%' {
			if doc.TextEnd < len(src) && doc.divides(i) {
				doc.TextEnd = l.start
			}
			break
		}
		doc.TextEnd = l.start
	}
	return doc
}

// readMetadata reads title, tags and aliases from front matter.
func readMetadata(doc *Document, tags *tagSet, src []byte) {
	fm := &doc.FrontMatter
	values := fm.Values
	if fm.Err != nil {
		values = salvageKeys(src[fm.InnerStart:fm.InnerEnd])
	}
	switch title := metaValue(values, "title").(type) {
	case string:
		doc.Title = cut(NFC(strings.TrimSpace(title)))
	case int64, float64:
		doc.Title = metaStrings(title, "")[0]
	}
	for _, key := range []string{"tags", "tag"} {
		for _, tag := range TagValues(metaValue(values, key)) {
			tags.add(tag)
		}
	}
	for _, key := range []string{"aliases", "alias"} {
		for _, alias := range metaStrings(metaValue(values, key), ",\n") {
			addAlias(doc, alias)
		}
	}
}

// salvageKeys recovers title, tags and aliases from front matter that does not parse,
// if they are on one line or a list of "- item" lines.
func salvageKeys(inner []byte) map[string]any {
	values := map[string]any{}
	key := ""
	for len(inner) > 0 {
		end, next := LineAt(inner, 0)
		line := strings.TrimRight(string(inner[:min(end, maxText)]), " \t")
		inner = inner[next:]
		trimmed := strings.TrimLeft(line, " \t")
		if item, ok := strings.CutPrefix(trimmed, "- "); ok {
			if list, ok := values[key].([]any); ok {
				values[key] = append(list, unquote(item))
			}
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || name != trimmed[:min(len(name), len(trimmed))] {
			continue
		}
		key = strings.ToLower(strings.TrimSpace(name))
		switch key {
		case "title":
			values[key] = unquote(value)
		case "tags", "tag", "aliases", "alias":
			list := []any{}
			for _, item := range strings.Split(strings.Trim(value, " []"), ",") {
				if item = unquote(item); item != "" {
					list = append(list, item)
				}
			}
			values[key] = list
		}
	}
	return values
}

func unquote(s string) string {
	return strings.Trim(strings.TrimSpace(s), `"'`)
}

package notes

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"notesd/internal/markdown"
)

// composeNote makes the note's text: the content, and in front matter what was
// asked for and a title that neither file name nor heading carries. What the
// content's own front matter has stays: tags are added to its tags, and another
// value for one of its keys is an error.
func composeNote(p string, r CreateRequest) ([]byte, error) {
	text := []byte(r.Content)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	d := draft{path: p, text: text}
	wanted := r.Tags
	for _, name := range slices.Sorted(maps.Keys(r.FrontMatter)) {
		if strings.EqualFold(name, "tags") {
			wanted = slices.Concat(tagNames(r.FrontMatter[name]), wanted)
			continue
		}
		if err := d.set(name, r.FrontMatter[name], "front_matter"); err != nil {
			return nil, err
		}
	}
	if err := d.addTags(wanted); err != nil {
		return nil, err
	}
	_, given := r.FrontMatter["title"] // null: none
	if title := strings.TrimSpace(r.Title); title != "" && !given && parseNote(p, d.text, time.Time{}).Title != title {
		if err := d.set("title", title, "title"); err != nil {
			return nil, err
		}
	}
	return d.text, nil
}

// draft is the text of a note that is being composed.
type draft struct {
	path string
	text []byte
}

// own returns the key of the text's front matter that is name in any case, and
// its value.
func (d *draft) own(name string) (key string, value any, found bool) {
	for k, v := range markdown.Parse(d.text).FrontMatter.Values {
		if strings.EqualFold(k, name) {
			return k, v, true
		}
	}
	return name, nil, false
}

// set gives a key its value, which came with the argument.
func (d *draft) set(name string, value any, argument string) error {
	key, _, found := d.own(name)
	if found && value == nil {
		return nil
	}
	text, err := markdown.SetFrontMatter(d.text, key, value)
	switch {
	case err != nil:
		return &Error{Op: "create", Path: d.path, Err: ErrInvalid, Detail: fmt.Sprintf("front matter %s cannot be written: %v", quote(name), err)}
	case found && !bytes.Equal(text, d.text):
		return &Error{Op: "create", Path: d.path, Err: ErrInvalid, Detail: fmt.Sprintf("%s has another value in the content's front matter than in %s", quote(name), argument), Hint: "Nothing was written. Pass it in one of the two."}
	}
	d.text = text
	return nil
}

// addTags adds the tags that front matter does not have, after those that it
// has and written as these are.
func (d *draft) addTags(wanted []string) error {
	has := map[string]bool{}
	for _, tag := range markdown.Parse(d.text[:markdown.Parse(d.text).FrontMatter.End]).Tags {
		has[key(tag)] = true
	}
	var add []any
	for _, tag := range wanted {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "#"); tag != "" && !has[key(tag)] {
			has[key(tag)] = true
			add = append(add, tag)
		}
	}
	if len(add) == 0 {
		return nil
	}
	name, old, _ := d.own("tags")
	var value any
	switch old := old.(type) {
	case nil:
		value = add
	case []any:
		value = slices.Concat(old, add)
	case string:
		if strings.Contains(old, ",") {
			for _, tag := range add {
				old += fmt.Sprintf(", %v", tag)
			}
			value = old
			break
		}
		var list []any
		for _, tag := range tagNames(old) {
			list = append(list, tag)
		}
		value = slices.Concat(list, add)
	default:
		value = slices.Concat([]any{old}, add)
	}
	text, err := markdown.SetFrontMatter(d.text, name, value)
	if err != nil {
		return &Error{Op: "create", Path: d.path, Err: ErrInvalid, Detail: fmt.Sprintf("front matter %s cannot be written: %v", quote(name), err)}
	}
	d.text = text
	return nil
}

// tagNames reads tags as front matter may give them: a list, or names parted by
// commas, or by blanks.
func tagNames(value any) []string {
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		if strings.Contains(v, ",") {
			return strings.Split(v, ",")
		}
		return strings.Fields(v)
	case []any:
		var names []string
		for _, item := range v {
			names = append(names, fmt.Sprint(item))
		}
		return names
	case []string:
		return v
	}
	return []string{fmt.Sprint(value)}
}

package search

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"notesd/search/terms"
)

// openTask is the beginning of an open task, as package markdown has it.
var openTask = regexp.MustCompile(`(?m)^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ /]\](?:[ \t]|$)|(?:TODO|DOING|NOW|LATER|WAITING|WAIT|IN-PROGRESS)[ \t])`)

// marked appends to the matches in a text the places of what the filter asks
// for, open tasks and tags, as matches of one more term; in order.
func (s *rescorer) marked(text string, matches []match) []match {
	if s.mark < 0 {
		return matches
	}
	out := slices.Clone(matches)
	if s.request.filter.HasTodo {
		for _, at := range openTask.FindAllStringIndex(text, -1) {
			out = append(out, match{term: s.mark, start: at[0], end: reach(text, at[1])})
		}
	}
	for _, tag := range s.request.filter.Tags {
		out = s.appendTag(out, text, "#"+strings.Trim(tag, "#/"))
	}
	slices.SortStableFunc(out, func(a, b match) int { return cmp.Compare(a.start, b.start) })
	return out
}

// reach returns the end of the line that a place is in, or of as much of it as a
// snippet is to show.
func reach(text string, at int) int {
	const most = 80 // bytes
	rest := text[at:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return at + len(terms.ClipTo(rest, most))
}

// appendTag appends where a tag, or one below it, stands in a text.
func (s *rescorer) appendTag(out []match, text, tag string) []match {
	for at := 0; at+len(tag) <= len(text); at++ {
		i := strings.IndexByte(text[at:], '#')
		if i < 0 {
			break
		}
		at += i
		end := at + len(tag)
		if end > len(text) || !strings.EqualFold(text[at:end], tag) {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(text[end:]); end == len(text) || r == '/' || r != '-' && r != '_' && terms.ClassOf(r)&terms.ClassWord == 0 {
			out = append(out, match{term: s.mark, start: at, end: end})
		}
	}
	return out
}

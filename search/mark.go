package search

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"notesd/search/terms"
)

// openTask matches the beginning of an open task, as defined by package markdown.
var openTask = regexp.MustCompile(`(?m)^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ /]\](?:[ \t]|$)|(?:TODO|DOING|NOW|LATER|WAITING|WAIT|IN-PROGRESS)[ \t])`)

// marked returns the matches in a text together with the open tasks and tags that the filter
// requires, as matches of an additional term, in order.
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

// reach returns the end of the line containing at, or of as much of it as a snippet should
// show.
func reach(text string, at int) int {
	const most = 80 // bytes
	rest := text[at:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return at + len(terms.ClipTo(rest, most))
}

// appendTag appends the occurrences of a tag, or of a tag nested in it.
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

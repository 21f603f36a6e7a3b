package tools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"notesd/internal/phrase"
	"notesd/notes"
)

// decodeArgs decodes a call's arguments into args, a pointer to a struct whose fields have
// the names of the schema's parameters. It accepts what models commonly write: other names
// for an argument, numbers and booleans as strings, one value or a comma-separated list for
// an array, JSON in a string, null, "" or 0 for an omitted value.
//
// It returns remarks on the arguments that it ignored. All problems are in one error.
func decodeArgs(s schema, raw json.RawMessage, strict bool, args any) (ignored []string, err error) {
	given, err := argumentObject(raw)
	if err != nil {
		return nil, err
	}
	values, ignored, problems := s.values(given, strict)
	if len(problems) > 0 {
		return nil, &UsageError{problems: problems}
	}
	data, _ := json.Marshal(values) // they are valid JSON
	if err := json.Unmarshal(data, args); err != nil {
		return nil, fmt.Errorf("decode arguments into %T: %w", args, err)
	}
	return ignored, nil
}

// decodeExact decodes valid JSON like json.Unmarshal, but the numbers in values of any type as
// json.Number: a float64 does not have every whole number.
func decodeExact(data []byte, value any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(value)
}

// values returns the arguments with the names and types of the schema:
//
//  1. joinLines replaces pairs such as line_start and line_end by the argument lines,
//     wrapElement makes a list of the fields of its only element, and imply adds the
//     arguments that others imply.
//  2. canonical finds the parameter that each name means. A name similar to a parameter's, or
//     with a parameter as one of its words, such as created_after, or that is itself a word
//     of a parameter, such as before for due_before, or that is in the table unlike, is a
//     problem, because ignoring the argument would change what the call does; if strict is
//     set or a required parameter is missing, so is any other unknown argument. Otherwise these
//     are ignored with a remark, since some hosts add arguments of their own.
//  3. coerce converts each value to the parameter's type. null, and what stands for none, is
//     as if the argument were missing.
//  4. A required parameter without a value is a problem, unless its value was one in step 3.
//
// All problems are collected, so that a model can correct them in one further call.
func (s schema) values(given map[string]json.RawMessage, strict bool) (values map[string]json.RawMessage, ignored, problems []string) {
	values = make(map[string]json.RawMessage, len(given))
	wrong := map[string]bool{}
	s.joinLines(given)
	s.wrapElement(given)
	s.imply(given)
	var strays []string
	for _, name := range slices.Sorted(maps.Keys(given)) { // for a deterministic result
		to, ok := s.canonical(name, given)
		if !ok {
			stray, plain := strconv.Quote(phrase.Clip(name, 60)), phrase.SnakeCase(name)
			advice := s.advice(plain)
			if near := s.near(plain); advice == "" && near != "" {
				advice = fmt.Sprintf("did you mean %q?", near)
			}
			if advice == "" {
				strays = append(strays, stray)
			} else {
				problems = append(problems, fmt.Sprintf("there is no argument %s: %s", stray, advice))
			}
			continue
		}
		// The plural takes what does not fit the singular; a note never has two values.
		if list := to + "s"; s.byName[list].Type == "array" && given[list] == nil && isList(given[name]) {
			to = list
		}
		value, problem := coerce(s.byName[to], given[name])
		switch {
		case problem != "":
			problems, wrong[to] = append(problems, problem), true
		case value != nil && values[to] != nil && !bytes.Equal(value, values[to]):
			problems = append(problems, fmt.Sprintf("%s is given twice, also as %q", to, phrase.Clip(name, 60)))
		case value != nil:
			values[to] = value
		}
	}
	missing := slices.DeleteFunc(slices.Clone(s.required), func(name string) bool { return values[name] != nil || wrong[name] })
	switch {
	case len(strays) > 0 && (strict || len(missing) > 0):
		problems = append(problems, fmt.Sprintf("there is no argument %s: the arguments are %s", strings.Join(strays, " or "), strings.Join(s.names(), ", ")))
	case len(strays) > 0:
		ignored = append(ignored, "ignored the unknown argument "+strings.Join(strays, " and "))
	}
	for _, name := range missing {
		problems = append(problems, fmt.Sprintf("%s is required: pass %s", name, s.byName[name].wanted()))
	}
	return values, ignored, problems
}

// joinLines converts the other forms of a range of lines to that of the argument lines: the
// first and the last line, named as in results or as in editors, the first line and the
// number of lines, as in Claude Code's own tool, one of the two, and an array of both.
func (s schema) joinLines(given map[string]json.RawMessage) {
	if _, ok := s.byName["lines"]; !ok {
		return
	}
	number := func(name string) int {
		n, _ := strconv.Atoi(strings.Trim(string(given[name]), `"`))
		return n
	}
	for _, names := range [][2]string{{"line_start", "line_end"}, {"start_line", "end_line"}, {"offset", "limit"}} {
		first, last := max(1, number(names[0])), number(names[1])
		if names[1] == "limit" && last > 0 {
			last += first - 1
		}
		switch {
		case given["lines"] != nil, names[1] == "limit" && given["offset"] == nil && s.namesPart(given):
			continue
		case last > 0:
			given["lines"] = json.RawMessage(fmt.Sprintf(`"%d-%d"`, first, last))
		case first > 1:
			given["lines"] = json.RawMessage(fmt.Sprintf(`"%d-"`, first))
		default:
			continue
		}
		delete(given, names[0])
		delete(given, names[1])
	}
	for name, value := range given {
		var both []int
		if to, _ := s.canonical(name, given); to == "lines" && json.Unmarshal(value, &both) == nil && len(both) == 2 {
			given[name] = json.RawMessage(fmt.Sprintf(`"%d-%d"`, both[0], both[1]))
		}
	}
}

// namesPart reports whether the arguments may name a part of a note, whose lines a number of
// lines alone does not select.
func (s schema) namesPart(given map[string]json.RawMessage) bool {
	for name, value := range given {
		if to, _ := s.canonical(name, given); to == "heading" || to == "note" && bytes.ContainsAny(value, "#:") {
			return true
		}
	}
	return false
}

// wrapElement makes a list of the fields of its only element that were passed beside the
// list's siblings: {"note", "op", "content"} for {"note", "edits": [{"op", "content"}]}.
func (s schema) wrapElement(given map[string]json.RawMessage) {
	for _, list := range s.required {
		items := s.byName[list].Items
		if items == nil || items.Properties == nil {
			continue
		}
		element, fields := map[string]json.RawMessage{}, items.object()
		for name, value := range given {
			to, own := s.canonical(name, given)
			if to == list {
				return
			}
			if _, ok := fields.canonical(name, given); ok && !own {
				element[name] = value
			}
		}
		if len(element) == 0 {
			return
		}
		for name := range element {
			delete(given, name)
		}
		given[list], _ = json.Marshal(element) // the values were valid JSON
	}
}

// imply adds the arguments that others mean, see flags, or imply, unless they are given.
func (s schema) imply(given map[string]json.RawMessage) {
	add := func(name, value string) {
		if _, ok := s.byName[name]; ok && given[name] == nil && value != "" {
			given[name] = json.RawMessage(strconv.Quote(value))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) { // for a deterministic result
		flag, ok := flags[phrase.SnakeCase(name)]
		value := strings.ToLower(strings.Trim(string(given[name]), `"`))
		if _, applies := s.byName[flag.name]; !ok || !applies || value != "true" && value != "false" {
			continue
		}
		delete(given, name)
		add(flag.name, map[string]string{"true": flag.on, "false": flag.off}[value])
	}
	passed := map[string]bool{}
	for name := range given {
		to, _ := s.canonical(name, given)
		passed[to] = true
	}
	for _, i := range implied {
		if !passed[i.name] && !slices.ContainsFunc(i.by, func(name string) bool { return !passed[name] }) {
			add(i.name, i.value)
		}
	}
}

// isList reports whether raw is an array of several strings.
func isList(raw json.RawMessage) bool {
	var list []string
	return json.Unmarshal(raw, &list) == nil && len(list) > 1
}

// argumentObject accepts an object, nothing, or an object encoded in a string.
func argumentObject(raw json.RawMessage) (map[string]json.RawMessage, error) {
	var given map[string]json.RawMessage
	if text := unquoted(raw); text != "" && json.Unmarshal([]byte(text), &given) != nil {
		return nil, usagef("arguments must be a JSON object")
	}
	return given, nil
}

// canonical returns the parameter that an argument's name refers to: its own name, in any
// case and with any separators, before an alias. A parameter that is given under its own
// name is not also set by an alias, whose value would replace it or be replaced, depending
// on the order of the names.
func (s schema) canonical(name string, given map[string]json.RawMessage) (string, bool) {
	if _, ok := s.byName[name]; ok {
		return name, true
	}
	plain := phrase.SnakeCase(name)
	if _, ok := s.byName[plain]; ok && given[plain] == nil {
		return plain, true
	}
	var object map[string]json.RawMessage
	isObject, first := json.Unmarshal([]byte(unquoted(given[name])), &object) == nil, ""
	for _, p := range s.params {
		if given[p.name] == nil && slices.Contains(aliases[p.name], plain) {
			if !isObject || p.Type == "object" {
				return p.name, true
			}
			first = cmp.Or(first, p.name)
		}
	}
	return first, first != ""
}

// advice returns what to do instead of passing an argument with an unknown name, or "".
func (s schema) advice(plain string) string {
	words := strings.Split(plain, "_")
	for _, u := range unlike {
		if _, ok := s.byName[u.has]; ok && slices.ContainsFunc(words, func(word string) bool { return slices.Contains(u.words, word) }) {
			return u.advice
		}
	}
	return ""
}

// near returns the parameter that an unknown name resembles, or "".
func (s schema) near(plain string) string {
	if near := phrase.Nearest(plain, s.names()); near != "" {
		return near
	}
	for word := range strings.SplitSeq(plain, "_") {
		if _, ok := s.byName[word]; ok {
			return word
		}
	}
	for _, p := range s.params {
		if slices.Contains(strings.Split(p.name, "_"), plain) {
			return p.name
		}
	}
	return ""
}

// A UsageError describes what is wrong with a call's arguments and what to pass instead.
type UsageError struct{ problems []string }

func (e *UsageError) Error() string { return strings.Join(e.problems, "; ") }

func usagef(format string, args ...any) error {
	return &UsageError{problems: []string{fmt.Sprintf(format, args...)}}
}

// maxNotes is the maximum number of notes in one call.
const maxNotes = 50

// severalNotes returns the notes that a call names in its arguments note and notes.
func severalNotes(note string, more []string) ([]string, error) {
	if note != "" {
		more = append([]string{note}, more...)
	}
	switch {
	case len(more) == 0:
		return nil, usagef("pass a note, or several as notes")
	case len(more) > maxNotes:
		return nil, usagef("%d notes are too many for one call: pass %d at most", len(more), maxNotes)
	}
	return more, nil
}

// filter builds the filter from the arguments that several tools share.
func (in *invocation) filter(folder string, tags []string, after, before string) (notes.Filter, error) {
	f := notes.Filter{Folder: in.vaultPath(folder), Scope: in.Scope.Read}
	for _, tag := range tags {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "#"); tag != "" {
			f.Tags = append(f.Tags, tag)
		}
	}
	var err error
	if f.After, err = in.startOf("after", after); err != nil {
		return f, err
	}
	f.Before, err = in.startOf("before", before)
	return f, err
}

// vaultPath converts a folder or path to one relative to the vault, which is "". Models pass
// absolute paths mentioned by the user or another tool.
func (in *invocation) vaultPath(p string) string {
	return strings.Trim(path.Clean("/"+in.Vault.InVault(p)), "/")
}

// startOf parses an argument that names a time, as [Vault] does; a period means its first moment.
// If the argument was not given, startOf returns the zero time.
func (in *invocation) startOf(name, text string) (time.Time, error) {
	return in.moment(name, text, false)
}

// asOf parses the argument as_of like startOf; a period means its last moment.
func (in *invocation) asOf(text string) (time.Time, error) {
	return in.moment("as_of", text, true)
}

func (in *invocation) moment(name, text string, last bool) (time.Time, error) {
	if text = strings.TrimSpace(text); text == "" {
		return time.Time{}, nil
	}
	at, ok := in.Vault.Moment(text, in.Now(), last)
	if !ok {
		return time.Time{}, usagef("%s must be a time like 2026-01-31, 2026-01-31T18:00, \"last week\" or 36h, not %q", name, phrase.Clip(phrase.OneLine(text), 40))
	}
	return at, nil
}

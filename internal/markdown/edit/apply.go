package edit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"notesd/internal/markdown"
	"notesd/internal/markdown/tasks"
)

// Operations of an [Edit].
const (
	OpReplaceText    = "replace_text"
	OpReplaceSection = "replace_section"
	OpInsertBefore   = "insert_before"
	OpInsertAfter    = "insert_after"
	OpAppend         = "append"
	OpPrepend        = "prepend"
	OpAddTag         = "add_tag"
	OpRemoveTag      = "remove_tag"
	OpRenameHeading  = "rename_heading"
	OpToggleTask     = "toggle_task"
	OpSetFrontMatter = "set_front_matter"
	OpReplaceAll     = "replace_all"
)

// operations lists the fields of each op.
var operations = []struct {
	op     string
	fields []string
}{
	{OpReplaceText, []string{"old", "new", "count"}},
	{OpReplaceSection, []string{"heading", "content"}},
	{OpInsertBefore, []string{"heading", "content"}},
	{OpInsertAfter, []string{"heading", "content"}},
	{OpAppend, []string{"content", "heading", "create_heading"}},
	{OpPrepend, []string{"content", "heading", "create_heading"}},
	{OpAddTag, []string{"tag"}},
	{OpRemoveTag, []string{"tag"}},
	{OpRenameHeading, []string{"heading", "new"}},
	{OpToggleTask, []string{"line", "text", "status", "due", "scheduled"}},
	{OpSetFrontMatter, []string{"key", "value"}},
	{OpReplaceAll, []string{"content"}},
}

// Edit is one change to a note. Fields that do not apply to Op must be zero. The tags make
// the schema by which models write edits.
type Edit struct {
	Op string `json:"op" required:"true" enum:"replace_text,replace_section,insert_before,insert_after,append,prepend,add_tag,remove_tag,rename_heading,toggle_task,set_front_matter,replace_all"`
	// Old and New belong to replace_text. Count is the number of times that Old must
	// occur; zero means 1.
	Old   string `json:"old,omitempty"`
	New   string `json:"new,omitempty" doc:"text, \"\" deletes; rename_heading: links follow"`
	Count int    `json:"count,omitempty" min:"1" doc:"of old, default 1"`
	// Heading is a section reference for [markdown.FindSection]. It belongs to
	// replace_section, insert_before, insert_after, rename_heading (with the new text
	// in New), append and prepend; without it, the latter two apply to the whole note.
	Heading string `json:"heading,omitempty" doc:"the section; append, prepend: else the note"`
	// CreateHeading makes append and prepend create a missing heading at the end of the
	// note.
	CreateHeading bool `json:"create_heading,omitempty" doc:"append, prepend: if missing"`
	// Content belongs to all of these except rename_heading, and to replace_all.
	Content string `json:"content,omitempty"`
	// Tag belongs to add_tag and remove_tag; it may start with '#'.
	Tag string `json:"tag,omitempty"`
	// Text and Line select the task of toggle_task (see [tasks.Target]); Status, Due
	// and Scheduled are the change (see [tasks.Change]). Tasks provides the context
	// that is not in the note.
	Text      string        `json:"text,omitempty" doc:"toggle_task: its text"`
	Line      int           `json:"line,omitempty"`
	Status    string        `json:"status,omitempty" doc:"open, done, in_progress, cancelled"`
	Due       string        `json:"due,omitempty" doc:"a day, or none"`
	Scheduled string        `json:"scheduled,omitempty"`
	Tasks     tasks.Options `json:"-"`
	// Key and Value belong to set_front_matter; a nil Value removes the key. "4" in place
	// of a number is the number 4, and "true" in place of a bool that bool.
	Key   string `json:"key,omitempty"`
	Value any    `json:"value,omitempty" doc:"null removes the key"`
	// Notion is set if the note is a page that Notion exported.
	Notion bool `json:"-"`
}

// ReplacesUnread reports whether the edit could replace text that its author has not read, or
// change another task than the intended one, if another program has changed the note. Other
// edits quote what they replace and fail by themselves, or only add.
func (e Edit) ReplacesUnread() bool {
	return e.Op == OpReplaceAll || e.Op == OpReplaceSection || e.Op == OpToggleTask && e.Text == ""
}

// MaxEdits is the maximum number of edits per [Apply], each of which parses the note.
const MaxEdits = 200

// Apply applies the edits in order, each to the result of the previous one, and returns
// the new text and the renamed headings, in the order of the edits. Line numbers are those of
// src, where the client has read them, whatever earlier edits insert above, also in headings such
// as "Risks (line 12)" and in errors. If one fails, Apply returns an [*EditError] and no text; if
// ctx is done, it returns the error of ctx. No edits, or more than [MaxEdits], are [ErrInvalid].
// src is not modified.
func Apply(ctx context.Context, src []byte, edits []Edit) ([]byte, []HeadingRename, error) {
	switch {
	case len(edits) == 0:
		return nil, nil, invalid("there are no edits")
	case len(edits) > MaxEdits:
		return nil, nil, invalid("there are %d edits; at most %d can be made at once, so make the rest with another call", len(edits), MaxEdits)
	}
	out := src
	var renames []HeadingRename
	given, edits := edits, slices.Clone(edits) // the lines of the latter move
	for i, edit := range edits {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		var next []byte
		var err error
		asRead := given[i] //nolint:gosec // as many as edits
		if edit.Line < 0 {
			err = invalid("an earlier edit of this call changed or removed the text on line %d", asRead.line())
		} else {
			next, err = edit.apply(out, &renames)
		}
		if err != nil {
			if _, inSrc := asRead.apply(src, &renames); inSrc != nil && (edit.Op == OpToggleTask || sameProblem(err, inSrc)) {
				err = inSrc // whose lines are those of src
			}
		}
		if err != nil {
			return nil, nil, &EditError{Index: i, Op: edit.Op, Err: err}
		}
		moveLines(edits[i+1:], out, next)
		out = next
	}
	return out, renames, nil
}

// sameProblem reports whether a reference names no section, or several, in both of two texts.
func sameProblem(a, b error) bool {
	x, isX := errors.AsType[*markdown.SectionError](a)
	y, isY := errors.AsType[*markdown.SectionError](b)
	return isX && isY && errors.Is(x, y.Err)
}

// moveLines changes the line numbers of edits of before to those that the same lines have in
// after. Between the first and the last difference, that is the only line with the same text,
// or -1 if there is no such line, unless the number of lines is the same.
func moveLines(edits []Edit, before, after []byte) {
	if !slices.ContainsFunc(edits, func(e Edit) bool { return e.line() > 0 }) {
		return
	}
	newline := []byte("\n")
	a, b := bytes.Split(bytes.TrimSuffix(before, newline), newline), bytes.Split(bytes.TrimSuffix(after, newline), newline)
	head, same := 0, 0 // equal lines at the beginning and at the end
	for head < min(len(a), len(b)) && bytes.Equal(a[head], b[head]) {
		head++
	}
	for same < min(len(a), len(b))-head && bytes.Equal(a[len(a)-1-same], b[len(b)-1-same]) {
		same++
	}
	was, is := a[head:len(a)-same], b[head:len(b)-same]
	for i := range edits {
		switch line := edits[i].line(); {
		case line <= head || line > len(a) || len(a) == len(b):
		case line > len(a)-same:
			edits[i].setLine(line + len(b) - len(a))
		default:
			if j := onlyLine(is, a[line-1]); j >= 0 && onlyLine(was, a[line-1]) >= 0 {
				edits[i].setLine(head + j + 1)
			} else {
				edits[i].Line = -1
			}
		}
	}
}

// line returns the line by which the edit names its task or its heading, or 0.
func (e *Edit) line() int {
	_, line := markdown.SplitLine(strings.TrimSpace(e.Heading))
	return cmp.Or(e.Line, line)
}

func (e *Edit) setLine(line int) {
	if e.Line != 0 {
		e.Line = line
		return
	}
	name, _ := markdown.SplitLine(strings.TrimSpace(e.Heading))
	e.Heading = fmt.Sprintf("%s (line %d)", name, line)
}

// SameLine reports whether the line of before with this number has the same number in after,
// where its text may be another.
func SameLine(before, after []byte, number int) bool {
	edits := []Edit{{Line: number}}
	moveLines(edits, before, after)
	return edits[0].Line == number
}

// onlyLine returns the index of the only line that is text, or -1.
func onlyLine(lines [][]byte, text []byte) int {
	equal := func(line []byte) bool { return bytes.Equal(line, text) }
	i := slices.IndexFunc(lines, equal)
	if slices.ContainsFunc(lines[i+1:], equal) {
		return -1
	}
	return i
}

func (e *Edit) apply(src []byte, renames *[]HeadingRename) ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	switch e.Op {
	case OpReplaceText:
		return ReplaceText(src, e.Old, e.New, e.Count)
	case OpReplaceSection:
		return ReplaceSection(src, e.Heading, e.Content)
	case OpInsertBefore:
		return InsertBefore(src, e.Heading, e.Content)
	case OpInsertAfter:
		return InsertAfter(src, e.Heading, e.Content)
	case OpAppend, OpPrepend:
		if e.Heading != "" {
			return e.addToSection(src)
		}
		if e.Op == OpPrepend {
			return Prepend(src, e.Content)
		}
		return Append(src, e.Content)
	case OpAddTag:
		return AddTag(src, e.Tag)
	case OpRemoveTag:
		return RemoveTag(src, e.Tag)
	case OpRenameHeading:
		r, err := RenameHeading(src, e.Heading, e.New)
		*renames = append(*renames, r)
		return r.After, err
	case OpToggleTask:
		return tasks.Update(src, markdown.Parse(src).Tasks, tasks.Target{Line: e.Line, Text: e.Text}, tasks.Change{Status: e.Status, Due: e.Due, Scheduled: e.Scheduled}, e.Tasks)
	case OpSetFrontMatter:
		return setField(src, e.Key, e.Value, e.Notion)
	}
	return replaceAll(src, e.Content), nil
}

// likeOld returns the new value for a key of front matter. Text is a number or bool if it is the
// text of one and old is one, because some clients pass every value as text.
func likeOld(old, value any) any {
	text, _ := value.(string)
	var like any
	if json.Unmarshal([]byte(text), &like) != nil {
		return value
	}
	switch old.(type) {
	case int64, float64:
		if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
			return whole // a float64 cannot hold every whole number
		}
		if number, _ := like.(float64); strconv.FormatFloat(number, 'f', -1, 64) == text {
			return number
		}
	case bool:
		if yes, ok := like.(bool); ok && strconv.FormatBool(yes) == text { // JSON may have spaces
			return yes
		}
	}
	return value
}

// check rejects unknown ops, and fields that do not apply to the op: a client that
// passes them expects a different edit. Some clients pass all fields, with a count of 1
// for none, since the schema does not allow 0.
func (e *Edit) check() error {
	var ops, problems []string
	var own []string
	for _, o := range operations {
		ops = append(ops, o.op)
		if o.op == e.Op {
			own = o.fields
		}
	}
	if own == nil {
		return invalid("op %q is none of %s", e.Op, strings.Join(ops, ", "))
	}
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"old", e.Old != ""}, {"new", e.New != ""}, {"count", e.Count > 1}, {"heading", e.Heading != ""}, {"create_heading", e.CreateHeading},
		{"content", e.Content != ""}, {"tag", e.Tag != ""}, {"key", e.Key != ""}, {"value", e.Value != nil},
		{"line", e.Line != 0}, {"text", e.Text != ""}, {"status", e.Status != ""}, {"due", e.Due != ""}, {"scheduled", e.Scheduled != ""},
	} {
		if f.given && !slices.Contains(own, f.name) {
			problems = append(problems, strconv.Quote(f.name))
		}
	}
	switch {
	case len(problems) > 0:
		hint := ""
		if e.Old != "" && slices.Contains(own, "content") {
			hint = "; to replace a text, use replace_text (count: how often it occurs); to insert next to a text, repeat it in new"
		}
		return invalid("%s has no field %s; its fields are %s%s", e.Op, strings.Join(problems, ", "), strings.Join(own, ", "), hint)
	case e.CreateHeading && e.Heading == "":
		return invalid("create_heading needs heading")
	case e.Heading == "" && own[0] == "heading":
		return invalid("%s needs heading", e.Op)
	}
	return nil
}

// replaceAll returns content with the line endings, the byte order mark and the line break at
// the end of src, if src has any. Models leave out the latter.
func replaceAll(src []byte, content string) []byte {
	if bytes.HasSuffix(src, []byte("\n")) && content != "" && !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	if bytes.IndexByte(src, '\n') >= 0 {
		content = withLineEnding(content, lineEnding(src, 0))
	}
	if bytes.HasPrefix(src, []byte(markdown.ByteOrderMark)) && !strings.HasPrefix(content, markdown.ByteOrderMark) {
		content = markdown.ByteOrderMark + content
	}
	return []byte(content)
}

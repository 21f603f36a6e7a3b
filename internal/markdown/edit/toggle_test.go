package edit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
	"notesd/internal/markdown/mdtest"
	"notesd/internal/markdown/tasks"
)

func toggled(src []byte, line int, status string) ([]byte, error) {
	today := tasks.Options{Today: time.Date(2026, 2, 16, 0, 0, 0, 0, time.UTC), Done: tasks.Emoji}
	out, _, err := Apply(context.Background(), src, []Edit{{Op: OpToggleTask, Line: line, Status: status, Tasks: today}})
	return out, err
}

// roundTrip completes and reopens every open task of a note, and opens, completes and
// reopens the others, each by its mark. It returns the number of tasks.
func roundTrip(t *testing.T, path string, src []byte) int {
	t.Helper()
	doc := markdown.Parse(src)
	for _, task := range doc.Tasks {
		mark, _, status := tasks.Marked(string(src[task.Start:task.End]))
		to := "open"
		if status.IsOpen() {
			to = "done"
		}
		changed, err := toggled(src, task.Line, to)
		require.NoError(t, err, "%s:%d", path, task.Line)
		require.NotEqual(t, string(src), string(changed), "%s:%d", path, task.Line)
		require.Len(t, markdown.Parse(changed).Tasks, len(doc.Tasks), "%s:%d", path, task.Line)
		if mark == " " || mark == "TODO" {
			mark = "" // toggling is sufficient
		}
		again, err := toggled(changed, task.Line, mark)
		require.NoError(t, err, "%s:%d", path, task.Line)
		if status.IsOpen() {
			require.Equal(t, string(src), string(again), "%s:%d", path, task.Line)
			continue
		}
		reopened, err := toggled(again, task.Line, "open") // the date of completion may be different, or new
		require.NoError(t, err, "%s:%d", path, task.Line)
		require.Equal(t, string(changed), string(reopened), "%s:%d", path, task.Line)
	}
	return len(doc.Tasks)
}

// Errors name the lines of the note as read, and a task that an earlier edit removed is not
// mistaken for its neighbour.
func TestToggleTask_ErrorsOfTheOriginal(t *testing.T) {
	const src = "# T\n\n- [ ] one\n- [ ] two\n- [ ] three\n"
	prepend := Edit{Op: OpPrepend, Content: "p"}
	for _, c := range []struct {
		edits []Edit
		want  string
	}{
		{[]Edit{prepend, {Op: OpToggleTask, Line: 1}}, `no such task on line 1; the note has "one" (line 3), "two" (line 4)`},
		{[]Edit{prepend, {Op: OpToggleTask, Text: "four"}}, `"one" (line 3)`},
		{[]Edit{{Op: OpReplaceText, Old: "one", New: "x x"}, {Op: OpReplaceText, Old: "x", New: "y"}}, "the text occurs 2 times, not 1"},
		{[]Edit{{Op: OpReplaceText, Old: "- [ ] one\n"}, {Op: OpToggleTask, Line: 3}}, "an earlier edit of this call changed or removed the text on line 3"},
	} {
		_, _, err := Apply(t.Context(), []byte(src), c.edits)
		require.ErrorContains(t, err, c.want)
	}
	_, _, err := Apply(t.Context(), []byte("a\n- [ ] b\n- [ ] b\nc\n"), []Edit{{Op: OpReplaceText, Old: "a\n- [ ] b\n- [ ] b\nc", New: "- [ ] b\nd"}, {Op: OpToggleTask, Line: 3}})
	require.ErrorContains(t, err, "changed or removed the text on line 3", "either may be left")
	out, _, err := Apply(t.Context(), []byte(src+"end\n"), []Edit{{Op: OpReplaceText, Old: "e\n", New: "e\n\n", Count: 2}, {Op: OpToggleTask, Line: 4}})
	require.NoError(t, err)
	assert.Contains(t, string(out), "- [x] two")
	out, _, err = Apply(t.Context(), []byte("- [ ] a\nx\n- [ ] b\nx\n- [ ] c\n"), []Edit{{Op: OpReplaceText, Old: "x\n", Count: 2}, {Op: OpToggleTask, Line: 3}})
	require.NoError(t, err)
	assert.Contains(t, string(out), "- [x] b")
}

// The lines of several tasks are those that the client has read, before any edit of the call.
func TestToggleTask_LinesOfTheOriginal(t *testing.T) {
	const src = "# A\n\n- [ ] water 🔁 every week 📅 2026-02-16\n- [ ] bank\n- [ ] soap\n- [ ] soap"
	today := tasks.Options{Today: time.Date(2026, 2, 16, 0, 0, 0, 0, time.UTC), Done: tasks.Emoji}
	toggle := func(line int) Edit { return Edit{Op: OpToggleTask, Line: line, Tasks: today} }
	for _, c := range []struct {
		name  string
		edits []Edit
		want  string
	}{
		{"below a repeated task", []Edit{toggle(3), toggle(4)}, "# A\n\n- [ ] water 🔁 every week 📅 2026-02-23\n- [x] water 🔁 every week 📅 2026-02-16 ✅ 2026-02-16\n- [x] bank ✅ 2026-02-16\n- [ ] soap\n- [ ] soap"},
		{"above it", []Edit{toggle(4), toggle(3)}, "# A\n\n- [ ] water 🔁 every week 📅 2026-02-23\n- [x] water 🔁 every week 📅 2026-02-16 ✅ 2026-02-16\n- [x] bank ✅ 2026-02-16\n- [ ] soap\n- [ ] soap"},
		{"below new text", []Edit{{Op: OpPrepend, Content: "- [ ] first"}, {Op: OpSetFrontMatter, Key: "k", Value: "v"}, toggle(4)}, "---\nk: v\n---\n# A\n\n- [ ] first\n- [ ] water 🔁 every week 📅 2026-02-16\n- [x] bank ✅ 2026-02-16\n- [ ] soap\n- [ ] soap"},
		{"on a line that was replaced", []Edit{{Op: OpReplaceText, Old: "bank", New: "post"}, toggle(4)}, "# A\n\n- [ ] water 🔁 every week 📅 2026-02-16\n- [x] post ✅ 2026-02-16\n- [ ] soap\n- [ ] soap"},
		{"above new text like it", []Edit{{Op: OpAppend, Content: "- [ ] soap"}, toggle(5)}, "# A\n\n- [ ] water 🔁 every week 📅 2026-02-16\n- [ ] bank\n- [x] soap ✅ 2026-02-16\n- [ ] soap\n- [ ] soap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _, err := Apply(t.Context(), []byte(src), c.edits)
			require.NoError(t, err)
			assert.Equal(t, c.want, string(out))
		})
	}
}

// Headings named with their lines are those of the text before all edits, also in errors.
func TestApply_HeadingLinesOfTheOriginal(t *testing.T) {
	const src = "# A\n\n# A\n\n# A\n"
	add := func(heading, content string) Edit { return Edit{Op: OpAppend, Heading: heading, Content: content} }
	out, _, err := Apply(t.Context(), []byte(src), []Edit{add("A (line 1)", "one"), add("# A (line 3)", "two"), add("A (line 5)", "three")})
	require.NoError(t, err)
	assert.Equal(t, "# A\n\none\n\n# A\n\ntwo\n\n# A\n\nthree\n", string(out))

	for _, c := range []struct {
		edit Edit
		want string
	}{
		{add("A", "x"), "[A (line 1) A (line 3) A (line 5)]"},
		{add("A (line 4)", "x"), "[A (line 1) A (line 3) A (line 5)]"},
	} {
		_, _, err = Apply(t.Context(), []byte(src), []Edit{add("A (line 1)", "one"), c.edit})
		var problem *markdown.SectionError
		require.ErrorAs(t, err, &problem)
		assert.Equal(t, c.want, fmt.Sprint(problem.Candidates))
	}
	_, _, err = Apply(t.Context(), []byte(src), []Edit{add("A (line 1)", "# New"), add("New", "x"), add("Newer", "x")})
	require.ErrorIs(t, err, markdown.ErrMissing)
	_, _, err = Apply(t.Context(), []byte(src), []Edit{{Op: OpReplaceSection, Heading: "A (line 3)", Content: "# B\n\n# A\n\n# A"}, {Op: OpReplaceAll, Content: "# C"}, add("A (line 5)", "x")})
	require.ErrorContains(t, err, "an earlier edit of this call changed or removed the text on line 5")
}

func TestToggleTaskOfTheExamples(t *testing.T) {
	count := 0
	root := filepath.Join("..", "..", "..", "examples", "vault")
	require.NoError(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		src, err := os.ReadFile(path)
		count += roundTrip(t, path, src)
		return err
	}))
	assert.Greater(t, count, 15)
}

func TestVaultTasks(t *testing.T) {
	count := 0
	mdtest.VaultNotes(t, func(path string, src []byte) { count += roundTrip(t, path, src) })
	t.Logf("%d tasks", count)
}

func TestToggleTask(t *testing.T) {
	src := []byte("---\na: b\n---\n# Home\n\n```\n- [ ] dentist\n```\n%% - [ ] dentist %%\n\n- [ ] Ring the dentist\n  about Tuesday\n  - TODO child\n> - [x] quoted\n\n## Done\n\n- [x] Old\n")
	changed, err := toggled(src, 11, "")
	require.NoError(t, err)
	assert.Contains(t, string(changed), "\n- [x] Ring the dentist\n  about Tuesday\n  - TODO child\n", "done tasks of the note have no date")
	changed, _, err = Apply(context.Background(), src, []Edit{{Op: OpToggleTask, Text: "child", Due: "2026-03-01"}})
	require.NoError(t, err)
	assert.Contains(t, string(changed), "\n  - TODO child\n    DEADLINE: <2026-03-01 Sun>\n> -")
	require.Len(t, markdown.Parse(changed).Tasks, 4)

	for _, edit := range []Edit{
		{Op: OpToggleTask, Line: 7}, {Op: OpToggleTask, Text: "milk"}, {Op: OpToggleTask}, {Op: OpToggleTask, Line: 11, Content: "x"},
		{Op: OpAppend, Content: "x", Status: "done"}, {Op: OpToggleTask, Line: 11, Due: "soon"},
	} {
		_, _, err := Apply(context.Background(), src, []Edit{edit})
		assert.Error(t, err, "%v", edit)
	}
}

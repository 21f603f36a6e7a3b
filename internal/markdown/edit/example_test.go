package edit_test

import (
	"context"
	"fmt"
	"strings"

	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
)

func ExampleApply() {
	note := "---\nstatus: open # or done\n---\n# Plan\n\n## Risks\n\n- rain\n\n## Dates\n"
	out, _, err := edit.Apply(context.Background(), []byte(note), []edit.Edit{
		{Op: edit.OpSetFrontMatter, Key: "status", Value: "done"},
		{Op: edit.OpAppend, Heading: "Risks", Content: "- wind"},
		{Op: edit.OpReplaceText, Old: "# Plan", New: "# The plan"},
	})
	fmt.Println(string(out), err)
	// Output:
	// ---
	// status: done # or done
	// ---
	// # The plan
	//
	// ## Risks
	//
	// - rain
	// - wind
	//
	// ## Dates
	//  <nil>
}

func ExampleApply_error() {
	_, _, err := edit.Apply(context.Background(), []byte("# A\n"), []edit.Edit{
		{Op: edit.OpAppend, Content: "kept only if all edits can be made"},
		{Op: edit.OpReplaceText, Old: "not there", New: "x"},
	})
	fmt.Println(err != nil, strings.HasPrefix(err.Error(), "edit 2 (replace_text)"))
	// Output: true true
}

func ExampleRewriteLinks() {
	note := []byte("[[Old]] and [[Old#Part|shown]], [a link](Old.md#part) and\n[![a thumbnail](img/a.png)](img/b.png), but not `[[Old]]`.\n")
	moved := map[string]string{"Old": "New name", "Old.md": "New name.md", "img/a.png": "../img/a.png", "img/b.png": "../img/b.png"}
	fmt.Printf("%s", edit.RewriteLinks(note, markdown.Parse(note), func(l markdown.Link) (string, bool) {
		to, ok := moved[l.Target]
		return to, ok
	}))
	// Output:
	// [[New name]] and [[New name#Part|shown]], [a link](New%20name.md#part) and
	// [![a thumbnail](../img/a.png)](../img/b.png), but not `[[Old]]`.
}

func ExampleSetFrontMatter() {
	note := []byte("---\n\"due\":  '2026-01-02' # or \"soon\"\ntags: [a, b]\n---\nText.\n")
	out, err := edit.SetFrontMatter(note, "due", "2026-02-01")
	fmt.Println(err)
	out, err = edit.SetFrontMatter(out, "people", []string{"Ann", "Bob"})
	fmt.Printf("%v\n%s", err, out)
	// Output:
	// <nil>
	// <nil>
	// ---
	// "due": '2026-02-01' # or "soon"
	// tags: [a, b]
	// people:
	//   - Ann
	//   - Bob
	// ---
	// Text.
}

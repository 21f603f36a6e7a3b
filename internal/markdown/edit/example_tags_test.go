package edit_test

import (
	"fmt"

	"notesd/internal/markdown/edit"
)

func ExampleAddTag() {
	out, err := edit.AddTag([]byte("---\ntags: [home, 'to do'] # mine\n---\n"), "#garden")
	fmt.Printf("%s%v\n", out, err)
	// Output:
	// ---
	// tags: [home, 'to do', garden] # mine
	// ---
	// <nil>
}

func ExampleRenameTag() {
	out, err := edit.RenameTag([]byte("#work and #work/urgent, not `#work`"), "work", "job")
	fmt.Println(string(out), err)
	// Output: #job and #job/urgent, not `#work` <nil>
}

func ExampleRenameHeading() {
	out, err := edit.RenameHeading([]byte("# Plan\n## Risks ##\ntext\n"), "Plan > Risks", "Perils")
	fmt.Printf("%s%v\n", out.After, err)
	// Output:
	// # Plan
	// ## Perils ##
	// text
	// <nil>
}

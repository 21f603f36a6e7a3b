package tasks_test

import (
	"fmt"

	"notesd/internal/markdown/tasks"
)

// A recurring task that becomes done gets a next instance.
func ExampleUpdate() {
	src := "- [ ] Water the plants 🔁 every week 📅 2026-02-16"
	place := tasks.Place{Line: 1, Start: len("- "), End: len(src)}
	out, err := tasks.Update([]byte(src), []tasks.Place{place}, tasks.Target{Text: "water"}, tasks.Change{Status: "done"}, tasks.Options{Today: today})
	fmt.Println(string(out), err)
	// Output:
	// - [ ] Water the plants 🔁 every week 📅 2026-02-23
	// - [x] Water the plants 🔁 every week 📅 2026-02-16 ✅ 2026-02-16 <nil>
}

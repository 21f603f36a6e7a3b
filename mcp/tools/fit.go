package tools

import (
	"encoding/json"
	"sort"
)

// Hosts bound the size of a tool's result, and each byte of it takes up a model's context.
// Each tool therefore builds its result from the first n of its items, or bytes of its text, and
// fit determines n. The size of an item cannot be added up in advance: it differs between the
// two forms, and a shorter list has a longer remark. The whole result is therefore built and
// measured for each n that is tried, which takes some ten builds for a page of a thousand items.

// fit returns the result with as many items as the limit allows in both forms, but at least
// one. answer builds the result from the first n items.
func fit(limit, items int, answer func(n int) Outcome) Outcome {
	out, _ := fitting(limit, items, answer)
	return out
}

// fitting is fit, and returns the number of items in the result.
func fitting(limit, items int, answer func(n int) Outcome) (Outcome, int) {
	fits := func(out Outcome) bool { return len(out.Text) <= limit && jsonSize(out.Structured) <= limit }
	out := answer(items)
	if items <= 1 || fits(out) {
		return out, items
	}
	// A result grows with its items, so a binary search finds how many fit.
	n := max(1, sort.Search(items, func(i int) bool { return !fits(answer(i + 1)) }))
	return answer(n), n
}

// fitPage is fit for a page of a longer list, whose cursor continues after its last item. Only
// the list can make the cursor of a shorter page, so the page is read again with the number of
// items that fit, until all that were read fit with their cursor. again returns how many it
// read: a note may have been deleted since.
func fitPage(limit, items int, answer func(n int) Outcome, again func(n int) (items int, err error)) (Outcome, error) {
	for {
		out, n := fitting(limit, items, answer)
		if n == items {
			return out, nil
		}
		var err error
		if items, err = again(n); err != nil {
			return Outcome{}, err
		}
	}
}

// cut returns the first n elements of a list and, if these are not all, the list's length.
func cut[T any](list []T, n int) (some []T, total int) {
	if n >= len(list) {
		return list, 0
	}
	return list[:n:n], len(list)
}

// jsonSize returns the size of a value encoded as JSON, in bytes.
func jsonSize(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return 0 // encoding the result will report the error
	}
	return len(data)
}

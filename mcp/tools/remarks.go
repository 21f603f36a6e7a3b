package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"notesd/internal/phrase"
)

// remarks returns a tool's own remarks followed by those on its arguments. Both forms of a
// result contain them, because some hosts show a model only the structured form.
func (in *invocation) remarks(own ...string) []string { return append(slices.Clip(own), in.onArgs...) }

// remarkLines returns the remarks as lines at the end of a result's text.
func remarkLines(remarks []string) string {
	var b strings.Builder
	for _, r := range remarks {
		b.WriteString("\n(" + phrase.OneLine(r) + ")")
	}
	return b.String()
}

// ending returns the last lines of a list's text: the cursor of the next page, if any, and
// the remarks.
func ending(next string, remarks []string) string {
	if next != "" {
		next = "\nMore with cursor " + next
	}
	return next + remarkLines(remarks)
}

// stale adds to a result's remarks that it may be older than the files, if so.
func (in *invocation) stale(remarks []string) []string {
	if why := in.Vault.Stale(); why != "" {
		return append(slices.Clip(remarks), why+". This answer may be out of date.")
	}
	return remarks
}

// incomplete returns remarks on what a list of notes may lack at present.
func (in *invocation) incomplete(ctx context.Context) []string {
	if stale := in.stale(nil); stale != nil {
		return stale
	}
	if in.Vault.Ready() {
		return nil
	}
	status, err := in.Vault.Status(ctx)
	if err != nil || in.Scope.Read != nil { // the counts are of all notes
		return []string{"the folder is still being read: more notes may come"}
	}
	return []string{stillRead(status.Scanned, status.ToScan)}
}

// stillRead describes the progress of the first scan.
func stillRead(scanned, toScan int) string {
	if toScan == 0 {
		return "the folder is still being scanned: notes may have changed"
	}
	return fmt.Sprintf("the folder is still being read: %d of %d files so far", scanned, toScan)
}

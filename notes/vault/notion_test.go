package vault

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

const notionTask = "Tasks/Call 0123456789abcdef0123456789abcdef.md"

// TestEdit_NotionProperty checks that a key is set where an exported page has it, so that a
// query finds one value.
func TestEdit_NotionProperty(t *testing.T) {
	f := newFixture(t, notionTask, "# Call\n\nStatus: To do\nOwner: Ann\n\nText\n")
	_, err := f.Edit(t.Context(), notes.EditRequest{Note: "Call", Edits: []notes.Edit{{Op: "set_front_matter", Key: "status", Value: "Done"}, {Op: "set_front_matter", Key: "Due", Value: "2026-02-01"}}})
	require.NoError(t, err)
	assert.Equal(t, "---\nDue: 2026-02-01\n---\n# Call\n\nStatus: Done\nOwner: Ann\n\nText\n", f.onDisk(notionTask))
}

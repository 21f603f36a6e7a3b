package vault

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

const (
	notionTask = "Tasks/Call 0123456789abcdef0123456789abcdef.md"
	notionSite = "Projects/Site (new) fedcba9876543210fedcba9876543210.md"
)

// TestNotionRelations checks that the paths in properties are links, which follow a move.
func TestNotionRelations(t *testing.T) {
	f := newFixture(t, notionTask, "# Call\n\nProject: Site (new) (../Projects/Site%20(new)%20fedcba9876543210fedcba9876543210.md)\n", notionSite, "# Site (new)\n")
	assert.Equal(t, notionSite, f.leadsTo("Call"))
	f.move("Projects", "Old/Projects")
	assert.Equal(t, "# Call\n\nProject: Site (new) (../Old/Projects/Site%20%28new%29%20fedcba9876543210fedcba9876543210.md)\n", f.onDisk(notionTask))
	f.move("Tasks", "Done/Tasks")
	assert.Equal(t, "# Call\n\nProject: Site (new) (../../Old/Projects/Site%20%28new%29%20fedcba9876543210fedcba9876543210.md)\n", f.onDisk("Done/"+notionTask))
	f.move("Old/"+notionSite, "Site.md")
	assert.Equal(t, "# Call\n\nProject: Site (new) (../../Site.md)\n", f.onDisk("Done/"+notionTask))
}

// TestEdit_NotionProperty checks that a key is set where an exported page has it, so that a
// query finds one value.
func TestEdit_NotionProperty(t *testing.T) {
	f := newFixture(t, notionTask, "# Call\n\nStatus: To do\nOwner: Ann\n\nText\n")
	_, err := f.Edit(t.Context(), notes.EditRequest{Note: "Call", Edits: []notes.Edit{{Op: "set_front_matter", Key: "status", Value: "Done"}, {Op: "set_front_matter", Key: "Due", Value: "2026-02-01"}}})
	require.NoError(t, err)
	assert.Equal(t, "# Call\n\nStatus: Done\nOwner: Ann\nDue: 2026-02-01\n\nText\n", f.onDisk(notionTask))
}

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

// TestLookup_NotionName checks that a page is found by its file name without the ID, although a
// folder has that name.
func TestLookup_NotionName(t *testing.T) {
	const page = "Budget 2025 26 0123456789abcdef0123456789abcdef.md"
	f := newFixture(t, page, "# Budget: 2025/26?\n", "Budget 2025 26/Rows fedcba9876543210fedcba9876543210.md", "# Rows\n", "Budget 2025 26 draft.md", "x")
	for _, name := range []string{"budget 2025 26", "[[Budget 2025 26]]", "Budget: 2025/26?"} {
		meta, err := f.Lookup(t.Context(), name, notes.Scope{})
		require.NoError(t, err, name)
		assert.Equal(t, page, meta.Path)
	}
	_, err := f.Lookup(t.Context(), "Budget 2025", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)
	f.write("Budget 2025 26.md", "x")
	f.reconcile()
	assert.Equal(t, "Budget 2025 26.md", f.found("Budget 2025 26"), "the exact name goes before")
}

// TestEdit_NotionProperty checks that a key is set where an exported page has it, so that a
// query finds one value.
func TestEdit_NotionProperty(t *testing.T) {
	f := newFixture(t, notionTask, "# Call\n\nStatus: To do\nOwner: Ann\n\nText\n")
	_, err := f.Edit(t.Context(), notes.EditRequest{Note: "Call", Edits: []notes.Edit{{Op: "set_front_matter", Key: "status", Value: "Done"}, {Op: "set_front_matter", Key: "Due", Value: "2026-02-01"}}})
	require.NoError(t, err)
	assert.Equal(t, "# Call\n\nStatus: Done\nOwner: Ann\nDue: 2026-02-01\n\nText\n", f.onDisk(notionTask))
}

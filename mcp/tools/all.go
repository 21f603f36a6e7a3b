package tools

import "slices"

var allTools = []*Tool{
	searchNotes,
	readNote,
	listNotes,
	listTasks,
	noteLinks,
	relatedNotes,
	gatherContext,
	vaultOverview,
	createNote,
	editNote,
	moveNote,
	renameTag,
	deleteNote,
	noteHistory,
	restoreNote,
	checkQuotes,
	createTable, addVector, searchVectors, listTables, deleteVectors, dropTable,
}

// All returns all tools, in the order in which they are listed.
func All() []*Tool { return slices.Clone(allTools) }

// Names returns the names of all tools.
func Names() []string {
	names := make([]string, len(allTools))
	for i, t := range allTools {
		names[i] = t.Name
	}
	return names
}

// Find returns the tool with the name, or nil.
func Find(name string) *Tool {
	for _, t := range allTools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

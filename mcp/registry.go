package mcp

import (
	"encoding/json"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolGroups are the names of groups that a selection may hold.
var toolGroups = []string{groupDefault, groupAll, groupRead, groupWrite}

// allTools are the tools that exist, in the order of a reader's interest.
var allTools = []*tool{
	searchNotes,
	readNote,
	listNotes,
	noteLinks,
	relatedNotes,
	gatherContext,
	vaultOverview,
	createNote,
	editNote,
	moveNote,
	deleteNote,
	noteHistory,
	restoreNote,
	createTable, addVector, searchVectors, listTables, deleteVectors, dropTable,
}

var toolsByName = indexTools(allTools)

func indexTools(tools []*tool) map[string]*tool {
	byName := make(map[string]*tool, len(tools))
	for _, t := range tools {
		byName[t.name] = t
	}
	return byName
}

// selected reports whether the session's and the core's selections have the
// tool, and what it needs is there.
func (s *session) selected(t *tool) bool {
	return s.profile.selects(t) && s.outer.selects(t) && (!t.tables || s.core.opts.Tables != nil)
}

// offers reports whether the session lists the tool and may call it.
func (s *session) offers(t *tool) bool {
	return s.selected(t) && (!t.writes() || s.canWrite(t))
}

// canWrite reports whether there is anything that the session may change with
// the tool. Tables lie in no folder.
func (s *session) canWrite(t *tool) bool {
	p := s.bounds()
	reach := p.Write
	if reach == nil {
		reach = p.Read
	}
	return !p.ReadOnly && (t.tables || reach == nil || len(reach) > 0)
}

// offered are the tools that the session lists now. The roots of its client may
// change them.
func (s *session) offered() []*tool {
	return slices.DeleteFunc(slices.Clone(allTools), func(t *tool) bool { return !s.offers(t) })
}

// addTools registers what the session may ever call. The SDK only routes calls:
// it lists nothing, and so needs no schema, which it would parse for each
// session.
func (s *session) addTools(server *sdk.Server) {
	for _, t := range allTools {
		if s.selected(t) && !(s.profile.ReadOnly && t.writes()) {
			server.AddTool(t.routed(), s.handler(t))
		}
	}
}

// routed is the tool as the SDK needs it.
func (t *tool) routed() *sdk.Tool {
	return &sdk.Tool{Name: t.name, InputSchema: anyArguments}
}

var anyArguments = json.RawMessage(`{"type":"object"}`)

// listTools answers tools/list, which has one page.
func (s *session) listTools(params *sdk.ListToolsParams) (sdk.Result, error) {
	if params != nil && params.Cursor != "" {
		return nil, badCursor("tools/list")
	}
	tools := []*sdk.Tool{}
	for _, t := range s.offered() {
		tools = append(tools, t.definition(s.limits))
	}
	return &sdk.ListToolsResult{Tools: tools, Cacheable: sdk.Cacheable{CacheScope: "private"}}, nil
}

// toolsChanged tells the client that it can call other tools now.
func (s *session) toolsChanged() {
	for _, meta := range s.expecting(func(w *watch) bool { return w.tools }) {
		s.out.toolsChanged(&sdk.ToolListChangedParams{Meta: meta})
	}
}

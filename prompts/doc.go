// Package prompts is the catalogue of notesd's prompts: the built-in ones and the user's
// own templates.
//
// # Vocabulary
//
//   - A [Prompt] has a name and arguments. All arguments of the built-in prompts
//     are optional, because some hosts cannot ask the user for values.
//   - Rendering turns a prompt and its arguments into messages. Text messages
//     are instructions, written by notesd or by the author of a template. The
//     content of notes appears only in embedded resources, so that a model can
//     distinguish it from instructions.
//   - The budget is the number of bytes of notes embedded in one rendering. Once 300
//     notes are embedded, lists and searches add none. The messages state which notes did
//     not fit.
//
// The package is independent of the protocol. It searches through the interface
// [Searcher], which the caller provides.
//
// A [Catalogue] is safe for concurrent use and starts no goroutines.
package prompts

// Package prompts is the catalogue of prompts that notesd offers: those built
// in, and the user's own templates.
//
// # Vocabulary
//
//   - A [Prompt] has a name and arguments. The arguments of the built-in prompts
//     are all optional, because some hosts cannot ask the user for values.
//   - Rendering turns a prompt and its arguments into messages. Text messages
//     are instructions, written by notesd or by the author of a template. The
//     content of notes appears only in embedded resources, so that a model can
//     distinguish it from instructions.
//   - The budget is the number of bytes of notes that one rendering embeds. The
//     messages state which notes did not fit.
//
// The package knows notes but not the protocol. It searches through the interface
// [Searcher], which the caller supplies.
//
// A [Catalogue] is safe for concurrent use and starts no goroutine.
package prompts

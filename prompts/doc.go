// Package prompts is the catalogue of prompts that notesd offers: those built
// in, and the user's own templates.
//
// # Vocabulary
//
//   - A [Prompt] is what a client lists: a name, and arguments that are all
//     optional, because some hosts cannot ask for any.
//   - Rendering turns a prompt and its arguments into messages. Text messages
//     are notesd's words (or the user's, in a template); what notes say comes
//     only as embedded resources, so that a model can tell one from the other.
//   - The budget is how many bytes of notes one rendering embeds. What does not
//     fit is left out, and the messages say what.
//
// A built-in prompt is data: its words and a way to pick notes. The package
// knows notes but not the protocol, and finds passages through an interface
// that its user supplies.
//
// A [Catalogue] is safe for concurrent use and starts no goroutine.
package prompts

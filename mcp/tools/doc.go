// Package tools holds the tools of notesd. A [Tool] is data: a name, a description, two
// JSON schemas, hints, and a function from arguments to an [Outcome]. The caller provides a
// call's dependencies and permissions in its [Env]. The package is independent of sessions,
// connections and JSON-RPC; package mcp lists the tools, calls them, and converts outcomes
// and errors to results of the protocol.
//
// # A call
//
// [Tool.Call] decodes the arguments leniently into the tool's argument struct (args.go finds
// the parameter that a name means, and coerce.go has the other names and converts its
// value) and runs the tool's function on them. The function asks the [Vault], the [History],
// the [Searcher] or the [Tables], always with the scope of the Env, and builds the outcome.
//
// # The result
//
// An outcome has the same facts in two forms: Structured, for programs and for hosts that
// show a model only this form, and Text. The text of each tool follows three rules:
//
//   - What comes from a note (its text, names, titles, tags) stands in a [phrase.Fence], or is
//     quoted on one line with phrase.OneLine, so that a note cannot add lines of its own.
//   - What limits the result (a list that is cut, an index that is incomplete, an argument
//     that was ignored) is a remark: a sentence in both forms, see invocation.remarks.
//   - It names the next call where one is needed: a cursor, the lines to read on, the
//     change that restore_note undoes.
//
// Both forms stay within Limits.ResultBytes. Lists do so with fit or, if they have a cursor,
// with fitPage, which build the result from the first n items; texts are cut at lines. What
// a model has to act on, such as the conflicts of a move, is never cut.
//
// # Errors
//
// A *[UsageError] says what to pass instead; it needs no prefix and no full stop. Errors of
// the domain are *[notes.Error] with a hint that names the next call. Both become results
// that the model reads. Any other error is internal: it is logged with an id, and the client
// sees only the id. A look-up that only adds a remark to a change that was made must not
// turn it into an error.
//
// # Changes
//
// A tool that writes passes Author and RequestKey on with its request. The vault stores the
// answer under the key, so that a call repeated after a lost response is answered without
// being carried out again; what a tool does around the request must allow for that (see
// runDeleteNote). It rejects unknown arguments, which a tool that reads ignores with a
// remark, and records in [Seen] the versions that it wrote, or on whose text a dry run was
// based.
//
// # Adding a tool
//
// A tool is one file, NAME.go, with these parts in this order (list_tasks.go is an example
// of a list, rename_tag.go of a change):
//
//  1. A variable with the tool, made by define, and its entry in allTools (tool.go). The
//     description says what the tool does and when to use it, in few words: names,
//     descriptions and schemas take up context in every client, and a test limits their
//     total size.
//  2. The argument struct. Its tags make the input schema (inputOf): required, enum, min,
//     max and doc. If models use other names for an argument, they go into the tables of
//     coerce.go. What a type cannot express is checked by the function, with usagef.
//  3. The result struct. Its tags make the output schema (outputOf). A field that may be
//     absent has omitempty; a list that may not is empty and not null.
//  4. The function, called run and the tool's name, and the function that writes the text.
//
// The tests that range over [All] then check names, hints, schemas and limits of the new
// tool; mcp/testdata/tools has its schema as clients see it, written by -update.
package tools

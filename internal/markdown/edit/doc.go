// Package edit changes the text of one note. Each function returns the new text of
// the whole note and changes only the bytes that the edit names: line endings,
// indentation, the order, quotes and comments of front matter, a byte order mark
// and a missing final newline are preserved. If that is not possible, the edit is
// rejected with a typed error and no text.
//
// [Apply] applies a list of edits from a client; the functions that it calls (for
// text, sections, front matter, tags, headings) can also be used separately.
// [RewriteLinks] and [RewriteAnchors] change the targets of links, which clients do
// not request directly.
//
// Edits of front matter find the lines of a key with the syntax tree of the YAML or
// TOML library, rewrite them in the same style, and then parse the result, which
// must equal the old values with that key changed.
//
// The functions are pure (no files, no state between calls) and safe for concurrent
// use. [Apply] checks its context between edits.
package edit

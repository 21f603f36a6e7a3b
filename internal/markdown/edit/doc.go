// Package edit changes the text of one note. Each function returns the new text of
// the whole note and changes only the bytes that the edit names: line endings,
// indentation, the order, quotes and comments of front matter, a byte order mark
// and a missing final newline stay. An edit that cannot be made so is refused with
// a typed error and no text.
//
// [Apply] makes a list of edits as clients name them; the functions that it calls
// (for text, sections, front matter, tags, headings) can be called alone.
// [RewriteLinks] and [RewriteAnchors] change where links lead, which no client asks
// for directly.
//
// Edits of front matter locate the lines of a key through the syntax tree of the
// YAML or TOML library, write them again in the style that they have, and then
// read the outcome back: it must hold what the block held with that key changed.
//
// The package is pure: bytes in, bytes out, no files and no state between calls,
// so every function may be called from any number of goroutines. [Apply] ends with
// its context between two edits.
package edit

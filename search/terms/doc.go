// Package terms turns text into the terms that an index counts and a query asks
// for.
//
// A [Span] is a stretch of text that terms are made of: letters and digits with
// what may join them, or a run of a script that is written without spaces. A
// [Term] is a folded and stemmed word, a part of a compound or of a code-like
// word, or an n-gram. [Fold] removes case and accents; English words are stemmed
// (Porter2), and other languages are not: at query time their words also stand
// for the other forms that the vault has (see [Language]).
//
// The package has no state. All functions are linear in the length of the text.
package terms

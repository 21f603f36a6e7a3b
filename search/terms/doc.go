// Package terms turns text into the terms that an index counts and a query
// searches for.
//
// A [Span] is a range of text from which terms are extracted: letters and digits with the
// characters that may join them, or a run of a script written without spaces. A [Term] is a
// folded and stemmed word, a part of a compound or of a code-like word, or an n-gram. [Fold]
// removes case and accents; English words are stemmed (Porter2). Other languages are not
// stemmed: at query time, their words also match other inflected forms in the vault (see
// [Language]).
//
// The package has no state except caches, and is safe for concurrent use. All functions are
// linear in the length of the text.
package terms

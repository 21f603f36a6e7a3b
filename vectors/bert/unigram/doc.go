// Package unigram splits text into tokens with a SentencePiece Unigram model, as used
// by XLM-RoBERTa and its descendants.
//
// # Algorithm
//
// Text is normalised to NFKC, and runs of white space become one space. Every space
// is written as U+2581 and starts a word, as does the beginning of the text. A word
// is split into the pieces with the greatest sum of scores, which are logarithms of
// probabilities. Characters without a piece are unknown; several in a row become one
// token. Pieces with a score of 0 are control tokens and never match text, so "<s>"
// in a note is plain text.
//
// IDs equal those of the reference, the Python package tokenizers, also for ties: of
// several splits with the same sum, the first one found wins.
//
// # Cost
//
// The time is linear in the length of the text: each character takes as many lookups
// as the longest piece has characters. Pieces and scores are used in place; a
// tokenizer adds a table of 2 MB for 250 000 pieces.
//
// # Concurrency
//
// A [Tokenizer] is immutable and safe for concurrent use.
package unigram

// Package unigram cuts text into tokens with a SentencePiece Unigram model, as
// XLM-RoBERTa and its descendants use it.
//
// # What it does
//
// Text is brought into Unicode's form NFKC, and runs of white space become one
// space. Every space is written as U+2581 and begins a word; the first word
// begins with one, too. A word is cut into the pieces whose scores, which are
// logarithms of probabilities, have the greatest sum. Characters that no piece
// has are unknown; several in a row are one token. A piece with the score 0 is
// a control token: text never has it, so "<s>" in a note is text.
//
// Ids equal those of the reference, the Python package tokenizers, also where
// several ways to cut a word have the same sum: the one found first stays.
//
// # Cost
//
// The time is linear in the length of the text: at each character as many
// pieces are looked up as the longest piece has characters. Pieces and scores
// are read where they lie; a tokenizer adds a table of 2 MB for 250 000 pieces.
//
// # Concurrency
//
// A [Tokenizer] is immutable and safe for concurrent use.
package unigram

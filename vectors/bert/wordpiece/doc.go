// Package wordpiece splits text into the tokens of a WordPiece vocabulary, exactly as
// the reference implementation of BERT's tokenizer does.
//
// Text is normalised rune by rune: control and format characters are dropped, and, if
// the model requires it, letters are lower-cased and accents stripped (canonical
// decomposition, then marks removed). Words are split at white space; every
// punctuation mark and every CJK ideograph is a word by itself. A word becomes the
// longest token of the vocabulary that is a prefix of it, followed by the longest
// continuation token for the rest, and so on; if that fails anywhere, or the word is
// too long, the whole word is one unknown token. Text that looks like a special token
// ("[SEP]") is ordinary text.
//
// Any string is accepted: bytes that are not UTF-8 are dropped, as is U+FFFD.
//
// A Tokenizer is safe for concurrent use.
package wordpiece

// Package wordpiece cuts text into the tokens of a WordPiece vocabulary,
// exactly as the reference implementation of BERT's tokenizers does.
//
// Text is normalised rune by rune: control and format characters vanish,
// accents are stripped and letters lower-cased where the model wants that
// (canonical decomposition, then marks dropped). It is cut into words at white
// space; every punctuation mark and every CJK ideograph is a word of its own.
// A word becomes the longest piece of the vocabulary that it begins with, then
// the longest continuation piece that the rest begins with, and so on; if that
// fails anywhere, or the word is too long, the whole word is the one unknown
// token. What looks like a special token ("[SEP]") is text like any other.
//
// Any string is accepted: bytes that are not UTF-8 vanish as U+FFFD does.
//
// A Tokenizer is safe for concurrent use.
package wordpiece

// Package bert turns text into vectors with a BERT-family transformer, in pure
// Go, on one thread a text.
//
// # Vocabulary
//
//   - A [Model] is a model file opened for use: configuration, tokenizer and
//     weights. The weights stay where the file lies, in the program's pages or
//     a mapped file; a Model adds about a megabyte to them.
//   - An [Encoder] is the scratch memory of one forward pass, for one goroutine.
//   - A token is a piece of a word; a text is cut off after [Model.MaxTokens],
//     which counts the two special tokens around it.
//   - A tier is a set of kernels for one kind of CPU: see package kernel. The
//     best one is chosen when a model is opened; the environment variable
//     NOTESD_BERT_TIER (purego; avx2, avxvnni, avx512vnni; neon, neondot,
//     neoni8mm) overrides that. Every tier gives the same bits.
//
// # Arithmetic
//
// Weights are int8 with one scale for each output column; what they are
// multiplied by is quantised to bytes row by row, after a multiplication by a
// constant vector that moves the difficulty of outlying channels into the
// weights (SmoothQuant, Xiao et al. 2022, α = ½). Attention is quantised to 13
// and 15 bits. Sums are exact; softmax, GELU, LayerNorm and residuals are
// float32. Against the float32 original the cosine is about .999.
//
// # Concurrency
//
// A Model is immutable and may be shared; an Encoder may not. [Model.EmbedAll]
// starts goroutines and waits for all of them before it returns; nothing else
// in the package starts any. Encoders do not wait for each other: a query with
// an Encoder of its own is never behind a batch.
package bert

// Package bert turns text into vectors with a BERT-family transformer, in pure Go,
// using one thread per text.
//
// # Vocabulary
//
//   - A [Model] is an open model file: configuration, tokenizer and weights. The
//     weights are used in place, in the executable or a mapped file; a Model adds
//     about a megabyte to them.
//   - An [Encoder] is the scratch memory of one forward pass, for one goroutine.
//   - A token is a piece of a word. Texts are truncated to the model's MaxTokens,
//     including the two special tokens around them.
//   - A tier is a set of kernels for one kind of CPU: see package kernel. The
//     best one is selected when a model is opened; the environment variable
//     NOTESD_BERT_TIER (purego; avx2, avxvnni, avx512vnni; neon, neondot,
//     neoni8mm) overrides it. All tiers produce identical bits.
//
// # Arithmetic
//
// Weights are int8 with one scale for each output column. Activations are
// multiplied by a constant vector, which moves outliers from the activations into
// the weights (SmoothQuant, Xiao et al. 2022, α = ½), and then quantised to bytes
// row by row. Attention is quantised to 13 and 15 bits. Sums are exact; softmax,
// GELU, LayerNorm and residuals are float32. Cosine similarity to the float32
// original is about .999.
//
// # Concurrency
//
// A Model is immutable and safe to share; an Encoder is not. Encoders do not wait for
// one another, so a query with its own Encoder never queues behind a batch. The package
// starts no goroutines.
package bert

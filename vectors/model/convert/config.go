package main

import (
	"archive/zip"
	"bytes"
	"fmt"

	"notesd/vectors/bert/modelfile"
)

// minilmConfig is the configuration of sentence-transformers' all-MiniLM-L6-v2, for the
// weights with weightsDigest.
var minilmConfig = modelfile.Config{
	Name:         "all-MiniLM-L6-v2",
	License:      "Apache-2.0",
	Source:       "sentence-transformers/all-MiniLM-L6-v2, model.safetensors",
	SourceSHA256: weightsDigest,
	Layers:       6,
	Hidden:       384,
	Heads:        12,
	Intermediate: 1536,
	Positions:    512,
	Activation:   modelfile.GELU,
	Epsilon:      1e-12,
	Pooling:      modelfile.PoolingMean,
	MaxTokens:    256,
	Tokenizer: modelfile.Tokenizer{
		Kind: modelfile.WordPiece, Size: 30522, Lowercase: true, Continuation: "##", MaxWordRunes: 100,
		Start: 101, End: 102, Unknown: 100, // [CLS], [SEP], [UNK]
	},
}

// minilmVocabulary returns the tokens in ID order.
func minilmVocabulary(z *zip.Reader) ([][]byte, error) {
	list, err := member(z, "vocab.txt")
	if err != nil {
		return nil, err
	}
	tokens := bytes.Split(bytes.TrimSuffix(list, []byte("\n")), []byte("\n"))
	if len(tokens) != minilmConfig.Tokenizer.Size {
		return nil, fmt.Errorf("vocab.txt has %d tokens and not %d", len(tokens), minilmConfig.Tokenizer.Size)
	}
	return tokens, nil
}

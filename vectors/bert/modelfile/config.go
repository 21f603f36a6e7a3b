package modelfile

import (
	"fmt"
	"math"
	"strings"
)

// Config describes a model to an encoder. Its JSON is part of [File.Identity], so a
// new field must be omitted when empty.
type Config struct {
	// Name is the model's published name.
	Name string `json:"name"`
	// License, Source and SourceSHA256 record where the weights came from; the digest
	// is that of the original weights file.
	License      string `json:"license,omitempty"`
	Source       string `json:"source,omitempty"`
	SourceSHA256 string `json:"source_sha256,omitempty"`

	Layers       int `json:"layers"`
	Hidden       int `json:"hidden"`       // width of a token's vector
	Heads        int `json:"heads"`        // attention heads, Hidden/Heads wide each
	Intermediate int `json:"intermediate"` // width of the feed-forward layer
	Positions    int `json:"positions"`    // rows of the position table

	Activation string  `json:"activation"` // "gelu", computed with erf
	Epsilon    float32 `json:"epsilon"`    // of LayerNorm
	Pooling    string  `json:"pooling"`    // "mean" over all tokens

	// MaxTokens is where a text is truncated, counting special tokens.
	MaxTokens int `json:"max_tokens"`
	// QueryPrefix and PassagePrefix are prepended to texts before embedding.
	QueryPrefix   string `json:"query_prefix"`
	PassagePrefix string `json:"passage_prefix"`

	// WordBits is the number of bits per value of the word embeddings; zero means 8.
	WordBits int `json:"word_bits,omitempty"`

	Tokenizer Tokenizer `json:"tokenizer"`

	// Calibration is nil if unknown.
	Calibration *Calibration `json:"calibration,omitempty"`
}

// Calibration relates the cosine of a question and a passage to the score of matching
// words: a cosine of Zero contributes nothing, and each Unit above it as much as a
// note with all words of the question. Vectors do not depend on it.
type Calibration struct {
	Zero float64 `json:"zero"`
	Unit float64 `json:"unit"`
	// Mean and Deviation describe the cosines of unrelated questions and passages.
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
}

// Tokenizer configures how text becomes tokens.
type Tokenizer struct {
	Kind string `json:"kind"` // "wordpiece" or "unigram"
	Size int    `json:"size"` // tokens in the vocabulary

	// WordPiece only.
	Lowercase    bool   `json:"lowercase"`      // and strip accents
	Continuation string `json:"continuation"`   // marks a piece inside a word: "##"
	MaxWordRunes int    `json:"max_word_runes"` // longer words are unknown

	Start   int `json:"start"`   // id of the token before the text: [CLS]
	End     int `json:"end"`     // id of the token after it: [SEP]
	Unknown int `json:"unknown"` // id of a piece missing from the vocabulary: [UNK]
}

// Values of Config's and Tokenizer's enumerations.
const (
	GELU        = "gelu"
	PoolingMean = "mean"
	WordPiece   = "wordpiece"
	Unigram     = "unigram"
)

// check reports the first value in the configuration that this program does not
// support. Its limits are far above any useful model; they keep a damaged file from
// causing huge allocations.
func (c *Config) check() error {
	leastWord := 1
	if c.Tokenizer.Kind == Unigram {
		leastWord = 0
	}
	for _, f := range []struct {
		name          string
		value, lo, hi int
		multiple      int
	}{
		{"layers", c.Layers, 1, 64, 1},
		{"hidden", c.Hidden, 32, 4096, 32},
		{"heads", c.Heads, 1, 128, 1},
		{"intermediate", c.Intermediate, 32, 16384, 32},
		{"positions", c.Positions, 3, 8192, 1},
		{"max_tokens", c.MaxTokens, 3, c.Positions, 1},
		{"tokenizer.size", c.Tokenizer.Size, 1, 1 << 20, 1},
		{"tokenizer.max_word_runes", c.Tokenizer.MaxWordRunes, leastWord, 1000, 1},
		{"tokenizer.start", c.Tokenizer.Start, 0, c.Tokenizer.Size - 1, 1},
		{"tokenizer.end", c.Tokenizer.End, 0, c.Tokenizer.Size - 1, 1},
		{"tokenizer.unknown", c.Tokenizer.Unknown, 0, c.Tokenizer.Size - 1, 1},
	} {
		if f.value < f.lo || f.value > f.hi || f.value%f.multiple != 0 {
			return fmt.Errorf("%s is %d, which is not a multiple of %d from %d to %d",
				f.name, f.value, f.multiple, f.lo, f.hi)
		}
	}
	if c.Hidden%c.Heads != 0 || c.Hidden/c.Heads%32 != 0 {
		return fmt.Errorf("hidden is %d, which %d heads do not share in widths that are multiples of 32", c.Hidden, c.Heads)
	}
	if c.Name == "" || len(c.Name) > 200 || strings.ContainsFunc(c.Name, func(r rune) bool { return r < ' ' }) {
		return fmt.Errorf("name %q is empty, too long or has control characters", c.Name)
	}
	if !(c.Epsilon > 0) || math.IsInf(float64(c.Epsilon), 0) {
		return fmt.Errorf("epsilon is %v, which is not above zero", c.Epsilon)
	}
	return c.checkKinds()
}

func (c *Config) checkKinds() error {
	if c.Activation != GELU {
		return fmt.Errorf("activation %q is unknown to this version (it has %q)", c.Activation, GELU)
	}
	if c.Pooling != PoolingMean {
		return fmt.Errorf("pooling %q is unknown to this version (it has %q)", c.Pooling, PoolingMean)
	}
	if c.Tokenizer.Kind != WordPiece && c.Tokenizer.Kind != Unigram {
		return fmt.Errorf("tokenizer %q is unknown to this version (it has %q, %q)", c.Tokenizer.Kind, WordPiece, Unigram)
	}
	if c.WordBits != 0 && c.WordBits != 4 {
		return fmt.Errorf("word_bits is %d, and this version has 4 and, when it is left out, 8", c.WordBits)
	}
	if k := c.Calibration; k != nil && !(k.Unit > 0 && k.Unit <= 10 && math.Abs(k.Zero) <= 1 && math.Abs(k.Mean) <= 1 && k.Deviation > 0 && k.Deviation <= 1) {
		return fmt.Errorf("calibration %+v is not about cosines", *k)
	}
	return nil
}

package bert

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"

	"notesd/vectors/bert/kernel"
	"notesd/vectors/bert/modelfile"
	"notesd/vectors/bert/unigram"
	"notesd/vectors/bert/wordpiece"
)

// TierVariable is the environment variable that forces a tier.
const TierVariable = "NOTESD_BERT_TIER"

// numerics is the version of the engine's arithmetic. It is part of every model's
// ID: incrementing it makes stored vectors stale although the model file is
// unchanged.
const numerics = 1

// Model is an open model file. It is safe for concurrent use.
type Model struct {
	file      *modelfile.File
	config    modelfile.Config
	kernels   *kernel.Set
	tokenizer tokenizer
	id        string

	words, wordScales, positions []byte // sections of the file, used in place
	embeddingNorm                norm
	layers                       []layer
	head                         kernel.Columns // of attention's result: scales of 1

	unmap func() error
}

// tokenizer is implemented by wordpiece.Tokenizer and unigram.Tokenizer.
type tokenizer interface {
	// Append appends the ids of text's tokens until dst has length limit.
	Append(dst []int32, text string, limit int) []int32
	Knows(text string) (known, whole float64)
}

// Open opens a model file held in memory, without copying its weights: data must
// stay alive and unchanged while the Model is in use. Open checks the whole
// structure, so a model that opens can be run; [Model.Verify] also checks the
// weights' checksum. Errors about the contents match [modelfile.ErrFormat].
func Open(data []byte) (*Model, error) {
	kernels, err := kernel.Select(os.Getenv(TierVariable))
	if err != nil {
		return nil, fmt.Errorf("bert: %s: %w", TierVariable, err)
	}
	return open(data, kernels)
}

func open(data []byte, kernels *kernel.Set) (*Model, error) {
	file, err := modelfile.Read(data)
	if err != nil {
		return nil, fmt.Errorf("bert: %w", err)
	}
	m := &Model{
		file:       file,
		config:     file.Config,
		kernels:    kernels,
		words:      file.Bytes(modelfile.WordWeight),
		wordScales: file.Bytes(modelfile.WordScale),
		positions:  file.Bytes(modelfile.Position),
	}
	if err := m.load(); err != nil {
		return nil, fmt.Errorf("bert: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", file.Identity(), numerics))
	m.id = m.config.Name + "-" + hex.EncodeToString(sum[:6])
	return m, nil
}

// load builds what cannot be used in place: the tokenizer's table and the small
// arrays, which need alignment.
func (m *Model) load() error {
	var err error
	if m.tokenizer, err = newTokenizer(m.file); err != nil {
		return err
	}
	if m.embeddingNorm, err = loadNorm(m.file, modelfile.EmbeddingNorm); err != nil {
		return err
	}
	m.layers = make([]layer, m.config.Layers)
	for i := range m.layers {
		if m.layers[i], err = loadLayer(m.file, i); err != nil {
			return err
		}
	}
	width := m.config.Hidden / m.config.Heads
	m.head = kernel.Columns{Sum: make([]int32, width), Scale: slices.Repeat([]float32{1}, width), Bias: make([]float32, width)}
	return nil
}

func newTokenizer(f *modelfile.File) (tokenizer, error) {
	c := f.Config.Tokenizer
	text, ends := f.Bytes(modelfile.VocabularyText), f.Bytes(modelfile.VocabularyEnds)
	if c.Kind == modelfile.Unigram {
		if _, err := f.Floats(modelfile.VocabularyScores); err != nil {
			return nil, err
		}
		return unigram.New(text, ends, f.Bytes(modelfile.VocabularyScores), int32(c.Unknown)), nil
	}
	return wordpiece.New(wordpiece.Config{
		Fold:         c.Lowercase,
		Continuation: c.Continuation,
		MaxWordRunes: c.MaxWordRunes,
		Unknown:      int32(c.Unknown),
	}, text, ends), nil
}

// Dim is the length of the model's vectors.
func (m *Model) Dim() int { return m.config.Hidden }

// Name is the model's published name.
func (m *Model) Name() string { return m.config.Name }

// ID identifies the vectors that this model produces: two models with equal IDs
// produce equal vectors.
func (m *Model) ID() string { return m.id }

// Tier is the name of the kernels in use.
func (m *Model) Tier() string { return m.kernels.Name }

// Prefixes returns what the model expects before queries and before passages. Embedding
// does not add it.
func (m *Model) Prefixes() (query, passage string) {
	return m.config.QueryPrefix, m.config.PassagePrefix
}

// Calibration describes the distribution of the model's cosines; nil if the file
// has none.
func (m *Model) Calibration() *modelfile.Calibration { return m.config.Calibration }

// TokenIDs returns the ids that [Encoder.Embed] uses: the text's tokens between the special
// ones, at most MaxTokens of the configuration in all.
func (m *Model) TokenIDs(text string) []int32 { return m.appendIDs(nil, text) }

func (m *Model) appendIDs(ids []int32, text string) []int32 {
	c := &m.config
	ids = append(ids, int32(c.Tokenizer.Start))
	ids = m.tokenizer.Append(ids, text, c.MaxTokens-1)
	return append(ids, int32(c.Tokenizer.End))
}

// Knows returns two shares of text's letters, 0 to 1, which are 1 for a text without
// letters. known is the share that the model's vocabulary covers with words or pieces
// longer than one letter: near 1 for languages that the model was trained on, near 0 for
// scripts it does not know. whole is the share in words that are in the vocabulary as a
// whole rather than in pieces: .7 and more for the language the model was trained on, .1
// to .4 for related languages.
func (m *Model) Knows(text string) (known, whole float64) { return m.tokenizer.Knows(text) }

// Verify reads the whole file and compares it with its checksum. On a mismatch the
// error matches [modelfile.ErrFormat].
func (m *Model) Verify() error { return m.file.Verify() }

// Close unmaps the file of a Model from [OpenFile]. The Model must not be in use.
// Close is a no-op for a Model from [Open], or if called again.
func (m *Model) Close() error {
	unmap := m.unmap
	m.unmap = nil
	if unmap == nil {
		return nil
	}
	return unmap()
}

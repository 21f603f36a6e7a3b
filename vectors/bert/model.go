package bert

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"notesd/vectors/bert/kernel"
	"notesd/vectors/bert/modelfile"
	"notesd/vectors/bert/unigram"
	"notesd/vectors/bert/wordpiece"
)

// TierVariable is the environment variable that forces a tier.
const TierVariable = "NOTESD_BERT_TIER"

// numerics is the version of the engine's arithmetic. It is part of every
// model's ID, so a change of it, and only that, makes stored vectors stale
// without the file changing.
const numerics = 1

// Kind is what a text is embedded for; some models put a prefix before each kind.
type Kind int

// The kinds of texts.
const (
	Passage Kind = iota // a text to be found
	Query               // a question to find it by
)

// Model is a model in use. It is safe for concurrent use.
type Model struct {
	file      *modelfile.File
	config    modelfile.Config
	kernels   *kernel.Set
	tokenizer tokenizer
	id        string

	words, wordScales, positions []byte // sections of the file, read where they lie
	embeddingNorm                norm
	layers                       []layer

	unmap func() error
}

// tokenizer is what a Model needs of one, of either kind.
type tokenizer interface {
	// Append appends the ids of text's tokens until dst has limit of them.
	Append(dst []int32, text string, limit int) []int32
	Count(text string) int
	Known(text string) float64
	Whole(text string) float64
}

// Open opens a model file that is in memory, without copying its weights: data
// must stay alive and unchanged while the Model is in use. The whole structure
// is checked, so that a file that opens can be run; [Model.Verify] also checks
// the weights' integrity. Errors about the contents match
// [modelfile.ErrFormat].
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

// load makes what is not used in place: the tokenizer's table and the small
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
	return nil
}

func newTokenizer(f *modelfile.File) (tokenizer, error) {
	c := f.Config.Tokenizer
	if c.Kind == modelfile.Unigram {
		if _, err := f.Floats(modelfile.VocabularyScores); err != nil {
			return nil, err
		}
		return unigram.New(unigram.Pieces{
			Text:   f.Bytes(modelfile.VocabularyText),
			Ends:   f.Bytes(modelfile.VocabularyEnds),
			Scores: f.Bytes(modelfile.VocabularyScores),
		}, int32(c.Unknown)), nil
	}
	vocabulary := make([][]byte, 0, c.Size)
	for _, token := range f.Vocabulary {
		vocabulary = append(vocabulary, token)
	}
	return wordpiece.New(wordpiece.Config{
		Fold:         c.Lowercase,
		Continuation: c.Continuation,
		MaxWordRunes: c.MaxWordRunes,
		Unknown:      int32(c.Unknown),
	}, vocabulary), nil
}

// Dim is the length of the model's vectors.
func (m *Model) Dim() int { return m.config.Hidden }

// Name is the model's published name.
func (m *Model) Name() string { return m.config.Name }

// ID names the vectors that this model makes: it changes if, and only if, they
// do.
func (m *Model) ID() string { return m.id }

// MaxTokens is the number of tokens after which a text is cut off, the two
// special ones included.
func (m *Model) MaxTokens() int { return m.config.MaxTokens }

// Tier is the name of the kernels in use.
func (m *Model) Tier() string { return m.kernels.Name }

// Prefix is what the model wants in front of a text of that kind. Embedding
// does not add it.
func (m *Model) Prefix(k Kind) string {
	if k == Query {
		return m.config.QueryPrefix
	}
	return m.config.PassagePrefix
}

// Calibration says what the model's cosines mean; nil: the file does not know.
func (m *Model) Calibration() *modelfile.Calibration { return m.config.Calibration }

// Tokens is the number of tokens in text, special ones not counted, however
// long it is.
func (m *Model) Tokens(text string) int { return m.tokenizer.Count(text) }

// TokenIDs returns the ids that [Encoder.Embed] sees: the text's tokens up to
// MaxTokens, with the special ones around them.
func (m *Model) TokenIDs(text string) []int32 { return m.appendIDs(nil, text) }

func (m *Model) appendIDs(ids []int32, text string) []int32 {
	c := &m.config
	ids = append(ids, int32(c.Tokenizer.Start))
	ids = m.tokenizer.Append(ids, text, c.MaxTokens-1)
	return append(ids, int32(c.Tokenizer.End))
}

// Knows is the share of text's letters, 0 to 1, that the model has words or
// pieces of words for, rather than single letters or nothing. It is near 1 for
// languages that the model was trained on, near 0 for scripts that it does not
// know, and 1 for a text without letters.
func (m *Model) Knows(text string) float64 { return m.tokenizer.Known(text) }

// Whole is the share of text's letters, 0 to 1, in words that the model has whole
// rather than in pieces: .7 and more for the language that it was trained on, .1
// to .4 for its neighbours, and 1 for a text without letters.
func (m *Model) Whole(text string) float64 { return m.tokenizer.Whole(text) }

// Verify reads the whole file and compares it with its checksum. The error
// matches [modelfile.ErrFormat].
func (m *Model) Verify() error { return m.file.Verify() }

// String describes the model for logs.
func (m *Model) String() string {
	return strings.Join([]string{m.id, m.kernels.Name}, " ")
}

// Close gives a mapped file back. The Model must not be in use. Closing one
// that [Open] made, or closing again, does nothing.
func (m *Model) Close() error {
	unmap := m.unmap
	m.unmap = nil
	if unmap == nil {
		return nil
	}
	return unmap()
}

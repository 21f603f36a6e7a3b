package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"

	"notesd/vectors/bert/modelfile"
)

// published is what the original's configuration files say, as far as it is of
// interest here.
type published struct {
	Layers       int     `json:"num_hidden_layers"`
	Hidden       int     `json:"hidden_size"`
	Heads        int     `json:"num_attention_heads"`
	Intermediate int     `json:"intermediate_size"`
	Positions    int     `json:"max_position_embeddings"`
	Activation   string  `json:"hidden_act"`
	Epsilon      float32 `json:"layer_norm_eps"`
	Vocabulary   int     `json:"vocab_size"`

	MaxTokens int  `json:"max_seq_length"`
	Mean      bool `json:"pooling_mode_mean_tokens"`
	CLS       bool `json:"pooling_mode_cls_token"`

	Start   string `json:"cls_token"`
	End     string `json:"sep_token"`
	Unknown string `json:"unk_token"`
}

// readConfig gathers the configuration and the vocabulary, in the order of its
// ids, from the files of a sentence-transformers model.
func readConfig(z *zip.Reader) (*modelfile.Config, [][]byte, error) {
	var p published
	for _, name := range []string{
		"model/config.json", "sentence_bert_config.json", "1_Pooling/config.json", "tokenizer_config.json",
	} {
		data, err := member(z, name)
		if err != nil {
			return nil, nil, err
		}
		if err := json.Unmarshal(data, &p); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	list, err := member(z, "vocab.txt")
	if err != nil {
		return nil, nil, err
	}
	vocabulary := bytes.Split(bytes.TrimSuffix(list, []byte("\n")), []byte("\n"))
	if len(vocabulary) != p.Vocabulary {
		return nil, nil, fmt.Errorf("vocab.txt has %d tokens and not %d", len(vocabulary), p.Vocabulary)
	}
	pooling := modelfile.PoolingMean
	if p.Mean == p.CLS {
		return nil, nil, fmt.Errorf("pooling is neither the mean nor the first token's")
	} else if p.CLS {
		pooling = modelfile.PoolingCLS
	}
	return &modelfile.Config{
		Name:         "all-MiniLM-L6-v2",
		License:      "Apache-2.0",
		Source:       "sentence-transformers/all-MiniLM-L6-v2, model.safetensors",
		SourceSHA256: weightsDigest,
		Layers:       p.Layers,
		Hidden:       p.Hidden,
		Heads:        p.Heads,
		Intermediate: p.Intermediate,
		Positions:    p.Positions,
		Activation:   p.Activation,
		Epsilon:      p.Epsilon,
		Pooling:      pooling,
		MaxTokens:    p.MaxTokens,
		Tokenizer: modelfile.Tokenizer{
			Kind:         modelfile.WordPiece,
			Size:         p.Vocabulary,
			Lowercase:    true,
			Continuation: "##",
			MaxWordRunes: 100,
			Start:        index(vocabulary, p.Start),
			End:          index(vocabulary, p.End),
			Unknown:      index(vocabulary, p.Unknown),
		},
	}, vocabulary, nil
}

// index returns a token's id, -1 if there is none.
func index(vocabulary [][]byte, token string) int {
	for id, t := range vocabulary {
		if string(t) == token {
			return id
		}
	}
	return -1
}

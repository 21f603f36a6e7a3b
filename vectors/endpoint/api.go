package endpoint

import (
	"encoding/json"
	"fmt"
)

// api describes the HTTP API of a provider.
type api struct {
	url, model string // defaults; "" for none
	base       string // the path for a URL without one
	path       string // of the request, appended to the URL
	request    func(model string, texts []string) any
	vectors    func(body []byte) ([][]float32, error)
	noModel    func(model string) string // hint for a missing model
}

// Ollama: https://github.com/ollama/ollama/blob/main/docs/api.md
// OpenAI: https://platform.openai.com/docs/api-reference/embeddings
var apis = map[string]api{
	Ollama: {
		url:   "http://127.0.0.1:11434",
		model: "nomic-embed-text",
		path:  "api/embed",
		request: func(model string, texts []string) any {
			return ollamaRequest{Model: model, Input: texts, Truncate: true}
		},
		vectors: ollamaVectors,
		noModel: func(model string) string { return "run ollama pull " + model },
	},
	OpenAI: {
		base: "/v1",
		path: "embeddings",
		request: func(model string, texts []string) any {
			return openAIRequest{Model: model, Input: texts, EncodingFormat: "float"}
		},
		vectors: openAIVectors,
		noModel: func(string) string { return "check semantic.url, which usually ends in /v1, and semantic.model" },
	},
}

type ollamaRequest struct {
	Model    string   `json:"model"`
	Input    []string `json:"input"`
	Truncate bool     `json:"truncate"` // truncate texts that are too long for the model
}

func ollamaVectors(body []byte) ([][]float32, error) {
	var answer struct {
		Embeddings [][]float32 `json:"embeddings"`
	}
	err := json.Unmarshal(body, &answer)
	return answer.Embeddings, err
}

type openAIRequest struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	EncodingFormat string   `json:"encoding_format"`
}

// openAIVectors sorts the vectors into the order of the texts, by their index.
func openAIVectors(body []byte) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	out := make([][]float32, len(answer.Data))
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= len(out) || out[d.Index] != nil {
			return nil, fmt.Errorf("the index %d is repeated or out of range for %d vectors", d.Index, len(out))
		}
		out[d.Index] = d.Embedding
	}
	return out, nil
}

// serverWords returns the message of a failed response. Both APIs have a field "error",
// which is a string or an object with a "message".
func serverWords(body []byte) string {
	var answer struct {
		Error   any    `json:"error"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(body, &answer) // a proxy's page has no message
	switch e := answer.Error.(type) {
	case string:
		return e
	case map[string]any:
		message, _ := e["message"].(string)
		return message
	}
	return answer.Message
}

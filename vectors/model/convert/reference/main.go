// Command reference prints the engine's output for texts, for comparison with other
// implementations by the scripts beside it:
//
//	reference [-model FILE] <texts.jsonl >results.jsonl
//
// Input lines are {"text": …}; output lines, in the same order, are
// {"ids": […], "vector": […]}.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"notesd/vectors/bert"
	"notesd/vectors/model"
)

type result struct {
	IDs    []int32   `json:"ids"`
	Vector []float32 `json:"vector"`
}

func main() {
	file := flag.String("model", "", "model file, instead of the bundled one")
	flag.Parse()
	if err := run(*file, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(file string, in io.Reader, out io.Writer) error {
	open := model.English
	if file != "" {
		open = func() (*bert.Model, error) { return bert.OpenFile(file) }
	}
	m, err := open()
	if err != nil {
		return err
	}
	var texts []string
	for dec := json.NewDecoder(in); dec.More(); {
		var line struct{ Text string }
		if err := dec.Decode(&line); err != nil {
			return fmt.Errorf("text %d: %w", len(texts)+1, err)
		}
		texts = append(texts, line.Text)
	}
	results := make([]result, len(texts))
	tokens := 0
	for i, text := range texts {
		results[i].IDs = m.TokenIDs(text)
		tokens += len(results[i].IDs)
	}
	start := time.Now()
	encoder := m.NewEncoder()
	for i, text := range texts {
		results[i].Vector = make([]float32, m.Dim())
		if err := encoder.Embed(context.Background(), text, results[i].Vector); err != nil {
			return err
		}
	}
	elapsed := time.Since(start)
	fmt.Fprintf(os.Stderr, "%s %s: %d texts, %d tokens, %.0f tokens/s\n", m.ID(), m.Tier(), len(texts), tokens, float64(tokens)/elapsed.Seconds())
	enc := json.NewEncoder(out)
	for _, r := range results {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

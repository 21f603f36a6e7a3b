package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"os"
	"path/filepath"
)

const (
	title       = "Notes (notesd)"
	description = "Search, read and write a folder of Markdown notes, on this machine"
)

// bundle writes the MCPB bundle for one system.
func (r *release) bundle(p program) error {
	manifest, err := indented(r.manifest(p))
	if err != nil {
		return err
	}
	icon, err := icon()
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
		{name: "icon.png", text: icon, mode: 0o644},
		{name: "server/" + p.file(), source: p.Path, mode: 0o755},
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

func (p program) file() string {
	if p.OS == "windows" {
		return "notesd.exe"
	}
	return "notesd"
}

// manifest returns the manifest of the bundle for one system.
func (r *release) manifest(p program) map[string]any {
	type listed struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	var tools []listed
	for _, t := range r.tools {
		tools = append(tools, listed{t.Name, t.Description})
	}
	platform := p.OS
	if platform == "windows" {
		platform = "win32"
	}
	return map[string]any{
		"manifest_version": "0.3",
		"name":             "notesd",
		"display_name":     title,
		"version":          r.version,
		"description":      description,
		"long_description": "notesd searches your notes by words and semantically, reads them, and writes them with history and undo. The index and the language model are inside the program: no account, no cloud, no download. Your notes stay plain Markdown files in your folder.",
		"author":           map[string]string{"name": "The notesd authors", "url": r.repository},
		"repository":       map[string]string{"type": "git", "url": r.repository},
		"homepage":         r.repository,
		"documentation":    r.page("README.md"),
		"support":          r.repository + "/issues",
		"privacy_policies": []string{r.page("docs/privacy.md")},
		"icon":             "icon.png",
		"license":          "Apache-2.0",
		"keywords":         []string{"notes", "markdown", "obsidian", "search", "zettelkasten"},
		"server": map[string]any{
			"type":        "binary",
			"entry_point": "server/" + p.file(),
			"mcp_config": map[string]any{
				"command": "${__dirname}/server/" + p.file(),
				"args":    []string{"mcp", "--vault", "${user_config.vault}", "--read-only=${user_config.read_only}"},
			},
		},
		"tools":             tools,
		"prompts_generated": true,
		"compatibility":     map[string]any{"platforms": []string{platform}},
		"user_config": map[string]any{
			"vault": map[string]any{
				"type": "directory", "title": "Folder of notes", "required": true,
				"description": "The folder with your Markdown files, such as an Obsidian vault.",
			},
			"read_only": map[string]any{
				"type": "boolean", "title": "Read only", "default": false,
				"description": "Offer no tool that writes.",
			},
		},
	}
}

// icon draws a sheet of paper with lines, 512 pixels square.
func icon() ([]byte, error) {
	m := image.NewNRGBA(image.Rect(0, 0, 512, 512))
	fill := func(x0, y0, x1, y1 int, c color.Color) {
		draw.Draw(m, image.Rect(x0, y0, x1, y1), image.NewUniform(c), image.Point{}, draw.Src)
	}
	ink, paper := color.NRGBA{0x3b, 0x4a, 0x6b, 0xff}, color.NRGBA{0xfd, 0xfc, 0xf7, 0xff}
	fill(80, 32, 432, 480, ink)
	fill(96, 48, 416, 464, paper)
	for i, width := range []int{240, 240, 180, 240, 120} {
		fill(136, 112+68*i, 136+width, 136+68*i, ink)
	}
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return b.Bytes(), err
}

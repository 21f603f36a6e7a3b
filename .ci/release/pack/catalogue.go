package main

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"text/template"
)

// registry writes server.json, the entry of the MCP registry.
func (r *release) registry() error {
	type object = map[string]any
	var packages []object
	for _, p := range r.programs {
		name := r.name(p, ".mcpb")
		sum, err := r.sum(name)
		if err != nil {
			return err
		}
		packages = append(packages, object{
			"registryType": "mcpb", "identifier": r.download(name), "version": r.version, "fileSha256": sum,
			"transport": object{"type": "stdio"},
		})
	}
	owner := strings.Split(strings.TrimPrefix(r.repository, "https://github.com/"), "/")[0]
	return r.writeJSON("server.json", object{
		"$schema":     "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		"name":        "io.github." + owner + "/notesd",
		"title":       title,
		"description": description,
		"version":     r.version,
		"repository":  object{"url": r.repository, "source": "github"},
		"packages":    packages,
	})
}

// dockerCatalogue writes the two files of an entry in Docker's MCP catalogue.
func (r *release) dockerCatalogue() error {
	type argument struct {
		Name     string `json:"name"`
		Type     string `json:"type"`
		Desc     string `json:"desc"`
		Optional bool   `json:"optional,omitempty"`
	}
	type listed struct {
		Name        string     `json:"name"`
		Description string     `json:"description"`
		Arguments   []argument `json:"arguments"`
	}
	var tools []listed
	for _, t := range r.tools {
		one := listed{t.Name, t.Description, []argument{}}
		for _, name := range slices.Sorted(maps.Keys(t.InputSchema.Properties)) {
			p := t.InputSchema.Properties[name]
			one.Arguments = append(one.Arguments, argument{name, p.Type, p.Description, !slices.Contains(t.InputSchema.Required, name)})
		}
		tools = append(tools, one)
	}
	if err := r.writeJSON("docker/tools.json", tools); err != nil {
		return err
	}
	return r.template("docker/server.yaml", `name: notesd
image: mcp/notesd
type: server
meta:
  category: productivity
  tags:
    - notes
    - markdown
    - search
about:
  title: {{.Title}}
  description: {{.Description}}
  icon: {{.Repository}}/raw/main/internal/web/static/icon.svg
source:
  project: {{.Repository}}
  commit: {{.Commit}}
run:
  volumes:
    - '{{"{{"}}notesd.vault{{"}}"}}:/vault'
    - notesd-state:/state
  disableNetwork: true
config:
  description: Choose the folder of notes
  parameters:
    type: object
    properties:
      vault:
        type: string
        description: The folder with your Markdown files
    required:
      - vault
`)
}

// homebrew writes the formula of a Homebrew tap.
func (r *release) homebrew() error {
	return r.template("homebrew/notesd.rb", `class Notesd < Formula
  desc "{{.Description}}"
  homepage "{{.Repository}}"
  version "{{.Version}}"
  license "Apache-2.0"
{{range .Archives}}{{if ne .OS "windows"}}
  on_{{if eq .OS "darwin"}}macos{{else}}linux{{end}} do
    on_{{if eq .Arch "amd64"}}intel{{else}}arm{{end}} do
      url "{{.URL}}"
      sha256 "{{.Sum}}"
    end
  end
{{end}}{{end}}
  def install
    bin.install "notesd"
    man1.install "man/notesd.1"
    bash_completion.install "completions/notesd.bash" => "notesd"
    zsh_completion.install "completions/_notesd"
    fish_completion.install "completions/notesd.fish"
    pkgshare.install "plugin"
    doc.install "THIRD-PARTY.txt"
  end

  def caveats
    <<~EOS
      Register it with your assistants:  notesd setup --vault ~/Notes
      Keep its daemon running:           notesd service install --vault ~/Notes
    EOS
  end

  test do
    (testpath/"Notes").mkpath
    (testpath/"Notes/Tides.md").write "The moon pulls the sea."
    assert_match "Tides.md", shell_output("#{bin}/notesd search --vault #{testpath}/Notes --state #{testpath}/state moon")
  end
end
`)
}

// scoop writes the manifest of a Scoop bucket, if there is a program for Windows.
func (r *release) scoop() error {
	type archive struct {
		URL  string `json:"url"`
		Hash string `json:"hash"`
		Dir  string `json:"extract_dir"`
	}
	archives := map[string]archive{}
	for _, p := range r.programs {
		if p.OS != "windows" {
			continue
		}
		name := r.name(p, ".zip")
		sum, err := r.sum(name)
		if err != nil {
			return err
		}
		archives[map[string]string{"amd64": "64bit", "arm64": "arm64"}[p.Arch]] = archive{r.download(name), sum, strings.TrimSuffix(name, ".zip")}
	}
	if len(archives) == 0 {
		return nil
	}
	return r.writeJSON("scoop/notesd.json", map[string]any{
		"version": r.version, "description": description, "homepage": r.repository, "license": "Apache-2.0",
		"architecture": archives, "bin": "notesd.exe",
		"notes": "Register it with your assistants: notesd setup --vault C:\\Users\\you\\Notes",
	})
}

// template writes a file of this release by a template.
func (r *release) template(name, text string) error {
	type archive struct {
		program
		URL, Sum string
	}
	fields := struct {
		Title, Description, Repository, Version, Commit string
		Archives                                        []archive
	}{Title: title, Description: description, Repository: r.repository, Version: r.version, Commit: r.commit}
	for _, p := range r.programs {
		if p.OS == "windows" {
			continue
		}
		file := r.name(p, ".tar.gz")
		sum, err := r.sum(file)
		if err != nil {
			return err
		}
		fields.Archives = append(fields.Archives, archive{p, r.download(file), sum})
	}
	var b bytes.Buffer
	if err := template.Must(template.New(name).Parse(text)).Execute(&b, fields); err != nil {
		return err
	}
	return r.write(name, b.Bytes())
}

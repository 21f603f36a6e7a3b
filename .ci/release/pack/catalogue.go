package main

import (
	"bytes"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"text/template"
)

// Templates of files: see [release.template].
var (
	//go:embed server.yaml.tmpl
	dockerServer string
	//go:embed notesd.rb.tmpl
	formula string
)

// registry writes server.json, the entry for the MCP registry.
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

// dockerCatalogue writes the two files of an entry for Docker's MCP catalogue.
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
	return r.template("docker/server.yaml", dockerServer)
}

// homebrew writes the formula of a Homebrew tap.
func (r *release) homebrew() error {
	return r.template("homebrew/notesd.rb", formula)
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

// template writes a file of this release from a template.
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

package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

const (
	title       = "Notes (notesd)"
	description = "Search, read and write a folder of Markdown notes, on this machine"
)

//go:embed *.tmpl
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"json": func(v any) (string, error) {
	text, err := indented(v)
	return string(bytes.TrimSpace(text)), err
}}).ParseFS(templateFiles, "*.tmpl"))

// render executes the template NAME.tmpl for this release, and for one of its programs if
// the file belongs to one.
func (r *release) render(name string, p program) ([]byte, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, name+".tmpl", struct {
		*release
		program
		Title, Description, Repository, Owner, Version, Commit string
		Tools                                                  []tool
	}{
		r, p, title, description, r.repository, strings.Split(strings.TrimPrefix(r.repository, "https://github.com/"), "/")[0],
		r.version, r.commit, r.tools,
	})
	return b.Bytes(), err
}

// download is a file of this release for one system.
type download struct {
	program
	Name, URL, Sum string
}

// Downloads returns the files with a suffix.
func (r *release) Downloads(suffix string) (all []download, err error) {
	for _, p := range r.programs {
		if suffix == ".zip" && p.OS != "windows" || suffix == ".tar.gz" && p.OS == "windows" {
			continue
		}
		name := r.name(p, suffix)
		sum, err := r.sum(name)
		if err != nil {
			return nil, err
		}
		all = append(all, download{p, strings.TrimSuffix(name, suffix), r.repository + "/releases/download/v" + r.version + "/" + name, sum})
	}
	return all, nil
}

// catalogues writes the descriptions for the MCP registry, Docker's MCP catalogue, a
// Homebrew tap and, if there is a program for Windows, a Scoop bucket.
func (r *release) catalogues() error {
	for _, name := range []string{"server.json", "docker/server.yaml", "homebrew/notesd.rb", "scoop/notesd.json"} {
		if name == "scoop/notesd.json" && !slices.ContainsFunc(r.programs, func(p program) bool { return p.OS == "windows" }) {
			continue
		}
		text, err := r.render(path.Base(name), program{})
		if err != nil {
			return err
		}
		if err := r.write(name, text); err != nil {
			return err
		}
	}
	return r.dockerTools()
}

// dockerTools writes the list of tools for Docker's MCP catalogue.
func (r *release) dockerTools() error {
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
	return r.writeJSON("docker/tools.json", tools)
}

// tool is a tool in the server's list.
type tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	InputSchema struct {
		Properties map[string]struct {
			Type        string `json:"type"`
			Description string `json:"description"`
		} `json:"properties"`
		Required []string `json:"required"`
	} `json:"inputSchema"`
}

var toolHeading = regexp.MustCompile(`(?m)^## (\w+)$`)

// listTools returns the tools in the order in which the server lists them, from files that
// the tests compare with it.
func listTools() (tools []tool, err error) {
	page, err := os.ReadFile("docs/reference/tools.md")
	for _, name := range toolHeading.FindAllStringSubmatch(string(page), -1) {
		text, err := os.ReadFile("mcp/testdata/tools/" + name[1] + ".json")
		if err != nil {
			return nil, err
		}
		var t tool
		if err := json.Unmarshal(text, &t); err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	return tools, err
}

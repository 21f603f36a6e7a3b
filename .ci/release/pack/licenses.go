package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// thirdParty is the name of the file with the licenses in each package.
const thirdParty = "THIRD-PARTY.txt"

// rule starts a section of that file; it occurs in no license.
var rule = strings.Repeat("#", 80) + "\n"

// licenseFile matches the names of files with a module's license terms.
var licenseFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents)([.-].*)?$`)

// inside lists embedded material that is not a Go module, with its license files.
var inside = map[string][]string{
	"the models all-MiniLM-L6-v2 and multilingual-e5-small":    {"vectors/model/SOURCE.md", "vectors/model/LICENSE", "vectors/model/LICENSE-e5"},
	"the Chinese and Japanese characters that search compares": {"search/terms/SOURCE.md", "LICENSE"},
	"the scripts of d3 in the page of notesd web":              {"internal/web/static/vendor/README.md", "internal/web/static/vendor/LICENSE"},
}

// licenses writes, for each target such as linux_amd64_v1, the file DIR/linux_amd64.txt
// with the license terms of everything in that program. A module without terms is an
// error.
func licenses(dir string, targets []string) error {
	root, err := goCommand(nil, "env", "GOROOT")
	if err != nil {
		return err
	}
	for _, target := range targets {
		goos, arch, _ := strings.Cut(target, "_")
		arch, _, _ = strings.Cut(arch, "_")
		files := maps.Clone(inside)
		files["Go and its standard library "+runtime.Version()] = []string{filepath.Join(root, "LICENSE"), filepath.Join(root, "PATENTS")}
		list, err := goCommand([]string{"GOOS=" + goos, "GOARCH=" + arch, "CGO_ENABLED=0"}, "list", "-deps", "-f",
			"{{if not .Standard}}{{if .Module.Version}}{{.Module.Path}} {{.Module.Version}}\t{{.Module.Dir}}\t{{.Dir}}{{end}}{{end}}", "./cmd/notesd")
		if err != nil {
			return err
		}
		for line := range strings.Lines(list) {
			fields := strings.Split(strings.TrimSpace(line), "\t")
			if len(fields) != 3 {
				continue
			}
			module, top := fields[0], fields[1]
			// Code copied into a module has its terms in its own folder.
			for folder := fields[2]; len(folder) >= len(top); folder = filepath.Dir(folder) {
				entries, err := os.ReadDir(folder)
				if err != nil {
					return err
				}
				for _, e := range entries {
					if file := filepath.Join(folder, e.Name()); licenseFile.MatchString(e.Name()) && !e.IsDir() && !strings.HasSuffix(file, ".go") && !slices.Contains(files[module], file) {
						files[module] = append(files[module], file)
					}
				}
			}
			if len(files[module]) == 0 {
				return fmt.Errorf("%s has no license in %s", module, top)
			}
		}
		var b bytes.Buffer
		fmt.Fprintf(&b, "notesd for %s on %s contains the following, under these terms. Those of notesd itself are in LICENSE.\n", goos, arch)
		for _, name := range slices.SortedFunc(maps.Keys(files), func(a, b string) int {
			return cmp.Or(cmp.Compare(strings.ToLower(a), strings.ToLower(b)), cmp.Compare(a, b))
		}) {
			fmt.Fprintf(&b, "\n%s%s\n", rule, name)
			for _, file := range slices.Sorted(slices.Values(files[name])) {
				text, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				fmt.Fprintf(&b, "\n--- %s\n\n%s\n", filepath.Base(file), bytes.TrimSpace(text))
			}
		}
		if err := os.WriteFile(filepath.Join(dir, goos+"_"+arch+".txt"), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// goCommand returns the output of a go command, run with additional environment
// variables.
func goCommand(env []string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

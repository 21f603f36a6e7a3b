package main

import (
	"debug/buildinfo"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// Every package in the folder DIST contains, next to its program, the license of each
// module that the linker recorded in that program.
func TestLicenses(t *testing.T) {
	dist := os.Getenv("DIST")
	if dist == "" {
		t.Skip("DIST names no folder of a release")
	}
	files, err := filepath.Glob(filepath.Join(dist, "notesd_*"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range files {
		switch name := filepath.Base(file); {
		case strings.HasSuffix(name, "_oci.tar"):
			for _, dir := range unpackImage(t, file) {
				checkLicenses(t, name, dir)
			}
		case strings.HasSuffix(name, ".deb"):
			dir := unpack(t, file)
			checkLicenses(t, name, unpack(t, filepath.Join(dir, "data.tar.gz")))
		case strings.HasSuffix(name, ".cdx.json") || !strings.Contains(name, "."):
			continue
		default:
			if info, err := os.Stat(file); err != nil || info.IsDir() {
				continue
			}
			checkLicenses(t, name, unpack(t, file))
		}
		checked++
	}
	if checked == 0 {
		t.Fatal("there are no packages in " + dist)
	}
}

func unpack(t *testing.T, file string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("bsdtar", "-xf", file, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", file, err, out)
	}
	return dir
}

// unpackImage returns a folder for each architecture.
func unpackImage(t *testing.T, file string) (dirs []string) {
	t.Helper()
	outer, err := layout.ImageIndexFromPath(unpack(t, file))
	if err != nil {
		t.Fatal(err)
	}
	named, err := outer.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	index, err := outer.ImageIndex(named.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	images, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range images.Manifests {
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		cmd := exec.Command("bsdtar", "-xf", "-", "-C", dir)
		cmd.Stdin = mutate.Extract(image)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

func checkLicenses(t *testing.T, name, dir string) {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			found[strings.TrimSuffix(d.Name(), ".exe")] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(found[thirdParty])
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if found["LICENSE"] == "" && found["copyright"] == "" {
		t.Errorf("%s lacks the license of notesd", name)
	}
	program := found["notesd"]
	if strings.Contains(program, "completion") {
		program = filepath.Join(dir, "usr/bin/notesd")
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(info.Deps) == 0 {
		t.Errorf("%s: %s names no modules", name, program)
	}
	for _, m := range info.Deps {
		_, section, ok := strings.Cut(string(text), rule+m.Path+" "+m.Version+"\n")
		if !ok {
			t.Errorf("%s: %s %s has no license in %s", name, m.Path, m.Version, thirdParty)
			continue
		}
		section, _, _ = strings.Cut(section, rule)
		if !hasTermsOf(t, section, m.Path) {
			t.Errorf("%s: what %s has for %s is not the text of its license", name, thirdParty, m.Path)
		}
	}
	for _, file := range []string{"vectors/model/LICENSE", "vectors/model/LICENSE-e5", "internal/web/static/vendor/LICENSE"} {
		license, err := os.ReadFile(filepath.Join("../../..", file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), strings.TrimSpace(string(license))) {
			t.Errorf("%s lacks %s", name, file)
		}
	}
}

// folders lists the modules with their folders.
var folders = sync.OnceValues(func() (string, error) {
	return goCommand(nil, "list", "-C", "../../..", "-m", "-f", "{{.Path}}\t{{.Dir}}", "all")
})

// hasTermsOf reports whether a text contains the license in a module's folder.
func hasTermsOf(t *testing.T, text, module string) bool {
	t.Helper()
	list, err := folders()
	if err != nil {
		t.Fatal(err)
	}
	_, dir, _ := strings.Cut("\n"+list, "\n"+module+"\t")
	dir, _, _ = strings.Cut(dir, "\n")
	for _, pattern := range []string{"LICENSE*", "COPYING"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		if len(names) > 0 { // it must contain all of several, such as LICENSE-BSD and LICENSE-MIT
			return !slices.ContainsFunc(names, func(name string) bool {
				license, err := os.ReadFile(name)
				return err != nil || !strings.Contains(text, strings.TrimSpace(string(license)))
			})
		}
	}
	return false
}

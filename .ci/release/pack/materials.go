package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"
)

// models are the embedded files that are not Go modules.
var models = []struct{ file, name, license string }{
	{"all-MiniLM-L6-v2.ndmodel", "sentence-transformers/all-MiniLM-L6-v2", "Apache-2.0"},
	{"multilingual-e5-small.ndmodel", "intfloat/multilingual-e5-small", "MIT"},
}

// materials writes a program's bill of materials in CycloneDX format: the modules that
// the linker recorded, Go itself, and the models.
func (r *release) materials(p program) error {
	type object = map[string]any
	info, err := buildinfo.ReadFile(p.Path)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(p.Path)
	if err != nil {
		return err
	}
	sha := func(sum []byte) []object {
		return []object{{"alg": "SHA-256", "content": hex.EncodeToString(sum)}}
	}
	golang := func(module, version string) object {
		purl := "pkg:golang/" + module + "@" + version
		return object{"bom-ref": purl, "type": "library", "name": module, "version": version, "purl": purl}
	}
	std := golang("std", strings.TrimPrefix(info.GoVersion, "go"))
	components, refs := []object{std}, []any{std["bom-ref"]}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := golang(m.Path, m.Version)
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
		if err != nil || len(sum) != sha256.Size {
			return fmt.Errorf("the checksum of %s is %q", m.Path, m.Sum)
		}
		c["hashes"] = sha(sum) // of the module's file list, as in go.sum
		components, refs = append(components, c), append(refs, c["bom-ref"])
	}
	for _, m := range models {
		weights, err := os.ReadFile("vectors/model/" + m.file)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(weights)
		components = append(components, object{
			"bom-ref": m.file, "type": "machine-learning-model", "name": m.name, "hashes": sha(sum[:]),
			"licenses": []object{{"license": object{"id": m.license}}},
		})
		refs = append(refs, m.file)
	}
	sum := sha256.Sum256(text)
	return r.writeJSON(r.name(p, ".cdx.json"), object{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": object{
			"timestamp": r.time.Format(time.RFC3339),
			"component": object{
				"bom-ref": "notesd", "type": "application", "name": "notesd", "version": r.version, "hashes": sha(sum[:]),
				"licenses": []object{{"license": object{"id": "Apache-2.0"}}},
			},
		},
		"components":   components,
		"dependencies": []object{{"ref": "notesd", "dependsOn": refs}},
	})
}

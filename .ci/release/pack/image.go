package main

import (
	"archive/tar"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// image builds the same container image as Dockerfile, from the programs of the packages,
// as an OCI archive with one image for each architecture.
func (r *release) image() error {
	config := v1.Config{ // hosts.mjs compares it with Dockerfile
		User:       "65532:65532",
		Env:        []string{"PATH=/usr/bin", "NOTESD_VAULT=/vault", "XDG_STATE_HOME=/state", "XDG_CONFIG_HOME=/config"},
		Volumes:    map[string]struct{}{"/vault": {}, "/state": {}},
		Entrypoint: []string{"notesd"},
		Cmd:        []string{"mcp", "--in-process"},
		Healthcheck: &v1.HealthConfig{
			Test: []string{"CMD", "notesd", "status"}, Interval: time.Minute, Timeout: 10 * time.Second, StartPeriod: 10 * time.Second,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title": "notesd", "org.opencontainers.image.description": description,
			"org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.source": r.repository, "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	index := v1.ImageIndex(mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	found := false
	for _, p := range r.programs {
		if p.OS != "linux" {
			continue
		}
		found = true
		image, err := r.imageOf(p, config)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: p.OS, Architecture: p.Arch},
		}})
	}
	if !found {
		return nil
	}
	dir, err := os.MkdirTemp("", "notesd-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// The outer index contains the image's name, which docker load and podman load
	// require.
	named := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
		Add: index, Descriptor: v1.Descriptor{Annotations: map[string]string{
			"io.containerd.image.name": "docker.io/library/notesd:" + r.version, "org.opencontainers.image.ref.name": r.version,
		}},
	})
	if _, err := layout.Write(dir, named); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := r.tar(&b, dir); err != nil {
		return err
	}
	return r.write("notesd_"+r.version+"_oci.tar", b.Bytes())
}

func (r *release) imageOf(p program, config v1.Config) (v1.Image, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, f := range []struct {
		name   string
		mode   int64
		source string // "" for a folder
	}{
		{"usr/", 0o755, ""}, {"usr/bin/", 0o755, ""}, {"usr/bin/notesd", 0o755, p.Path},
		{"usr/share/", 0o755, ""}, {"usr/share/doc/", 0o755, ""}, {"usr/share/doc/notesd/", 0o755, ""},
		{"usr/share/doc/notesd/LICENSE", 0o644, "LICENSE"}, {"usr/share/doc/notesd/" + thirdParty, 0o644, r.terms(p)},
		{"config/", 0o755, ""}, {"tmp/", 0o1777, ""}, {"state/", 0o1777, ""}, {"vault/", 0o1777, ""},
	} {
		var text []byte
		if f.source != "" {
			var err error
			if text, err = os.ReadFile(f.source); err != nil {
				return nil, err
			}
		}
		if err := r.add(t, f.name, f.mode, text); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(1))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.time}, CreatedBy: "notesd .ci/release"}})
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file.OS, file.Architecture, file.Created, file.Config = p.OS, p.Arch, v1.Time{Time: r.time}, config
	return mutate.ConfigFile(image, file)
}

// add adds a file or, with a name that ends in a slash, a folder.
func (r *release) add(t *tar.Writer, name string, mode int64, text []byte) error {
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(text)), ModTime: r.time}); err != nil {
		return err
	}
	_, err := t.Write(text)
	return err
}

// tar writes the files of a folder in the order of their names.
func (r *release) tar(w io.Writer, dir string) error {
	t := tar.NewWriter(w)
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		return r.add(t, filepath.ToSlash(name), 0o644, text)
	})
	if err != nil {
		return err
	}
	return t.Close()
}

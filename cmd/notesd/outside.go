package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// outside refuses a folder in the vault, where copies of notes would be notes,
// and a backup would be synced with them.
func (s *service) outside(dir string) error {
	if dir == "" {
		return nil
	}
	in, err := within(dir, s.cfg.Vault.Path)
	if err == nil && in {
		err = usagef("Name one that is outside.", "%s is in the vault", dir)
	}
	return err
}

// within reports whether a path, of which the end need not exist, is in a folder
// or is it.
func within(path, folder string) (bool, error) {
	want, err := os.Stat(folder)
	if err != nil {
		return false, err
	}
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			path = real
			break
		}
		if up := filepath.Dir(path); up != path && errors.Is(err, fs.ErrNotExist) {
			path = up
			continue
		}
		return false, err
	}
	for {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, want) {
			return true, nil
		}
		up := filepath.Dir(path)
		if up == path {
			return false, nil
		}
		path = up
	}
}

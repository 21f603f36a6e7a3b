package bert

import (
	"errors"
	"fmt"
	"os"
)

// OpenFile opens a model file. On Unix it is mapped, so that its pages are shared
// and read on demand. The file must not be changed in place while the Model is in
// use; replacing it by a rename is safe. The caller must close the Model.
func OpenFile(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("bert: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("bert: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("bert: %s is not a file: a model is one file", path)
	}
	data, unmap, err := contents(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("bert: reading %s: %w", path, err)
	}
	m, err := Open(data)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), unmap())
	}
	m.unmap = unmap
	return m, nil
}

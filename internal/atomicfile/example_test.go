package atomicfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"notesd/internal/atomicfile"
)

// openTemp opens a new directory with the given files.
func openTemp(files map[string]string) (dir *atomicfile.Dir, closeAll func()) {
	path, err := os.MkdirTemp("", "atomicfile")
	if err != nil {
		panic(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o644); err != nil {
			panic(err)
		}
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		panic(err)
	}
	if dir, err = atomicfile.OpenDir(root, "."); err != nil {
		panic(err)
	}
	return dir, func() {
		_ = dir.Close()
		_ = root.Close()
		_ = os.RemoveAll(path)
	}
}

func show(dir *atomicfile.Dir, name string) {
	text, err := dir.Root().ReadFile(name)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s: %s\n", name, text)
}

// Publish creates a file and never replaces one.
func ExampleDir_Publish() {
	dir, closeAll := openTemp(map[string]string{"old.md": "old"})
	defer closeAll()
	if err := dir.Stage(".new", []byte("new"), nil); err != nil {
		panic(err)
	}
	err := dir.Publish(".new", "old.md")
	fmt.Println(errors.Is(err, fs.ErrExist))
	if err := dir.Publish(".new", "new.md"); err != nil {
		panic(err)
	}
	show(dir, "old.md")
	show(dir, "new.md")
	// Output:
	// true
	// old.md: old
	// new.md: new
}

// Exchange replaces a file and keeps the displaced one. The caller compares it with the
// version that it intended to replace. Here another program has saved the file in the
// meantime, so a second Exchange undoes the first.
func ExampleDir_Exchange() {
	dir, closeAll := openTemp(map[string]string{"a.md": "saved by another program"})
	defer closeAll()
	const expected = "old"
	if err := dir.Stage(".new", []byte("new"), nil); err != nil {
		panic(err)
	}
	if err := dir.Exchange(".new", "a.md"); err != nil {
		panic(err)
	}
	displaced, err := dir.Root().ReadFile(".new")
	if err != nil {
		panic(err)
	}
	if string(displaced) != expected {
		if err := dir.Exchange(".new", "a.md"); err != nil {
			panic(err)
		}
	}
	if err := dir.Discard(".new"); err != nil {
		panic(err)
	}
	show(dir, "a.md")
	// Output: a.md: saved by another program
}

package config_test

import (
	"fmt"
	"os"
	"path/filepath"

	"notesd/internal/config"
)

// Settings come from a file, the environment and flags; a later source overrides
// an earlier one.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "config")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "notesd.toml")
	text := "[search]\nlimit = 20\nmode = 'text'\n[history]\nage = '90d'\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		panic(err)
	}
	cfg, err := config.Load(config.Sources{File: file, Env: []string{"NOTESD_SEARCH_LIMIT=30"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(cfg.Search.Mode, cfg.Search.Limit, cfg.History.Age, cfg.Limits.ResultBytes)
	// Output: text 30 2160h0m0s 20 KiB
}

// All problems are reported together, each with its origin.
func ExampleLoad_problems() {
	_, err := config.Load(config.Sources{Env: []string{"NOTESD_SEARCH_MODE=fast", "NOTESD_SEARCH_LIMIT=99"}})
	fmt.Println(err)
	// Output:
	// configuration: 2 problems:
	//   NOTESD_SEARCH_LIMIT: search.limit = "99" must be from 1 to 50
	//   NOTESD_SEARCH_MODE: search.mode = "fast" must be hybrid, text or semantic
}

// Package config turns what a user wrote into one validated [Config].
//
// Settings come in layers, and a later layer wins key by key: the defaults,
// the TOML file, NOTESD_… environment variables, command-line flags. A key is
// named by its section and its name ("vault.read_only"); the variable of that
// key is NOTESD_VAULT_READ_ONLY, and the two that people set by hand have
// short forms, NOTESD_VAULT and NOTESD_STATE.
//
// Each layer is checked on its own before it is merged, so that a mistake is
// reported with the place it was made in, and all mistakes are reported
// together: [Load] fails with an [*Error] that lists every [Problem]. An
// unknown key is a mistake, because a misspelt "read_only" must not leave a
// vault writable.
//
// Paths in a Config are absolute; a relative path was meant relative to the
// file that holds it, or to the working directory when it came from the
// environment or a flag.
//
// The package keeps no state and starts nothing: Load reads its [Sources] and
// one file. It is imported by the command only; other packages are handed the
// values they need.
package config

import "time"

// Config is every setting. The fields' tags are the keys of the file.
type Config struct {
	State    string   `koanf:"state"` // absolute; set by Load whenever Vault.Path is
	Vault    Vault    `koanf:"vault"`
	Search   Search   `koanf:"search"`
	Semantic Semantic `koanf:"semantic"`
	History  History  `koanf:"history"`
	HTTP     HTTP     `koanf:"http"`
	Limits   Limits   `koanf:"limits"`
	Prompts  Prompts  `koanf:"prompts"`
	Log      Log      `koanf:"log"`
}

// Vault says which folder is served and how much of it.
type Vault struct {
	Path     string   `koanf:"path"`      // absolute; empty when nothing names a vault
	Ignore   []string `koanf:"ignore"`    // glob patterns, in addition to hidden files and folders
	Dates    []string `koanf:"dates"`     // front matter keys that hold a note's date, before "date"
	ReadOnly bool     `koanf:"read_only"` // offer no tool that writes
	Allow    []string `koanf:"allow"`     // vault-relative folders that clients may see; empty: all
}

// Search holds what a query gets when it does not say otherwise.
type Search struct {
	Mode  string `koanf:"mode"`  // hybrid, text or semantic
	Limit int    `koanf:"limit"` // hits, 1 to 50
}

// Semantic configures the embedder.
type Semantic struct {
	Provider    string `koanf:"provider"`     // builtin, ollama, openai (any compatible endpoint) or off
	Model       string `koanf:"model"`        // builtin: the path of a model file; else a name; empty: the provider's own default
	URL         string `koanf:"url"`          // of the provider's API; empty: the provider's own default
	AllowRemote bool   `koanf:"allow_remote"` // let note text leave this machine
	APIKeyFile  string `koanf:"api_key_file"` // its first line is the key; empty: none
	Threads     int    `koanf:"threads"`      // 0: half the processors

	// APIKey is what the provider asks for, from its variable or APIKeyFile. It
	// is no setting, so that nobody writes it into a file that is shared.
	APIKey Secret `koanf:"-"`
}

// History bounds what is kept for undo. A note's newest revision always is.
type History struct {
	Keep int           `koanf:"keep"` // revisions of one note
	Age  time.Duration `koanf:"age"`
	Size Bytes         `koanf:"size"` // of all revisions, compressed
}

// HTTP configures the optional HTTP listener.
type HTTP struct {
	Addr           string   `koanf:"addr"`            // host:port; empty: no listener
	TokenFile      string   `koanf:"token_file"`      // holds the bearer token; may not exist yet
	AllowedOrigins []string `koanf:"allowed_origins"` // scheme://host[:port]
	TLSCert        string   `koanf:"tls_cert"`
	TLSKey         string   `koanf:"tls_key"`
	BehindProxy    bool     `koanf:"behind_proxy"` // a proxy terminates TLS: plain HTTP is meant
}

// Limits keeps one client from hurting the others or the model's context.
type Limits struct {
	ResultBytes Bytes `koanf:"result_bytes"` // of one tool result
	Resources   int   `koanf:"resources"`    // notes that resources/list offers
	NoteBytes   Bytes `koanf:"note_bytes"`   // a larger file is not a note

	// What one client may do in a second; it may save up five seconds of it.
	CallsPerSecond       int `koanf:"calls_per_second"`
	WritesPerSecond      int `koanf:"writes_per_second"`
	CompletionsPerSecond int `koanf:"completions_per_second"`
	LogsPerSecond        int `koanf:"logs_per_second"`     // log records sent to it
	ProgressPerSecond    int `koanf:"progress_per_second"` // notifications of progress sent to it

	Ping time.Duration `koanf:"ping"` // how often a client is asked whether it is still there; 0: never
}

// Prompts says where the user's own prompt templates are.
type Prompts struct {
	Folder string `koanf:"folder"` // vault-relative or absolute; empty: none
}

// Log configures the log.
type Log struct {
	Level string `koanf:"level"` // debug, info, warn or error
	File  string `koanf:"file"`  // empty: stderr
}

// Default returns the settings of a user who set none.
func Default() Config {
	return Config{
		Vault:    Vault{Ignore: []string{}, Dates: []string{}, Allow: []string{}},
		Search:   Search{Mode: "hybrid", Limit: 10},
		Semantic: Semantic{Provider: "builtin"},
		History:  History{Keep: 200, Age: 3650 * 24 * time.Hour, Size: 1 << 30},
		HTTP:     HTTP{AllowedOrigins: []string{}},
		Limits: Limits{
			ResultBytes: 20 << 10, // about 5 000 tokens of a model's context
			Resources:   10_000,   // 20 pages of 500; TypeScript clients give up after 64
			NoteBytes:   16 << 20,

			// An agent that asks one thing after the other reaches a thousand
			// calls a second, and must never meet a limit.
			CallsPerSecond:       2000,
			WritesPerSecond:      500,
			CompletionsPerSecond: 200,
			LogsPerSecond:        100,
			ProgressPerSecond:    20,
		},
		Log: Log{Level: "info"},
	}
}

// Package config loads and validates the settings of notesd.
//
// Settings come in layers, each overriding the previous one key by key: the defaults,
// the TOML file, NOTESD_… environment variables, command-line flags. A key consists of
// its section and its name ("vault.read_only"). Its variable is NOTESD_VAULT_READ_ONLY;
// NOTESD_VAULT is short for NOTESD_VAULT_PATH.
//
// Each layer is checked before it is merged, so that a problem is reported with its
// file and line, variable or flag. [Load] fails with an [*Error] that lists every
// [Problem]. An unknown key is an error, because a misspelt "read_only" must not leave
// a vault writable; an unknown variable is only a warning ([Loaded.Unknown]), because
// other programs may use the prefix.
//
// Paths in a Config are absolute. A relative path is resolved against the directory of
// the file that contains it, or against the working directory if it comes from the
// environment or a flag.
//
// The package keeps no state. Load reads its [Sources] and the files that they name.
// Only commands and the service import the package; they pass values to the other
// packages.
package config

import "time"

// Config holds all settings. The tags of the fields are the keys of the file.
type Config struct {
	State    string   `koanf:"state"` // absolute; never empty if Vault.IsSet
	Vault    Vault    `koanf:"vault"`
	Search   Search   `koanf:"search"`
	Semantic Semantic `koanf:"semantic"`
	History  History  `koanf:"history"`
	HTTP     HTTP     `koanf:"http"`
	Limits   Limits   `koanf:"limits"`
	Prompts  Prompts  `koanf:"prompts"`
	Store    Store    `koanf:"store"`
	Log      Log      `koanf:"log"`
}

// Vault configures the folder that is served.
type Vault struct {
	Path     string   `koanf:"path"`      // absolute; empty if there is no vault or Folders is set
	Folders  Folders  `koanf:"folders"`   // instead of Path: absolute paths by name
	Daily    string   `koanf:"daily"`     // the folder in Folders for periodic notes; empty: the first by name with Obsidian's daily notes
	Ignore   []string `koanf:"ignore"`    // glob patterns, in addition to hidden files and folders
	Dates    []string `koanf:"dates"`     // front matter keys of a note's date, preferred to "date"
	ReadOnly bool     `koanf:"read_only"` // offer only tools that read
	Allow    []string `koanf:"allow"`     // vault-relative folders that clients may see; empty: all

	ReadOnlyFolders []string `koanf:"read_only_folders"` // vault-relative folders that clients may not change

	Tools []string `koanf:"tools"` // names and groups of the tools offered to clients; empty: all
}

// Search configures the defaults of a query.
type Search struct {
	Mode  string `koanf:"mode"`  // hybrid, text or semantic
	Limit int    `koanf:"limit"` // hits, 1 to 50
}

// Semantic configures the embedder.
type Semantic struct {
	Provider    string `koanf:"provider"`     // builtin, ollama, openai (any compatible endpoint) or off
	Model       string `koanf:"model"`        // builtin: auto, english, multilingual or the path of a model file; others: a name; empty: the provider's default
	URL         string `koanf:"url"`          // of the provider's API; empty: the provider's default
	AllowRemote bool   `koanf:"allow_remote"` // allow sending note text to other machines
	APIKeyFile  string `koanf:"api_key_file"` // file whose first line is the key; empty: none
	Threads     int    `koanf:"threads"`      // 0: adapts to the load of the machine

	// APIKey is the key of the provider's API, from [APIKeyVariable] or APIKeyFile. It
	// cannot be set in the configuration file, because users share such files.
	APIKey Secret `koanf:"-"`
}

// History bounds the revisions kept. The newest revision of a note is always kept.
type History struct {
	Keep int           `koanf:"keep"` // revisions per note
	Age  time.Duration `koanf:"age"`
	Size Bytes         `koanf:"size"` // total of all revisions, compressed
}

// HTTP configures the optional HTTP listener.
type HTTP struct {
	Addr           string   `koanf:"addr"`            // host:port; empty: no listener
	TokenFile      string   `koanf:"token_file"`      // file with the bearer token; created if missing
	AllowedOrigins []string `koanf:"allowed_origins"` // scheme://host[:port]
	TLSCert        string   `koanf:"tls_cert"`
	TLSKey         string   `koanf:"tls_key"`
	BehindProxy    bool     `koanf:"behind_proxy"` // a proxy terminates TLS, so plain HTTP is accepted
}

// Limits bounds the resources that one client can use.
type Limits struct {
	ResultBytes Bytes `koanf:"result_bytes"` // maximum size of a tool result
	Resources   int   `koanf:"resources"`    // maximum number of notes in resources/list
	NoteBytes   Bytes `koanf:"note_bytes"`   // maximum size of a note; larger files are not indexed

	// Requests per second of one client. A burst of five seconds' worth is allowed.
	CallsPerSecond int `koanf:"calls_per_second"`
}

// Prompts configures the user's prompt templates.
type Prompts struct {
	Folder string `koanf:"folder"` // vault-relative, or absolute if outside the vault; empty: none
}

// Store configures the database through which several nodes share a vault.
type Store struct {
	Postgres Address `koanf:"postgres"` // URL; empty: no database
	Vault    string  `koanf:"vault"`    // name of the vault in the database

	// Unasked reports whether Postgres is from a configuration file that does not name the
	// vault's folder, so that the folder may not be meant.
	Unasked bool `koanf:"-"`
}

// Address is the URL of a database. Its String method omits the password.
type Address string

// Log configures the log.
type Log struct {
	Level string `koanf:"level"` // debug, info, warn or error
	File  string `koanf:"file"`  // empty: stderr
}

// Default returns the default settings.
func Default() Config {
	return Config{
		Vault:    Vault{Folders: Folders{}, Ignore: []string{}, Dates: []string{}, Allow: []string{}, ReadOnlyFolders: []string{}, Tools: []string{}},
		Search:   Search{Mode: "hybrid", Limit: 10},
		Semantic: Semantic{Provider: "builtin"},
		History:  History{Keep: 200, Age: 3650 * 24 * time.Hour, Size: 1 << 30},
		HTTP:     HTTP{AllowedOrigins: []string{}},
		Limits: Limits{
			ResultBytes: 20 << 10, // about 5 000 tokens of a model's context
			Resources:   10_000,   // 20 pages of 500; TypeScript clients give up after 64
			NoteBytes:   16 << 20,

			// A client that sends requests one after another reaches a thousand calls a
			// second and must stay below the limit.
			CallsPerSecond: 2000,
		},
		Store: Store{Vault: "notes"},
		Log:   Log{Level: "info"},
	}
}

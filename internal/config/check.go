package config

import (
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"notesd/internal/fsid"
)

// checkWhole checks the merged settings in combination and sets the default of the
// state directory.
func (l *loader) checkWhole(cfg *Config) {
	l.checkVault(cfg)
	l.checkSemantic(&cfg.Semantic)
	l.checkHTTP(cfg.HTTP)
	cfg.Prompts.Folder = l.inVault(cfg.Vault, cfg.Prompts.Folder)
	l.checkNoFolder("log.file", cfg.Log.File)
}

// inVault returns the path in the vault of a folder, which may be given as an absolute
// path. A folder outside the vault keeps its absolute path.
func (l *loader) inVault(vault Vault, folder string) string {
	if strings.HasPrefix(folder, "~") {
		folder = l.expand(folder, l.dir)
	}
	if folder == "" {
		return ""
	}
	if !filepath.IsAbs(folder) {
		return path.Clean(folder)
	}
	for name, dir := range vault.Dirs() {
		if in, ok := fsid.Below(dir, folder); ok {
			return path.Join(name, filepath.ToSlash(in))
		}
	}
	return folder
}

func (l *loader) checkVault(cfg *Config) {
	if len(cfg.Vault.Folders) > 0 && cfg.Store.Postgres != "" {
		l.blame("vault.folders", cfg.Vault.Folders, "cannot be in a database", "set vault.path, or leave store.postgres out")
		return
	}
	if cfg.Vault.Path == "" && cfg.Store.Postgres != "" {
		l.checkOwnFolder(cfg)
		return
	}
	cfg.Store.Unasked = cfg.Store.Postgres != "" && !l.origins["store.postgres"].passed && cfg.Vault.Path != l.fileVault && !cfg.HasOwnFolder()
	if !cfg.Vault.IsSet() {
		return
	}
	l.checkFolders(cfg.Vault, cfg.HasOwnFolder() || l.isKnown(cfg.Vault, cfg.State))
	if cfg.State == "" {
		cfg.State = l.defaultState(cfg.Vault)
		return
	}
	for _, dir := range cfg.Vault.Dirs() {
		if _, in := fsid.Below(dir, cfg.State); in {
			l.blame("state", cfg.State, "lies inside the vault",
				"choose a folder elsewhere, because a sync service would damage a live database")
		}
	}
}

// checkOwnFolder sets the path of a vault in a database, if the user has set none, to a
// folder in its state directory.
func (l *loader) checkOwnFolder(cfg *Config) {
	if cfg.State == "" {
		cfg.State = l.defaultState(Vault{Path: string(filepath.Separator) + cfg.Store.Vault + "@" + cfg.Store.Postgres.String()})
	}
	cfg.Vault.Path = filepath.Join(cfg.State, OwnFolder)
}

// defaultState returns the state directory of a vault, and reports a problem if there is
// none.
func (l *loader) defaultState(vault Vault) string {
	dir, err := l.env.stateDir(vault)
	if err != nil {
		l.report(Problem{Key: "state", Detail: "has no default: " + err.Error(), Hint: "set --state or NOTESD_STATE"})
	}
	return dir
}

// OwnFolder is the folder in the state directory with the notes of a vault that has no
// other folder.
const OwnFolder = "notes"

// HasOwnFolder reports whether the vault's folder belongs to notesd: users access its
// notes only through tools.
func (c *Config) HasOwnFolder() bool {
	return c.Store.Postgres != "" && c.Vault.Path == filepath.Join(c.State, OwnFolder)
}

// isKnown reports whether the vault has been served before. It is not a configuration
// error if a known vault cannot be opened, for example on an unmounted volume: notesd
// reports the cause and waits.
func (l *loader) isKnown(vault Vault, state string) bool {
	if state == "" {
		var err error
		if state, err = l.env.stateDir(vault); err != nil {
			return false
		}
	}
	_, err := os.Stat(filepath.Join(state, "notes.db"))
	return err == nil
}

func (l *loader) checkHTTP(h HTTP) {
	if (h.TLSCert == "") != (h.TLSKey == "") {
		l.blame("http.tls_cert", h.TLSCert, "and http.tls_key are a pair", "set both, or neither")
	}
	l.checkNoFolder("http.token_file", h.TokenFile)
	l.checkFile("http.tls_cert", h.TLSCert, "")
	l.checkFile("http.tls_key", h.TLSKey, "")
}

// checkFile reports a file that is configured but cannot be opened.
func (l *loader) checkFile(key, file, hint string) {
	if file == "" {
		return
	}
	if _, err := os.Stat(file); err != nil {
		l.blame(key, file, "cannot be opened: "+reason(err), hint)
	}
	l.checkNoFolder(key, file)
}

// checkNoFolder reports a folder at the path of a file. The file need not exist.
func (l *loader) checkNoFolder(key, file string) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		l.blame(key, file, "is a folder", "name a file in it")
	}
}

// Secret is a string that is formatted and marshalled as a placeholder.
type Secret string

// String returns a placeholder.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(secret)"
}

// GoString returns a placeholder.
func (s Secret) GoString() string { return s.String() }

// MarshalText returns a placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Built-in models, as named by Semantic.Model. Auto selects the one that suits the
// language of the notes.
const (
	Auto         = "auto"
	English      = "english"
	Multilingual = "multilingual"
)

// AutoModel reports whether notesd selects the model.
func (s Semantic) AutoModel() bool {
	return s.Provider == "builtin" && (s.Model == "" || s.Model == Auto)
}

// Remote reports whether a server computes the vectors.
func (s Semantic) Remote() bool { return s.Provider == "ollama" || s.Provider == "openai" }

func (l *loader) checkSemantic(s *Semantic) {
	if s.Provider == "builtin" && !slices.Contains([]string{"", Auto, English, Multilingual}, s.Model) {
		s.Model = l.expand(s.Model, l.origins["semantic.model"].dir)
		l.checkFile("semantic.model", s.Model, `name a model file, english, multilingual or auto; semantic.provider = "off" turns semantic search off`)
	}
	if s.Provider == "openai" && s.URL == "" {
		l.blame("semantic.url", s.URL, "must be set when semantic.provider is openai", "")
	}
	if s.Provider == "openai" && s.Model == "" {
		l.blame("semantic.model", s.Model, "must be set when semantic.provider is openai", "")
	}
	if s.URL != "" && !s.AllowRemote && !isLocal(s.URL) {
		l.blame("semantic.url", s.URL, "is another machine",
			"set semantic.allow_remote = true to send the text of notes there")
	}
	if !s.Remote() {
		return
	}
	s.APIKey = l.readAPIKey(s.APIKeyFile)
	if s.APIKey != "" && strings.HasPrefix(s.URL, "http:") && !isLocal(s.URL) {
		l.blame("semantic.url", s.URL, "would carry the API key over the network in the clear", "use https")
	}
}

// readAPIKey returns the API key from the environment or, if that has none, from file.
func (l *loader) readAPIKey(file string) Secret {
	place, text := APIKeyVariable, l.env[APIKeyVariable]
	if text != "" {
		l.origins[keyOfAPI] = origin{place: place, passed: true}
	} else if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			l.blame("semantic.api_key_file", file, "cannot be read: "+reason(err), "")
			return ""
		}
		place = file
		text, _, _ = strings.Cut(strings.TrimPrefix(string(data), "\ufeff"), "\n")
		if strings.TrimSpace(text) == "" {
			l.blame("semantic.api_key_file", file, "has no key on its first line", "")
		}
	}
	text = strings.TrimSpace(text)
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r > unicode.MaxASCII || r == ' ' }) {
		l.report(Problem{Origin: place, Detail: "is not an API key: it must be one word of printable ASCII characters"})
		return ""
	}
	return Secret(text)
}

// isLocal reports whether a URL's host is this machine, without a DNS lookup.
func isLocal(rawURL string) bool {
	u, err := url.Parse(rawURL)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

package config

import (
	"os"
	"path/filepath"
	"strings"
)

// checkWhole checks the combination of the merged settings and sets the default
// of the state directory.
func (l *loader) checkWhole(cfg *Config) {
	l.checkVault(cfg)
	l.checkSemantic(&cfg.Semantic)
	l.checkHTTP(cfg.HTTP)
	if strings.HasPrefix(cfg.Prompts.Folder, "~") {
		cfg.Prompts.Folder = l.expand(cfg.Prompts.Folder, l.dir)
	}
	l.checkNoFolder("log.file", cfg.Log.File)
}

func (l *loader) checkVault(cfg *Config) {
	vault := cfg.Vault.Path
	if vault == "" {
		return
	}
	info, err := os.Stat(vault)
	if err != nil && !l.isKnown(vault, cfg.State) {
		l.blame("vault.path", vault, "cannot be opened: "+reason(err), "name an existing folder of notes")
		return
	}
	if err == nil && !info.IsDir() {
		l.blame("vault.path", vault, "is not a folder", "name the folder that holds the notes")
		return
	}
	if cfg.State == "" {
		if cfg.State, err = l.env.stateDir(vault); err != nil {
			l.report(Problem{Key: "state", Detail: "has no default: " + err.Error(), Hint: "set --state or NOTESD_STATE"})
		}
		return
	}
	if within(RealPath(cfg.State), RealPath(vault)) {
		l.blame("state", cfg.State, "lies inside the vault",
			"choose a folder elsewhere, because a sync service would damage a live database")
	}
}

// isKnown reports whether the vault has been served before. A known vault that
// cannot be opened, for example because it is on an unmounted volume, is not a
// configuration error: notesd reports the cause and waits for it.
func (l *loader) isKnown(vault, state string) bool {
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
		key, value := "http.tls_cert", h.TLSCert
		if value == "" {
			key, value = "http.tls_key", h.TLSKey
		}
		l.blame(key, value, "is half of a pair", "set both http.tls_cert and http.tls_key, or neither")
	}
	l.checkNoFolder("http.token_file", h.TokenFile)
	l.checkFile("http.tls_cert", h.TLSCert)
	l.checkFile("http.tls_key", h.TLSKey)
}

// checkFile reports a file that is set but cannot be opened.
func (l *loader) checkFile(key, file string) {
	if file == "" {
		return
	}
	if _, err := os.Stat(file); err != nil {
		l.blame(key, file, "cannot be opened: "+reason(err), "")
	}
	l.checkNoFolder(key, file)
}

// checkNoFolder reports a folder at the path of a file, which need not exist.
func (l *loader) checkNoFolder(key, file string) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		l.blame(key, file, "is a folder", "name a file in it")
	}
}

// RealPath resolves symbolic links in the existing part of an absolute path.
func RealPath(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return listedPath(resolved)
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(RealPath(parent), filepath.Base(path))
}

// within reports whether path is root or below it.
func within(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

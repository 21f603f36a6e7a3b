package service

import (
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/mcp"
	"notesd/prompts"
	"notesd/search"
)

// Settings are of two kinds. The settings of a session are its limits,
// defaults and folders; a relay sends them in its hello, from its flags,
// environment and file. The settings of the daemon come from the configuration
// file. When the file changes, new sessions get the new values, and the
// settings of the daemon wait for a restart.

// runningSettings are the settings that a server was started with, and the
// changes since.
type runningSettings struct {
	started *config.Loaded
	read    func() (*config.Loaded, error) // as they are now

	mu      sync.Mutex
	seen    fileStamp
	waiting []string // keys
	trouble string   // why the changed file is not used
	passed  map[*[]string]struct{}
}

// fileStamp identifies a version of a file.
type fileStamp struct {
	modified time.Time
	size     int64
}

func stampOf(name string) fileStamp {
	info, err := os.Stat(name)
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{info.ModTime(), info.Size()}
}

func newRunningSettings(started *config.Loaded, read func() (*config.Loaded, error)) *runningSettings {
	return &runningSettings{started: started, read: read, seen: stampOf(started.File), passed: map[*[]string]struct{}{}}
}

// changed returns the configuration if the file has changed since the last
// call and is valid, and nil otherwise.
func (r *runningSettings) changed() *config.Loaded {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := stampOf(r.started.File)
	if now == r.seen {
		return nil
	}
	r.seen = now
	loaded, err := r.read()
	if err != nil {
		r.trouble = err.Error()
		return nil
	}
	r.trouble, r.waiting = "", r.started.Waiting(loaded)
	return loaded
}

// remarks returns the remarks on the settings that a client passed without
// effect.
func (r *runningSettings) remarks(hello daemon.Hello) []string {
	var remarks []string
	for _, p := range hello.Passed {
		if r.started.Text(p.Key) != p.Value {
			remarks = append(remarks, p.Remark)
		}
	}
	return remarks
}

// connected adds a client's remarks to the status until the returned function is
// called.
func (r *runningSettings) connected(remarks []string) func() {
	if len(remarks) == 0 {
		return func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := &remarks
	r.passed[key] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.passed, key)
	}
}

// addTo adds the settings without effect, and those that wait for a restart,
// to a status.
func (r *runningSettings) addTo(st *Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	st.Settings.Waiting = append(st.Settings.Waiting, r.waiting...)
	ignored := map[string]bool{}
	for remarks := range r.passed {
		for _, remark := range *remarks {
			ignored[remark] = true
		}
	}
	st.Settings.Ignored = append(st.Settings.Ignored, slices.Sorted(maps.Keys(ignored))...)
	for _, key := range r.waiting {
		st.Warnings = append(st.Warnings, "the configuration file has another "+key+"; it takes effect after notesd restart")
	}
	st.Warnings = append(st.Warnings, st.Settings.Ignored...)
	if r.trouble != "" {
		st.Warnings = append(st.Warnings, "the configuration file has changed and is not used: "+r.trouble)
	}
}

// refresh applies a changed file to new sessions.
func (s *Service) refresh() {
	if s.settings == nil {
		return
	}
	if loaded := s.settings.changed(); loaded != nil {
		s.core.SetProfile(s.profileOf(loaded.Config))
	}
}

// profileOf returns the bounds of every client, and the settings of clients
// that send none.
func (s *Service) profileOf(cfg *config.Config) mcp.Profile {
	p := mcp.Profile{ReadOnly: cfg.Vault.ReadOnly, Settings: s.sessionSettings(*settingsOf(cfg))}
	if len(cfg.Vault.Allow) > 0 {
		p.Read = cfg.Vault.Allow
	}
	return p
}

// settingsOf are the settings of a session.
func settingsOf(cfg *config.Config) *daemon.Settings {
	return &daemon.Settings{
		SearchMode: cfg.Search.Mode, SearchLimit: cfg.Search.Limit,
		ResultBytes: int(cfg.Limits.ResultBytes), PromptsFolder: cfg.Prompts.Folder,
	}
}

func (s *Service) sessionSettings(d daemon.Settings) mcp.Settings {
	s.protect(d.PromptsFolder)
	mode := search.Mode(d.SearchMode)
	return mcp.Settings{
		ResultBytes: d.ResultBytes, Hits: d.SearchLimit, Mode: mode,
		Prompts: prompts.New(prompts.Options{Notes: &s.vault, Search: mcp.Passages{Engine: &s.engine, Mode: mode}, Folder: d.PromptsFolder, Log: s.logs.Logger}),
	}
}

// profileOfHello returns the profile that a client requests.
func (s *Service) profileOfHello(h daemon.Hello) mcp.Profile {
	p := mcp.Profile{ReadOnly: h.ReadOnly, Owner: h.Kind != daemon.KindMCP}
	if len(h.Tools) > 0 {
		p.Tools = h.Tools
	}
	if len(h.Scopes) > 0 {
		p.Read = h.Scopes
	}
	if h.Settings != nil {
		p.Settings = s.sessionSettings(*h.Settings)
	}
	if s.settings != nil {
		p.Remarks = s.settings.remarks(h)
	}
	return p
}

// HelloOf returns the hello of a process with this configuration.
func HelloOf(cfg *config.Config, kind daemon.Kind) daemon.Hello {
	return daemon.Hello{Wire: daemon.Wire, Version: Version(), Kind: kind, Vault: config.RealPath(cfg.Vault.Path), ReadOnly: cfg.Vault.ReadOnly, Scopes: cfg.Vault.Allow, Settings: settingsOf(cfg)}
}

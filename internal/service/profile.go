package service

import (
	"strings"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/mcp"
	"notesd/prompts"
	"notesd/search"
)

// profileOfHello returns the profile that a client requests.
func (s *Service) profileOfHello(h daemon.Hello) mcp.Profile {
	p := mcp.Profile{ReadOnly: h.ReadOnly, Tools: h.Tools, Read: readable(h.Scopes), NoWrite: h.NoWrite, Owner: h.Kind != daemon.KindMCP, Settings: s.sessionSettings(h.Settings)}
	if s.settings != nil {
		p.Remarks = s.settings.remarks(h)
	}
	return p
}

// profileOf returns the restrictions on every client, and the settings of clients that
// send none.
func (s *Service) profileOf(cfg *config.Config) mcp.Profile {
	return mcp.Profile{ReadOnly: cfg.Vault.ReadOnly, Read: readable(cfg.Vault.Allow), NoWrite: cfg.Vault.ReadOnlyFolders, Settings: s.sessionSettings(settingsOf(cfg))}
}

// readable returns the folders of vault.allow, or nil for all: an empty list would allow none.
func readable(allow []string) []string {
	if len(allow) == 0 {
		return nil
	}
	return allow
}

func (s *Service) sessionSettings(d daemon.Settings) mcp.Settings {
	if folder := strings.Trim(d.PromptsFolder, "/ "); folder != "" {
		s.protected.Store(folder, nil)
	}
	mode := search.Mode(d.SearchMode)
	return mcp.Settings{
		ResultBytes: d.ResultBytes, Hits: d.SearchLimit, Mode: mode,
		Prompts: prompts.New(prompts.Options{Notes: &s.vault, Search: mcp.PromptSearch{Engine: &s.engine, Mode: mode}, Folder: d.PromptsFolder}),
	}
}

// HelloOf returns the hello of a process with this configuration.
func HelloOf(cfg *config.Config, kind daemon.Kind) daemon.Hello {
	hello := daemon.Hello{Wire: daemon.Wire, Version: Version(), Kind: kind, Vault: cfg.Vault.ID(), ReadOnly: cfg.Vault.ReadOnly, Scopes: cfg.Vault.Allow, NoWrite: cfg.Vault.ReadOnlyFolders, Settings: settingsOf(cfg)}
	if kind == daemon.KindMCP { // the owner's commands have all tools
		hello.Tools = cfg.Vault.Tools
	}
	return hello
}

// settingsOf returns the settings of a session.
func settingsOf(cfg *config.Config) daemon.Settings {
	return daemon.Settings{
		SearchMode: cfg.Search.Mode, SearchLimit: cfg.Search.Limit,
		ResultBytes: int(cfg.Limits.ResultBytes), PromptsFolder: cfg.Prompts.Folder,
	}
}

// protectedFolders returns the folders of the vault that only the user may write in: the prompts
// folder of each session that the service has had. Otherwise, one assistant could write
// instructions to another there.
func (s *Service) protectedFolders() (folders []string) {
	for folder := range s.protected.Range {
		folders = append(folders, folder.(string))
	}
	return folders
}

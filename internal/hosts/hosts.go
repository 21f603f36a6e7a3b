// Package hosts registers notesd with the programs that launch MCP servers, and
// reads which servers they launch.
//
// # Vocabulary
//
//   - A [Host] is such a program: Claude Desktop, Cursor, Codex. It keeps its
//     servers in a settings file, by name.
//   - A [Server] is one entry: a command, its arguments and its environment.
//   - [Settings] are the text of that file at one moment. Its methods return the
//     text with one entry set or removed; Write publishes a text.
//
// # Files of other programs
//
// A settings file belongs to its user, who may have commented and ordered it, and
// to the host, which may have it open. Therefore an edit
// changes the text of one entry and keeps every other byte, members that the
// user has added to that entry included; a text that does not parse is refused
// with its line; a write replaces the file as a whole and keeps the old text
// beside it. The two formats are JSON with comments (jsonc.go) and TOML
// (toml.go).
//
// The package knows files and formats. What an entry should hold, and whether
// one vault's entry may replace another's, is the command's decision.
package hosts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Host is a program that launches MCP servers.
type Host struct {
	Name  string // as given to setup: "claude-desktop"
	Title string // as its makers write it: "Claude Desktop"
	// Desktop reports whether it is started by the desktop, without the PATH of a
	// login shell.
	Desktop bool

	file    func(Env) string
	servers string // the member or table with one entry for each server
	toml    bool
	stdio   bool // an entry has a type, "stdio"
}

// All are the known hosts, in the order in which they are shown.
var All = []Host{
	{Name: "claude-desktop", Title: "Claude Desktop", Desktop: true, servers: "mcpServers",
		file: func(e Env) string { return e.application("Claude", "claude_desktop_config.json") }},
	{Name: "claude-code", Title: "Claude Code", servers: "mcpServers", stdio: true,
		file: func(e Env) string { return e.home(".claude.json") }},
	{Name: "cursor", Title: "Cursor", Desktop: true, servers: "mcpServers",
		file: func(e Env) string { return e.home(".cursor", "mcp.json") }},
	{Name: "vscode", Title: "VS Code", Desktop: true, servers: "servers", stdio: true,
		file: func(e Env) string { return e.application("Code", "User", "mcp.json") }},
	{Name: "codex", Title: "Codex", servers: "mcp_servers", toml: true,
		file: func(e Env) string {
			if dir := e.variable("CODEX_HOME"); dir != "" {
				return filepath.Join(dir, "config.toml")
			}
			return e.home(".codex", "config.toml")
		}},
	{Name: "gemini", Title: "Gemini CLI", servers: "mcpServers",
		file: func(e Env) string { return e.home(".gemini", "settings.json") }},
}

// File is the path of the host's settings, "" for a user without a home.
func (h Host) File(e Env) string { return h.file(e) }

// Installed reports whether the host's settings, or the folder that they would
// be in, exist.
func (h Host) Installed(e Env) bool {
	file := h.file(e)
	if file == "" {
		return false
	}
	if _, err := os.Stat(file); err == nil {
		return true
	}
	dir := filepath.Dir(file)
	if dir == e.home() { // it exists without the host
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// A Server is how a host launches an MCP server.
type Server struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"` // read only: Settings.Set leaves it as it is
}

// IsNotesd reports whether the server is a notesd, wherever its program lies.
func (s Server) IsNotesd() bool {
	return strings.TrimSuffix(filepath.Base(filepath.FromSlash(s.Command)), ".exe") == "notesd"
}

// Env says where programs keep their settings.
type Env struct {
	Vars []string // as os.Environ returns them
	OS   string   // as runtime.GOOS
}

// application is a path in the directory where desktop programs keep settings.
func (e Env) application(parts ...string) string {
	switch e.OS {
	case "windows":
		return below(e.variable("APPDATA"), parts)
	case "darwin":
		return e.home(append([]string{"Library", "Application Support"}, parts...)...)
	}
	if dir := e.variable("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return below(dir, parts)
	}
	return e.home(append([]string{".config"}, parts...)...)
}

// home is a path in the user's home directory, "" without one.
func (e Env) home(parts ...string) string {
	name := "HOME"
	if e.OS == "windows" {
		name = "USERPROFILE"
	}
	return below(e.variable(name), parts)
}

func below(dir string, parts []string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

// variable returns the value of a variable; the last one counts.
func (e Env) variable(name string) string {
	for _, kv := range slices.Backward(e.Vars) {
		if n, value, ok := strings.Cut(kv, "="); ok && n == name {
			return value
		}
	}
	return ""
}

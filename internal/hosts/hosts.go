// Package hosts registers notesd with the programs that launch MCP servers, and reads
// which servers they launch.
//
// # Vocabulary
//
//   - A [Host] is such a program: Claude Desktop, Cursor, Codex. Its settings file
//     lists its servers by name.
//   - A [Server] is one entry: a command, its arguments and its environment.
//   - [Settings] is the text of that file when it was read. Its methods return the
//     text with one entry set or removed; Write writes a text to the file.
//
// # Files of other programs
//
// A settings file belongs to its user, who may have commented and ordered it, and to the
// host, which may have it open. Therefore an edit changes only the text of one entry and
// preserves all other bytes, including members that the user has added to that entry; a
// file that does not parse is rejected with the line of the error; a write replaces the
// whole file atomically and keeps a backup beside it. The two formats are JSON with
// comments (jsonc.go) and TOML (toml.go).
//
// The package knows only files and formats. What an entry contains, and whether one
// vault's entry may replace another's, is decided by the command.
package hosts

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Host is a program that launches MCP servers.
type Host struct {
	Name  string // as passed to setup: "claude-desktop"
	Title string // display name: "Claude Desktop"
	// Desktop means that it is started by the desktop, without the PATH of a login shell.
	Desktop bool
	File    func(Env) string // returns the path of its settings, or "" for a user without a home

	servers string // member or table with the servers
	toml    bool
	stdio   bool // entries have the type "stdio"
}

// All lists the known hosts in display order.
var All = []Host{
	{Name: "claude-desktop", Title: "Claude Desktop", Desktop: true, servers: "mcpServers",
		File: func(e Env) string { return e.packaged("Claude", "claude_desktop_config.json") }},
	{Name: "claude-code", Title: "Claude Code", servers: "mcpServers", stdio: true,
		File: func(e Env) string { return e.in("CLAUDE_CONFIG_DIR", e.Home(), ".claude.json") }},
	{Name: "cursor", Title: "Cursor", Desktop: true, servers: "mcpServers",
		File: func(e Env) string { return e.Home(".cursor", "mcp.json") }},
	{Name: "vscode", Title: "VS Code", Desktop: true, servers: "servers", stdio: true,
		File: func(e Env) string { return e.application("Code", "User", "mcp.json") }},
	{Name: "codex", Title: "Codex", servers: "mcp_servers", toml: true,
		File: func(e Env) string { return e.in("CODEX_HOME", e.Home(".codex"), "config.toml") }},
	{Name: "gemini", Title: "Gemini CLI", servers: "mcpServers",
		File: func(e Env) string { return e.Home(".gemini", "settings.json") }},
}

// Installed reports whether the host's settings, or the folder for them, exist.
func (h Host) Installed(e Env) bool {
	file := h.File(e)
	if file == "" {
		return false
	}
	if exists(file) {
		return true
	}
	dir := filepath.Dir(file)
	if dir == e.Home() { // it exists regardless of the host
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// A Server is the command with which a host launches an MCP server.
type Server struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"` // read only: Settings.Set preserves it
}

// IsNotesd reports whether the server is notesd, wherever it is installed. Its file may be
// named for a version or a system, as in notesd-1.2.
func (s Server) IsNotesd() bool {
	rest, ok := strings.CutPrefix(filepath.Base(filepath.FromSlash(s.Command)), "notesd")
	return ok && (rest == "" || strings.ContainsRune("-_.", rune(rest[0])))
}

// Env determines where programs keep their settings.
type Env struct {
	Vars []string // in the format of os.Environ
	OS   string   // a runtime.GOOS value
}

// application returns a path in the directory where desktop programs keep settings.
func (e Env) application(parts ...string) string {
	switch e.OS {
	case "windows":
		return below(e.Variable("APPDATA"), parts)
	case "darwin":
		return e.Home(append([]string{"Library", "Application Support"}, parts...)...)
	}
	if dir := e.Variable("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return below(dir, parts)
	}
	return e.Home(append([]string{".config"}, parts...)...)
}

// packaged returns the path of a desktop program's settings file. If the program is an MSIX
// package, as Claude Desktop for Windows is since February 2026, Windows shows it the files in
// the package's folder instead of those of the same names in APPDATA.
func (e Env) packaged(program, file string) string {
	name := e.application(program, file)
	local := e.Variable("LOCALAPPDATA")
	if e.OS != "windows" || local == "" {
		return name
	}
	packages, _ := os.ReadDir(filepath.Join(local, "Packages")) // none are installed
	for _, p := range packages {
		if !strings.HasPrefix(p.Name(), program+"_") {
			continue
		}
		dir := filepath.Join(local, "Packages", p.Name(), "LocalCache", "Roaming", program)
		if exists(filepath.Join(dir, file)) || exists(dir) && !exists(name) {
			name = filepath.Join(dir, file)
		}
	}
	return name
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// Home returns a path in the user's home directory, or "" if there is none.
func (e Env) Home(parts ...string) string {
	name := "HOME"
	if e.OS == "windows" {
		name = "USERPROFILE"
	}
	return below(e.Variable(name), parts)
}

// in returns the path of a file in the directory that a variable names, or else in dir.
func (e Env) in(variable, dir, file string) string {
	return below(cmp.Or(e.Variable(variable), dir), []string{file})
}

func below(dir string, parts []string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

// Variable returns the value of a variable; the last one wins.
func (e Env) Variable(name string) string {
	for _, kv := range slices.Backward(e.Vars) {
		if n, value, ok := strings.Cut(kv, "="); ok && n == name {
			return value
		}
	}
	return ""
}

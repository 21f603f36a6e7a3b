package main

import (
	"os"
	"path/filepath"
	"runtime"
)

// A host is a program that launches MCP servers, and where it is told which.
type host struct {
	name  string // as given to setup
	title string
	file  func(hostEnv) string
	// servers is the key of the object that has a member for each server; for a
	// TOML file, the table.
	servers string
	toml    bool
	stdio   bool // an entry says that it speaks over stdio
}

// hosts are the programs that setup knows, in the order in which it asks them.
var hosts = []host{
	{name: "claude-desktop", title: "Claude Desktop", servers: "mcpServers",
		file: func(e hostEnv) string { return e.application("Claude", "claude_desktop_config.json") }},
	{name: "claude-code", title: "Claude Code", servers: "mcpServers", stdio: true,
		file: func(e hostEnv) string { return e.home(".claude.json") }},
	{name: "cursor", title: "Cursor", servers: "mcpServers",
		file: func(e hostEnv) string { return e.home(".cursor", "mcp.json") }},
	{name: "vscode", title: "VS Code", servers: "servers", stdio: true,
		file: func(e hostEnv) string { return e.application("Code", "User", "mcp.json") }},
	{name: "codex", title: "Codex", servers: "mcp_servers", toml: true,
		file: func(e hostEnv) string {
			if dir := e.variable("CODEX_HOME"); dir != "" {
				return filepath.Join(dir, "config.toml")
			}
			return e.home(".codex", "config.toml")
		}},
}

// hostEnv finds where programs keep their settings.
type hostEnv struct {
	env  []string
	goos string
}

func (a *app) hostEnv() hostEnv { return hostEnv{env: a.env, goos: runtime.GOOS} }

func (e hostEnv) variable(name string) string { return lookup(e.env, name) }

// home is a path in the user's home directory, "" without one.
func (e hostEnv) home(parts ...string) string {
	name := "HOME"
	if e.goos == "windows" {
		name = "USERPROFILE"
	}
	return e.below(e.variable(name), parts)
}

// application is a path in the directory where desktop programs keep settings.
func (e hostEnv) application(parts ...string) string {
	switch e.goos {
	case "windows":
		return e.below(e.variable("APPDATA"), parts)
	case "darwin":
		return e.home(append([]string{"Library", "Application Support"}, parts...)...)
	}
	if dir := e.variable("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return e.below(dir, parts)
	}
	return e.home(append([]string{".config"}, parts...)...)
}

func (e hostEnv) below(dir string, parts []string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

// installed reports whether the host has been here: its settings, or the folder
// that they would be in, exist.
func (h host) installed(e hostEnv) bool {
	file := h.file(e)
	if file == "" {
		return false
	}
	if _, err := os.Stat(file); err == nil {
		return true
	}
	dir := filepath.Dir(file)
	if dir == e.home() { // which exists for everybody
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// server is how a host is to launch notesd.
type server struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// members are what an entry for the server has of it.
func (s server) members() []serverMember {
	members := []serverMember{{"command", s.Command}, {"args", s.Args}}
	if s.Type != "" {
		members = append([]serverMember{{"type", s.Type}}, members...)
	}
	return members
}

type serverMember struct {
	name  string
	value any
}

// entry is the server as this host writes it.
func (h host) entry(s server) server {
	if h.stdio {
		s.Type = "stdio"
	}
	return s
}

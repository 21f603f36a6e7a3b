// Package autostart makes the user's service manager run the daemon of a vault from login
// on: systemd --user, launchd or, on Windows, the user's Run key.
//
// # Vocabulary
//
//   - A [Service] is the command line of one vault's daemon.
//   - Its definition is the manager's configuration for it: a unit, a property list, or a
//     value in the registry.
//
// Nothing here needs administrator rights. Managers are controlled through their command
// (systemctl, launchctl, reg), which tests replace. Only the daemon itself knows whether
// it runs; this package knows the managers.
package autostart

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// A Service is the daemon of one vault.
type Service struct {
	Vault   string
	State   string   // the state directory, which identifies the service
	Command []string // the program and its arguments, with absolute paths
	Log     string   // file for standard error under launchd
}

// Name returns the name of the service: letters, digits, dots and dashes, with a hash of
// the state directory, so that vaults with the same name have separate services.
func (s Service) Name() string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, path.Base(filepath.ToSlash(s.Vault)))
	sum := sha256.Sum256([]byte(s.State))
	return "notesd-" + clean + "-" + hex.EncodeToString(sum[:4])
}

// System is the machine and the user whose manager is used.
type System struct {
	OS         string // a runtime.GOOS value
	Home       string
	ConfigHome string // XDG_CONFIG_HOME, or "" for Home/.config
	UID        int
	// Run runs a command of the manager and returns its output. An error includes the
	// message that the command printed.
	Run func(ctx context.Context, name string, args ...string) (string, error)
}

// Status is the state of a service in its manager.
type Status struct {
	Manager   string `json:"manager"`         // systemd, launchd or Windows
	Place     string `json:"place,omitempty"` // location of the definition
	Installed bool   `json:"installed"`
	// Current reports whether the definition equals the one that Install would write.
	Current bool `json:"current"`
	// Running reports whether the manager runs it; always false on Windows.
	Running bool `json:"running"`
}

// runKey lists the programs that Windows starts when the user logs in.
const runKey = `HKCU\Software\Microsoft\Windows\CurrentVersion\Run`

// maxRunCommand is the length limit of commands in the Run key, in UTF-16 code units.
const maxRunCommand = 260

// unloadLimit is longer than launchd waits before it kills a service.
const unloadLimit = 30 * time.Second

// Check returns an error if the manager cannot be reached, as in a connection without a
// session.
func (s System) Check(ctx context.Context) (err error) {
	switch s.OS {
	case "windows": // the registry is always there
	case "darwin":
		_, err = s.Run(ctx, "launchctl", "print", s.domain())
	default:
		_, err = s.Run(ctx, "systemctl", "--user", "show", "--property=Version")
	}
	return err
}

// Install writes the definition, replacing an older one, and starts the service now and
// at every login. If that fails, it restores the older definition, or removes everything it
// wrote. On Windows the service starts only at the next login.
func (s System) Install(ctx context.Context, service Service) error {
	name := service.Name()
	if s.OS == "windows" {
		command := windowsCommand(service.Command)
		if length := len(utf16.Encode([]rune(command))); length > maxRunCommand {
			return fmt.Errorf("the command line has %d characters, and Windows starts no longer one than %d: choose shorter paths", length, maxRunCommand)
		}
		_, err := s.Run(ctx, "reg", "add", runKey, "/v", name, "/t", "REG_SZ", "/d", command, "/f")
		return err
	}
	file := s.file(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("make the folder of services: %w", err)
	}
	older, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the definition of the service: %w", err)
	}
	if s.OS == "darwin" {
		if err := s.unload(ctx, name); err != nil {
			return err
		}
	}
	if err := os.WriteFile(file, []byte(s.text(service)), 0o600); err != nil {
		return fmt.Errorf("write the definition of the service: %w", err)
	}
	steps := [][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", name}, {"systemctl", "--user", "restart", name}}
	if s.OS == "darwin" {
		// launchd loads no service that was once disabled.
		steps = [][]string{{"launchctl", "enable", s.target(name)}, {"launchctl", "bootstrap", s.domain(), file}}
	}
	failure := s.runAll(ctx, steps)
	switch {
	case failure == nil:
		return nil
	case older == nil:
		_, err = s.Uninstall(ctx, service)
	default:
		if err = os.WriteFile(file, older, 0o600); err == nil {
			_ = s.runAll(ctx, steps) // an unreachable manager reads the definition at the next login
		}
	}
	return errors.Join(failure, err)
}

// runAll runs commands up to the first that fails.
func (s System) runAll(ctx context.Context, commands [][]string) error {
	for _, c := range commands {
		if _, err := s.Run(ctx, c[0], c[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// unload makes launchd stop the service, if it is loaded, and waits until it is unloaded.
// bootout returns earlier, and bootstrap would fail with an input/output error.
func (s System) unload(ctx context.Context, name string) error {
	_, _ = s.Run(ctx, "launchctl", "bootout", s.target(name)) // it may not be loaded
	ctx, cancel := context.WithTimeout(ctx, unloadLimit)
	defer cancel()
	for {
		if _, err := s.Run(ctx, "launchctl", "print", s.target(name)); err != nil && ctx.Err() == nil {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("launchd still ends the earlier service after %v: try again", unloadLimit)
		}
	}
}

// Uninstall stops the service and removes its definition. It reports whether the service
// was installed.
func (s System) Uninstall(ctx context.Context, service Service) (bool, error) {
	name := service.Name()
	if s.OS == "windows" {
		if st, err := s.Status(ctx, service); err != nil || !st.Installed {
			return false, err
		}
		_, err := s.Run(ctx, "reg", "delete", runKey, "/v", name, "/f")
		return err == nil, err
	}
	file := s.file(name)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	// An unreachable manager, as in a connection without a session, must not prevent the
	// definition from being removed.
	if s.OS == "darwin" {
		_, _ = s.Run(ctx, "launchctl", "bootout", s.target(name))
	} else {
		_, _ = s.Run(ctx, "systemctl", "--user", "disable", "--now", name)
	}
	if err := os.Remove(file); err != nil {
		return false, fmt.Errorf("remove the definition of the service: %w", err)
	}
	if s.OS != "darwin" {
		// disable has already removed the link if the manager was reachable.
		_ = os.Remove(filepath.Join(filepath.Dir(file), "default.target.wants", filepath.Base(file)))
		_, _ = s.Run(ctx, "systemctl", "--user", "daemon-reload")
	}
	return true, nil
}

// Status returns the state of a service in its manager.
func (s System) Status(ctx context.Context, service Service) (Status, error) {
	name := service.Name()
	if s.OS == "windows" {
		said, err := s.Run(ctx, "reg", "query", runKey, "/v", name)
		if err != nil {
			return Status{Manager: "Windows", Place: runKey}, nil //nolint:nilerr // reg has one exit code for everything; no value is the usual reason
		}
		return Status{Manager: "Windows", Place: runKey, Installed: true, Current: contains(said, windowsCommand(service.Command))}, nil
	}
	st := Status{Manager: "systemd", Place: s.file(name)}
	query, running := []string{"systemctl", "--user", "is-active", name}, "active" // it fails for inactive ones
	if s.OS == "darwin" {
		st.Manager = "launchd"
		query, running = []string{"launchctl", "print", s.target(name)}, "state = running"
	}
	text, err := os.ReadFile(st.Place)
	if errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	if err != nil {
		return st, fmt.Errorf("read the definition of the service: %w", err)
	}
	said, err := s.Run(ctx, query[0], query[1:]...)
	st.Installed, st.Current, st.Running = true, string(text) == s.text(service), err == nil && strings.Contains(said, running)
	return st, nil
}

// Start makes the manager start a service that CanStart. It returns before the daemon
// listens.
func (s System) Start(ctx context.Context, service Service) (err error) {
	if s.OS == "darwin" {
		_, err = s.Run(ctx, "launchctl", "kickstart", s.target(service.Name()))
	} else {
		_, err = s.Run(ctx, "systemctl", "--user", "start", service.Name())
	}
	return err
}

// CanStart reports, without running the manager's command, whether a definition exists
// that Start can use: one with the same program, because another may be older, and be
// replaced by the client that started it. If the program's path is a link, the definition may
// name its target. Windows starts services at login only.
func (s System) CanStart(service Service) bool {
	text, err := os.ReadFile(s.file(service.Name()))
	if err != nil {
		return false
	}
	names := func(program string) bool {
		command := execStart([]string{program})
		if s.OS == "darwin" {
			command = programArguments([]string{program})
		}
		return bytes.Contains(text, []byte(command))
	}
	program := service.Command[0]
	target, err := filepath.EvalSymlinks(program)
	return names(program) || err == nil && names(target)
}

func (s System) domain() string            { return "gui/" + strconv.Itoa(s.UID) }
func (s System) target(name string) string { return s.domain() + "/" + name }

// file returns the path of the definition.
func (s System) file(name string) string {
	if s.OS == "darwin" {
		return filepath.Join(s.Home, "Library", "LaunchAgents", name+".plist")
	}
	config := s.ConfigHome
	if !filepath.IsAbs(config) {
		config = filepath.Join(s.Home, ".config")
	}
	return filepath.Join(config, "systemd", "user", name+".service")
}

// text returns the definition.
func (s System) text(service Service) string {
	if s.OS == "darwin" {
		return propertyList(service)
	}
	return unit(service)
}

// unit returns the definition for systemd. A daemon that was stopped stays stopped until
// a client or the next login starts it; one that crashed is restarted.
func unit(s Service) string {
	return `# Written by notesd service install; notesd service uninstall removes it.
[Unit]
Description=notesd for ` + strings.NewReplacer("%", "%%", "\n", " ").Replace(s.Vault) + `

[Service]
` + execStart(s.Command) + `
Restart=on-failure
RestartSec=30

[Install]
WantedBy=default.target
`
}

// execStart returns the command of a unit.
func execStart(command []string) string {
	quoted := make([]string, len(command))
	for i, arg := range command {
		quoted[i] = `"` + unitEscape.Replace(arg) + `"`
	}
	return "ExecStart=" + strings.Join(quoted, " ")
}

var unitEscape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$", "\n", `\n`)

// propertyList returns the definition for launchd, with the same restart rule as unit.
func propertyList(s Service) string {
	return xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by notesd service install; notesd service uninstall removes it. -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + s.Name() + `</string>
` + programArguments(s.Command) + `	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>StandardErrorPath</key>
	<string>` + xmlText(s.Log) + `</string>
</dict>
</plist>
`
}

// programArguments returns the command of a property list, without the end of its array.
func programArguments(command []string) string {
	var b strings.Builder
	b.WriteString("\t<key>ProgramArguments</key>\n\t<array>\n")
	for _, arg := range command {
		b.WriteString("\t\t<string>" + xmlText(arg) + "</string>\n")
	}
	return b.String()
}

func xmlText(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // writing to a buffer cannot fail
	return b.String()
}

// contains reports whether the output of reg contains a command. The console's code page may
// have changed every character that is not ASCII.
func contains(output, command string) bool {
	var pattern []string
	for _, ascii := range regexp.MustCompile(`[^\x00-\x7f]+`).Split(command, -1) {
		pattern = append(pattern, regexp.QuoteMeta(ascii))
	}
	return regexp.MustCompile(strings.Join(pattern, ".+")).MatchString(output)
}

// windowsCommand returns the command line for the Run key. conhost suppresses the console
// window that Windows would open.
func windowsCommand(command []string) string {
	line := []string{"conhost.exe", "--headless"}
	for _, arg := range command {
		if strings.ContainsAny(arg, " \t") {
			arg = `"` + arg + strings.Repeat(`\`, len(arg)-len(strings.TrimRight(arg, `\`))) + `"` // double the final backslashes, which would escape the quote
		}
		line = append(line, arg)
	}
	return strings.Join(line, " ")
}

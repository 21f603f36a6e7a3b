package autostart

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manager is a fake systemctl, launchctl and reg.
type manager struct {
	calls  []string
	refuse string            // prefix of calls that fail
	answer map[string]string // by prefix of the call
	keys   map[string]string // values in the Run key

	loaded  bool // whether launchd has the service
	exiting int  // how many more times launchctl print finds a service that was booted out
}

var errRefused = errors.New("refused")

func (m *manager) run(_ context.Context, name string, args ...string) (string, error) {
	call := strings.Join(append([]string{name}, args...), " ")
	m.calls = append(m.calls, call)
	if m.refuse != "" && strings.HasPrefix(call, m.refuse) {
		return "", errRefused
	}
	if name == "reg" {
		return m.reg(args)
	}
	if name == "launchctl" {
		return m.launchctl(args[0], args[1])
	}
	for start, answer := range m.answer {
		if strings.HasPrefix(call, start) {
			return answer, nil
		}
	}
	return "", nil
}

// launchctl forgets a service only some time after bootout, and does not load one that it
// still has.
func (m *manager) launchctl(command, at string) (string, error) {
	switch {
	case command == "bootout" && m.loaded:
		m.loaded, m.exiting = false, 3
	case command == "bootstrap" && (m.loaded || m.exiting > 0):
		return "", errors.New("Bootstrap failed: 5: Input/output error")
	case command == "bootstrap":
		m.loaded = true
	case command == "print" && m.exiting > 0:
		m.exiting--
		return "gui/501/x = {\n\tstate = SIGTERMed\n}\n", nil
	case command == "print" && m.loaded:
		return "gui/501/x = {\n\tstate = running\n}\n", nil
	case command != "enable" && !m.loaded && at != "gui/501":
		return "", errRefused
	}
	return "", nil
}

func (m *manager) reg(args []string) (string, error) {
	name := args[3]
	value, there := m.keys[name]
	switch args[0] {
	case "add":
		m.keys[name] = args[7]
		return "", nil
	case "delete":
		delete(m.keys, name)
	}
	if !there {
		return "", errRefused
	}
	return "    " + name + "    REG_SZ    " + value, nil
}

func fake(t *testing.T, goos string) (System, *manager) {
	m := &manager{keys: map[string]string{}, answer: map[string]string{
		"systemctl --user is-active": "active\n",
	}}
	return System{OS: goos, Home: t.TempDir(), UID: 501, Run: m.run}, m
}

var notes = Service{
	Vault: "/home/me/My Notes", State: "/home/me/.local/state/notesd/my-notes-0123",
	Command: []string{"/usr/bin/notesd", "serve", "--vault", "/home/me/My Notes"}, Log: "/home/me/state/daemon.log",
}

func TestUninstall_LeavesNothing(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			ctx := t.Context()
			s, m := fake(t, goos)
			was, err := s.Status(ctx, notes)
			require.NoError(t, err)
			assert.False(t, was.Installed)
			had, err := s.Uninstall(ctx, notes)
			require.NoError(t, err)
			assert.False(t, had)

			require.NoError(t, s.Install(ctx, notes))
			require.NoError(t, s.Install(ctx, notes), "again replaces it")
			is, err := s.Status(ctx, notes)
			require.NoError(t, err)
			assert.True(t, is.Installed)
			assert.True(t, is.Current)
			assert.Equal(t, goos != "windows", is.Running)
			assert.Equal(t, map[string]string{"linux": "systemd", "darwin": "launchd", "windows": "Windows"}[goos], is.Manager)
			assert.Equal(t, goos != "windows", s.CanStart(notes))

			moved := notes
			moved.Command = []string{"/opt/notesd", "serve"}
			is, err = s.Status(ctx, moved)
			require.NoError(t, err)
			assert.True(t, is.Installed)
			assert.False(t, is.Current, "another program")
			assert.False(t, s.CanStart(moved), "another program")
			moved.Command = []string{notes.Command[0], "serve", "--vault", "/n"}
			assert.Equal(t, goos != "windows", s.CanStart(moved), "other arguments")

			other := notes
			other.State = "/elsewhere"
			is, err = s.Status(ctx, other)
			require.NoError(t, err)
			assert.False(t, is.Installed, "a vault of the same name has a service of its own")

			had, err = s.Uninstall(ctx, notes)
			require.NoError(t, err)
			assert.True(t, had)
			assert.Empty(t, filesBelow(t, s.Home))
			assert.Empty(t, m.keys)
			assert.False(t, s.CanStart(notes))
		})
	}
}

// A definition that names the target of the link by which the program is called can be used as
// long as the link leads to it.
func TestCanStart_Link(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	link := filepath.Join(dir, "notesd")
	point := func(name string) string {
		target := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(target, nil, 0o600))
		_ = os.Remove(link) // there is none at first
		require.NoError(t, os.Symlink(target, link))
		return target
	}
	target := point("notesd-1")
	for _, goos := range []string{"linux", "darwin"} {
		s, _ := fake(t, goos)
		called := notes
		called.Command = []string{target, "serve"}
		require.NoError(t, s.Install(t.Context(), called))
		called.Command = []string{link, "serve"}
		assert.True(t, s.CanStart(called), goos)
		point("notesd-2")
		assert.False(t, s.CanStart(called), "%s, after an upgrade", goos)
		point("notesd-1")
	}
}

func filesBelow(t *testing.T, dir string) (files []string) {
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, name)
		}
		return err
	}))
	return files
}

// The commands run for each manager, in order.
func TestSystem_CommandsOfManager(t *testing.T) {
	name := notes.Name()
	for goos, want := range map[string][]string{
		"linux": {
			"systemctl --user show --property=Version",
			"systemctl --user daemon-reload", "systemctl --user enable " + name, "systemctl --user restart " + name,
			"systemctl --user start " + name,
			"systemctl --user disable --now " + name, "systemctl --user daemon-reload",
		},
		"darwin": {
			"launchctl print gui/501",
			"launchctl bootout gui/501/" + name, "launchctl print gui/501/" + name,
			"launchctl enable gui/501/" + name, "launchctl bootstrap gui/501 HOME/Library/LaunchAgents/" + name + ".plist",
			"launchctl kickstart gui/501/" + name,
			"launchctl bootout gui/501/" + name,
		},
	} {
		t.Run(goos, func(t *testing.T) {
			s, m := fake(t, goos)
			require.NoError(t, s.Check(t.Context()))
			require.NoError(t, s.Install(t.Context(), notes))
			require.NoError(t, s.Start(t.Context(), notes))
			_, err := s.Uninstall(t.Context(), notes)
			require.NoError(t, err)
			for i := range m.calls {
				m.calls[i] = filepath.ToSlash(strings.ReplaceAll(m.calls[i], s.Home, "HOME"))
			}
			assert.Equal(t, want, m.calls)
		})
	}
	s, _ := fake(t, "windows")
	assert.False(t, s.CanStart(notes), "Windows starts it at login")
}

func TestInstall_FailureLeavesNothing(t *testing.T) {
	for goos, refused := range map[string]string{"linux": "systemctl --user enable", "darwin": "launchctl bootstrap"} {
		t.Run(goos, func(t *testing.T) {
			s, m := fake(t, goos)
			m.refuse = refused
			require.ErrorIs(t, s.Install(t.Context(), notes), errRefused)
			assert.Empty(t, filesBelow(t, s.Home))
		})
	}
}

// A failed Install leaves the earlier definition, which the manager still starts at login.
func TestInstall_FailureLeavesTheEarlierDefinition(t *testing.T) {
	for goos, refused := range map[string]string{"linux": "systemctl", "darwin": "launchctl bootstrap"} {
		t.Run(goos, func(t *testing.T) {
			s, m := fake(t, goos)
			require.NoError(t, s.Install(t.Context(), notes))
			m.refuse = refused
			other := notes
			other.Command = []string{"/opt/notesd", "serve"}
			require.ErrorIs(t, s.Install(t.Context(), other), errRefused)
			st, err := s.Status(t.Context(), notes)
			require.NoError(t, err)
			assert.True(t, st.Installed)
			assert.True(t, st.Current)
		})
	}
}

// launchd may take seconds to end the daemon of the earlier definition.
func TestInstall_WaitsForTheServiceBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := fake(t, "darwin")
		require.NoError(t, s.Install(t.Context(), notes))
		require.NoError(t, s.Install(t.Context(), notes))
		assert.True(t, m.loaded)
		_, err := s.Uninstall(t.Context(), notes)
		require.NoError(t, err)

		require.NoError(t, s.Install(t.Context(), notes))
		m.loaded, m.exiting = false, math.MaxInt // never ends
		require.ErrorContains(t, s.Install(t.Context(), notes), "still ends")
	})
}

// systemctl fails without a session; Uninstall then removes the link itself.
func TestUninstall_WithoutManager(t *testing.T) {
	s, m := fake(t, "linux")
	require.NoError(t, s.Install(t.Context(), notes))
	wants := filepath.Join(s.Home, ".config/systemd/user/default.target.wants")
	require.NoError(t, os.Mkdir(wants, 0o700))
	require.NoError(t, os.Symlink(s.file(notes.Name()), filepath.Join(wants, notes.Name()+".service")))
	m.refuse = "systemctl"
	had, err := s.Uninstall(t.Context(), notes)
	require.NoError(t, err)
	assert.True(t, had)
	assert.Empty(t, filesBelow(t, s.Home))
}

func TestUnitQuotes(t *testing.T) {
	s := Service{Vault: "/n/100 %", Command: []string{`/opt/my "notesd"`, "serve", "--vault", `/n/100 % $HOME\x`}}
	text := unit(s)
	assert.Contains(t, text, `ExecStart="/opt/my \"notesd\"" "serve" "--vault" "/n/100 %% $$HOME\\x"`+"\n")
	assert.Contains(t, text, "Description=notesd for /n/100 %%\n")
}

// systemd accepts the unit without warnings, if installed.
func TestUnitIsValid(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	program, err := os.Executable()
	require.NoError(t, err)
	s := notes
	s.Command = []string{program, "serve", "--vault", `/n/ü "100 %" $HOME`}
	file := filepath.Join(t.TempDir(), s.Name()+".service")
	require.NoError(t, os.WriteFile(file, []byte(unit(s)), 0o600))
	said, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput()
	require.NoError(t, err, string(said))
	assert.Empty(t, string(said))
}

func TestPropertyList(t *testing.T) {
	s := notes
	s.Command = []string{"/opt/a & b/notesd", "serve", "--vault", "/n/<1>"}
	decoder := xml.NewDecoder(strings.NewReader(propertyList(s)))
	var texts []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			texts = append(texts, string(text))
		}
	}
	assert.Equal(t, []string{
		"Label", s.Name(), "ProgramArguments", "/opt/a & b/notesd", "serve", "--vault", "/n/<1>",
		"RunAtLoad", "KeepAlive", "SuccessfulExit", "StandardErrorPath", s.Log,
	}, texts)
}

func TestWindowsCommand(t *testing.T) {
	assert.Equal(t, `conhost.exe --headless "C:\Program Files\notesd.exe" serve --vault "C:\My Notes\\"`,
		windowsCommand([]string{`C:\Program Files\notesd.exe`, "serve", "--vault", `C:\My Notes\`}))
	s, m := fake(t, "windows")
	long := notes
	long.Command = []string{`C:\` + strings.Repeat("x", maxRunCommand)}
	require.ErrorContains(t, s.Install(t.Context(), long), "260")
	assert.Empty(t, m.calls)
	long.Command = []string{`C:\` + strings.Repeat("ノ", 200)}
	require.NoError(t, s.Install(t.Context(), long), "Windows counts UTF-16 units")
	long.Command = []string{`C:\` + strings.Repeat("🗂", 150)}
	require.ErrorContains(t, s.Install(t.Context(), long), "has 326 characters")
}

// reg writes in the code page of the console, here 850 and 932.
func TestStatus_CodePage(t *testing.T) {
	s, m := fake(t, "windows")
	named := notes
	for vault, garbled := range map[string]string{`C:\Übung`: "C:\\\x9abung", `C:\ソ 表`: "C:\\\x83\x5c \x95\x5c", `C:\🗂`: `C:\??`} {
		named.Command = []string{`C:\notesd.exe`, "serve", "--vault", vault}
		require.NoError(t, s.Install(t.Context(), named))
		name := named.Name()
		m.keys[name] = strings.ReplaceAll(m.keys[name], vault, garbled)
		st, err := s.Status(t.Context(), named)
		require.NoError(t, err)
		assert.True(t, st.Current, vault)
		named.Command[3] += `\more`
		st, err = s.Status(t.Context(), named)
		require.NoError(t, err)
		assert.False(t, st.Current, vault)
	}
}

func TestName(t *testing.T) {
	assert.Regexp(t, `^notesd-My-Notes-[0-9a-f]{8}$`, notes.Name())
	assert.Regexp(t, `^notesd----[0-9a-f]{8}$`, Service{Vault: "/日本"}.Name())
}

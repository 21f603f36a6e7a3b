package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

func TestFilePath(t *testing.T) {
	for _, tc := range []struct{ uri, goos, want string }{
		{"file:///home/ann/notes", "linux", "/home/ann/notes"},
		{"file:///home/ann/notes/", "linux", "/home/ann/notes"},
		{"FILE:///home/ann/../bob", "linux", "/home/bob"},
		{"file:///home/ann/My%20notes%20%C3%BC%25", "linux", "/home/ann/My notes ü%"},
		{"file:///home/ann/My notes", "linux", "/home/ann/My notes"},
		{"file://localhost/notes", "darwin", "/notes"},
		{"file:///", "linux", "/"},
		{"file:///C:/Users/ann/notes", "windows", `C:\Users\ann\notes`},
		{"file:///c%3A/Users/ann", "windows", `c:\Users\ann`},
		{"file:///C:", "windows", `C:\`},
		{"file://server/share/notes", "windows", `\\server\share\notes`},

		{"file://server/share/notes", "linux", ""},
		{"file:///notes", "windows", ""},
		{"file:///home/%zz", "linux", ""},
		{"file:///home/a%00b", "linux", ""},
		{"file:notes", "linux", ""},
		{"file://", "linux", ""},
		{"/home/ann", "linux", ""},
		{"http://localhost/home/ann", "linux", ""},
		{"", "linux", ""},
	} {
		path, ok := filePath(tc.uri, tc.goos)
		assert.Equal(t, tc.want != "", ok, "%s on %s", tc.uri, tc.goos)
		if ok && (tc.goos == "windows" || runtime.GOOS != "windows") {
			assert.Equal(t, tc.want, path, "%s on %s", tc.uri, tc.goos)
		}
	}
}

func TestLocate(t *testing.T) {
	home := t.TempDir()
	at := func(path string) string { return filepath.Join(home, filepath.FromSlash(path)) }
	require.NoError(t, os.MkdirAll(at("vault/Work/Deep"), 0o700))
	require.NoError(t, os.MkdirAll(at("code"), 0o700))
	link := func(target, name string) {
		if err := os.Symlink(at(target), at(name)); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
	link("vault", "link")
	link("vault/Work", "shortcut")
	link("code", "vault/Out")
	for _, vault := range []string{"vault", "link", "code/../vault"} {
		for _, tc := range []struct {
			dir, folder string
			ok          bool
		}{
			{"vault", "", true},
			{"link", "", true},
			{".", "", true},
			{"vault/Work", "Work", true},
			{"link/Work/Deep", "Work/Deep", true},
			{"shortcut/Deep", "Work/Deep", true},
			{"vault/Not yet/there", "Not yet/there", true},
			{"vault/Work/../Work", "Work", true},
			{"vault/Cafe\u0301", "Café", true},
			{"vault/Out", "", false}, // its target is not part of the vault
			{"code", "", false},
			{"vault2", "", false},
			{"vaul", "", false},
		} {
			folder, ok := locate(at(vault), at(tc.dir))
			assert.Equal(t, tc.ok, ok, "%s from %s", tc.dir, vault)
			assert.Equal(t, tc.folder, folder, "%s from %s", tc.dir, vault)
		}
	}
}

// A client responds to the last roots request first. An earlier response that arrives later
// must have no effect.
func TestRoots_LatestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sampleVault, Limits{})
		client := w.connect(t, Profile{Write: []string{"Home"}})
		var asked []string // ids of the requests
		listen := func() (open []string) {
			synctest.Wait()
			for _, m := range regexp.MustCompile(`"id":(\d+),"method":"roots/list"`).FindAllStringSubmatch(strings.Join(client.received(), ""), -1) {
				asked, open = append(asked, m[1]), append(open, m[1])
			}
			return open
		}
		client.send(strings.Replace(strings.TrimSuffix(handshake, "\n"), `"capabilities":{}`, `"capabilities":{"roots":{"listChanged":true}}`, 1))
		open := listen()
		for range 3 {
			client.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
			open = append(open, listen()...)
		}
		for len(open) > 0 {
			last := open[len(open)-1]
			folder := "Home"
			if last == asked[0] {
				folder = "Garden"
			}
			client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file:///home/ann/vault/%s"}]}}`, last, folder))
			open = append(open[:len(open)-1], listen()...)
		}
		client.send(`{"jsonrpc":"2.0","id":"tools","method":"tools/list"}`)
		synctest.Wait()
		assert.Contains(t, strings.Join(client.received(), ""), `"create_note"`, "Home may be written to")
		assert.Len(t, asked, 2, "changes during a question are one reason to ask again")
	})
}

// A client sends its roots long before requests are answered. They apply once the scan has
// ended, and a session that ends earlier logs nothing.
func TestRoots_BeforeTheFirstScanEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sampleVault, Limits{})
		settled := make(chan struct{})
		w.core.opts.Settled = settled
		connect := func() *testClient {
			client := w.connect(t, Profile{})
			client.send(strings.Replace(strings.TrimSuffix(handshake, "\n"), `"capabilities":{}`, `"capabilities":{"roots":{}}`, 1))
			synctest.Wait()
			client.send(`{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///home/ann/vault/Garden"}]}}`)
			client.send(`{"jsonrpc":"2.0","id":"list","method":"tools/call","params":{"name":"list_notes"}}`)
			synctest.Wait()
			client.received()
			return client
		}
		short, long := connect(), connect()
		short.close()
		time.Sleep(time.Minute)
		close(settled)
		synctest.Wait()
		assert.Contains(t, strings.Join(long.received(), ""), "2 of 2 notes")
		assert.NotContains(t, w.log.String(), "roots")
	})
}

// notesd's own methods wait for the roots as tools do.
func TestRoots_BoundMethods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sampleVault, Limits{})
		w.core.opts.Methods = map[string]Method{"notesd/scope": {Call: func(_ context.Context, scope notes.Scope, _ json.RawMessage) (any, error) {
			return map[string]any{"read": scope.Read}, nil
		}}}
		client := w.connect(t, Profile{})
		client.send(strings.Replace(strings.TrimSuffix(handshake, "\n"), `"capabilities":{}`, `"capabilities":{"roots":{}}`, 1))
		client.send(`{"jsonrpc":"2.0","id":"scope","method":"notesd/scope"}`)
		synctest.Wait()
		client.send(`{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///home/ann/vault/Garden"}]}}`)
		synctest.Wait()
		assert.Contains(t, strings.Join(client.received(), ""), `{"read":["Garden"]}`)
	})
}

// A client that may read only some folders gets an error with the reason instead of the status.
func TestStatus_OfSomeFolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			profile Profile
			want    string
		}{
			"all folders":  {Profile{}, `"result":{"notes":3}`},
			"some folders": {Profile{Read: []string{"Garden"}}, `this client may read only some folders`},
			"a subject":    {Profile{Subject: "ann"}, `"code":-32601`},
		} {
			w := newWorld(t, sampleVault, Limits{})
			w.core.opts.Methods = map[string]Method{MethodStatus: {Call: func(context.Context, notes.Scope, json.RawMessage) (any, error) {
				return map[string]int{"notes": 3}, nil
			}}}
			client := w.connect(t, c.profile)
			client.send(handshake + `{"jsonrpc":"2.0","id":"status","method":"notesd/status"}`)
			synctest.Wait()
			assert.Contains(t, strings.Join(client.received(), ""), c.want, name)
		}
	})
}

// The roots of a client restrict it to the folders that they name, in a vault of several
// folders.
func TestRoots_SeveralFolders(t *testing.T) {
	w := newWorld(t, sampleVault, Limits{})
	w.vault.dirs = map[string]string{"home": "/home/ann/notes", "work": "/srv/work"}
	bound := &roots{session: &session{core: w.core}}
	for name, c := range map[string]struct {
		roots   []string
		folders []string
		ignored int
	}{
		"a folder of the vault":    {[]string{"/srv/work"}, []string{"work"}, 0},
		"what holds one":           {[]string{"/srv"}, []string{"work"}, 0},
		"a folder in one":          {[]string{"/home/ann/notes/Garden"}, []string{"home/Garden"}, 0},
		"what holds all":           {[]string{"/"}, nil, 0},
		"elsewhere":                {[]string{"/tmp/code"}, nil, 1},
		"one of both, one outside": {[]string{"/srv/work/A", "/tmp/code"}, []string{"work/A"}, 1},
	} {
		var roots []*sdk.Root
		for _, dir := range c.roots {
			roots = append(roots, &sdk.Root{URI: "file://" + dir})
		}
		folders, ignored, err := bound.foldersOf(t.Context(), roots)
		require.NoError(t, err, name)
		assert.Equal(t, c.folders, folders, name)
		assert.Equal(t, c.ignored, ignored, name)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/mirror"
	"notesd/internal/notestest"
	"notesd/internal/pgtest"
	"notesd/mcp"
)

// team returns places that share a vault in the test's own database.
func team(t *testing.T, files ...map[string]string) []place {
	t.Helper()
	s := pgtest.New(t)
	var places []place
	for _, f := range files {
		p := newPlace(t, f)
		p.env = append(p.env, "NOTESD_STORE_POSTGRES="+s.URL(), "NOTESD_STORE_VAULT=team")
		places = append(places, p)
	}
	return places
}

// inStep syncs each place's folder with the database.
func inStep(t *testing.T, places ...place) {
	t.Helper()
	for _, p := range places {
		p.run(t, "index")
	}
}

// TestMirroredFolders uses two folders of one vault, through commands and an editor, and
// a node without its own folder.
func TestMirroredFolders(t *testing.T) {
	t.Parallel()
	places := team(t, map[string]string{"Plan.md": "the plan\n", "Links.md": "[[Plan]]\n"}, map[string]string{"Mine.md": "mine\n"})
	a, b := places[0], places[1]
	inStep(t, a, b, a)
	assert.Equal(t, "the plan\n", b.run(t, "read", "Plan"))
	assert.Equal(t, "mine\n", a.run(t, "read", "Mine"))
	b.run(t, "move", "Plan", "Archive/Old plan.md")
	require.NoError(t, os.WriteFile(filepath.Join(a.vault, "Mine.md"), []byte("mine, by hand\n"), 0o644))
	inStep(t, a, b)
	assert.Equal(t, "[[Old plan]]\n", a.run(t, "read", "Links"))
	assert.Equal(t, "mine, by hand\n", b.run(t, "read", "Mine"))
	assert.Contains(t, a.run(t, "history", "Archive/Old plan.md"), "move")

	status := a.report(t)
	require.NotNil(t, status.Shared)
	assert.Contains(t, status.Shared.Place, "vault team in database test")
	assert.Zero(t, status.Shared.Pending)
	assert.Empty(t, status.Warnings)
	assert.Contains(t, a.run(t, "status"), "in step up to change")

	left := a
	left.env = nil
	assert.Contains(t, left.run(t, "status"), "the folder was in step with a database and is not now")
	a.run(t, "delete", "Mine.md")
	assert.Contains(t, a.run(t, "forget", "Mine.md"), "Mine.md")
	inStep(t, b)
	for _, p := range []place{a, b} {
		out, err := p.command("history", "Mine.md").CombinedOutput()
		require.Error(t, err, "%s", out)
	}

	var out []byte
	for _, args := range [][]string{{"index"}, {"read", "Archive/Old plan"}} {
		server := a.command(args...)
		server.Args = server.Args[:len(server.Args)-4] // neither --vault nor --state
		var err error
		out, err = server.Output()
		require.NoError(t, err)
	}
	assert.Equal(t, "the plan\n", string(out))
}

// TestImportCommand adds a folder to a team's vault with notesd import.
func TestImportCommand(t *testing.T) {
	t.Parallel()
	a := team(t, map[string]string{"Plan.md": "the plan\n"})[0]
	inStep(t, a)
	folder := newPlace(t, map[string]string{"Plan.md": "another plan\n", "New.md": "see [[Plan]]\n"}).vault
	out, err := a.command("import", folder).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "! Plan.md  the vault has another text of that name\n")
	assert.Contains(t, string(out), "added 1 file to the vault team in database test")
	var done mirror.Imported
	require.NoError(t, json.Unmarshal([]byte(a.run(t, "import", "--json", folder)), &done))
	assert.Equal(t, 1, done.Unchanged)
	inStep(t, a)
	assert.Equal(t, "see [[Plan]]\n", a.run(t, "read", "New"))
	assert.Equal(t, "the plan\n", a.run(t, "read", "Plan"))

	out, err = a.command("import", filepath.Join(folder, "New.md")).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "it is a file")
}

// TestTeam_UnaskedFolder opens a private vault while the configuration file of all vaults
// has a team's database. Only notesd mirror adds its notes to the database.
func TestTeam_UnaskedFolder(t *testing.T) {
	t.Parallel()
	settings := filepath.Join(t.TempDir(), "notesd.toml")
	require.NoError(t, os.WriteFile(settings, []byte("[store]\npostgres = \""+pgtest.New(t).URL()+"\"\n"), 0o600))
	private, other := newPlace(t, map[string]string{"Diary.md": "dear diary\n"}), newPlace(t, nil)
	for _, args := range [][]string{{"index"}, {"read", "Diary"}, {"serve"}} {
		out, err := private.command(append(args, "--config", settings)...).CombinedOutput()
		require.Error(t, err)
		assert.Contains(t, string(out), "would be shared with everyone who uses it")
		assert.Contains(t, string(out), "notesd mirror FOLDER")
	}
	assert.NotContains(t, other.run(t, "list", "--config", settings), "Diary")

	mirror := private.command("mirror", "--config", settings)
	require.NoError(t, mirror.Start())
	t.Cleanup(func() { _ = mirror.Process.Kill() })
	eventually(t, "the note is shared", func() bool {
		other.run(t, "index", "--config", settings)
		return strings.Contains(other.run(t, "list", "--config", settings), "Diary")
	})
	private.run(t, "stop", "--config", settings)
	assert.Equal(t, 0, ended(t, mirror))
	assert.Equal(t, "dear diary\n", private.run(t, "read", "Diary", "--config", settings))
}

// TestDoctor_Database checks a team's database with notesd doctor.
func TestDoctor_Database(t *testing.T) {
	t.Parallel()
	a := team(t, map[string]string{"Plan.md": "the plan\n"})[0]
	assert.Contains(t, a.run(t, "doctor"), "✓ database       responds\n")
	a.env = []string{"NOTESD_STORE_POSTGRES=postgres:///nowhere?host=" + t.TempDir()}
	out, err := a.command("doctor").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "✗ database       failed to connect")
	assert.Contains(t, string(out), "Check store.postgres")
}

// httpSession opens a session with the daemon over HTTP, with the given protocol version.
func (p place) httpSession(t testing.TB, version string) *sdk.ClientSession {
	t.Helper()
	return openSession(t, p.report(t).Daemon.HTTP, p.bearer(t), version)
}

// openSession opens a session with the given protocol version.
func openSession(t testing.TB, endpoint string, via http.RoundTripper, version string) *sdk.ClientSession {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint:   endpoint,
		HTTPClient: &http.Client{Transport: via},
	}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// TestSessionsMove has clients write on one node and read immediately on another: in a
// new session there, in requests without a session, and in an existing session whose
// requests include what they have seen.
func TestSessionsMove(t *testing.T) {
	t.Parallel()
	places := team(t, nil, nil)
	ann := subject{t, strings.TrimSpace(places[0].run(t, "team", "add", "ann"))}
	places[0].run(t, "team", "grant", "--new", "ann", "research", "writer")
	var origins []string
	for _, p := range places {
		p.serve(t, "--http", "127.0.0.1:0")
		origins = append(origins, p.origin(t))
	}
	t.Run("own vault", func(t *testing.T) {
		moveBetween(t, func(node int, version string) *sdk.ClientSession { return places[node].httpSession(t, version) })
	})
	t.Run("vault of the database", func(t *testing.T) {
		moveBetween(t, func(node int, version string) *sdk.ClientSession {
			return openSession(t, origins[node]+"/v/research/mcp", ann, version)
		})
	})
}

// moveBetween writes and reads through sessions that open creates on two nodes.
func moveBetween(t *testing.T, open func(node int, version string) *sdk.ClientSession) {
	call := func(s *sdk.ClientSession, seen any, name string, args map[string]any) *sdk.CallToolResult {
		t.Helper()
		params := &sdk.CallToolParams{Name: name, Arguments: args}
		if seen != nil {
			params.Meta = sdk.Meta{mcp.MetaSeq: seen}
		}
		res, err := s.CallTool(t.Context(), params)
		require.NoError(t, err)
		require.False(t, res.IsError, "%s %v: %v", name, args, res.Content[0])
		require.Contains(t, res.Meta, mcp.MetaSeq)
		return res
	}
	kept := [2]*sdk.ClientSession{open(0, "2025-11-25"), open(1, "2025-11-25")}
	for i := range 6 {
		here, there := i%2, 1-i%2
		word := fmt.Sprintf("word%dx", i)
		made := call(kept[here], nil, "create_note", map[string]any{"title": word, "content": word})
		stateless := open(there, statelessVersion)
		for _, s := range []struct {
			session *sdk.ClientSession
			seen    any
		}{{kept[there], made.Meta[mcp.MetaSeq]}, {open(there, "2025-11-25"), nil}, {stateless, nil}} {
			found := call(s.session, s.seen, "search_notes", map[string]any{"query": word, "mode": "text"})
			assert.Contains(t, fmt.Sprint(found.StructuredContent), word+".md")
			made = call(kept[here], nil, "edit_note", map[string]any{"note": word, "edits": []any{map[string]any{"op": "append", "content": word}}})
			read := call(stateless, nil, "read_note", map[string]any{"note": word})
			assert.Contains(t, fmt.Sprint(read.StructuredContent), fmt.Sprint(made.StructuredContent.(map[string]any)["hash"]))
		}
	}
}

// An evaluation does not add its documents to the team's vault.
func TestTeam_Evaluation(t *testing.T) {
	t.Parallel()
	places := team(t, map[string]string{"Plan.md": "the plan\n"}, nil)
	a, b := places[0], places[1]
	inStep(t, a)
	dir := notestest.Vault(t, map[string]string{
		"docs":    `{"id":"d1","title":"Keelson","text":"A keelson lies on the keel."}` + "\n",
		"queries": `{"id":"q1","text":"keelson"}` + "\n",
		"qrels":   "q1\td1\t1\n",
	})
	a.run(t, "eval", "--mode", "text", "--docs", filepath.Join(dir, "docs"), "--queries", filepath.Join(dir, "queries"), "--qrels", filepath.Join(dir, "qrels"))
	inStep(t, b)
	assert.Equal(t, map[string]string{"Plan.md": "the plan\n"}, notestest.Read(t, b.vault))
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
)

// newFolders returns a vault with the folders home and work, set in a host's env block,
// for which the daemon is launched.
func newFolders(t *testing.T, files map[string]string) place {
	t.Helper()
	p := newPlace(t, files)
	p.folders, p.byEnv = []string{"home", "work"}, true
	return p
}

// launchHost launches a client like a host with an env block.
func (p place) launchHost(t *testing.T, env ...string) *peer {
	t.Helper()
	p.env = env
	h := p.launch(t, "mcp")
	h.initialize()
	return h
}

func (h *peer) must(name string, args map[string]any) toolResult {
	h.t.Helper()
	r := h.tool(name, args)
	require.False(h.t, r.IsError, "%s %v: %v", name, args, r.Content)
	return r
}

func TestSeveralFoldersAreOneVault(t *testing.T) {
	p := newFolders(t, map[string]string{
		"home/Plan.md": "plan of home, see [[Garden]]\n", "home/Garden.md": "tomatoes\n", "home/.obsidian/daily-notes.json": `{"folder":"Daily"}`,
		"work/Plan.md": "plan of work, see [[Team]] and [[home/Garden]]\n", "work/Team.md": "anne\n", "work/.obsidian/app.json": "{}",
	})
	h := p.launchHost(t)
	h.ready()

	assert.ElementsMatch(t, []string{"home/Plan.md", "work/Plan.md"}, h.found("plan"))
	assert.Contains(t, h.must("read_note", map[string]any{"note": "work/Plan"}).Structured["content"], "plan of work")
	assert.True(t, h.tool("read_note", map[string]any{"note": "Plan"}).IsError, "it is ambiguous")
	assert.Contains(t, fmt.Sprint(h.must("list_notes", map[string]any{"folder": "home"}).Structured), "home/Garden.md")
	assert.Contains(t, fmt.Sprint(h.must("note_links", map[string]any{"note": "home/Garden"}).Structured["backlinks"]), "work/Plan.md")
	overview := h.must("vault_overview", nil)
	assert.Contains(t, overview.Content[0].Text, "To open a note in work: obsidian://open?path=")
	assert.Contains(t, fmt.Sprint(overview.Structured["open_in"]), "home:obsidian://open?path=")

	refused := h.tool("create_note", map[string]any{"title": "Nowhere", "content": "x"})
	assert.True(t, refused.IsError)
	assert.Contains(t, refused.Content[0].Text, "home, work")
	h.must("create_note", map[string]any{"title": "New", "folder": "work", "content": "see [[Team]]\n"})
	moved := h.must("move_note", map[string]any{"note": "work/Team.md", "to": "home/Team.md"})
	assert.Contains(t, fmt.Sprint(moved.Structured), "work/New.md")
	assert.Contains(t, p.read(t, "work/New.md"), "[[home/Team]]")
	assert.NoFileExists(t, filepath.Join(p.vault, "work", "Team.md"))

	created := h.must("edit_note", map[string]any{"note": "today", "edits": []any{map[string]any{"op": "append", "content": "a day"}}})
	assert.True(t, strings.HasPrefix(created.Structured["path"].(string), "home/Daily/"), created.Structured["path"])

	h.must("delete_note", map[string]any{"note": "home/Garden.md"})
	assert.NoFileExists(t, filepath.Join(p.vault, "home", "Garden.md"))
	versions := h.must("note_history", map[string]any{"note": "home/Garden.md"}).Structured["revisions"].([]any)
	h.must("restore_note", map[string]any{"note": "home/Garden.md", "revision": versions[1].(map[string]any)["revision"]})
	assert.Equal(t, "tomatoes\n", p.read(t, "home/Garden.md"))

	st := p.report(t)
	assert.Empty(t, st.Warnings)
	assert.Equal(t, filepath.Join(p.vault, "work"), st.Folders["work"])
	assert.Equal(t, "watching", st.Watcher.State)
	assert.GreaterOrEqual(t, st.Watcher.Directories, 3)
	assert.Contains(t, p.run(t, "doctor"), filepath.Join(p.vault, "home"))
	assert.Contains(t, p.run(t, "config"), `folders = { "home" = "`)
}

// read returns the text of a file in the vault.
func (p place) read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(p.vault, filepath.FromSlash(path)))
	require.NoError(t, err)
	return string(data)
}

// Saves in every folder are announced, also after a folder was unavailable.
func TestSavesInSeveralFoldersAreLive(t *testing.T) {
	t.Parallel()
	p := newFolders(t, map[string]string{"home/A.md": "one", "work/B.md": "two", "work/C.md": "three"})
	h := p.watching(t, "note:///home/A.md", "note:///work/B.md")
	p.save(t, "home/A.md", "oneagain")
	p.save(t, "work/B.md", "twoagain")
	h.updated("note:///home/A.md", "note:///work/B.md")
	assert.Equal(t, "twoagain", h.text("note:///work/B.md"))

	work := filepath.Join(p.vault, "work")
	require.NoError(t, os.Rename(work, work+" away"))
	eventually(t, "the folder is reported as missing", func() bool {
		return slices.ContainsFunc(p.report(t).Warnings, func(w string) bool { return strings.HasPrefix(w, `the folder "work" does not exist`) })
	})
	assert.Equal(t, []string{"home/A.md"}, h.found("oneagain"))
	assert.Equal(t, []string{"work/C.md"}, h.found("three"), "what is known of it is kept")
	refused := h.tool("create_note", map[string]any{"title": "New", "path": "work/New.md", "content": "x"})
	require.True(t, refused.IsError)
	assert.Contains(t, refused.Content[0].Text, "does not exist (is its disk mounted?)")
	h.must("create_note", map[string]any{"title": "New", "path": "home/New.md", "content": "x"})

	require.NoError(t, os.Rename(work+" away", work))
	eventually(t, "the folder is back", func() bool {
		return !h.tool("edit_note", map[string]any{"note": "work/C.md", "edits": []any{map[string]any{"op": "append", "content": "four"}}}).IsError
	})
	eventually(t, "no warning is left", func() bool { return len(p.report(t).Warnings) == 0 })
	p.save(t, "work/B.md", "threefold")
	h.updated("note:///work/B.md")
}

// Clients of a vault of several folders may have different bounds.
func TestBoundsInSeveralFolders(t *testing.T) {
	p := newFolders(t, map[string]string{"home/A.md": "word", "work/B.md": "word [[home/A]]"})
	all := p.launchHost(t)
	all.ready()
	one := p.launchHost(t, "NOTESD_VAULT_ALLOW=work")
	reader := p.launchHost(t, "NOTESD_VAULT_READ_ONLY_FOLDERS=work")
	assert.Len(t, all.found("word"), 2)
	assert.Equal(t, []string{"work/B.md"}, one.found("word"))
	assert.True(t, one.tool("create_note", map[string]any{"title": "New", "path": "home/New.md", "content": "x"}).IsError)
	today := one.must("create_note", map[string]any{"title": "today", "content": "x"})
	assert.True(t, strings.HasPrefix(today.Structured["path"].(string), "work/"), "the note of the day of its own folder")
	assert.True(t, reader.tool("create_note", map[string]any{"title": "New", "path": "work/New.md", "content": "x"}).IsError)
	reader.must("create_note", map[string]any{"title": "New", "path": "home/New.md", "content": "x"})
	all.must("create_note", map[string]any{"title": "New", "path": "work/New.md", "content": "x"})
}

// Adding a folder to the vault preserves the history of the others; removing one does so
// if the state is adopted.
func TestFolderIsAddedToTheVault(t *testing.T) {
	notestest.SkipInShort(t)
	p := newFolders(t, map[string]string{"home/A.md": "first\n", "work/B.md": "word\n", "third/C.md": "word\n"})
	states := p.config()
	p.state = "" // use the default, below states
	p.env = []string{"XDG_CONFIG_HOME=" + states, "XDG_STATE_HOME=" + states}
	p.run(t, "new", "--path", "home/New.md", "New")
	before := p.run(t, "history", "home/New.md", "--json")
	p.folders = []string{"home", "third", "work"}
	assert.Equal(t, before, p.run(t, "history", "home/New.md", "--json"))
	assert.Contains(t, p.run(t, "list"), "third/C.md")
	kept, err := filepath.Glob(filepath.Join(states, "notesd", "*", "history.db"))
	require.NoError(t, err)
	require.Len(t, kept, 1, "the state has moved along")

	p.folders = []string{"home", "work"}
	p.run(t, "adopt", filepath.Dir(kept[0]))
	assert.Equal(t, before, p.run(t, "history", "home/New.md", "--json"))
	assert.NotContains(t, p.run(t, "list"), "third/C.md")
}

// Two hosts may have vaults that share a folder: each has its own daemon, and neither
// attributes the other's changes to itself or loses one.
func TestVaultsThatShareAFolder(t *testing.T) {
	notestest.SkipInShort(t)
	both := newFolders(t, map[string]string{"home/A.md": "one\n", "work/B.md": "two\n"})
	single := newPlace(t, nil)
	single.vault = filepath.Join(both.vault, "home")
	first, second := both.launchHost(t), single.launchHost(t)
	first.ready()
	second.ready()

	second.must("create_note", map[string]any{"title": "New", "content": "tomatoes\n"})
	eventually(t, "the other finds it", func() bool { return slices.Equal(first.found("tomatoes"), []string{"home/New.md"}) })
	first.must("move_note", map[string]any{"note": "home/New.md", "to": "home/Garden/Beds.md"})
	eventually(t, "the other follows", func() bool { return slices.Equal(second.found("tomatoes"), []string{"Garden/Beds.md"}) })

	// Both edit a note concurrently: each edit is applied, or rejected because the note
	// changed.
	var answers []<-chan message
	for i := range 10 {
		for name, h := range map[string]*peer{"home/A.md": first, "A.md": second} {
			answers = append(answers, h.send("tools/call", map[string]any{"name": "edit_note", "arguments": map[string]any{
				"note": name, "edits": []any{map[string]any{"op": "append", "content": fmt.Sprintf("line %d of %s", i, name)}},
			}}))
		}
	}
	made := 0
	for _, a := range answers {
		var r toolResult
		first.decode(<-a, &r)
		if !r.IsError {
			made++
			continue
		}
		assert.Contains(t, fmt.Sprint(r.Content), "changed")
	}
	assert.NotZero(t, made)
	assert.Equal(t, made, strings.Count(both.read(t, "home/A.md"), "line "), "no edit is lost")
	left, err := filepath.Glob(filepath.Join(both.vault, "*", ".*"))
	require.NoError(t, err)
	assert.Empty(t, left, "no temp file is left")
	for _, p := range []place{both, single} {
		eventually(t, "nothing is wrong", func() bool { return len(p.report(t).Warnings) == 0 })
		assert.NotContains(t, p.run(t, "doctor"), "✗")
	}
}

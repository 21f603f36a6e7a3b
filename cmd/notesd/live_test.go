package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
)

// watching launches a client that subscribes to resources.
func (p place) watching(t *testing.T, uris ...string) *peer {
	t.Helper()
	h := p.launch(t, "mcp")
	h.initialize()
	h.ready()
	for _, uri := range uris {
		require.Nil(t, h.call("resources/subscribe", map[string]any{"uri": uri}).Error, uri)
	}
	return h
}

// updated waits until the client has been notified of updates of all the resources.
func (h *peer) updated(uris ...string) {
	h.t.Helper()
	missing := map[string]bool{}
	for _, uri := range uris {
		missing[uri] = true
	}
	deadline := time.After(patience)
	for len(missing) > 0 {
		select {
		case m := <-h.others:
			delete(missing, updatedURI(m))
		case <-deadline:
			require.Empty(h.t, missing, "never told")
		}
	}
}

// tellings counts the notifications for each resource until there is one for last.
func (h *peer) tellings(last string) map[string]int {
	h.t.Helper()
	count := map[string]int{}
	deadline := time.After(patience)
	for count[last] == 0 {
		select {
		case m := <-h.others:
			if uri := updatedURI(m); uri != "" {
				count[uri]++
			}
		case <-deadline:
			require.FailNow(h.t, "never told of "+last)
		}
	}
	return count
}

func (p place) save(t testing.TB, path, text string) {
	t.Helper()
	full := filepath.Join(p.vault, filepath.FromSlash(path))
	require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(t, os.WriteFile(full, []byte(text), 0o644))
}

// text reads a resource.
func (h *peer) text(uri string) string {
	h.t.Helper()
	var read struct {
		Contents []struct {
			Text string `json:"text"`
		} `json:"contents"`
	}
	h.decode(h.call("resources/read", map[string]any{"uri": uri}), &read)
	require.Len(h.t, read.Contents, 1)
	return read.Contents[0].Text
}

// Resources derived from many notes are announced when their text changes, and only then.
func TestDerivedResourcesAreLive(t *testing.T) {
	t.Parallel()
	const tag, recent, overview, note = "notes://tags/harbour", "notes://recent", "notes://overview", "note:///Quay.md"
	p := newPlace(t, map[string]string{"Quay.md": "# Quay\n#harbour\n", "Other.md": "# Other\n"})
	h := p.watching(t, tag, recent, overview, note, "note:///Other.md")

	p.save(t, "Pier.md", "# Pier\n#harbour\n")
	h.updated(tag, recent, overview)
	assert.Contains(t, h.text(tag), "note:///Pier.md")
	assert.Contains(t, h.text(recent), "note:///Pier.md")

	p.save(t, "Quay.md", "# Quay\nno tag any more\n")
	h.updated(tag, note)
	assert.NotContains(t, h.text(tag), "Quay.md")

	// A change that does not affect the tag's list is not announced for it.
	p.save(t, "Other.md", "# Other\nwith another line\n")
	h.updated("note:///Other.md")
	p.save(t, "Quay.md", "# Quay\nstill none\n")
	assert.Zero(t, h.tellings(note)[tag])

	require.NoError(t, os.Remove(filepath.Join(p.vault, "Pier.md")))
	h.updated(tag, recent, overview)
	assert.Contains(t, h.text(tag), "0 of 0 notes")
}

// Settings that the user changes in Obsidian take effect without a rescan, also those in
// folders that are made later.
func TestAppSettingsAreLive(t *testing.T) {
	p := newPlace(t, someNotes)
	h := p.launch(t, "mcp", "--in-process")
	h.initialize()
	eventually(t, "the note is found", func() bool { return len(h.found("mast")) == 1 })
	settings := filepath.Join(p.vault, ".obsidian")
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(settings, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(settings, name), []byte(text), 0o644))
	}
	write("app.json", `{"userIgnoreFilters": ["Boat/"]}`)
	eventually(t, "the folder is excluded", func() bool { return len(h.found("mast")) == 0 })
	write("app.json", `{}`)
	eventually(t, "it is included again", func() bool { return len(h.found("mast")) == 1 })
	write("plugins/templater-obsidian/data.json", `{"templates_folder": "Boat"}`)
	eventually(t, "it has templates", func() bool { return len(h.found("mast")) == 0 })
}

// Subscribers of a note that moves away, on disk or by a tool, are notified with its old
// URI, which then reads as the new location.
func TestMove_NotifiesSubscribers(t *testing.T) {
	p := newPlace(t, map[string]string{"Old.md": "# Old\nan oar\n", "Tool.md": "# Tool\na thwart\n", "dir/In.md": "a rowlock\n"})
	h := p.watching(t, "note:///Old.md", "note:///Tool.md", "note:///dir/In.md")
	moves := []struct {
		name, from, to string
		move           func() error
	}{
		{"a rename on disk", "Old.md", "New name.md", func() error {
			return os.Rename(filepath.Join(p.vault, "Old.md"), filepath.Join(p.vault, "New name.md"))
		}},
		{"a folder's rename on disk", "dir/In.md", "other/In.md", func() error {
			return os.Rename(filepath.Join(p.vault, "dir"), filepath.Join(p.vault, "other"))
		}},
		{"by a tool", "Tool.md", "deep/Tool moved.md", func() error {
			r := h.tool("move_note", map[string]any{"note": "Tool.md", "to": "deep/Tool moved.md"})
			require.False(t, r.IsError, "%v", r.Content)
			return nil
		}},
	}
	for _, m := range moves {
		t.Run(m.name, func(t *testing.T) {
			require.NoError(t, m.move())
			h.updated(notes.URI(m.from))
			answer := h.call("resources/read", map[string]any{"uri": notes.URI(m.from)})
			require.NotNil(t, answer.Error, "%s", answer.Result)
			assert.Contains(t, answer.Error.Message, "moved to")
			assert.Contains(t, answer.Error.Message, m.to)
			assert.NotEmpty(t, h.text(notes.URI(m.to)))
		})
	}
}

// However often the disk changes, a client is notified of a resource at most every 250
// ms, and always of the last state.
func TestNotifications_AreBounded(t *testing.T) {
	p := newPlace(t, map[string]string{"Busy.md": "start\n", "Last.md": "x\n"})
	h := p.watching(t, "note:///Busy.md", "notes://recent", "note:///Last.md")
	const saves, gap = 200, 5 * time.Millisecond
	began := time.Now()
	tick := time.NewTicker(gap)
	defer tick.Stop()
	for i := range saves {
		<-tick.C
		p.save(t, "Busy.md", fmt.Sprintf("save %d\n", i))
	}
	// The last save is also announced: otherwise the client's copy would stay outdated.
	want := fmt.Sprintf("save %d\n", saves-1)
	seen := map[string]int{}
	for text := ""; text != want; text = h.text("note:///Busy.md") {
		for uri, n := range h.tellings("note:///Busy.md") {
			seen[uri] += n
		}
	}
	p.save(t, "Last.md", "y\n")
	for uri, n := range h.tellings("note:///Last.md") {
		seen[uri] += n
	}
	most := int(time.Since(began)/(250*time.Millisecond)) + 1
	assert.LessOrEqual(t, seen["note:///Busy.md"], most)
	assert.LessOrEqual(t, seen["notes://recent"], most)
	t.Logf("%d saves in %v: %d notifications, at most %d", saves, time.Since(began).Round(time.Millisecond), seen["note:///Busy.md"], most)
}

// A write by a tool is one change of the vault and one notification to each other client:
// its echo from the disk adds none.
func TestOwnWritesAreOneChange(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"Note.md": "# Note\n", "Last.md": "x\n"})
	other := p.watching(t, "note:///Note.md", "note:///Made.md", "note:///Moved.md", "note:///Last.md")
	writer := p.watching(t)
	head := p.report(t).Index.Head
	writes := []struct {
		tool string
		args map[string]any
		want map[string]int
	}{
		{"edit_note", map[string]any{"note": "Note", "edits": []any{map[string]any{"op": "append", "content": "a line"}}}, map[string]int{"note:///Note.md": 1}},
		{"create_note", map[string]any{"path": "Made.md", "title": "Made", "content": "new"}, map[string]int{"note:///Made.md": 1}},
		{"move_note", map[string]any{"note": "Made.md", "to": "Moved.md"}, map[string]int{"note:///Made.md": 1, "note:///Moved.md": 1}},
		{"delete_note", map[string]any{"note": "Moved.md"}, map[string]int{"note:///Moved.md": 1}},
	}
	for i, w := range writes {
		t.Run(w.tool, func(t *testing.T) {
			r := writer.tool(w.tool, w.args)
			require.False(t, r.IsError, "%v", r.Content)
			// The echo is older than this change, so it has been handled once this one
			// has been. Notifications of a resource are at least 250 ms apart.
			<-time.After(300 * time.Millisecond)
			last := filepath.Join(p.vault, "Last.md")
			require.NoError(t, os.WriteFile(last+".part", []byte(w.tool+"\n"), 0o644)) // not a note
			require.NoError(t, os.Rename(last+".part", last))
			w.want["note:///Last.md"] = 1
			assert.Equal(t, w.want, other.tellings("note:///Last.md"))
			now := p.report(t).Index
			assert.Equal(t, head+uint64(2*(i+1)), now.Head, "one change by the tool, one by the disk")
			assert.Equal(t, now.Head, now.Seq)
		})
	}
}

// A client that does not read its messages delays no other.
func TestSlowClientDelaysNobody(t *testing.T) {
	p := newPlace(t, map[string]string{"Large.md": strings.Repeat("a line of text\n", 60_000), "Note.md": "x\n"})
	quick := p.watching(t, "note:///Note.md")
	slow := p.command("mcp")
	stdin, err := slow.StdinPipe()
	require.NoError(t, err)
	stdout, err := slow.StdoutPipe() // never read
	require.NoError(t, err)
	require.NoError(t, slow.Start())
	t.Cleanup(func() {
		_ = slow.Process.Kill()
		_ = stdout.Close()
		_ = slow.Wait() // killed
	})
	go func() { // until the pipe is full
		_, _ = fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"slow","version":"1"}}}`)
		_, _ = fmt.Fprintln(stdin, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		_, _ = fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"note:///Note.md"}}`)
		for id := 2; id < 50; id++ {
			_, _ = fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":"note:///Large.md"}}`+"\n", id)
		}
	}()
	eventually(t, "the slow client is there", func() bool { return p.report(t).Daemon.Clients == 2 })
	for i := range 10 {
		p.save(t, "Note.md", fmt.Sprintf("%d\n", i))
		quick.updated("note:///Note.md")
		assert.Equal(t, fmt.Sprintf("%d\n", i), quick.text("note:///Note.md"))
	}
}

// A file that is removed and created elsewhere with the same text is the same note: it keeps
// its versions, whether the program was running at the time or not.
func TestMovesByContentKeepHistory(t *testing.T) {
	notestest.SkipInShort(t)
	p := newPlace(t, map[string]string{"Start.md": "x\n"})
	versions := func(note string) (operations []string) {
		var page struct {
			Revisions []struct {
				Operation string `json:"operation"`
			} `json:"revisions"`
		}
		require.NoError(t, json.Unmarshal([]byte(p.run(t, "history", "--json", note)), &page))
		for _, r := range slices.Backward(page.Revisions) {
			if r.Operation != "delete" { // found by a scan between the two changes
				operations = append(operations, r.Operation)
			}
		}
		return operations
	}
	move := func(from, to string) {
		text, err := os.ReadFile(filepath.Join(p.vault, from))
		require.NoError(t, err)
		beside := filepath.Join(filepath.Dir(p.vault), "beside") // another inode
		require.NoError(t, os.WriteFile(beside, text, 0o644))
		require.NoError(t, os.Remove(filepath.Join(p.vault, from)))
		require.NoError(t, os.Rename(beside, filepath.Join(p.vault, to)))
	}
	h := p.watching(t)
	require.False(t, h.tool("create_note", map[string]any{"path": "From.md", "title": "T", "content": "one"}).IsError)
	require.False(t, h.tool("edit_note", map[string]any{"note": "From", "edits": []any{map[string]any{"op": "append", "content": "two"}}}).IsError)
	move("From.md", "To.md")
	eventually(t, "the note is found", func() bool { return h.tool("list_notes", map[string]any{"glob": "To.md"}).Structured["total"] == 1.0 })
	assert.Equal(t, []string{"create", "edit", "move"}, versions("To.md"), "while it runs")

	require.NoError(t, h.end())
	stopDaemon(t, p.state)
	move("To.md", "Later.md")
	assert.Equal(t, []string{"create", "edit", "move", "move"}, versions("Later.md"), "while it does not")
}

// All changes of a git checkout are found.
func TestCheckoutIsFound(t *testing.T) {
	t.Parallel()
	needGit(t)
	files := map[string]string{}
	var changed []string
	for i := range 400 {
		path := fmt.Sprintf("dir%d/Note %d.md", i%7, i)
		files[path] = fmt.Sprintf("# Note %d\n\nsome text\n", i)
		if i%4 != 0 {
			changed = append(changed, path)
		}
	}
	p := newPlace(t, files)
	p.branches(t, changed, "checkedoutx")
	h := p.watching(t, notes.URI(changed[0]))
	for range max(1, notestest.Rounds(3)) {
		p.git(t, "checkout", "-q", "there")
		t.Logf("%d notes found after %v", len(changed), h.whenFound("checkedoutx", len(changed), time.Now()))
		h.updated(notes.URI(changed[0]))
		p.git(t, "checkout", "-q", "here")
		eventually(t, "the checkout back is taken in", func() bool { return h.total("checkedoutx") == 0 })
	}
}

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"notesd/internal/notestest"
	"notesd/internal/sqlite"
)

// Backups made while a client writes contain no unfinished operation that would be
// executed after they are restored.
func TestBackupWhileAClientWrites(t *testing.T) {
	p := newPlace(t, map[string]string{"N.md": "text\n"})
	h := p.launch(t, "mcp")
	h.initialize()
	require.False(t, h.tool("create_note", map[string]any{"path": "First.md", "title": "T", "content": "x"}).IsError)
	done := make(chan struct{})
	wrote := make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			select {
			case <-done:
				wrote <- n
				return
			case <-h.send("tools/call", map[string]any{"name": "create_note", "arguments": map[string]any{"path": fmt.Sprintf("N%d.md", n), "title": "T", "content": "x"}}):
			}
		}
	}()
	ctx := context.Background()
	for i := range 8 {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
		p.run(t, "backup", dir)
		db, err := sqlite.Open(ctx, filepath.Join(dir, "history.db"), sqlite.HistorySchema)
		require.NoError(t, err)
		var pending, all int
		require.NoError(t, db.Reader().QueryRow(`SELECT count(*) FILTER (WHERE state = 'pending'), count(*) FROM operations`).Scan(&pending, &all))
		assert.Zero(t, pending)
		assert.NotZero(t, all)
		require.NoError(t, db.Close())
	}
	close(done)
	assert.NotZero(t, <-wrote)
}

// Forgotten text is in no file of the state: databases, index, vectors, logs, whatever
// the name of the note's file.
func TestForgetLeavesNothingInTheState(t *testing.T) {
	notestest.SkipInShort(t)
	const secret = "xyzzyplugh"
	text := "# Ferienplan\n\n" + strings.Repeat("the word is "+secret+" and we keep it\n", 30)
	p := newPlace(t, map[string]string{"Other.md": "# Other\n\nsomething else\n", norm.NFD.String("Süd/Café.md"): text, "lies/plan.txt": text, "Plain.md": text})
	require.NoError(t, os.Symlink(filepath.Join("lies", "plan.txt"), filepath.Join(p.vault, "Linked.md")))
	p.configure(t, "") // with semantic search, the default
	h := p.launch(t, "mcp")
	h.initialize()
	eventually(t, "all is embedded", func() bool { return p.report(t).Semantic.State == "ready" })
	forgotten := []string{"Süd/Café.md", "Linked.md", "Plain.md"}
	for _, note := range forgotten {
		require.False(t, h.tool("edit_note", map[string]any{"note": note, "edits": []any{map[string]any{"op": "append", "content": "more " + secret}}}).IsError)
	}
	assert.Subset(t, h.found(secret), forgotten)
	for _, note := range forgotten {
		r := h.tool("delete_note", map[string]any{"note": note})
		require.False(t, r.IsError, "%v", r.Content)
		assert.Contains(t, p.run(t, "forget", note), "forgotten: "+note)
	}
	require.NoError(t, h.end())
	stopDaemon(t, p.state)
	files := notestest.Read(t, p.state)
	for name, text := range files {
		assert.NotContains(t, strings.ToLower(text), secret, name)
	}
	assert.Greater(t, len(files), 3)
}

package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ctrl-C interrupts the input of a note at once, although the terminal is still being
// read.
func TestNew_InterruptedWhileTyping(t *testing.T) {
	in, typed := io.Pipe()
	a := &app{in: in}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.body(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, typed.Close())

	in, typed = io.Pipe()
	a = &app{in: in}
	go func() {
		_, _ = io.WriteString(typed, "Feed it twice a day.")
		_ = typed.Close()
	}()
	text, err := a.body(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "Feed it twice a day.", text)
}

// A command interrupted by Ctrl-C has the exit code that shells expect.
func TestInterruptedCommandExits130(t *testing.T) {
	p := newPlace(t, someNotes)
	cmd := p.command("index", "--wait")
	cmd.Env = append(cmd.Env, "NOTESD_SEMANTIC_PROVIDER=ollama", "NOTESD_SEMANTIC_URL=http://127.0.0.1:1")
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stderr)
	require.True(t, lines.Scan(), "it says what it waits for")
	assert.Contains(t, lines.Text(), "ollama")
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.True(t, lines.Scan())
	assert.Contains(t, lines.Text(), "interrupted")
	assert.Equal(t, 130, ended(t, cmd))
}

// TestDaily_Missing does what the error for a missing daily note says.
func TestDaily_Missing(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"Daily/2026-01-30.md": "Wet.\n"})
	out, err := p.command("daily", "2026-01-31").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), `it would be "Daily/2026-01-31.md"`+"\nnotesd daily --create and --append create it, from the vault's template if it has one.\n")
	assert.Equal(t, "Daily/2026-01-31.md\n", p.run(t, "daily", "--create", "2026-01-31"))
}

package main

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ctrl-C ends the typing of a note at once: the terminal goes on to be read.
func TestTypingIsInterrupted(t *testing.T) {
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

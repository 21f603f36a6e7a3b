package mcp

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"notesd/notes"
)

// silentVault never returns its status.
type silentVault struct{ *stagedVault }

func (silentVault) Status(ctx context.Context) (notes.Status, error) {
	<-ctx.Done()
	return notes.Status{}, ctx.Err()
}

// The handshake hardly waits for the vault's counts.
func TestInstructionsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sampleVault, Limits{})
		s := New(Options{Version: "test", Vault: silentVault{w.vault}, Search: w.search}).newSession(Profile{}, !fixedTools)
		began := time.Now()
		text := s.instructions(t.Context())
		assert.Equal(t, instructionsWait, time.Since(began))
		assert.Contains(t, text, "Markdown notes. Start with search_notes")
	})
}

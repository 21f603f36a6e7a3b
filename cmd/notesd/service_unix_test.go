//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRunWithin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		limit        time.Duration
		said, err    string
	}{
		{"prints", "echo active", time.Hour, "active\n", ""},
		{"fails", "echo inactive; exit 3", time.Hour, "inactive\n", "sh: exit status 3"},
		{"says why", "echo no session >&2; exit 1", time.Hour, "", "sh: no session"},
		{"has no input", "cat; echo end", time.Hour, "end\n", ""},
		{"waits", "exec sleep 1000", 10 * time.Millisecond, "", "sh: no answer after 10ms; run it by hand to see what it waits for: sh -c exec sleep 1000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			said, err := runWithin(t.Context(), tt.limit, "sh", "-c", tt.script)
			assert.Equal(t, tt.said, said)
			if tt.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, tt.err)
			}
		})
	}

	t.Run("leaves a process behind", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "pid")
		_, err := runWithin(t.Context(), time.Hour, "sh", "-c", "sleep 1000 & echo $! >"+file)
		assert.NoError(t, err, "its output stays open")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		assert.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	})
	t.Run("is interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := runWithin(ctx, time.Hour, "sh", "-c", "exec sleep 1000")
		assert.ErrorIs(t, err, context.Canceled)
	})
}

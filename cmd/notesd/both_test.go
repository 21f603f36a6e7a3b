package main

import (
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"notesd/internal/notestest"
	"notesd/internal/service"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCommandsDoTheSameWithAndWithoutADaemon runs every command that works on a vault
// with --json: standard output is one document, or empty if the command fails, in which
// case standard error is one. Apart from times, paths and information about the daemon,
// the output is the same with and without a daemon.
func TestCommandsDoTheSameWithAndWithoutADaemon(t *testing.T) {
	t.Parallel()
	notestest.SkipInShort(t)
	alone, beside := newPlace(t, someNotes), newPlace(t, someNotes)
	daemon := beside.serve(t)
	out := t.TempDir()
	for _, step := range []struct {
		args []string
		exit int
	}{
		{[]string{"index", "--json"}, service.ExitDone},
		{[]string{"new", "--json", "--path", "Fresh.md", "Fresh"}, service.ExitDone},
		{[]string{"new", "--json", "--path", "Fresh.md", "Fresh"}, service.ExitConflict},
		{[]string{"list", "--json", "--sort", "path"}, service.ExitDone}, // the files have equal times
		{[]string{"list", "--json", "--limit", "-1"}, service.ExitUsage},
		{[]string{"search", "--json", "mast"}, service.ExitDone},
		{[]string{"search", "--json", "nowheretobefound"}, service.ExitDone},
		{[]string{"read", "--json", "Bread"}, service.ExitDone},
		{[]string{"read", "--json", "Nobody"}, service.ExitNotFound},
		{[]string{"history", "--json", "Fresh"}, service.ExitDone},
		{[]string{"history", "--json", "Nobody"}, service.ExitNotFound},
		{[]string{"restore", "--json", "Fresh", "1"}, service.ExitDone},
		{[]string{"restore", "--json", "Fresh", "99"}, service.ExitNotFound},
		{[]string{"forget", "--json", "Fresh.md"}, service.ExitConflict},
		{[]string{"export", "--json", "--as-of", "0s", filepath.Join(out, "EXPORT")}, service.ExitDone},
		{[]string{"backup", "--json", filepath.Join(out, "BACKUP")}, service.ExitDone},
		{[]string{"tables", "--json"}, service.ExitDone},
		{[]string{"index", "--json", "--wait"}, service.ExitDone},
		{[]string{"status", "--json"}, service.ExitDone},
		{[]string{"version", "--json"}, service.ExitDone},
	} {
		name := strings.Join(step.args[:2], " ")
		first := alone.document(t, step.exit, each(step.args, "-alone"))
		second := beside.document(t, step.exit, each(step.args, "-beside"))
		assert.Equal(t, first, second, name)
	}
	id := beside.daemons(t)
	require.Len(t, id, 1)
	assert.Equal(t, daemon.Process.Pid, id[0].PID, "one daemon served them all")
	assert.Empty(t, alone.daemons(t), "no command leaves a daemon behind")
}

// each adds suffix to the absolute paths among a command's arguments.
func each(args []string, suffix string) []string {
	var own []string
	for _, arg := range args {
		if filepath.IsAbs(arg) {
			arg += suffix
		}
		own = append(own, arg)
	}
	return own
}

// document runs a command and returns the one document that it prints, without volatile
// members.
func (p place) document(t *testing.T, exit int, args []string) any {
	t.Helper()
	cmd := p.command(args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	var failed *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &failed)
	}
	require.Equal(t, exit, cmd.ProcessState.ExitCode(), "%v: %s", args, &stderr)
	text := string(stdout)
	if errors.As(err, &failed) {
		require.Empty(t, text, "%v", args)
		text = stderr.String()
	}
	var doc any
	require.NoError(t, json.Unmarshal([]byte(text), &doc), "%v: %s", args, text)
	return scrub(doc)
}

// volatile are the members that differ from run to run: times, places and processes.
var volatile = map[string]bool{
	"time": true, "modified": true, "vault": true, "state": true, "daemon": true, "watcher": true, "clients": true,
	"dir": true, "folder": true, "as_of": true, "bytes": true, "size": true, "why": true, "score": true,
	"seconds": true, "took": true, "files": true, "memory": true,
}

func scrub(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if volatile[name] {
				delete(v, name)
			} else {
				v[name] = scrub(member)
			}
		}
	case []any:
		for i := range v {
			v[i] = scrub(v[i])
		}
	}
	return v
}

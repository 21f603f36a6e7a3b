package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// maxEverydayCalls is the maximum number of calls for an everyday request.
const maxEverydayCalls = 3

// TestEverydayRequests performs common requests to an assistant with notes as an assistant
// would, on one vault and in the order of testdata/everyday.txtar. The file contains the
// notes (vault/PATH) and the requests, each named by its words, with these lines:
//
//	@ 2026-11-18 08:00   the time
//	| PATH               a note that was last saved now
//	> TOOL {ARGUMENTS}   a call
//	< TEXT               its result, written by -update
//	= 2 calls, 512 B     the cost of the request: arguments, texts and structures
func TestEverydayRequests(t *testing.T) {
	const file = "testdata/everyday.txtar"
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	files := map[string]string{}
	for _, f := range archive.Files {
		if p, ok := strings.CutPrefix(f.Name, "vault/"); ok {
			files[p] = string(f.Data)
		}
	}
	var clock atomic.Pointer[time.Time]
	start := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	clock.Store(&start)
	w := newRealWorldAt(t, files, func() time.Time { return *clock.Load() }, nil)
	requests := 0
	for i, f := range archive.Files {
		if strings.HasPrefix(f.Name, "vault/") {
			continue
		}
		calls, size := 0, 0
		var out strings.Builder
		for line := range strings.Lines(string(f.Data)) {
			line = strings.TrimSuffix(line, "\n")
			verb, rest, _ := strings.Cut(line, " ")
			switch verb {
			case "<", "=":
				continue
			case "@":
				now, err := time.Parse("2006-01-02 15:04", rest)
				require.NoError(t, err)
				clock.Store(&now)
			case "|":
				at := *clock.Load()
				require.NoError(t, os.Chtimes(filepath.Join(w.root, filepath.FromSlash(rest)), at, at))
				_, err := w.vault.Read(t.Context(), notes.URI(rest), notes.Scope{})
				require.NoError(t, err)
			}
			fmt.Fprintln(&out, line)
			if verb != ">" {
				continue
			}
			tool, arguments, _ := strings.Cut(rest, " ")
			var args map[string]any
			require.NoError(t, json.Unmarshal([]byte(arguments), &args), line)
			res, err := w.session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
			require.NoError(t, err)
			structure, err := json.Marshal(res.StructuredContent)
			require.NoError(t, err)
			text := res.Content[0].(*sdk.TextContent).Text
			require.False(t, res.IsError, text)
			calls, size = calls+1, size+len(arguments)+len(text)+len(structure)
			for line := range strings.Lines(text) {
				fmt.Fprintln(&out, strings.TrimSpace("< "+strings.TrimSuffix(line, "\n")))
			}
		}
		if f.Name != "before" {
			fmt.Fprintf(&out, "= %d calls, %d B\n", calls, size)
			requests++
			assert.LessOrEqual(t, calls, maxEverydayCalls, f.Name)
		}
		if *update {
			archive.Files[i].Data = []byte(out.String())
			continue
		}
		assert.Equal(t, string(f.Data), out.String(), f.Name)
	}
	assert.GreaterOrEqual(t, requests, 10)
	if *update {
		require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o600))
	}
}

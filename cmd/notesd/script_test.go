package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tailscale/hujson"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/notestest"
	"notesd/internal/pgtest"
	"notesd/internal/service"
)

func TestMain(m *testing.M) {
	// Also in the programs that tests run, so that no answer depends on the load of the machine.
	service.Waits.FirstScan, service.Waits.Semantic, service.Waits.Mirror, service.Waits.Database = patience, patience, patience, patience
	stopTimeout = 30 * time.Second
	service.Hurry(new(config.Config))
	testscript.Main(races{m}, map[string]func(){"notesd": main})
}

// races makes a run with the race detector fail for races in processes started by tests.
// Most of those are daemons, whose output no test checks.
type races struct{ *testing.M }

func (m races) Run() int {
	dir, err := os.MkdirTemp("", "notesd-races-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	// By default such a process would linger for a second at exit.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0 log_path="+filepath.Join(dir, "race")); err != nil {
		panic(err)
	}
	code := pgtest.Main(m.M)
	reports, _ := filepath.Glob(filepath.Join(dir, "*")) // the pattern is valid
	for _, report := range reports {
		text, err := os.ReadFile(report)
		fmt.Fprintln(os.Stderr, string(text), err)
		code = 1
	}
	return code
}

// The scripts run the program like its users: one process per command, over real pipes
// and sockets, with their own home.
func TestScripts(t *testing.T) {
	notestest.SkipInShort(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Setenv("EXAMPLES", examples(t))
			if err := configureTests(filepath.Join(env.WorkDir, "config")); err != nil {
				return err
			}
			env.Defer(func() { stopDaemons(t, env.WorkDir) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"database":    database,
			"exits":       exits,
			"json":        jsonField,
			"statedir":    stateDir,
			"stopdaemons": func(ts *testscript.TestScript, _ bool, _ []string) { stopDaemons(t, ts.Getenv("WORK")) },
		},
	})
}

// configureTests writes the configuration of most tests: without semantic search, which
// is slow and finds something for every query.
func configureTests(xdg string) error {
	dir := filepath.Join(xdg, "notesd")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "notesd.toml"), []byte("[semantic]\nprovider = \"off\"\n"), 0o600)
}

func examples(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../examples/vault")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// stateDir sets a variable to the only state directory that matches a pattern: statedir
// OLD state/notesd/old-*
func stateDir(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: statedir VARIABLE PATTERN")
	}
	found, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%s matches %v", args[1], found)
	}
	ts.Setenv(args[0], found[0])
}

// database creates a database from a file of statements: database state/notes.db notes.sql
func database(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: database DATABASE STATEMENTS")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.Exec(ts.ReadFile(args[1]))
	ts.Check(errors.Join(err, db.Close()))
}

// exits runs notesd and checks its exit code: exits 3 read nothing.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec("notesd", args[1:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("notesd %s: exit code %d, want %d", strings.Join(args[1:], " "), code, want)
	}
}

// jsonField checks that a stream is one JSON document and the value of a field in it:
// json stdout results.0.path Note.md. The value ? matches anything.
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json stdout|stderr|FILE PATH VALUE")
	}
	text := []byte(ts.ReadFile(args[0]))
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		plain, invalid := hujson.Standardize(text) // files may have comments
		if invalid != nil || json.Unmarshal(plain, &doc) != nil || args[0] == "stdout" || args[0] == "stderr" {
			ts.Fatalf("%s is not one JSON document: %v", args[0], err)
		}
	}
	v, there := at(doc, args[1])
	same := there && (args[2] == "?" || fmt.Sprint(v) == args[2])
	if same == neg {
		ts.Fatalf("%s: %s is %v, want %q (negated: %v)", args[0], args[1], v, args[2], neg)
	}
}

// at returns the value at a dotted path; "len" is the length of a list.
func at(doc any, path string) (any, bool) {
	for name := range strings.SplitSeq(path, ".") {
		switch v := doc.(type) {
		case map[string]any:
			next, ok := v[name]
			if !ok {
				return nil, false
			}
			doc = next
		case []any:
			if name == "len" {
				doc = len(v)
				continue
			}
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(v) {
				return nil, false
			}
			doc = v[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

// stopDaemons stops the daemons whose state is below dir and waits until they have
// exited.
func stopDaemons(t testing.TB, dir string) {
	t.Helper()
	for _, pattern := range []string{"state*/daemon.lock", "state*/notesd/*/daemon.lock"} {
		locks, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, lock := range locks {
			stopDaemon(t, filepath.Dir(lock))
		}
	}
}

func stopDaemon(t testing.TB, state string) {
	t.Helper()
	ctx := t.Context()
	if ctx.Err() != nil { // in a cleanup
		ctx = context.WithoutCancel(ctx)
	}
	deadline := time.After(patience)
	for signalled := 0; ; {
		if id, err := daemon.Probe(ctx, state); err == nil && id.PID != signalled { // it may have started to listen since the last check
			_ = terminate(id.PID) // or have exited; a second signal would prevent it from closing
			signalled = id.PID
		}
		lock, err := daemon.Acquire(ctx, state, daemon.NewIdentity("test", 0))
		if err == nil {
			_ = lock.Release()
			return
		}
		select {
		case <-time.After(testPoll):
		case <-deadline:
			t.Errorf("a daemon was left: %v", err)
			return
		}
	}
}

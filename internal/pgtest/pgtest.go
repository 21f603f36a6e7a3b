// Package pgtest starts a PostgreSQL server for a test, from the system's packages, in
// its own folder and reachable through a Unix socket. If PostgreSQL is not installed, the
// test is skipped with a message.
package pgtest

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Server is a running server.
type Server struct {
	tb     testing.TB
	folder string
	Socket string // of the server
	bin    string
	cmd    *exec.Cmd
	output *bytes.Buffer
}

// Start returns a server with an empty database. It is stopped at the end of the test.
func Start(tb testing.TB) *Server {
	tb.Helper()
	bin := programs()
	if bin == "" {
		tb.Skip("SKIPPED: PostgreSQL is not installed (apt-get install postgresql); nothing of a team's vault is tested")
	}
	folder, err := os.MkdirTemp(os.TempDir(), "pg") //nolint:usetesting // the path of a socket has to be short
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = os.RemoveAll(folder) })
	require.NoError(tb, giveAway(folder))
	s := &Server{tb: tb, folder: folder, bin: bin, Socket: filepath.Join(folder, ".s.PGSQL.5432")}
	made := exec.CommandContext(tb.Context(), filepath.Join(bin, "initdb"), "-D", filepath.Join(folder, "data"), "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
	made.Dir = folder
	unprivileged(made)
	output, err := made.CombinedOutput()
	require.NoError(tb, err, "%s", output)
	s.Run()
	tb.Cleanup(s.Kill)
	return s
}

// programs returns the folder of PostgreSQL's programs, or "" if not installed.
func programs() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "postgres")); err == nil {
			return filepath.Dir(path)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // as on Debian; the pattern is valid
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.Max(found))
}

// Run starts the server and waits until it accepts connections.
func (s *Server) Run() {
	s.tb.Helper()
	s.output = &bytes.Buffer{}
	s.cmd = exec.CommandContext(context.Background(), filepath.Join(s.bin, "postgres"), "-D", filepath.Join(s.folder, "data"), "-k", s.folder, "-h", "", "-F")
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = s.folder, s.output, s.output
	unprivileged(s.cmd)
	require.NoError(s.tb, s.cmd.Start())
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		conn, err := pgx.Connect(ctx, s.URL())
		if err == nil {
			err = conn.Close(ctx)
		}
		cancel()
		if err == nil {
			return
		}
		require.NoError(s.tb, s.tb.Context().Err(), "%s", s.output)
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.tb.Context().Done():
		}
	}
}

// Exec runs a statement in the database.
func (s *Server) Exec(statement string) {
	s.tb.Helper()
	conn, err := pgx.Connect(s.tb.Context(), s.URL())
	require.NoError(s.tb, err)
	_, err = conn.Exec(s.tb.Context(), statement)
	require.NoError(s.tb, err)
	require.NoError(s.tb, conn.Close(s.tb.Context()))
}

// Count returns the number selected by a query.
func (s *Server) Count(query string) (n int) {
	s.tb.Helper()
	conn, err := pgx.Connect(s.tb.Context(), s.URL())
	require.NoError(s.tb, err)
	require.NoError(s.tb, conn.QueryRow(s.tb.Context(), query).Scan(&n))
	require.NoError(s.tb, conn.Close(s.tb.Context()))
	return n
}

// Kill kills the server and its sessions, as a power failure would.
func (s *Server) Kill() {
	killGroup(s.cmd)
	_ = s.cmd.Wait() // it was killed
}

// URL returns the address of the server's database.
func (s *Server) URL() string { return Address(s.folder) }

// Address returns the URL of a database whose server's socket is in folder.
func Address(folder string) string {
	return "postgres:///postgres?user=postgres&host=" + url.QueryEscape(folder)
}

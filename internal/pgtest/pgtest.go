// Package pgtest starts PostgreSQL for tests, from the system's packages, in a folder of its
// own and reachable through a Unix socket. If PostgreSQL is not installed, the tests are
// skipped with a message.
//
// Most tests need only a [Database], on one server that the tests of a package share. A test
// that kills the server starts its own.
package pgtest

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Database is a database of a server, empty at first.
type Database struct {
	tb     testing.TB
	server *Server
	name   string
}

// Server is a running server and its database "postgres".
type Server struct {
	*Database
	folder string
	bin    string
	cmd    *exec.Cmd
	output *bytes.Buffer
}

// shared is the server of the databases that New returns, nil before the first.
var shared struct {
	sync.Mutex
	*Server
	databases int
	inMain    bool
}

// Main runs a package's tests and then stops the server that they share. TestMain of a
// package that calls New returns its result to os.Exit.
func Main(m *testing.M) int {
	shared.inMain = true
	code := m.Run()
	if shared.Server != nil {
		shared.remove()
	}
	return code
}

// New returns a new database on the server that the tests of the package share.
func New(tb testing.TB) *Database {
	tb.Helper()
	bin := programs(tb)
	shared.Lock()
	defer shared.Unlock()
	require.True(tb, shared.inMain, "TestMain has to call pgtest.Main, which stops the server")
	if shared.Server == nil {
		s, err := start(bin)
		require.NoError(tb, err)
		shared.Server = s
	}
	shared.databases++
	d := &Database{tb: tb, server: shared.Server, name: fmt.Sprintf("test%d", shared.databases)}
	(&Database{tb: tb, server: shared.Server, name: "postgres"}).Exec("CREATE DATABASE " + d.name)
	return d
}

// Start returns a server of the test's own, which stops at the end of the test.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s, err := start(programs(tb))
	require.NoError(tb, err)
	s.tb = tb
	tb.Cleanup(s.remove)
	return s
}

func start(bin string) (*Server, error) {
	folder, err := os.MkdirTemp("", "pg") // not t.TempDir: the path of a socket has to be short
	if err != nil {
		return nil, err
	}
	s := &Server{folder: folder, bin: bin}
	s.Database = &Database{server: s, name: "postgres"}
	if err := giveAway(folder); err != nil {
		return nil, err
	}
	made := exec.CommandContext(context.Background(), filepath.Join(bin, "initdb"), "-D", filepath.Join(folder, "data"), "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
	made.Dir = folder
	unprivileged(made)
	if output, err := made.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, output)
	}
	return s, s.run()
}

func (s *Server) remove() {
	s.Kill()
	_ = os.RemoveAll(s.folder)
}

// programs returns the folder of PostgreSQL's programs. If they are not installed, it skips
// the test.
func programs(tb testing.TB) string {
	tb.Helper()
	if path, err := exec.LookPath("initdb"); err == nil {
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "postgres")); err == nil {
			return filepath.Dir(path)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // as on Debian; the pattern is valid
	if len(found) == 0 {
		tb.Skip("SKIPPED: PostgreSQL is not installed (apt-get install postgresql); nothing of a team's vault is tested")
	}
	return filepath.Dir(slices.Max(found))
}

// Run starts the server after Kill.
func (s *Server) Run() {
	s.tb.Helper()
	require.NoError(s.tb, os.RemoveAll(s.standby()))
	require.NoError(s.tb, s.run())
}

// RunAsStandby starts the server after Kill as a standby, which only reads.
func (s *Server) RunAsStandby() {
	s.tb.Helper()
	require.NoError(s.tb, os.WriteFile(s.standby(), nil, 0o600))
	require.NoError(s.tb, giveAway(s.standby()))
	require.NoError(s.tb, s.run())
}

// standby is the file that makes the server a standby.
func (s *Server) standby() string { return filepath.Join(s.folder, "data", "standby.signal") }

// run starts the server and waits until it accepts connections.
func (s *Server) run() error {
	s.output = &bytes.Buffer{}
	s.cmd = exec.CommandContext(context.Background(), filepath.Join(s.bin, "postgres"), "-D", filepath.Join(s.folder, "data"), "-k", s.folder, "-h", "", "-F", "-N", connections)
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = s.folder, s.output, s.output
	unprivileged(s.cmd)
	if err := s.cmd.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startFor)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.URL())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not start: %w\n%s", err, s.output)
		}
	}
}

// connections is the number of connections that a server accepts: enough for tests that share
// one and run several nodes each in parallel.
const connections = "500"

// startFor is how long a server may take to start on a busy machine.
const startFor = 5 * time.Minute

// Exec runs a statement in the database.
func (d *Database) Exec(statement string) {
	d.tb.Helper()
	d.connected(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statement)
		return err
	})
}

// Count returns the number selected by a query.
func (d *Database) Count(query string) (n int) {
	d.tb.Helper()
	d.connected(func(ctx context.Context, conn *pgx.Conn) error { return conn.QueryRow(ctx, query).Scan(&n) })
	return n
}

func (d *Database) connected(do func(ctx context.Context, conn *pgx.Conn) error) {
	d.tb.Helper()
	ctx := d.tb.Context()
	conn, err := pgx.Connect(ctx, d.URL())
	require.NoError(d.tb, err)
	require.NoError(d.tb, do(ctx, conn))
	require.NoError(d.tb, conn.Close(ctx))
}

// Kill kills the server and its sessions, as a power failure would.
func (s *Server) Kill() {
	killGroup(s.cmd)
	_ = s.cmd.Wait() // it was killed
}

// URL returns the address of the database.
func (d *Database) URL() string { return d.at(d.server.folder) }

// at returns the address of the database at a socket in the folder.
func (d *Database) at(folder string) string {
	return "postgres:///" + d.name + "?user=postgres&host=" + url.QueryEscape(folder)
}

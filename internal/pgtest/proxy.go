package pgtest

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/stretchr/testify/require"
)

// socket is the name of a server's socket in its folder.
const socket = ".s.PGSQL.5432"

// Proxy forwards connections to the server and can cut them.
type Proxy struct {
	database *Database
	folder   string

	mu           sync.Mutex
	open         map[net.Conn]bool
	after        int  // cut the connection after this many chunks to the server; 0: never
	beforeServer bool // drop the last chunk
	cuts         int
}

// Proxy returns a new proxy to the database, closed at the end of the test.
func (d *Database) Proxy() *Proxy {
	d.tb.Helper()
	folder, err := os.MkdirTemp(os.TempDir(), "px")
	require.NoError(d.tb, err)
	d.tb.Cleanup(func() { require.NoError(d.tb, os.RemoveAll(folder)) })
	p := &Proxy{database: d, folder: folder, open: map[net.Conn]bool{}}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", filepath.Join(folder, socket))
	require.NoError(d.tb, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(client) })
		}
	})
	d.tb.Cleanup(func() {
		_ = listener.Close()
		p.CutAll()
		wg.Wait()
	})
	return p
}

// URL returns the address of the database through the proxy.
func (p *Proxy) URL() string { return p.database.at(p.folder) }

// CutAll cuts every connection.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		_ = c.Close()
		p.cuts++
	}
}

// CutAfter cuts the connection that carries the n-th chunk from now on, before or after
// forwarding that chunk; its response is dropped. 0 means never.
func (p *Proxy) CutAfter(n int, beforeServer bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.after, p.beforeServer = n, beforeServer
}

// Cuts returns how many connections were cut.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

func (p *Proxy) serve(client net.Conn) {
	server, err := (&net.Dialer{}).DialContext(context.Background(), "unix", filepath.Join(p.database.server.folder, socket))
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.open[client] = true
	p.mu.Unlock()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			break
		}
		p.mu.Lock()
		last, before := p.after == 1, p.beforeServer
		if p.after > 0 {
			p.after--
		}
		if last {
			p.cuts++
			_ = client.Close() // drops the response
		}
		p.mu.Unlock()
		if !last || !before {
			_, _ = server.Write(buffer[:n])
		}
		if last {
			break
		}
	}
	_ = server.Close()
	wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, client)
}

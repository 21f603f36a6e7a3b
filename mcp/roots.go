package mcp

import (
	"context"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"notesd/internal/fsid"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/text/unicode/norm"
)

// roots are the folders that a client's user works in. They bound the session. The
// session's mutex guards the fields.
type roots struct {
	*session
	folders []string      // nil: no bound
	asking  bool          // a request for them is in flight
	stale   bool          // they have changed since the last request
	pending chan struct{} // closed when they are known; nil if no request waits
}

// learn requests the client's roots. Those inside the vault bound what the session reads
// and writes; a client whose roots all lie elsewhere is not bounded. Only one request is in
// flight at a time, so that the last response is the newest; if learn is called meanwhile,
// the request is repeated.
func (s *roots) learn(ss *sdk.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
	if s.asking {
		return
	}
	s.asking = true
	s.background.Go(func() {
		for s.shouldAsk() {
			if err := s.ask(ss); err != nil && s.ctx.Err() == nil {
				s.log.Warn("cannot compare the client's roots with the vault", "error", err)
			}
			s.known()
		}
	})
}

func (s *roots) shouldAsk() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking, s.stale = s.stale, false
	return s.asking
}

func (s *roots) ask(ss *sdk.ServerSession) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.core.limits.rootsWait)
	defer cancel()
	res, err := ss.ListRoots(ctx, nil)
	if err != nil {
		s.log.Debug("the client did not list its roots", "error", err)
		return nil
	}
	folders, ignored, err := s.foldersOf(s.ctx, res.Roots) // the first scan may take longer than rootsWait
	if err != nil {
		return err
	}
	if ignored > 0 {
		s.log.Info("roots of the client lie outside of the vault and are ignored", "roots", ignored)
	}
	s.set(folders)
	return nil
}

// foldersOf returns the vault's folders that the roots name, nil for no bound, and the
// number of roots outside the vault. A root that contains the whole vault removes the
// bound.
func (s *roots) foldersOf(ctx context.Context, roots []*sdk.Root) (folders []string, ignored int, err error) {
	if err := Await(ctx, s.core.opts.Settled); err != nil {
		return nil, 0, err
	}
	status, err := s.core.opts.Vault.Status(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, root := range roots {
		dir, ok := "", false
		if root != nil {
			dir, ok = filePath(root.URI, runtime.GOOS)
		}
		covered, elsewhere := 0, true
		for _, name := range slices.Sorted(maps.Keys(status.Dirs)) {
			vault := status.Dirs[name]
			folder, within := locate(vault, dir)
			if !ok || !within {
				continue
			}
			if elsewhere = false; folder == "" {
				covered++
			}
			folders = append(folders, path.Join(name, folder))
		}
		if elsewhere {
			ignored++
		}
		if covered == len(status.Dirs) {
			return nil, ignored, nil
		}
	}
	return folders, ignored, nil
}

// set bounds the session to the folders; nil removes the bound.
func (s *roots) set(folders []string) {
	tools := s.toolbox().offered()
	s.mu.Lock()
	same := slices.Equal(s.folders, folders) && (s.folders == nil) == (folders == nil)
	s.folders = folders
	s.mu.Unlock()
	if same {
		return
	}
	s.subs.listChanged(methodListChanged)
	if !slices.Equal(tools, s.toolbox().offered()) {
		s.subs.listChanged(methodToolsChanged)
	}
}

// known releases the requests that wait for the roots.
func (s *roots) known() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending != nil {
		close(s.pending)
		s.pending = nil
	}
}

// filePath returns the path that a file URI names on the operating system goos:
//
//	file:///home/ann/My%20notes     /home/ann/My notes
//	file:///c%3A/notes              c:\notes
//	file://server/share/notes       \\server\share\notes
//
// The last two are for Windows. It returns false for other schemes and, except on Windows,
// other machines.
func filePath(uri, goos string) (path string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !strings.HasPrefix(u.Path, "/") || strings.ContainsRune(u.Path, 0) {
		return "", false
	}
	local := u.Host == "" || strings.EqualFold(u.Host, "localhost")
	if goos != "windows" {
		return filepath.Clean(u.Path), local
	}
	path = strings.ReplaceAll(u.Path, "/", `\`)
	if !local {
		return `\\` + u.Host + path, true
	}
	path = path[1:]
	if len(path) < 2 || path[1] != ':' {
		return "", false // no drive
	}
	if len(path) == 2 {
		path += `\` // C: alone is the drive's current folder
	}
	return path, true
}

// locate returns the folder of the vault that dir is, as the vault spells it, or "" if dir
// is or contains the vault. It returns false if dir lies elsewhere.
func locate(vault, dir string) (folder string, ok bool) {
	if _, ok := fsid.Below(dir, vault); ok {
		return "", true
	}
	rest, ok := fsid.Below(vault, dir)
	return norm.NFC.String(filepath.ToSlash(rest)), ok
}

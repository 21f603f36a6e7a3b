package mcp

import (
	"context"
	"runtime"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// rootsTimeout bounds the wait for a client's list of roots.
	rootsTimeout = 5 * time.Second
	// rootsPatience is how long a session's first requests wait for it, so that
	// they are bounded by it too.
	rootsPatience = 2 * time.Second
)

// learnRoots asks the client for its roots, the folders that its user works on.
// Those inside the vault bound what the session reads and writes; a client
// whose roots all lie elsewhere is not bounded.
func (s *session) learnRoots(ss *sdk.ServerSession) {
	s.background.Go(func() {
		defer s.rootsKnown()
		ctx, cancel := context.WithTimeout(s.ctx, rootsTimeout)
		defer cancel()
		res, err := ss.ListRoots(ctx, nil)
		if err != nil {
			s.log.Debug("the client did not tell its roots", "error", err)
			return
		}
		folders, ignored, err := s.rootFolders(ctx, res.Roots)
		if err != nil {
			s.log.Warn("cannot compare the client's roots with the vault", "error", err)
			return
		}
		if ignored > 0 {
			s.log.Info("roots of the client lie outside of the vault and are ignored", "roots", ignored)
		}
		s.setRoots(folders)
	})
}

// rootFolders returns the vault's folders that the roots name, nil for no
// bound, and how many roots name none. A root that holds the whole vault bounds
// nothing.
func (s *session) rootFolders(ctx context.Context, roots []*sdk.Root) (folders []string, ignored int, err error) {
	status, err := s.core.opts.Vault.Status(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, root := range roots {
		dir, ok := "", false
		if root != nil {
			dir, ok = filePath(root.URI, runtime.GOOS)
		}
		folder, place := "", outside
		if ok {
			folder, place = locate(status.Root, dir)
		}
		switch place {
		case outside:
			ignored++
		case around:
			return nil, ignored, nil
		case inside:
			counts, err := s.core.opts.Vault.Folders(ctx, s.profile.scope())
			if err != nil {
				return nil, 0, err
			}
			folders = append(folders, spelled(status.Root, folder, counts))
		}
	}
	return folders, ignored, nil
}

// setRoots bounds the session to the folders; nil lifts the bound.
func (s *session) setRoots(folders []string) {
	tools := s.offered()
	s.mu.Lock()
	same := slices.Equal(s.roots, folders) && (s.roots == nil) == (folders == nil)
	s.roots = folders
	s.mu.Unlock()
	if same {
		return
	}
	s.resourcesChanged()
	if !slices.Equal(tools, s.offered()) {
		s.toolsChanged()
	}
}

// bounds is the profile within the client's roots.
func (s *session) bounds() Profile {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.profile
	if s.roots != nil {
		p.Read, p.Write = narrow(p.Read, s.roots), narrow(p.Write, s.roots)
	}
	return p
}

// awaitRoots lets a session's first requests wait until its roots are known.
func (s *session) awaitRoots(ctx context.Context) {
	s.mu.Lock()
	waiting := s.rootsPending
	s.mu.Unlock()
	if waiting == nil {
		return
	}
	patience := time.NewTimer(rootsPatience)
	defer patience.Stop()
	select {
	case <-waiting:
	case <-patience.C:
		s.rootsKnown()
	case <-ctx.Done():
	}
}

// rootsKnown ends the wait.
func (s *session) rootsKnown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rootsPending != nil {
		close(s.rootsPending)
		s.rootsPending = nil
	}
}

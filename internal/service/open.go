package service

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"notesd/internal/config"
	"notesd/internal/fsid"
	"notesd/internal/mirror"
	"notesd/notes/store"
	"notesd/notes/vault"
	"notesd/search"
	"notesd/vectors/table"
)

// A backend holds the parts that sessions call. They are nil until the service is open;
// before that, the core admits no request.
type backend struct {
	vault         struct{ *vault.Vault }
	history       struct{ *vault.History }
	engine        struct{ *search.Engine }
	tables        struct{ *table.Tables }
	subscriptions struct{ *store.Versions }
	mirror        struct{ *mirror.Mirror } // nil unless the vault is in a database
}

// Waits bounds how long requests wait for data that would make their answers complete.
// Tests raise the limits, so that no answer depends on the load of the machine.
var Waits = struct {
	// FirstScan is how long the first requests wait for the first scan, which takes
	// less for a vault of ordinary size.
	FirstScan time.Duration
	// Semantic is how long a search waits for the vectors; 0 means the engine's own
	// limit. With an embedding server it is at least remoteTimeout.
	Semantic time.Duration
	// Mirror is the least that a request waits for changes of other nodes; 0 means the
	// mirror's own limits.
	Mirror time.Duration
	// Database is the timeout of queries for a subject's grants and for the node's lag.
	Database time.Duration
}{FirstScan: time.Second, Database: 2 * time.Second}

// settle closes settled when the first scan has finished or the deadline has passed.
func (s *Service) settle(ctx context.Context) {
	latest := time.NewTimer(time.Until(s.latest))
	defer latest.Stop()
	select {
	case <-s.vault.FirstScan():
	case <-latest.C:
	case <-ctx.Done():
		return
	}
	close(s.settled)
}

// isOpen reports whether the backend is open.
func (s *Service) isOpen() bool { return isClosed(s.opened) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// openLinks returns, for each of the vault's folders that is an Obsidian vault, the link that
// opens a note of it in the app, with {path} in place of the note's path.
func openLinks(vault config.Vault) map[string]string {
	links := map[string]string{}
	for name, dir := range vault.Dirs() {
		if link := OpenLink(dir, ""); link != "" {
			links[name] = link + "{path}"
		}
	}
	return links
}

// OpenLink returns the link that opens a file of an Obsidian vault in the app, or "" for other
// folders.
func OpenLink(vault, file string) string {
	if info, err := fsid.Info(filepath.Join(vault, ".obsidian")); err != nil || !info.IsDir() {
		return ""
	}
	file = strings.TrimSuffix(filepath.ToSlash(vault), "/") + "/" + file
	return "obsidian://open?path=" + strings.ReplaceAll(url.QueryEscape(file), "+", "%20")
}

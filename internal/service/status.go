package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"notesd/internal/config"
	"notesd/internal/fsid"
	"notesd/internal/mirror"
	"notesd/mcp"
	"notesd/notes"
	"notesd/search"
	"notesd/vectors"
	"notesd/watcher"
)

// Report is the result of "notesd status"; the field names are fixed.
type Report struct {
	Version     string         `json:"version"`
	Vault       string         `json:"vault"`
	Folders     config.Folders `json:"folders,omitempty"` // of a vault with several folders
	State       string         `json:"state"`
	Daemon      daemonStatus   `json:"daemon"`
	Clients     []mcp.Client   `json:"clients"`
	Notes       int            `json:"notes"`
	Index       IndexStatus    `json:"index"`
	Semantic    vectors.Status `json:"semantic"`
	Watcher     watcher.Status `json:"watcher"`
	Shared      *mirror.Status `json:"shared,omitempty"` // of a vault in a database
	Skipped     skippedStatus  `json:"skipped"`
	Unavailable string         `json:"unavailable,omitempty"` // why the vault cannot be used now
	Remedy      string         `json:"remedy,omitempty"`      // what to do about that, in sentences
	Log         string         `json:"log,omitempty"`         // the daemon's log file
	Trouble     string         `json:"trouble,omitempty"`     // why changes on disk cannot be indexed now
	Settings    settingsStatus `json:"settings"`
	Warnings    []string       `json:"warnings"`
}

// settingsStatus lists settings without effect.
type settingsStatus struct {
	Waiting []string `json:"waiting,omitempty"` // keys that changed in the file and take effect after a restart
	Ignored []string `json:"ignored,omitempty"` // remarks on settings that connected clients passed
}

type daemonStatus struct {
	Running bool   `json:"running"`
	PID     int    `json:"pid,omitempty"`
	Clients int    `json:"clients"`
	HTTP    string `json:"http,omitempty"` // the URL for MCP clients

	TokenFile string `json:"token_file,omitempty"` // holds the bearer token for HTTP

	foreground bool // it cannot be restarted; see daemon.Server
}

// IndexStatus is the state of the text index.
type IndexStatus struct {
	Notes   int    `json:"notes"`
	Seq     uint64 `json:"seq"`  // of the last change applied
	Head    uint64 `json:"head"` // of the newest change in the feed
	Ready   bool   `json:"ready"`
	Scanned int    `json:"scanned,omitempty"` // while not ready
	ToScan  int    `json:"to_scan,omitempty"`
	Bytes   int64  `json:"bytes"` // on disk, including the databases
}

type skippedStatus struct {
	Total int             `json:"total"`
	Files []notes.Skipped `json:"files"` // truncated
}

// A reporter builds the report of a service.
type reporter struct {
	s *Service
	Report
}

// status reports on the service, as far as it is open.
func (s *Service) status(ctx context.Context) (Report, error) {
	r := &reporter{s, Report{
		Version:  Version(),
		Vault:    s.cfg.Vault.String(),
		Folders:  s.cfg.Vault.Folders,
		State:    s.cfg.State,
		Semantic: vectors.Status{State: "off"},
		Watcher:  watcher.Status{State: watcher.StateStopped},
		Clients:  s.core.Clients(),
		Log:      logFile(s.cfg),
		Skipped:  skippedStatus{Files: []notes.Skipped{}},
		Warnings: []string{},
	}}
	if s.cfg.Semantic.Provider != "off" {
		r.Semantic.State = search.StateBuilding // until the vectors are open
	}
	if daemon := s.daemon.Load(); daemon != nil {
		r.Daemon = (*daemon)()
		if s.withoutHTTP != "" {
			r.Warnings = append(r.Warnings, "there is no HTTP listener: "+s.withoutHTTP+"; once that is corrected, run notesd restart")
		}
		for _, c := range r.Clients {
			if c.HTTP { // the others use the daemon's socket and are counted already
				r.Daemon.Clients++
			}
		}
	}
	if s.isOpen() {
		if err := r.addVault(ctx); err != nil {
			return r.Report, err
		}
		if err := r.addIndex(); err != nil {
			return r.Report, err
		}
		if err := r.addMirror(ctx); err != nil {
			return r.Report, err
		}
		r.addSemantic()
		r.addOrphans(ctx)
	}
	r.addWatcher()
	if s.settings != nil {
		s.refresh()
		s.settings.addTo(&r.Report)
	}
	if err := addSetAside(s.cfg.State, &r.Report); err != nil {
		return r.Report, err
	}
	r.addOtherVaults(ctx)
	return r.Report, nil
}

// addOtherVaults adds the warnings of the vaults that the node has open for its subjects. It
// omits those that also concern the node's own vault, such as an unreachable database.
func (r *reporter) addOtherVaults(ctx context.Context) {
	n := r.s.node.Load()
	if n == nil {
		return
	}
	own := slices.Clone(r.Warnings)
	for _, v := range n.opened() {
		other, err := v.service.status(ctx)
		if err != nil {
			other.Warnings = append(other.Warnings, err.Error())
		}
		for _, warning := range other.Warnings {
			if !slices.Contains(own, warning) {
				r.Warnings = append(r.Warnings, "vault "+v.name+": "+warning)
			}
		}
	}
}

// logFile returns the daemon's log file, or "" if it does not exist.
func logFile(cfg *config.Config) string {
	name := cmp.Or(cfg.Log.File, filepath.Join(cfg.State, DaemonLog))
	if _, err := os.Stat(name); err != nil {
		return ""
	}
	return name
}

func (r *reporter) addSemantic() {
	if r.s.vectors == nil {
		return
	}
	r.Semantic = r.s.vectors.Status()
	if why := r.Semantic.Trouble; why != "" {
		r.Warnings = append(r.Warnings, "semantic search: "+why+"; until then "+r.Semantic.Meanwhile()+". notesd tries again; notesd doctor says what to do")
	}
}

func (r *reporter) addVault(ctx context.Context) error {
	st, err := r.s.vault.Status(ctx)
	if err != nil {
		return err
	}
	r.Vault, r.Notes, r.Index.Head = st.Root, st.Notes, st.Seq
	r.Index.Ready = r.s.vault.Ready() && !st.Scanning
	if !r.Index.Ready {
		r.Index.Scanned, r.Index.ToScan = st.Scanned, st.ToScan
	}
	r.Index.Bytes += r.s.vault.Store().Size()
	r.Skipped = skippedStatus{st.SkippedTotal, append(r.Skipped.Files, st.Skipped...)}
	if st.Unavailable != "" {
		r.Unavailable, r.Remedy = st.Unavailable, st.Remedy
		r.Warnings = append(r.Warnings, strings.TrimSpace("the vault cannot be used: "+st.Unavailable+". "+st.Remedy))
	}
	r.Warnings = append(r.Warnings, st.Warnings...)
	copies, err := r.s.vault.ConflictCopies(ctx)
	if err != nil {
		return err
	}
	if copies != "" {
		r.Warnings = append(r.Warnings, copies)
	}
	if r.s.vault.Ready() {
		for _, catalogue := range r.s.core.Templates() {
			problems, err := catalogue.Warnings(ctx)
			if err != nil {
				return err
			}
			r.Warnings = append(r.Warnings, problems...)
		}
		if err := r.addMissingFolders(ctx); err != nil {
			return err
		}
	}
	if r.Trouble = st.Trouble; r.Trouble != "" && !slices.Contains(st.Warnings, r.Trouble) {
		r.Warnings = append(r.Warnings, "changes on disk cannot be indexed: "+r.Trouble+"; notesd tries again. Free some space if a disk is full; otherwise notesd doctor says what to do")
	}
	return nil
}

// addMissingFolders warns of settings with folders that do not exist, which are probably
// misspelled.
func (r *reporter) addMissingFolders(ctx context.Context) error {
	if r.Unavailable != "" {
		return nil // none exists now
	}
	keys := map[string]string{} // of the settings, by folder
	for _, c := range r.Clients {
		if c.HTTP {
			continue // it may have the bounds of a rule
		}
		for _, folder := range c.Read {
			keys[folder] = "vault.allow"
		}
		for _, folder := range c.NoWrite {
			keys[folder] = "vault.read_only_folders"
		}
	}
	if len(keys) == 0 {
		return nil
	}
	missing, err := fsid.InTime("folders in "+r.s.cfg.Vault.String(), fsid.Patience, func() (missing []string, _ error) {
		for _, folder := range slices.Sorted(maps.Keys(keys)) {
			dir, in := r.s.cfg.Vault.Place(folder)
			if _, err := os.Lstat(filepath.Join(dir, in)); dir == "" || err != nil && !errors.Is(err, fs.ErrPermission) {
				missing = append(missing, folder)
			}
		}
		return missing, nil
	})
	if err != nil {
		return nil //nolint:nilerr // the disk does not answer
	}
	for _, folder := range missing {
		list, err := r.s.vault.List(ctx, notes.ListQuery{Filter: notes.Filter{Scope: []string{folder}}, Limit: 1}) // may spell it in another case
		if err != nil {
			return err
		}
		if list.Total == 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s names the folder %q, which does not exist", keys[folder], folder))
		}
	}
	return nil
}

func (r *reporter) addIndex() error {
	stats, err := r.s.index.Stats()
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	r.Index.Notes, r.Index.Seq = stats.Notes, stats.Position.Seq
	r.Index.Bytes += stats.Bytes
	r.Index.Ready = r.Index.Ready && r.Index.Seq == r.Index.Head
	r.Warnings = append(r.Warnings, stats.Warnings...)
	return nil
}

func (r *reporter) addWatcher() {
	for i, name := range slices.Sorted(maps.Keys(r.s.watchers)) {
		st := r.s.watchers[name].Status()
		r.Warnings = append(r.Warnings, st.Warnings...)
		if i == 0 {
			r.Watcher = watcher.Status{State: st.State, Backend: st.Backend}
		}
		if r.Watcher.State != st.State {
			r.Watcher.State = watcher.StateDegraded // one of several folders is missing or not watched
		}
		if st.Backend == watcher.BackendPoll {
			r.Watcher.Backend = st.Backend
		}
		r.Watcher.Directories += st.Directories
		r.Watcher.Polled += st.Polled
	}
}

// setAside matches the names of damaged files that the store and the index have moved
// aside.
var setAside = regexp.MustCompile(`\.(damaged|corrupt)-\d{8}T\d{6}\.\d{3}$`)

// addSetAside warns of damaged files that were ever moved aside: they take up space,
// and only the user may delete them.
func addSetAside(dir string, r *Report) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	warned := strings.Join(r.Warnings, "\n")
	for _, e := range entries {
		if name := e.Name(); setAside.MatchString(name) && !strings.Contains(warned, name) {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s was damaged and was set aside earlier; delete it from %s when you no longer want it", name, dir))
		}
	}
	return nil
}

// Counted reports whether the number of passages is known.
func (r Report) Counted() bool {
	return r.Semantic.State != search.StateBuilding || r.Semantic.Chunks > 0 || r.Notes == 0
}

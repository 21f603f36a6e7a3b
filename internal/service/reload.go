package service

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/notes"
)

// There are two kinds of settings. Session settings are a client's limits, defaults and
// folders; a relay sends them in its hello, from its flags, environment and file.
// Daemon settings come from the configuration file. When the file changes, new sessions
// use the new values at once. When idle, the daemon restarts within its process: it
// then applies the new daemon settings, and relays, which reconnect and read the file
// again, bring the new values of running sessions. It also restarts when the system's
// time zone changes, as on a journey.

// errSettings is the reason for such a restart.
var errSettings = fmt.Errorf("%w: the configuration file or the time zone has changed", daemon.ErrReplaced)

const (
	// settingsPoll is how often a daemon checks whether the configuration file
	// has changed.
	settingsPoll = 2 * time.Second
	// settingsQuiet is how long a daemon must have been without requests before it
	// restarts: an assistant at work sends its next request sooner.
	settingsQuiet = 2 * time.Second
)

// restartWhenIdle calls restart once the configuration file or the time zone has
// changed and the daemon is idle: no request is in progress, and every connected client
// is one that tolerates a restart. A browser does not; a relay reconnects.
func (s *Service) restartWhenIdle(ctx context.Context, restart func(error)) {
	tick := time.NewTicker(settingsPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.refresh()
		if s.settings.later() != nil && s.idle(settingsQuiet) {
			restart(errSettings)
			return
		}
	}
}

// idle reports whether a restart would disturb no client that was active in the last d.
func (s *Service) idle(d time.Duration) bool {
	return s.core.Quiet(d) && s.core.Sessions() == int(s.relays.Load()) && s.node.Load().quiet(d)
}

// refresh applies a changed configuration file to new sessions.
func (s *Service) refresh() {
	if s.settings == nil {
		return
	}
	if loaded := s.settings.changed(); loaded != nil {
		s.core.SetProfile(s.profileOf(loaded.Config))
	}
}

// runningSettings holds the settings that a server was started with, and later changes.
type runningSettings struct {
	started *config.Loaded
	read    func() (*config.Loaded, error) // reads the current settings
	zone    []byte                         // the result of systemZone at the start

	mu      sync.Mutex
	seen    []byte         // the content of the file, and of that of the API key, when last read here
	now     *config.Loaded // the last valid settings
	trouble string         // why the changed file is not used
}

func newRunningSettings(started *config.Loaded, read func() (*config.Loaded, error)) *runningSettings {
	return &runningSettings{started: started, now: started, read: read, zone: systemZone()}
}

// changed returns the configuration if the file is valid and has changed since the last
// call, and nil otherwise. The first call returns it, because the file may have changed
// since the start.
func (r *runningSettings) changed() *config.Loaded {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := append(contentOf(r.started.File), contentOf(r.now.Semantic.APIKeyFile)...)
	if bytes.Equal(now, r.seen) && r.trouble == "" { // the cause of trouble may be in another file
		return nil
	}
	r.seen = now
	loaded, err := r.read()
	if err == nil {
		if refused := cmp.Or(checkAsked(loaded.Config), CheckLog(loaded.Config)); refused != nil { // after a restart, the daemon would end
			err = WithHint(refused)
		}
	}
	if err != nil {
		r.trouble = err.Error()
		return nil
	}
	r.trouble, r.now = "", loaded
	return loaded
}

// contentOf returns the content of a small file, or nil if it cannot be read or is a pipe.
func contentOf(name string) []byte {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, _ := os.ReadFile(name)
	return data
}

// later returns the configuration to restart with, or nil if the daemon already has the
// current settings.
func (r *runningSettings) later() *config.Loaded {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble != "" {
		return nil
	}
	if zone := systemZone(); zone != nil && !bytes.Equal(zone, r.zone) {
		return r.now
	}
	if r.now == r.started {
		return nil
	}
	if sessions, daemons := r.started.Changed(r.now); len(sessions)+len(daemons) > 0 {
		return r.now
	}
	return nil
}

// zoneFile holds the system's time zone. Tests replace it.
var zoneFile = "/etc/localtime"

// systemZone returns the system's time zone data, or nil if the variable TZ overrides
// it or zoneFile does not exist, as on Windows.
func systemZone() []byte {
	if _, ok := os.LookupEnv("TZ"); ok {
		return nil
	}
	return contentOf(zoneFile)
}

// useZone sets the local time zone of the process, which Go reads only once. It must
// not change while a service runs, because the dates of notes depend on it.
func useZone(data []byte) {
	if zone, err := time.LoadLocationFromTZData("Local", data); err == nil {
		time.Local = zone
	}
}

// remarks describes the settings that a client passed without effect.
func (r *runningSettings) remarks(hello daemon.Hello) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var remarks []string
	for _, p := range hello.Passed {
		if p.Key == "" || r.started.Text(p.Key) != p.Value {
			remarks = append(remarks, p.Remark)
		}
	}
	vault := r.now.Vault
	if vault.ReadOnly && !hello.ReadOnly {
		remarks = append(remarks, fmt.Sprintf("vault.read_only = false has no effect: %s makes the vault read-only for every client", r.now.Origin("vault.read_only")))
	}
	outside := slices.DeleteFunc(slices.Clone(hello.Scopes), func(folder string) bool {
		return len(vault.Allow) == 0 || notes.InAny(folder, vault.Allow)
	})
	if len(outside) > 0 {
		remarks = append(remarks, fmt.Sprintf("vault.allow cannot add %s: %s allows only %s, to every client", strings.Join(outside, ", "), r.now.Origin("vault.allow"), strings.Join(vault.Allow, ", ")))
	}
	return remarks
}

// addTo adds settings without effect, and settings that wait for a restart, to a
// status.
func (r *runningSettings) addTo(st *Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, waiting := r.started.Changed(r.now)
	st.Settings.Waiting = waiting
	ignored := map[string]bool{}
	for _, client := range st.Clients {
		for _, remark := range client.Remarks {
			ignored[remark] = true
		}
	}
	st.Settings.Ignored = slices.Sorted(maps.Keys(ignored))
	when := "the daemon is idle, or at once with notesd restart"
	if st.Daemon.foreground {
		when = fmt.Sprintf("process %d is started again", st.Daemon.PID)
	}
	for _, key := range waiting {
		st.Warnings = append(st.Warnings, "the configuration file has another "+key+"; it takes effect when "+when)
	}
	st.Warnings = append(st.Warnings, st.Settings.Ignored...)
	if r.trouble != "" {
		st.Warnings = append(st.Warnings, "the configuration file has changed and is not used until it is corrected: "+r.trouble)
	}
}

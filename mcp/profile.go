package mcp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"notesd/internal/phrase"
	"notesd/mcp/tools"
	"notesd/notes"
	"notesd/prompts"
	"notesd/search"
)

// A Profile is what a session may see and do. The zero value allows everything.
type Profile struct {
	ReadOnly bool     `json:"read_only,omitempty"`
	Tools    []string `json:"tools,omitempty"`    // names or groups; empty: all
	Read     []string `json:"read,omitempty"`     // folders it may read; nil: all
	Write    []string `json:"write,omitempty"`    // folders it may change; nil: all that it may read
	NoWrite  []string `json:"no_write,omitempty"` // folders it may not change, even if in Write

	// Subject names the person or program that the session acts for, of those that share
	// the vault; "" for the owner's clients. It is the author of the session's writes.
	Subject string `json:"subject,omitempty"`

	// Owner marks the session of a command in the owner's own shell, which may call all of
	// Options.Methods. The other fields still bound its tools.
	Owner bool `json:"-"`

	Settings
	Remarks []string `json:"-"` // on the session's settings, for its instructions
}

// Settings are the defaults for a session's requests. For a zero field, that of the core's
// profile or the default applies.
type Settings struct {
	Mode        search.Mode        `json:"search_mode,omitempty"`
	Hits        int                `json:"hits"`         // of a search without a limit; 10
	ResultBytes int                `json:"result_bytes"` // of a tool result's text; 20 000
	Prompts     *prompts.Catalogue `json:"-"`            // the prompts that are offered; the built-in ones
}

func (s Settings) or(outer Settings) Settings {
	return Settings{
		ResultBytes: cmp.Or(s.ResultBytes, outer.ResultBytes),
		Hits:        cmp.Or(s.Hits, outer.Hits),
		Mode:        cmp.Or(s.Mode, outer.Mode),
		Prompts:     cmp.Or(s.Prompts, outer.Prompts),
	}
}

// tools returns the limits on the result of one call.
func (s Settings) tools() tools.Limits {
	return tools.Limits{ResultBytes: cmp.Or(s.ResultBytes, 20_000), Hits: cmp.Or(s.Hits, 10)}
}

// Groups of tools that a selection may name. The writer group contains all tools, because a
// writer also has to read.
const (
	groupAll    = "all"
	groupReader = "reader"
	groupWriter = "writer"
)

var toolGroups = []string{groupAll, groupReader, groupWriter}

// Validate returns a *notes.Error, ErrInvalid, if a name in the selection of tools is
// neither a tool's nor a group's.
func (p Profile) Validate() error {
	for _, name := range p.Tools {
		if !slices.Contains(toolGroups, name) && tools.Find(name) == nil {
			known := append(slices.Clone(toolGroups), slices.Sorted(slices.Values(tools.Names()))...)
			message := fmt.Sprintf("there is no tool %q", name)
			if near := phrase.Nearest(name, known); near != "" {
				message += fmt.Sprintf(": did you mean %q?", near)
			} else {
				message += ": there are " + strings.Join(known, ", ")
			}
			return &notes.Error{Op: "select tools", Err: notes.ErrInvalid, Detail: message}
		}
	}
	return nil
}

// within returns p narrowed to what outer also allows.
func (p Profile) within(outer Profile) Profile {
	return Profile{
		ReadOnly: p.ReadOnly || outer.ReadOnly,
		Tools:    p.Tools, // outer selects none: see Options.Profile
		Read:     narrow(outer.Read, p.Read),
		Write:    narrow(outer.Write, p.Write),
		NoWrite:  slices.Concat(outer.NoWrite, p.NoWrite),
		Subject:  p.Subject,
		Owner:    p.Owner,
		Settings: p.Settings.or(outer.Settings),
		Remarks:  p.Remarks,
	}
}

// sameBounds reports whether both profiles grant the same access.
func (p Profile) sameBounds(o Profile) bool {
	same := func(a, b []string) bool { return slices.Equal(a, b) && (a == nil) == (b == nil) }
	return p.ReadOnly == o.ReadOnly && same(p.Read, o.Read) && same(p.Write, o.Write) && same(p.NoWrite, o.NoWrite) && same(p.Tools, o.Tools)
}

// narrow returns the intersection of two lists of folders. A nil list stands for all
// folders, an empty one for none.
func narrow(outer, inner []string) []string {
	switch {
	case outer == nil:
		return inner
	case inner == nil:
		return outer
	}
	var folders []string
	for _, a := range outer {
		for _, b := range inner {
			switch {
			case notes.InAny(b, []string{a}):
				folders = append(folders, b)
			case notes.InAny(a, []string{b}):
				folders = append(folders, a)
			}
		}
	}
	slices.Sort(folders)
	return append([]string{}, slices.Compact(folders)...) // not nil, which would mean all folders
}

// selects reports whether the profile's own selection includes the tool.
func (p Profile) selects(t *tools.Tool) bool {
	return len(p.Tools) == 0 || slices.ContainsFunc(p.Tools, func(name string) bool {
		switch name {
		case groupAll, groupWriter:
			return true
		case groupReader:
			return !t.Writes()
		}
		return name == t.Name
	})
}

// scope returns the profile as a scope for the vault.
func (p Profile) scope() notes.Scope {
	return notes.Scope{Read: p.Read, Write: p.Write, ReadOnly: p.ReadOnly, NoWrite: p.NoWrite}
}

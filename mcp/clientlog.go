package mcp

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/internal/phrase"
	"notesd/notes"
)

// severities are the protocol's log levels, and severityLevels the SDK's values for them.
var (
	severities     = []sdk.LoggingLevel{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
	severityLevels = []slog.Level{sdk.LevelDebug, sdk.LevelInfo, sdk.LevelNotice, sdk.LevelWarning, sdk.LevelError, sdk.LevelCritical, sdk.LevelAlert, sdk.LevelEmergency}
)

// severityOf returns the protocol's name for a slog level.
func severityOf(level slog.Level) sdk.LoggingLevel {
	i, exact := slices.BinarySearch(severityLevels, level)
	if !exact {
		i = max(0, i-1)
	}
	return severities[i]
}

// setLevel validates and stores the level at which a client wants log records.
func (s *session) setLevel(params *sdk.SetLoggingLevelParams) error {
	i := slices.Index(severities, params.Level)
	if i < 0 {
		return invalidParams("unknown level %q: pass debug, info, notice, warning, error, critical, alert or emergency", phrase.Clip(string(params.Level), 40))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wantsLog, s.level = true, severityLevels[i]
	return nil
}

// ClientLog is a slog.Handler that sends log records, as notifications/message, to the
// clients that requested their level. Only sessions that may see the whole vault receive
// records, because a record may name any note.
//
// It is created before its core, so that everything can log to it: until it is passed to
// [New], it drops all records.
type ClientLog struct {
	core  *atomic.Pointer[Core] // shared by derived handlers
	attrs []slog.Attr
}

// NewClientLog returns a handler that is not yet attached to a core.
func NewClientLog() *ClientLog { return &ClientLog{core: new(atomic.Pointer[Core])} }

// Enabled reports whether any client wants the level.
func (h *ClientLog) Enabled(_ context.Context, level slog.Level) bool {
	enabled := false
	h.each(func(s *session) { enabled = enabled || s.logs(level) })
	return enabled
}

// Handle queues the record for the clients that want it.
func (h *ClientLog) Handle(_ context.Context, r slog.Record) error {
	data := map[string]any{"message": r.Message}
	for _, a := range h.attrs {
		show(data, a)
	}
	r.Attrs(func(a slog.Attr) bool {
		show(data, a)
		return true
	})
	params := &sdk.LoggingMessageParams{Level: severityOf(r.Level), Logger: "notesd", Data: data}
	h.each(func(s *session) {
		if s.logs(r.Level) && take(s.logRate, 1, "log records") == nil {
			s.out(methodLog, params)
		}
	})
	return nil
}

// WithAttrs returns a handler that adds the attributes to every record.
func (h *ClientLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &ClientLog{core: h.core, attrs: slices.Concat(h.attrs, attrs)}
}

// WithGroup returns h: notesd logs no groups.
func (h *ClientLog) WithGroup(string) slog.Handler { return h }

func (h *ClientLog) each(do func(*session)) {
	if core := h.core.Load(); core != nil {
		core.each(do)
	}
}

// logs reports whether a record of this level is sent to the client.
func (s *session) logs(level slog.Level) bool {
	all := s.bounds().Read == nil
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wantsLog && s.initialized && level >= s.level && all
}

// show adds to data what a client may see of an attribute: numbers, names within the vault,
// domain errors. Values that could reveal something about the machine (absolute paths,
// texts of other errors) stay in the log.
func show(data map[string]any, a slog.Attr) {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindBool, slog.KindInt64, slog.KindUint64, slog.KindFloat64:
		data[a.Key] = v.Any()
	case slog.KindDuration, slog.KindTime:
		data[a.Key] = v.String()
	case slog.KindString:
		if !filepath.IsAbs(v.String()) {
			data[a.Key] = v.String()
		}
	case slog.KindAny:
		var domain *notes.Error
		if err, ok := v.Any().(error); ok && errors.As(err, &domain) {
			data[a.Key] = domain.Error()
		}
	}
}

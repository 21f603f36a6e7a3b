package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/internal/session"
	"notesd/mcp"
)

// A vault is the page's MCP session. It is opened on first use and reopened after it was
// lost or closed as unused.
type vault struct {
	dial    func(context.Context) (io.ReadWriteCloser, error)
	version string
	changed func() // called when something in the vault changes

	mu      sync.Mutex
	session *session.Session
	watched []string // subscribed URIs of notes, oldest first
	users   int      // requests in progress, including event streams
	unused  *time.Timer
}

// maxWatched bounds the number of subscribed notes.
const maxWatched = 200

// unusedFor is how long the session stays open without a request: a daemon does not restart
// with changed settings while the page has one.
const unusedFor = time.Minute

// answerWait is how long the vault may take for one answer. A daemon that is suspended or hangs
// keeps its connection, so that nothing else ends the wait.
const answerWait = 30 * time.Second

// use keeps the session open until release is called, and then for unusedFor.
func (v *vault) use() (release func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.users++
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.users--
		if v.unused == nil {
			v.unused = time.AfterFunc(unusedFor, v.closeUnused)
		}
		v.unused.Reset(unusedFor)
	}
}

// closeUnused closes the session unless a request uses it.
func (v *vault) closeUnused() {
	v.mu.Lock()
	s := v.session
	if v.users > 0 || s == nil {
		v.mu.Unlock()
		return
	}
	v.session = nil
	v.mu.Unlock()
	_ = s.Close() // the connection may be lost
	v.changed()   // hidden pages may miss changes from now on
}

// open returns the session, after opening it if necessary.
func (v *vault) open(ctx context.Context) (*session.Session, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.session != nil {
		return v.session, nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	conn, err := v.dial(ctx)
	if err != nil {
		return nil, err
	}
	s, err := session.Open(ctx, conn, "notesd web", v.version, &sdk.ClientOptions{
		ResourceUpdatedHandler:     func(context.Context, *sdk.ResourceUpdatedNotificationRequest) { v.changed() },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { v.changed() },
	}, mcp.MethodStatus, mcp.MethodGraph, mcp.MethodWhy, mcp.MethodTargets)
	if err != nil {
		return nil, err
	}
	if err := s.Subscribe(ctx, &sdk.SubscribeParams{URI: "notes://recent"}); err != nil {
		return nil, errors.Join(fmt.Errorf("subscribe to changes: %w", err), s.Close())
	}
	v.session, v.watched = s, nil
	go func() { // ends with the session
		_ = s.Wait()
		v.mu.Lock()
		lost := v.session == s
		if lost {
			v.session = nil
		}
		v.mu.Unlock()
		if lost {
			v.changed() // the pages reload and thereby open a new session
		}
	}()
	return s, nil
}

// watch subscribes to changes of a note. The subscription to notes://recent is not
// enough, because its content is the same if a note changes twice in a second.
func (v *vault) watch(ctx context.Context, uri string) error {
	return v.ask(ctx, func(ctx context.Context, s *session.Session) error { return v.watchIn(ctx, s, uri) })
}

func (v *vault) watchIn(ctx context.Context, s *session.Session, uri string) error {
	v.mu.Lock()
	known := slices.Contains(v.watched, uri)
	v.mu.Unlock()
	if known {
		return nil
	}
	if err := s.Subscribe(ctx, &sdk.SubscribeParams{URI: uri}); err != nil {
		return err
	}
	oldest := ""
	v.mu.Lock()
	if v.session == s && !slices.Contains(v.watched, uri) {
		if v.watched = append(v.watched, uri); len(v.watched) > maxWatched {
			oldest, v.watched = v.watched[0], v.watched[1:]
		}
	}
	v.mu.Unlock()
	if oldest == "" {
		return nil
	}
	return s.Unsubscribe(ctx, &sdk.UnsubscribeParams{URI: oldest})
}

// close ends the session.
func (v *vault) close() error {
	v.mu.Lock()
	s := v.session
	v.session = nil
	v.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.Close()
}

// ask calls do with the session and a context that ends after answerWait.
func (v *vault) ask(ctx context.Context, do func(context.Context, *session.Session) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	s, err := v.open(ctx)
	if err != nil {
		return err
	}
	return do(ctx, s)
}

// call calls a tool and decodes its structured result into out.
func (v *vault) call(ctx context.Context, tool string, args map[string]any, out any) error {
	return v.ask(ctx, func(ctx context.Context, s *session.Session) error { return s.Call(ctx, tool, args, out) })
}

// restore calls restore_note, and waits for its answer as long as the browser does: a change that
// has begun is made, however long it takes.
func (v *vault) restore(ctx context.Context, args map[string]any, out any) error {
	s, err := v.open(ctx)
	if err != nil {
		return err
	}
	return s.Call(ctx, "restore_note", args, out)
}

// method calls a method of notesd that is not a tool.
func (v *vault) method(ctx context.Context, name string, params, out any) error {
	return v.ask(ctx, func(ctx context.Context, s *session.Session) error { return s.Method(ctx, name, params, out) })
}

// destinations returns the destinations of the links of a note.
func (v *vault) destinations(ctx context.Context, uri string) (destinations, error) {
	var targets struct{ Notes, Files map[string]string }
	err := v.method(ctx, mcp.MethodTargets, map[string]any{"note": uri}, &targets)
	return destinations{notes: targets.Notes, files: targets.Files}, err
}

// resource reads a file of the vault.
func (v *vault) resource(ctx context.Context, uri string) (*sdk.ResourceContents, error) {
	var res *sdk.ReadResourceResult
	err := v.ask(ctx, func(ctx context.Context, s *session.Session) (err error) {
		res, err = s.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		return session.FailureOf(err)
	})
	if err != nil {
		return nil, err
	}
	if len(res.Contents) == 0 {
		return nil, fmt.Errorf("read %s: there are no contents", uri)
	}
	return res.Contents[0], nil
}

package service

import (
	"context"
	"sync"
	"time"

	"notesd/notes"
	"notesd/notes/vault"
	"notesd/search"
	"notesd/vectors/table"
)

// late is a value that is not there yet.
type late[T any] struct {
	once  sync.Once
	there chan struct{}
	value T
}

func newLate[T any]() *late[T] { return &late[T]{there: make(chan struct{})} }

// set supplies the value; only the first call counts.
func (l *late[T]) set(v T) {
	l.once.Do(func() {
		l.value = v
		close(l.there)
	})
}

// get waits for the value until ctx ends.
func (l *late[T]) get(ctx context.Context) (T, error) {
	select {
	case <-l.there:
		return l.value, nil
	default:
	}
	select {
	case <-l.there:
		return l.value, nil
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// peek returns the value if it is there.
func (l *late[T]) peek() (v T, ok bool) {
	select {
	case <-l.there:
		return l.value, true
	default:
		return v, false
	}
}

// settleTime is how long requests wait, when a service has just begun, for the
// first look at the vault: in a vault of usual size it is over before that, and
// nobody gets half an answer because a daemon was started a moment ago.
const settleTime = time.Second

// settlePoll is how often a waiting request looks whether that is over: it mostly
// is in no time.
const settlePoll = 2 * time.Millisecond

// settling is the beginning of a service.
type settling struct {
	vault *late[*vault.Vault]
	until time.Time // waiting is over
}

// wait returns when the vault is known, waiting is over, or ctx ends.
func (s settling) wait(ctx context.Context) {
	poll := time.NewTicker(settlePoll)
	defer poll.Stop()
	for !s.ready() && time.Now().Before(s.until) {
		select {
		case <-poll.C:
		case <-ctx.Done():
			return
		}
	}
}

func (s settling) ready() bool {
	v, ok := s.vault.peek()
	return ok && v.Ready()
}

// lateVault is a vault whose requests wait until it is open, and for its first
// look at the folder.
type lateVault struct {
	*late[*vault.Vault]
	settling settling
}

// settled returns the vault once it is open and, if that does not take long,
// known.
func (l lateVault) settled(ctx context.Context) (*vault.Vault, error) {
	l.settling.wait(ctx)
	return l.get(ctx)
}

// ask calls a method of the vault.
func ask[Q, A any](ctx context.Context, l lateVault, method func(*vault.Vault, context.Context, Q) (A, error), q Q) (A, error) {
	v, err := l.settled(ctx)
	if err != nil {
		var none A
		return none, err
	}
	return method(v, ctx, q)
}

func (l lateVault) Ready() bool {
	v, ok := l.peek()
	return ok && v.Ready()
}

func (l lateVault) Ignored(path string) bool {
	v, ok := l.peek()
	return ok && v.Ignored(path)
}

func (l lateVault) Lookup(ctx context.Context, ref string, scope notes.Scope) (notes.Meta, error) {
	v, err := l.settled(ctx)
	if err != nil {
		return notes.Meta{}, err
	}
	return v.Lookup(ctx, ref, scope)
}

func (l lateVault) Read(ctx context.Context, ref string, scope notes.Scope) (*notes.Note, error) {
	v, err := l.settled(ctx)
	if err != nil {
		return nil, err
	}
	return v.Read(ctx, ref, scope)
}

// Refresh does not wait for the first look, which it is there to anticipate.
func (l lateVault) Refresh(ctx context.Context, folder string) error {
	v, err := l.get(ctx)
	if err != nil {
		return err
	}
	return v.Refresh(ctx, folder)
}

func (l lateVault) Links(ctx context.Context, ref string, q notes.LinkQuery) (notes.LinkReport, error) {
	v, err := l.settled(ctx)
	if err != nil {
		return notes.LinkReport{}, err
	}
	return v.Links(ctx, ref, q)
}

func (l lateVault) Attachment(ctx context.Context, ref string, scope notes.Scope) (notes.Attachment, error) {
	v, err := l.settled(ctx)
	if err != nil {
		return notes.Attachment{}, err
	}
	return v.Attachment(ctx, ref, scope)
}

func (l lateVault) Attachments(ctx context.Context, note string, scope notes.Scope) ([]notes.Attachment, error) {
	v, err := l.settled(ctx)
	if err != nil {
		return nil, err
	}
	return v.Attachments(ctx, note, scope)
}

// Status does not wait for the first look: it tells how far that has come.
func (l lateVault) Status(ctx context.Context) (notes.Status, error) {
	v, err := l.get(ctx)
	if err != nil {
		return notes.Status{}, err
	}
	return v.Status(ctx)
}

func (l lateVault) WhyNothing(ctx context.Context, f notes.Filter) ([]string, error) {
	return ask(ctx, l, (*vault.Vault).WhyNothing, f)
}

func (l lateVault) List(ctx context.Context, q notes.ListQuery) (notes.ListPage, error) {
	return ask(ctx, l, (*vault.Vault).List, q)
}

func (l lateVault) Create(ctx context.Context, r notes.CreateRequest) (notes.Written, error) {
	return ask(ctx, l, (*vault.Vault).Create, r)
}

func (l lateVault) Edit(ctx context.Context, r notes.EditRequest) (notes.Written, error) {
	return ask(ctx, l, (*vault.Vault).Edit, r)
}

func (l lateVault) Move(ctx context.Context, r notes.MoveRequest) (notes.Written, error) {
	return ask(ctx, l, (*vault.Vault).Move, r)
}

func (l lateVault) Delete(ctx context.Context, r notes.DeleteRequest) (notes.Deletion, error) {
	return ask(ctx, l, (*vault.Vault).Delete, r)
}

func (l lateVault) Repeated(ctx context.Context, requestKey string) (bool, error) {
	return ask(ctx, l, (*vault.Vault).Repeated, requestKey)
}

func (l lateVault) History(ctx context.Context, q notes.HistoryQuery) (notes.HistoryPage, error) {
	return ask(ctx, l, (*vault.Vault).History, q)
}

func (l lateVault) Restore(ctx context.Context, r notes.RestoreRequest) (notes.Written, error) {
	return ask(ctx, l, (*vault.Vault).Restore, r)
}

func (l lateVault) Tags(ctx context.Context, scope notes.Scope) ([]notes.TagCount, error) {
	return ask(ctx, l, (*vault.Vault).Tags, scope)
}

func (l lateVault) Folders(ctx context.Context, scope notes.Scope) ([]notes.FolderCount, error) {
	return ask(ctx, l, (*vault.Vault).Folders, scope)
}

// lateEngine is a search engine whose queries wait until its index is open. It
// gives a query the mode that the configuration prefers.
type lateEngine struct {
	*late[*search.Engine]
	settling settling
	mode     search.Mode
}

// Searcher is the engine with the default mode of package search.
func (s *Service) Searcher() lateEngine {
	return lateEngine{late: s.engine, settling: settling{vault: s.vault}}
}

func (l lateEngine) Search(ctx context.Context, q search.Query) (search.Result, error) {
	l.settling.wait(ctx)
	e, err := l.get(ctx)
	if err != nil {
		return search.Result{}, err
	}
	if q.Mode == "" {
		q.Mode = l.mode
	}
	return e.Search(ctx, q)
}

// lateTables are vector tables whose requests wait until they are open.
type lateTables struct{ *late[*table.Tables] }

func (l lateTables) Create(ctx context.Context, r table.CreateTableRequest) (table.Info, error) {
	t, err := l.get(ctx)
	if err != nil {
		return table.Info{}, err
	}
	return t.Create(ctx, r)
}

func (l lateTables) List(ctx context.Context) ([]table.Info, error) {
	t, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return t.List(ctx)
}

func (l lateTables) Describe(ctx context.Context, name string, ids int) (table.Info, []string, error) {
	t, err := l.get(ctx)
	if err != nil {
		return table.Info{}, nil, err
	}
	return t.Describe(ctx, name, ids)
}

func (l lateTables) Drop(ctx context.Context, name, requestKey string) (table.Info, error) {
	t, err := l.get(ctx)
	if err != nil {
		return table.Info{}, err
	}
	return t.Drop(ctx, name, requestKey)
}

func (l lateTables) Add(ctx context.Context, r table.AddRequest) ([]string, error) {
	t, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return t.Add(ctx, r)
}

func (l lateTables) Search(ctx context.Context, q table.Query) ([]table.Hit, error) {
	t, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return t.Search(ctx, q)
}

func (l lateTables) DeleteRows(ctx context.Context, r table.DeleteRowsRequest) (int, error) {
	t, err := l.get(ctx)
	if err != nil {
		return 0, err
	}
	return t.DeleteRows(ctx, r)
}

package vault

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"notesd/internal/fsid"
	"notesd/notes/store"
)

// Reconcile finishes operations interrupted by a crash, updates the store to match the
// disk, for the whole vault, and feeds the followers.
func (v *Vault) Reconcile(ctx context.Context) error {
	err := v.reconcileAll(ctx)
	if err == nil {
		v.progress.endWhole()
	}
	if ctx.Err() == nil && v.incident.record(err, true) && err == nil {
		v.opt.Log.Info("the vault is usable again")
	}
	return err
}

// reconcileAll is Reconcile without the report of an incident.
func (v *Vault) reconcileAll(ctx context.Context) error {
	v.mu.Lock()
	unfinished := v.interrupted.finish(ctx)
	v.mu.Unlock()
	root, id, err := v.disk.OpenAny()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only read from
	if unfinished != nil && id == v.disk.Identity() {
		return unfinished
	}
	s := &scan{v: v, root: root, Scan: store.Scan{Whole: true}}
	if err := s.compareAll(ctx, id); err != nil {
		return err
	}
	if unfinished != nil { // this folder, a copy of the vault, is the vault only now
		return v.reconcileAll(ctx)
	}
	if err := s.apply(ctx); err != nil {
		return err
	}
	return s.finish(ctx)
}

// maxRescans bounds how often a scan of some paths is repeated at once for files that were
// saved meanwhile, or that another scan has committed.
const maxRescans = 3

// reconcilePaths updates the store to match the disk at and below these paths. Afterwards
// the store has every save made before the call, except for files that keep changing, which
// are left to Run.
func (v *Vault) reconcilePaths(ctx context.Context, paths []string) error {
	if err := v.incident.get(); err != nil {
		return err // a file that is missing now may not be deleted
	}
	root, err := v.disk.Open()
	if err != nil {
		if v.incident.record(err, false) {
			v.queue.AddAll() // only Run ends an incident
		}
		return err
	}
	defer func() { _ = root.Close() }() // only read from
	for try := 0; try < maxRescans && (try == 0 || len(paths) > 0); try++ {
		s := &scan{v: v, root: root}
		if err := s.comparePaths(ctx, paths); err != nil {
			return err
		}
		if len(s.gone) >= SuspiciouslyMany { // only a full scan can tell whether a folder is suddenly empty
			v.queue.AddAll()
			return nil
		}
		if err := s.apply(ctx); err != nil {
			return err
		}
		paths = s.again
	}
	return nil
}

// Bounds of reconcileUnreported: how long it looks for changes, beyond which the store has
// what the watcher has reported, and how many notes it reads before it leaves them to Run.
const (
	unreportedFor  = 3 * time.Second
	mostUnreported = 1000
)

// reconcileUnreported waits for the first scan of the vault, at most for patience, and then
// reconciles the notes that have changed on disk since, which the watcher may not have reported
// yet. It returns errScanning if it must leave them to Run.
func (v *Vault) reconcileUnreported(ctx context.Context, patience time.Duration) error {
	if err := v.progress.awaitWhole(ctx, patience); err != nil {
		return err
	}
	paths, err := fsid.InTime("changes in "+v.disk.Path(), unreportedFor, func() ([]string, error) { return v.changedPaths(ctx) })
	switch {
	case errors.Is(err, fsid.ErrNoAnswer), err == nil && len(paths) == 0:
		return nil
	case err != nil:
		return err
	}
	return v.reconcilePaths(ctx, paths)
}

// changedPaths returns the paths at which the disk differs from the store, or errScanning if
// only a full scan can tell what happened.
func (v *Vault) changedPaths(ctx context.Context) (paths []string, err error) {
	root, err := v.disk.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read from
	s := &scan{v: v, root: root}
	w, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	s.compare(w)
	if err := s.pairMoves(ctx); err != nil {
		return nil, err
	}
	_, away := v.mounts.get()
	for folder := range away {
		s.keep(folder)
	}
	var failed []string // files that could not be read the last time
	for _, f := range s.changed {
		if v.rereads.problem(f.Path) == "" {
			paths = append(paths, f.DiskPath)
		} else {
			failed = append(failed, f.DiskPath)
		}
	}
	if len(s.gone) >= SuspiciouslyMany || s.differing > mostUnreported && len(paths) > mostUnreported {
		v.queue.AddAll()
		return nil, errScanning
	}
	if len(failed) <= mostUnreported {
		paths = append(paths, failed...)
	}
	for _, r := range slices.Concat(s.gone, slices.Collect(maps.Values(s.moves))) {
		paths = append(paths, r.DiskPath)
	}
	return paths, nil
}

// Refresh reconciles a folder at once if the first scan of the whole vault has not ended;
// after that it is a no-op.
func (v *Vault) Refresh(ctx context.Context, folder string) error {
	if v.progress.ready.Load() {
		return nil
	}
	return v.reconcilePaths(ctx, []string{folder})
}

package vault

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
)

// Reconcile finishes what a crash has interrupted, makes the store equal to
// the disk, for the whole vault, and feeds the followers.
func (v *Vault) Reconcile(ctx context.Context) error {
	if err := v.recoverOperations(ctx); err != nil {
		v.incident.set(err)
		return err
	}
	p, err := v.planAll(ctx)
	if err != nil {
		v.incident.set(err)
		return err
	}
	if err := v.carryOut(ctx, p); err != nil {
		return err
	}
	if v.incident.clear() {
		v.opt.Log.Info("the vault is usable again")
	}
	return errors.Join(v.finishLinks(ctx), v.matchHistory(ctx, p))
}

// reconcilePaths makes the store equal to the disk at, and below, these paths.
func (v *Vault) reconcilePaths(ctx context.Context, paths []string) error {
	p, err := v.planPaths(ctx, paths)
	if err != nil {
		return err
	}
	return v.carryOut(ctx, p)
}

func (v *Vault) planAll(ctx context.Context) (*plan, error) {
	p := &plan{Scan: store.Scan{Whole: true}, writes: v.writes.Load()}
	root, id, err := v.disk.openAny()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read from
	w, err := walk(ctx, root, ".", v.ignore)
	if err != nil {
		return nil, walkError(err)
	}
	if p.rows, err = v.store.Rows(ctx, nil); err != nil {
		return nil, err
	}
	if err := v.checkVault(ctx, id, w, p.rows); err != nil {
		return nil, err
	}
	if p.passed, err = v.store.PassedOver(ctx); err != nil {
		return nil, err
	}
	if err := v.readAppSettings(ctx, root); err != nil {
		return nil, err
	}
	p.compare(w)
	if err := v.spareAway(ctx, root, p, w.mounts); err != nil {
		return nil, err
	}
	v.symlinks.found(w.symlinks, true)
	return p, v.removeTemps(ctx, root, w.temps)
}

// readAppSettings applies what the vault's app says about the notes.
func (v *Vault) readAppSettings(ctx context.Context, root *os.Root) error {
	periodic, aside := readPeriodic(root), readAside(root)
	v.store.Periodic.Store(periodic)
	if before := v.store.Aside.Load(); before == nil || !before.Equal(aside) {
		v.store.Aside.Store(aside)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.store.SetDates(ctx, readDateRules(periodic, v.opt.Dates))
}

func walkError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return unavailable(err)
}

// suspiciouslyMany is how many notes must have vanished at once for a folder
// to be taken for the place of an unmounted disk and not for the user's wish.
const suspiciouslyMany = 10

// checkVault refuses to conclude anything from a folder that is not, or does
// not look like, the vault: an unmounted disk leaves a folder behind that is
// empty, or has what somebody wrote there meanwhile, which must not be taken for
// the deletion of all notes. Another folder that has most of them (a restored
// backup, a fresh clone, a disk that got another number) is the vault from now
// on.
func (v *Vault) checkVault(ctx context.Context, id fsid.Identity, w *walked, rows map[string]store.Row) error {
	recorded := v.disk.identity()
	replaced := id != recorded && recorded != fsid.Identity{}
	switch {
	case replaced && w.lacksMost(rows):
		return unavailable(errReplaced)
	case len(w.notes) == 0 && w.lacksMost(rows):
		return suddenly("is empty")
	case v.incident.get() != nil && w.lacksMost(rows): // the first notes are back
		return suddenly("lacks most of its notes")
	case id != recorded:
		return v.record(ctx, id)
	}
	return nil
}

func suddenly(what string) error {
	return &notes.Error{Op: "scan", Err: notes.ErrUnavailable, Detail: "the vault folder " + what + " all of a sudden",
		Hint: "Nothing was forgotten. If the notes were really deleted, run: notesd index --rebuild"}
}

// lacksMost reports whether most of the rows' notes, and suspiciously many, are
// not where they were.
func (w *walked) lacksMost(rows map[string]store.Row) bool {
	missing := len(rows)
	for _, f := range w.notes {
		if _, known := rows[f.Path]; known {
			missing--
		}
	}
	return missing >= suspiciouslyMany && missing > len(rows)/2
}

// compare fills in what differs between the walk and the rows.
func (p *plan) compare(w *walked) {
	seen := make(map[string]bool, len(w.notes))
	for _, f := range w.notes {
		seen[f.Path] = true
		if before, ok := p.passed[f.Path]; ok && before == (fsid.Stat{Size: f.Stat.Size, Mtime: f.Stat.Mtime, Ctime: f.Stat.Ctime}) {
			p.Kept = append(p.Kept, f.Path)
			continue
		}
		if r, ok := p.rows[f.Path]; !ok || r.DiskPath != f.DiskPath || !r.Unchanged(f.Stat) {
			p.changed = append(p.changed, f)
			if r.Stat != f.Stat { // else it was read too soon after its change, and is only read again
				p.differing++
			}
		}
	}
	p.spared = append(p.spared, w.unreadable...)
	for name, r := range p.rows {
		if !seen[name] && !p.isSpared(name) {
			p.gone = append(p.gone, r)
		}
	}
	p.Skipped = append(p.Skipped, w.skipped...)
	for _, dir := range w.unreadable {
		p.Skipped = append(p.Skipped, store.Skipped{Skipped: notes.Skipped{Path: dir, Reason: "the folder cannot be read"}})
	}
	p.Attachments = append(p.Attachments, w.attachments...)
	p.Targets = w.targets
	p.sort()
}

// sort puts the newest first: they are what is asked for while a first index
// is being built.
func (p *plan) sort() {
	slices.SortFunc(p.changed, func(a, b store.File) int {
		if a.Stat.Mtime != b.Stat.Mtime {
			return int(min(1, max(-1, b.Stat.Mtime-a.Stat.Mtime)))
		}
		return strings.Compare(a.Path, b.Path)
	})
}

func (v *Vault) planPaths(ctx context.Context, diskPaths []string) (*plan, error) {
	p := &plan{Scan: store.Scan{Looked: []string{}}, writes: v.writes.Load()}
	root, err := v.disk.open()
	if err != nil {
		if v.incident.set(err) {
			v.queue.addAll() // whoever met it: Run is what ends it
		}
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read from
	var places []string
	for _, diskPath := range v.symlinks.with(diskPaths) {
		diskPath = strings.Trim(path.Clean(diskPath), "/")
		name := norm.NFC.String(diskPath)
		if diskPath == "" || diskPath == "." || v.ignore.Match(name) {
			continue
		}
		places, p.Looked = append(places, diskPath), append(p.Looked, name)
	}
	if p.rows, err = v.store.Rows(ctx, p.Looked); err != nil {
		return nil, err
	}
	var w walked
	for _, diskPath := range places {
		for _, spelled := range p.spellings(root, diskPath) {
			if err := v.look(ctx, root, spelled, &w); err != nil {
				return nil, err
			}
		}
	}
	w.dropTwins()
	v.symlinks.found(w.symlinks, false)
	p.compare(&w)
	v.spareAwayBelow(root, p, w.mounts)
	return p, nil
}

// spellings returns diskPath and the other Unicode forms of it that have to be
// looked at with it: that of the file which is the note so far, and when there
// is no such file, those of its twins.
func (p *plan) spellings(root *os.Root, diskPath string) []string {
	name := norm.NFC.String(diskPath)
	spelled := []string{diskPath}
	if r, ok := p.rows[name]; ok {
		spelled = append(spelled, r.DiskPath)
	}
	if _, err := root.Lstat(diskPath); errors.Is(err, fs.ErrNotExist) {
		spelled = append(spelled, name, norm.NFD.String(name))
	}
	slices.Sort(spelled)
	return slices.Compact(spelled)
}

// look adds what is at diskPath, and below it, to w.
func (v *Vault) look(ctx context.Context, root *os.Root, diskPath string, w *walked) error {
	info, err := root.Lstat(diskPath)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsid.ErrNotDirectory):
		return nil // gone
	case err != nil:
		w.unreadable = append(w.unreadable, norm.NFC.String(diskPath))
		return nil
	case !fsid.SpelledSo(root, diskPath) || symlinkAbove(root, diskPath) != "":
		return nil // the disk answers to a name that is not there, or is not this file's own
	case !info.IsDir():
		one := &walker{ctx: ctx, top: root, ignore: v.ignore, out: w}
		one.file(path.Base(diskPath), diskPath, info)
		return nil
	}
	sub, err := walk(ctx, root, diskPath, v.ignore)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		w.unreadable = append(w.unreadable, norm.NFC.String(diskPath))
		return nil
	}
	w.notes = append(w.notes, sub.notes...)
	w.attachments = append(w.attachments, sub.attachments...)
	w.skipped = append(w.skipped, sub.skipped...)
	w.unreadable = append(w.unreadable, sub.unreadable...)
	w.symlinks = append(w.symlinks, sub.symlinks...)
	if w.targets == nil {
		w.targets = map[string]string{}
	}
	maps.Copy(w.targets, sub.targets)
	for folder, m := range sub.mounts {
		w.addMount(folder, m)
	}
	return nil
}

// plan is what a look at the disk found to be different from the store. It
// holds stats only; files are read when it is carried out, and looked at once
// more then, so a plan that has become old does no harm.
type plan struct {
	store.Scan
	changed    []store.File         // to be read
	differing  int                  // of changed, those that are known to differ
	gone       []store.Row          // no file has this name any more
	spared     []string             // folders that could not be looked at: what is not seen there is not gone
	rows       map[string]store.Row // what the store had
	passed     map[string]fsid.Stat // files that were read and found to be no notes
	deferLinks bool                 // links are resolved when it is carried out
	writes     uint64               // Vault.writes when the plan was made
}

// isSpared reports whether nothing may be concluded from the absence of a
// file at name.
func (p *plan) isSpared(name string) bool {
	return slices.ContainsFunc(p.spared, func(folder string) bool { return notes.Under(name, folder) })
}

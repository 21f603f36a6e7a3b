package notes

import (
	"bytes"
	"context"
	"errors"
	"path"
)

// undo removes temp files and folders of an operation that changed nothing.
func (d *placer) undo(ctx context.Context) error {
	errs := []error{d.discard(ctx)}
	for i := len(d.made) - 1; i >= 0; i-- {
		_ = d.root.Remove(d.made[i]) // fails when somebody has put a file in it: then it stays
	}
	return errors.Join(errs...)
}

func (d *placer) discardTemps(f *fileChange) error {
	var errs []error
	for _, place := range []string{f.dir(), f.stageDir(), path.Dir(f.oldDisk)} {
		dir, err := d.dir(place)
		if err != nil {
			continue // a folder that could not be opened holds no temp file of ours
		}
		errs = append(errs, dir.Discard(f.temp), dir.Discard(f.temp+".old"))
	}
	return errors.Join(errs...)
}

// discard removes the temp files: what was displaced, or what was to take its
// place. One that somebody wrote to while it had the note's name, or had open
// until now (an editor), is kept in history first.
func (d *placer) discard(ctx context.Context) error {
	var errs []error
	for i := range d.op.files {
		f := &d.op.files[i]
		if f.oldDisk != "" && !f.folder {
			d.rescue(ctx, f)
		}
		errs = append(errs, d.discardTemps(f))
	}
	return errors.Join(errs...)
}

// rescue keeps what is under a file's temp names and is neither its old text
// nor its new one, nor the beginning of that, as a crash leaves it.
func (d *placer) rescue(ctx context.Context, f *fileChange) {
	for _, displaced := range []string{path.Join(f.dir(), f.temp), path.Join(path.Dir(f.oldDisk), f.temp+".old")} {
		data, err := d.root.ReadFile(displaced)
		if err != nil || string(data) == string(f.old) || bytes.HasPrefix(f.new, data) {
			continue
		}
		if err := d.vault.store.keepText(ctx, f.oldPath, data, d.vault.opt.Now()); err != nil {
			d.vault.opt.Log.Error("a late save could not be kept", "note", f.oldPath, "err", err)
			continue
		}
		d.vault.opt.Log.Warn("a program went on writing to a note that notesd had just replaced; its version is in the note's history", "note", f.oldPath)
	}
}

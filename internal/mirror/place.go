package mirror

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path"
	"slices"

	"notesd/notes"
	"notesd/notes/store"
)

// work places a set of files.
type work struct {
	m      *Mirror
	bases  map[string]base
	record *record
	kind   string
	author notes.Author
	single bool // the files are unrelated

	steps []step
	newer []string // files whose version in the folder is to be committed
}

// step places one file, possibly with a conflict copy.
type step struct {
	store.FileChange
	sides *sides
	copy  string // name of the conflict copy
}

// path returns the file's path after the step, or before its removal.
func (s *step) path() string { return cmp.Or(s.NewPath, s.OldPath) }

func (s *step) isMove() bool { return s.OldPath != "" && s.OldPath != s.path() }

// later defers a file to a later comparison.
func (w *work) later(p string) { w.record.pending[p] = true }

// undone defers the files of a step to a later comparison.
func (w *work) undone(s step) {
	w.later(s.path())
	if s.isMove() {
		w.later(s.OldPath)
	}
}

// decide adds the steps for a file with three versions: the folder's, the log's, and the
// base, which both last had in common.
//
//   - If the folder and the log agree, their version becomes the base.
//   - If only the folder differs from the base, its version is committed to the log.
//   - If only the log differs from it, the log's version is placed, or the file removed.
//   - If both differ, a change takes precedence over a deletion. Of two changes the log's
//     gets the name; the folder's is kept beside it as a conflict copy and also committed.
//   - If the folder lacks a file that waited for this comparison, the log's version is placed:
//     it may have been removed while it was ignored here.
//
// Before a version is placed, it is recorded in the base as being placed: if the folder
// has that version after a crash, it counts as the base. A file that could not be read or
// is ignored waits for a later comparison.
func (w *work) decide(p string, s *sides) {
	b := w.bases[p]
	if s.here != "" && s.here == b.placing.hash { // placed before a crash, but not recorded
		b = base{hash: b.placing.hash, seq: b.placing.seq}
	}
	in := base{hash: s.log, seq: s.seq}
	remove := step{sides: s, FileChange: store.FileChange{OldPath: p, OldDisk: s.file.DiskPath, Old: s.data}}
	replace := remove
	replace.NewPath = p
	switch {
	case !s.readable || w.m.vault.Ignored(p):
		w.later(p)
	case s.here == s.log:
		w.record.base[p] = in
	case s.log == b.hash && (s.here != "" || !w.single): // changed in the folder only
		w.newer = append(w.newer, p)
	case s.here == "": // changed there, and possibly deleted here: the change wins
		w.steps = append(w.steps, step{sides: s, FileChange: store.FileChange{NewPath: p}})
	case s.here == b.hash && s.log == "":
		w.steps = append(w.steps, remove)
	case s.here == b.hash:
		w.steps = append(w.steps, replace)
	case s.log == "": // deleted there, changed here: the change wins
		w.record.base[p] = base{}
		w.newer = append(w.newer, p)
	default:
		replace.copy = p
		w.steps = append(w.steps, replace)
	}
}

// do places the files in operations of limited size.
func (w *work) do(ctx context.Context) error {
	if w.single {
		slices.SortStableFunc(w.steps, func(a, b step) int { return cmp.Compare(a.sides.by, b.sides.by) })
	}
	for rest := w.steps; len(rest) > 0; {
		n, err := w.load(ctx, rest)
		if err != nil {
			return err
		}
		if w.single {
			w.author.Name = cmp.Or(rest[0].sides.by, w.m.opt.Author.Name)
		}
		if err := w.doTogether(ctx, rest[:n]); err != nil {
			return err
		}
		clear(rest[:n]) // frees the texts
		rest = rest[n:]
	}
	return nil
}

// load fetches the new texts of the steps that are placed together: all of them, or, if the
// files are unrelated, as many of the first ones as have one author and a limited size. It
// returns their number.
func (w *work) load(ctx context.Context, steps []step) (n int, err error) {
	if w.single {
		steps = steps[:min(len(steps), stepFiles)]
		if other := slices.IndexFunc(steps, func(s step) bool { return s.sides.by != steps[0].sides.by }); other > 0 {
			steps = steps[:other]
		}
	}
	needs := func(s step) bool { return s.NewPath != "" && (!s.isMove() || s.sides.log != notes.Hash(s.Old)) }
	texts := map[string][]byte{}
	for ; n < len(steps); n++ {
		s := &steps[n]
		if !needs(*s) {
			if s.NewPath != "" {
				s.New = s.Old
			}
			continue
		}
		if _, fetched := texts[s.sides.log]; !fetched {
			if w.single && len(texts) > 0 {
				break // the next operation
			}
			var missing []string
			for _, s := range steps[n:] {
				if len(missing) < stepFiles && needs(s) && !slices.Contains(missing, s.sides.log) {
					missing = append(missing, s.sides.log)
				}
			}
			some, err := w.m.log.Contents(ctx, missing)
			if err != nil {
				return 0, err
			}
			maps.Copy(texts, some)
		}
		s.New = texts[s.sides.log]
	}
	return n, nil
}

// doTogether places files as one operation; if that fails, it places unrelated files one
// by one.
func (w *work) doTogether(ctx context.Context, group []step) error {
	err := w.placeSteps(ctx, group)
	if err == nil || errors.Is(err, notes.ErrUnavailable) || ctx.Err() != nil {
		return err
	}
	if len(group) > 1 && w.single {
		for _, s := range group {
			if err := w.doTogether(ctx, []step{s}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(group) == 1 && !errors.Is(err, notes.ErrConflict) && !errors.Is(err, notes.ErrExists) {
		w.m.status.problem(group[0].path(), reasonOf(err, err.Error()))
	}
	for _, s := range group {
		w.undone(s)
	}
	return nil
}

// placeSteps places files and conflict copies as one operation of the vault, and records what
// the folder has then. Steps that conflict with a concurrent save are compared again later.
func (w *work) placeSteps(ctx context.Context, group []step) error {
	var all, copies []store.FileChange
	moved := map[[2]string][]string{}
	for i := range group {
		s := &group[i]
		all = append(all, s.FileChange)
		if s.isMove() {
			between := folderMove(s.OldPath, s.path())
			moved[between] = append(moved[between], s.OldDisk)
		}
		if s.copy == "" {
			continue
		}
		holding, err := w.m.log.Holding(ctx, s.sides.here)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(holding, func(p string) bool { return isCopyOf(p, s.path()) }) { // another node's, after the database was restored
			s.copy = ""
			continue
		}
		if s.copy, err = w.freeCopy(ctx, s.path()); err != nil {
			return err
		}
		copies = append(copies, store.FileChange{NewPath: s.copy, New: s.Old, Author: w.m.opt.Author})
	}
	var emptied []string
	for folders, files := range moved {
		if len(files) == 1 {
			continue // of a note: its folder may be there on the author's node
		}
		for _, file := range files {
			for dir := path.Dir(file); dir != "." && notes.Under(notes.Nfc(dir), folders[0]); dir = path.Dir(dir) {
				emptied = append(emptied, dir)
			}
		}
	}
	slices.Sort(emptied)
	written, err := w.m.vault.Replica().Place(ctx, w.kind, w.author, slices.Concat(all, copies), slices.Compact(emptied)...)
	if err != nil {
		return err
	}
	if w.m.opt.Placed != nil {
		var placed []string
		for _, s := range group {
			placed = append(placed, s.NewPath, s.OldPath)
		}
		w.m.opt.Placed(placed)
	}
	for _, s := range group {
		if slices.Contains(written.Conflicts, s.path()) || s.OldPath != "" && slices.Contains(written.Conflicts, s.OldPath) {
			w.undone(s)
			continue
		}
		if s.NewPath == "" {
			w.record.base[s.path()] = base{}
		} else {
			w.record.base[s.path()] = base{hash: s.sides.log, seq: s.sides.seq}
		}
		if s.isMove() {
			w.record.base[s.OldPath] = base{}
		}
		if s.copy != "" {
			w.m.status.conflict(s.copy)
			w.newer = append(w.newer, s.copy)
		}
	}
	return nil
}

// folderMove returns the folders between which a file moves, without the elements that
// the ends of the two paths have in common.
func folderMove(from, to string) [2]string {
	for from != "." && to != "." && path.Base(from) == path.Base(to) {
		from, to = path.Dir(from), path.Dir(to)
	}
	if from == "." {
		from = ""
	}
	return [2]string{from, to}
}

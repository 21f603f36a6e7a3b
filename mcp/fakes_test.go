package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"notesd/notes"
	"notesd/search"
)

// fakeVault is a vault in memory. It does as the real one where tests of this
// package depend on it, and knows nothing of links or history.
type fakeVault struct {
	mu       sync.Mutex
	notes    map[string]*notes.Note
	lastID   int64
	seq      uint64
	scanning bool
	dirs     map[string]string // the vault's folders; nil: it is one

	read func(ctx context.Context, ref string) error // what Read does first, if set
}

var started = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func newFakeVault(files map[string]string) *fakeVault {
	v := &fakeVault{notes: make(map[string]*notes.Note)}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		v.put(p, files[p])
	}
	return v
}

var (
	h1Line   = regexp.MustCompile(`(?m)^# (.+)$`)
	headLine = regexp.MustCompile(`^(#{1,6}) (.+)$`)
	tagWord  = regexp.MustCompile(`(?:^|\s)#([a-z/]+)`)
)

// put makes the note at p what content says, as if it had been saved a minute
// after the one before.
func (v *fakeVault) put(p, content string) *notes.Note {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seq++
	sum := sha256.Sum256([]byte(content))
	n := &notes.Note{
		Path: p, Seq: v.seq, Content: content, Hash: hex.EncodeToString(sum[:]), Size: int64(len(content)),
		Title: strings.TrimSuffix(path.Base(p), ".md"), Modified: started.Add(time.Duration(v.seq) * time.Minute),
	}
	n.Date = n.Modified
	n.Chunks = []notes.Chunk{{End: len(content)}}
	if old := v.notes[p]; old != nil {
		n.ID = old.ID
	} else {
		v.lastID++
		n.ID = v.lastID
	}
	if m := h1Line.FindStringSubmatch(content); m != nil {
		n.Title = m[1]
	}
	for i, line := range strings.Split(content, "\n") {
		if m := headLine.FindStringSubmatch(line); m != nil {
			n.Headings = append(n.Headings, notes.Heading{Level: len(m[1]), Text: m[2], Line: i + 1})
		}
	}
	for _, m := range tagWord.FindAllStringSubmatch(content, -1) {
		n.Tags = append(n.Tags, m[1])
	}
	v.notes[p] = n
	return n
}

func (v *fakeVault) Ready() bool { return !v.scanning }

func (v *fakeVault) WhyNothing(context.Context, notes.Filter) ([]string, error) { return nil, nil }

func (v *fakeVault) Refresh(context.Context, string) error { return nil }

func (v *fakeVault) Period(words string, now time.Time) (notes.Period, bool) {
	return (&notes.Periodic{}).Parse(words, now)
}

func (v *fakeVault) Ignored(p string) bool { return strings.HasPrefix(p, ".") }

func (v *fakeVault) find(op, ref string, scope notes.Scope) (*notes.Note, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if notes.IsURI(ref) {
		p, err := notes.ParseURI(ref)
		if err != nil {
			return nil, err
		}
		ref = p
	}
	var found []*notes.Note
	for _, p := range slices.Sorted(maps.Keys(v.notes)) {
		n := v.notes[p]
		if !inScope(p, scope.Read) {
			continue
		}
		if p == ref || p == ref+".md" {
			return n, nil
		}
		if strings.EqualFold(n.Title, ref) {
			found = append(found, n)
		}
	}
	e := &notes.Error{Op: op, Path: ref, Err: notes.ErrNotFound, Detail: "there is no such note"}
	if len(found) > 1 {
		e.Err, e.Detail = notes.ErrAmbiguous, "several notes are called that"
		for _, n := range found {
			e.Candidates = append(e.Candidates, n.Path)
		}
	}
	if len(found) != 1 {
		return nil, e
	}
	return found[0], nil
}

func inScope(p string, folders []string) bool {
	return folders == nil || notes.InAny(p, folders)
}

func (v *fakeVault) Lookup(_ context.Context, ref string, scope notes.Scope) (notes.Meta, error) {
	n, err := v.find("find", ref, scope)
	if err != nil {
		return notes.Meta{}, err
	}
	return metaOf(n), nil
}

func (v *fakeVault) Read(ctx context.Context, ref string, scope notes.Scope) (*notes.Note, error) {
	if v.read != nil {
		if err := v.read(ctx, ref); err != nil {
			return nil, err
		}
	}
	return v.find("read", ref, scope)
}

func metaOf(n *notes.Note) notes.Meta {
	return notes.Meta{ID: n.ID, Path: n.Path, Title: n.Title, Hash: n.Hash, Size: n.Size,
		Modified: n.Modified, Date: n.Date, Tags: n.Tags, Seq: n.Seq}
}

// Tasks returns the open tasks of all notes.
func (v *fakeVault) Tasks(_ context.Context, q notes.TaskQuery) (notes.TaskPage, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	page := notes.TaskPage{Tasks: []notes.Task{}}
	for _, n := range v.notes {
		for _, t := range notes.Parse(n.Path, []byte(n.Content), n.Modified).Tasks {
			if t.Status.IsOpen() && q.Scope.CanRead(n.Path) {
				t.Path, t.Hash = n.Path, n.Hash
				page.Tasks = append(page.Tasks, t)
			}
		}
	}
	page.Total = len(page.Tasks)
	page.Tasks = page.Tasks[:min(q.Limit, len(page.Tasks))]
	return page, nil
}

func (v *fakeVault) List(_ context.Context, q notes.ListQuery) (notes.ListPage, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var list []notes.Meta
	for _, n := range v.notes {
		if v.selects(q.Filter, n) {
			list = append(list, metaOf(n))
		}
	}
	slices.SortFunc(list, func(a, b notes.Meta) int {
		if q.Sort == "path" {
			return strings.Compare(a.Path, b.Path)
		}
		return cmp.Compare(b.Seq, a.Seq)
	})
	page := notes.ListPage{Total: len(list), Notes: []notes.Meta{}}
	if q.Cursor != "" {
		seq, err := strconv.ParseUint(q.Cursor, 10, 64)
		if err != nil {
			return page, &notes.Error{Op: "list", Err: notes.ErrInvalid, Detail: "the cursor is not one that this list returned"}
		}
		list = slices.DeleteFunc(list, func(m notes.Meta) bool { return m.Seq >= seq })
	}
	if q.Limit > 0 && len(list) > q.Limit {
		list = list[:q.Limit]
		page.Next = strconv.FormatUint(list[q.Limit-1].Seq, 10)
	}
	page.Notes = append(page.Notes, list...)
	return page, nil
}

func (v *fakeVault) selects(f notes.Filter, n *notes.Note) bool {
	if !inScope(n.Path, f.Scope) || !notes.InAny(n.Path, []string{f.Folder}) || (!f.After.IsZero() && n.Date.Before(f.After)) {
		return false
	}
	for _, tag := range f.Tags {
		if !slices.Contains(n.Tags, tag) {
			return false
		}
	}
	return true
}

func (v *fakeVault) Create(_ context.Context, r notes.CreateRequest) (notes.Written, error) {
	p := r.Path
	if p == "" {
		p = path.Join(r.Folder, notes.FileName(r.Title))
	}
	v.mu.Lock()
	_, exists := v.notes[p]
	v.mu.Unlock()
	if exists {
		return notes.Written{}, &notes.Error{Op: "create", Path: p, Err: notes.ErrExists, Hint: "Use edit_note to change it."}
	}
	n := v.put(p, "# "+r.Title+"\n\n"+r.Content)
	return notes.Written{Path: p, Title: r.Title, Hash: n.Hash, Revision: 1, Seq: n.Seq}, nil
}

func (v *fakeVault) Edit(_ context.Context, r notes.EditRequest) (notes.Written, error) {
	n, err := v.find("edit", r.Note, r.Scope)
	if err != nil {
		return notes.Written{}, err
	}
	text := n.Content
	for _, e := range r.Edits {
		text = strings.Replace(text, e.Old, e.New, 1) + e.Content
	}
	w := notes.Written{Path: n.Path, Title: n.Title, Hash: n.Hash, Diff: "-" + n.Content + "+" + text}
	if !r.DryRun {
		n = v.put(n.Path, text)
		w.Hash, w.Revision = n.Hash, int64(n.Seq)
	}
	return w, nil
}

func (v *fakeVault) Repeated(context.Context, string) (bool, error) { return false, nil }

func (v *fakeVault) Delete(_ context.Context, r notes.DeleteRequest) (notes.Deletion, error) {
	n, err := v.find("delete", r.Note, r.Scope)
	if err != nil {
		return notes.Deletion{}, err
	}
	if r.ExpectedHash != "" && r.ExpectedHash != n.Hash {
		return notes.Deletion{}, &notes.Error{Op: "delete", Path: n.Path, Err: notes.ErrConflict, Hash: n.Hash, Diff: "-then\n+now"}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.notes, n.Path)
	return notes.Deletion{Written: notes.Written{Path: n.Path, Revision: 9}, LinkedFrom: []string{"Index.md"}}, nil
}

func (v *fakeVault) Move(_ context.Context, r notes.MoveRequest) (notes.Written, error) {
	n, err := v.find("move", r.Note, r.Scope)
	if err != nil {
		return notes.Written{}, err
	}
	w := notes.Written{Path: r.To, OldPath: n.Path, Title: n.Title, Hash: n.Hash}
	if r.UpdateLinks {
		w.Relinked, w.Conflicts = []string{"Index.md"}, []string{"Busy.md"}
	}
	if !r.DryRun {
		v.mu.Lock()
		delete(v.notes, n.Path)
		v.mu.Unlock()
		w.Revision = int64(v.put(r.To, n.Content).Seq)
	}
	return w, nil
}

func (v *fakeVault) Links(_ context.Context, ref string, q notes.LinkQuery) (notes.LinkReport, error) {
	n, err := v.find("list links of", ref, q.Scope)
	if err != nil {
		return notes.LinkReport{}, err
	}
	return notes.LinkReport{
		Path:       n.Path,
		Outgoing:   []notes.LinkedNote{{From: n.Path, To: "Garden/Beds.md", Kind: notes.LinkWiki, Target: "Beds", Line: 2, Depth: 1}},
		Backlinks:  []notes.LinkedNote{{From: "Garden/Plan.md", To: n.Path, Kind: notes.LinkWiki, Target: n.Title, Line: 3, Context: "see [[it]]", Depth: 1}},
		Unresolved: []notes.LinkedNote{{From: n.Path, Target: "Nowhere", Line: 4, Depth: 1}},
	}, nil
}

func (v *fakeVault) Attachment(_ context.Context, ref string, _ notes.Scope) (notes.Attachment, error) {
	return notes.Attachment{}, &notes.Error{Op: "read", Path: ref, Err: notes.ErrNotFound, Detail: "there is no such attachment"}
}

func (v *fakeVault) Attachments(context.Context, string, notes.Scope) ([]notes.Attachment, error) {
	return []notes.Attachment{}, nil
}

func (v *fakeVault) Revisions(_ context.Context, q notes.HistoryQuery) (notes.HistoryPage, error) {
	n, err := v.find("history", q.Note, q.Scope)
	if err != nil {
		return notes.HistoryPage{}, err
	}
	return notes.HistoryPage{Revisions: []notes.Revision{{Revision: 3, Time: n.Modified, Author: notes.Outside, Operation: "seen", Path: n.Path, Hash: n.Hash, Size: n.Size, Added: 1}}}, nil
}

func (v *fakeVault) Revision(ctx context.Context, ref string, _ int64, scope notes.Scope) (*notes.Note, error) {
	return v.Read(ctx, ref, scope)
}

func (v *fakeVault) ReadAt(ctx context.Context, ref string, _ time.Time, scope notes.Scope) (*notes.Note, error) {
	return v.Read(ctx, ref, scope)
}

func (v *fakeVault) At(context.Context, time.Time, notes.Filter, func(*notes.Note) error) (bool, error) {
	return true, nil
}

func (v *fakeVault) Diff(context.Context, string, int64, int64, notes.Scope) (string, error) {
	return "", nil
}

func (v *fakeVault) Restore(_ context.Context, r notes.RestoreRequest) (notes.Written, error) {
	n, err := v.find("restore", r.Note, r.Scope)
	if err != nil {
		return notes.Written{}, err
	}
	return notes.Written{Path: n.Path, Title: n.Title, Hash: n.Hash, Was: n.Hash}, nil
}

func (v *fakeVault) RenameTag(context.Context, notes.RenameTagRequest) (notes.Written, error) {
	return notes.Written{}, nil
}

func (v *fakeVault) Version(context.Context, string, string, notes.Scope) ([]byte, error) {
	return nil, nil
}

func (v *fakeVault) Status(context.Context) (notes.Status, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	dirs := v.dirs
	if dirs == nil {
		dirs = map[string]string{"": "/home/ann/vault"}
	}
	return notes.Status{Root: "/home/ann/vault", Dirs: dirs, Notes: len(v.notes), Seq: v.seq, Scanning: v.scanning, Incomplete: v.scanning, Scanned: len(v.notes), ToScan: len(v.notes)}, nil
}

func (v *fakeVault) Tags(_ context.Context, scope notes.Scope) ([]notes.TagCount, error) {
	return countBy(v, scope, func(n *notes.Note) []string { return n.Tags }, func(tag string, n int) notes.TagCount {
		return notes.TagCount{Tag: tag, Notes: n}
	}), nil
}

func (v *fakeVault) Folders(_ context.Context, scope notes.Scope) ([]notes.FolderCount, error) {
	return countBy(v, scope, func(n *notes.Note) []string {
		return []string{strings.TrimPrefix(path.Dir(n.Path), ".")}
	}, func(folder string, n int) notes.FolderCount { return notes.FolderCount{Folder: folder, Notes: n} }), nil
}

func countBy[T any](v *fakeVault, scope notes.Scope, keys func(*notes.Note) []string, make func(string, int) T) []T {
	v.mu.Lock()
	defer v.mu.Unlock()
	counts := map[string]int{}
	for p, n := range v.notes {
		if inScope(p, scope.Read) {
			for _, k := range keys(n) {
				counts[k]++
			}
		}
	}
	var out []T
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, make(k, counts[k]))
	}
	return out
}

// fakeSearch finds the notes that hold the query's words, in the order of their
// paths.
type fakeSearch struct{ vault *fakeVault }

func (f fakeSearch) Search(_ context.Context, q search.Query) (search.Result, error) {
	f.vault.mu.Lock()
	defer f.vault.mu.Unlock()
	res := search.Result{Semantic: search.Coverage{State: search.StateOff}}
	res.Index.Ready = !f.vault.scanning
	if f.vault.scanning {
		res.Index.Indexed, res.Index.Notes = 1, 3
		res.Notes = []string{"index is still being built: 1 of 3 notes"}
	}
	for _, p := range slices.Sorted(maps.Keys(f.vault.notes)) {
		n := f.vault.notes[p]
		if !f.vault.selects(q.Filter, n) {
			continue
		}
		for i, line := range strings.Split(n.Content, "\n") {
			if strings.Contains(strings.ToLower(line), strings.ToLower(q.Text)) {
				h := search.Hit{NoteID: n.ID, Path: p, Title: n.Title, LineStart: i + 1, LineEnd: i + 1, Snippet: line, Score: 1}
				h.Why = search.Why{TextRank: len(res.Hits) + 1, Terms: []string{strings.ToLower(q.Text)}}
				res.Hits = append(res.Hits, h)
				break
			}
		}
	}
	res.Total = len(res.Hits)
	if len(res.Hits) > q.Limit {
		res.Hits, res.Truncated = res.Hits[:q.Limit], true
	}
	return res, nil
}

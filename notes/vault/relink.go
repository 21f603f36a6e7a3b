package vault

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"notesd/internal/canvas"
	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// linksAround resolves links as they are before and after a move. Deleting a note and
// redirecting its links to another is handled as a move onto that note.
//
// A link is resolved among the files whose name is its last segment, so a move can change
// where links lead in three ways: a link to the moved file no longer finds it; a relative
// link in a moved note starts from another folder; and a link to another file of the same
// name may now find the moved one. The last two need no link to the moved file. Therefore
// the candidates of every link key are kept both as before the move and as after it, and
// each link of each affected note is resolved with both. If the results differ, spellings
// are tried, the most similar to the present one first, until one resolves, after the move,
// to the file that the link led to. The rewritten note is parsed again and compared: only
// targets may have changed. A link that led to no file, or to several, is left as it is.
type linksAround struct {
	move   *movement
	notes  []string                  // paths of the notes with links that may need rewriting
	before map[string][]store.Target // candidates by link key
	after  map[string][]store.Target
}

// newLinksAround collects every note that moves, and every note with a link whose last
// segment is the old or new name of a moved file. A link to the new name may now find the
// moved file instead of another.
func newLinksAround(m *movement) (*linksAround, error) {
	affected := map[string]bool{}
	linking, targets, err := m.v.store.LinksTo(m.ctx, slices.AppendSeq(slices.Collect(maps.Keys(m.paths)), maps.Values(m.paths))...)
	for p := range m.rows {
		affected[p] = true
	}
	for _, p := range linking {
		affected[p] = true
	}
	l := &linksAround{move: m, notes: slices.Sorted(maps.Keys(affected)), before: targets, after: map[string][]store.Target{}}
	for key, all := range targets {
		for _, t := range all {
			switch to := m.after(t.Path); {
			case to == t.Path:
				l.after[key] = append(l.after[key], t)
			case m.first.NewPath == "": // deleted; its replacement is a candidate itself
			case key == store.LinkKey(t.Path): // only under one of its keys
				m.v.store.AddTarget(l.after, store.LinkKey(to), store.Target{ID: t.ID, Path: to, Permalink: t.Permalink, Aliases: t.Aliases})
			}
		}
	}
	for _, all := range l.after {
		slices.SortFunc(all, func(a, b store.Target) int { return cmp.Compare(a.Path, b.Path) })
	}
	return l, err
}

// rewrite returns the text of the note at notePath, with every link that the move would
// break or divert rewritten to lead where it led. If a link cannot be written that way, the
// error is an [*notes.Error] with [notes.ErrInvalid].
func (l *linksAround) rewrite(notePath string, text []byte) (rewritten []byte, err error) {
	doc := markdown.Parse(text)
	rewritten = edit.RewriteLinks(text, doc, func(link markdown.Link) (string, bool) {
		was, leads := l.keeps(notePath, link)
		if leads == nil || leads(link.Target) || l.isAlias(notePath, text, doc, link) {
			return "", false
		}
		if spelled, ok := l.respell(notePath, link, was, leads); ok {
			return spelled, true
		}
		want := l.move.after(was.Path)
		err = &notes.Error{Op: l.move.Kind, Path: l.move.first.OldPath, Err: notes.ErrInvalid, Detail: fmt.Sprintf("a link in %s, to %s, cannot be written as one to %s", notes.Quote(notePath), notes.Quote(link.Target), notes.Quote(want)),
			Hint: "Choose a path without # ^ [ ] and |, or " + l.move.without() + ", and that link will be broken."}
		return "", false
	})
	if err != nil || bytes.Equal(text, rewritten) {
		return rewritten, err
	}
	return rewritten, l.checkOutcome(notePath, text, doc, rewritten)
}

// isAlias reports whether a link is written as an alias of its own page: "alias:: [[ML]]" in Logseq.
func (l *linksAround) isAlias(notePath string, text []byte, doc *markdown.Document, link markdown.Link) bool {
	if link.Start >= doc.PropertiesEnd || l.move.v.store.PageTitle(notePath) == "" {
		return false
	}
	line := text[bytes.LastIndexByte(text[:link.Start], '\n')+1:]
	return aliasLine.Match(line)
}

var aliasLine = regexp.MustCompile(`^[ \t]*(?:- )?alias::`)

// keeps returns the file that a link of the note leads to before the move, and a function
// that reports whether a target, in place of the link's, would lead to that file after the
// move. The function is nil if the link leads to no file.
func (l *linksAround) keeps(notePath string, link markdown.Link) (was store.Target, leads func(spelled string) bool) {
	if link.External || link.Target == "" {
		return store.Target{}, nil
	}
	kind := link.Kind
	was, state := l.move.v.store.ChooseTarget(notePath, link.Target, kind, l.before[store.LinkKey(link.Target)])
	if scope, near := l.move.scope, path.Join(path.Dir(notePath), link.Target); scope.CanRead(notePath) && !scope.CanRead(near) && (isMarkdownLink(kind) || strings.HasPrefix(link.Target, "../")) {
		return store.Target{Path: near}, func(spelled string) bool { return path.Join(path.Dir(l.move.after(notePath)), spelled) == near }
	}
	if state != store.LinkResolved && state != store.LinkAttachment || !l.move.scope.CanRead(was.Path) {
		return store.Target{}, nil
	}
	from, want := l.move.after(notePath), l.move.after(was.Path)
	// A relative link that was correct for every renderer must remain so, not only for those
	// that search for the name elsewhere as Obsidian does.
	exact := store.IsRelative(link.Target, kind) && relativeTo(notePath, link.Target, was.Path) && l.move.v.store.FolderOf(from) == l.move.v.store.FolderOf(want)
	shortest := l.isShortest(notePath, link.Target, kind, was.Path, l.before) && !strings.ContainsAny(want, "#^[]|")
	leadsToWant := func(spelled string) bool {
		t, state := l.move.v.store.ChooseTarget(from, spelled, kind, l.after[store.LinkKey(spelled)])
		return (state == store.LinkResolved || state == store.LinkAttachment) && t.Path == want && (!shortest || l.isShortest(from, spelled, kind, want, l.after))
	}
	if was.IsAt(link.Target, kind) {
		stays := l.move.first.NewPath != "" && l.move.v.store.FolderOf(from) == l.move.v.store.FolderOf(want)
		return was, func(spelled string) bool { return stays && spelled == link.Target || leadsToWant(spelled) }
	}
	// So must one from the root of the vault, or of a site that is a folder of it, unless a file
	// elsewhere has that path.
	root, rooted := rootOf(link.Target, was.Path)
	rooted = rooted && notes.Under(want, root) && leadsToWant("/"+inFolder(want, root))
	// A link with the file's name must keep it, ignoring only case: to Obsidian, "ss" and "ß" differ.
	named := sameName(link.Target, was.Path) && l.move.v.store.PageTitle(want) == ""
	return was, func(spelled string) bool {
		return leadsToWant(spelled) && (!exact || relativeTo(from, spelled, want)) && (!rooted || isFrom(root, spelled, want)) && (!named || sameName(spelled, want) || namesFolder(spelled, store.Target{Path: want}))
	}
}

// isShortest reports whether a link of the note at from leads to the file at want in Obsidian as
// well, which prefers a file at or below the folder of the note, and then the shortest path, where
// [store.Layout.ChooseTarget] prefers the nearest.
func (l *linksAround) isShortest(from, link string, kind notes.LinkKind, want string, candidates map[string][]store.Target) bool {
	s, key := l.move.v.store, notes.Key(link)
	if store.IsRelative(link, kind) || strings.HasPrefix(link, "/") || s.PageTitle(want) != "" || store.SamePath(notes.Key(inFolder(want, s.FolderOf(want))), key) {
		return true
	}
	rank := func(p string) int {
		if notes.Under(p, path.Dir(from)) {
			return utf8.RuneCountInString(p)
		}
		return utf8.RuneCountInString(p) + 1<<20
	}
	return !slices.ContainsFunc(candidates[store.LinkKey(link)], func(t store.Target) bool {
		if t.Path == want || rank(t.Path) > rank(want) || s.FolderOf(t.Path) != s.FolderOf(from) {
			return false
		}
		p := notes.Key(t.Path)
		return strings.HasSuffix("/"+p, "/"+key) || strings.HasSuffix("/"+notes.Stem(p), "/"+key)
	})
}

// sameName reports whether a link has the file name of p, ignoring case.
func sameName(link, p string) bool {
	name := func(s string) string { return strings.ToLower(notes.Nfc(notes.Stem(path.Base(s)))) }
	return name(link) == name(p)
}

// checkOutcome parses a rewritten note again and checks that each of its links leads where
// it led before, and that nothing but targets differs.
func (l *linksAround) checkOutcome(notePath string, text []byte, doc *markdown.Document, rewritten []byte) error {
	after := markdown.Parse(rewritten)
	astray := ""
	if !edit.SameBesidesTargets(text, doc, rewritten, after) {
		astray = "the links"
	} else {
		for i, link := range doc.Links {
			_, leads := l.keeps(notePath, link)
			if l.isAlias(notePath, text, doc, link) {
				leads = nil
			}
			if is := after.Links[i].Target; leads == nil && is != link.Target || leads != nil && !leads(is) {
				astray = "the link to " + notes.Quote(link.Target)
				break
			}
		}
	}
	if astray == "" {
		return nil
	}
	return &notes.Error{Op: l.move.Kind, Path: l.move.first.OldPath, Err: notes.ErrInvalid, Detail: fmt.Sprintf("%s in %s cannot be rewritten without changing something else", astray, notes.Quote(notePath)),
		Hint: "Write that link in another way first, or " + l.move.without() + ", and it will be broken."}
}

// respell returns a target that leads to the same file as the link did; leads is the
// function returned by keeps.
func (l *linksAround) respell(notePath string, link markdown.Link, was store.Target, leads func(spelled string) bool) (string, bool) {
	want := l.move.after(was.Path)
	spellings := l.spellings(notePath, link, was, want)
	slash := link.Target[len(strings.TrimSuffix(link.Target, "/")):]
	if namesFolder(link.Target, was) {
		spellings = append(l.spellings(notePath, link, was, store.FolderOfIndex(want)+slash), spellings...)
	}
	for _, spelled := range spellings {
		if !notes.IsNoteName(spelled) && !strings.HasSuffix(spelled, "/") {
			spelled += slash // a site shows the page Alpha.md as Alpha/
		}
		if leads(spelled) && edit.CanTarget(link, spelled) {
			return spelled, true
		}
	}
	return "", false
}

// spellings returns ways to write a link of the note at notePath, which led to was, as one to
// want after the move, most similar to the present spelling first.
func (l *linksAround) spellings(notePath string, present markdown.Link, was store.Target, want string) []string {
	link, kind, from := present.Target, present.Kind, l.move.after(notePath)
	title := l.move.v.store.PageTitle(want)
	if was.ID != 0 && !notes.IsNoteName(link) && !namesFolder(link, was) { // 0: a file out of scope, see keeps
		want = notes.Stem(want)
	}
	name, relative, absolute := path.Base(want), relativePath(path.Dir(from), want), want
	if folder := l.move.v.store.FolderOf(from); folder != "" {
		absolute = strings.TrimPrefix(want, folder+"/")
	}
	dotted := relative
	if !strings.HasPrefix(dotted, "../") {
		dotted = "./" + dotted
	}
	switch {
	case title != "" && !store.IsRelative(link, kind):
		return []string{title, name, absolute}
	case strings.HasPrefix(link, "/"):
		spelled := []string{"/" + absolute, absolute, relative}
		if root, ok := rootOf(link, was.Path); ok && notes.Under(want, root) {
			spelled = slices.Insert(spelled, 0, "/"+inFolder(want, root))
		}
		return spelled
	case strings.HasPrefix(link, "./"):
		return []string{dotted, relative, absolute}
	case strings.HasPrefix(link, "../"):
		return []string{relative, dotted, absolute} // "Alpha" may lead to another note, in the root
	case isMarkdownLink(kind) && relativeTo(notePath, link, was.Path):
		return []string{relative, dotted, absolute, "/" + absolute}
	case !strings.Contains(link, "/"):
		return []string{name, absolute, relative, dotted}
	}
	return []string{absolute, relative, dotted}
}

// namesFolder reports whether a link to an index note names its folder instead.
func namesFolder(link string, was store.Target) bool {
	return store.LinkKey(link) == notes.Key(path.Base(store.FolderOfIndex(was.Path)))
}

func isMarkdownLink(kind notes.LinkKind) bool {
	return kind == markdown.LinkMarkdown || kind == markdown.LinkImage
}

// relativeTo reports whether link, relative to the folder of the note at from, is the path
// of the file at p.
func relativeTo(from, link, p string) bool {
	to := path.Join(path.Dir(from), link)
	return !strings.HasPrefix(link, "/") && (store.SamePath(p, to) || store.FolderOfIndex(p) == to)
}

// rootOf returns the folder, "" for the vault, from which a link that begins with "/" is the
// path of the file at p.
func rootOf(link, p string) (root string, ok bool) {
	for _, name := range []string{p, notes.Stem(p), store.FolderOfIndex(p)} {
		if root, ok := strings.CutSuffix("/"+name, strings.TrimSuffix(link, "/")); ok && strings.HasPrefix(link, "/") {
			return strings.TrimPrefix(root, "/"), true
		}
	}
	return "", false
}

// isFrom reports whether a link is the path of the file at p from the folder root.
func isFrom(root, link, p string) bool {
	from, ok := rootOf(link, p)
	return ok && from == root
}

// relativePath returns the path of p relative to the folder dir.
func relativePath(dir, p string) string {
	from, to := store.Segments(dir), strings.Split(p, "/")
	common := store.CommonLength(from, to[:len(to)-1])
	return strings.Repeat("../", len(from)-common) + strings.Join(to[common:], "/")
}

// follow returns the text of a canvas or base with its paths updated for the move, or nil
// if that is not possible.
func (l *linksAround) follow(name string, text []byte) []byte {
	if !isCanvas(name) {
		return l.followBase(name, text)
	}
	return canvas.Edit(name, text, l.rewrite, func(_, key, value string) (string, error) {
		if key == "file" || key == "background" {
			return l.path(name, value)
		}
		return value, nil
	})
}

// path returns the path after the move for a path in the file called name. If the vault has
// several folders, such paths are relative to the file's own.
func (l *linksAround) path(name, p string) (string, error) {
	from, to := l.move.v.store.FolderOf(name), l.move.v.store.FolderOf(l.move.after(name))
	if from == "" {
		return l.move.after(p), nil
	}
	full := from + "/" + p
	moved := l.move.after(full)
	switch {
	case moved == full && from == to:
		return p, nil
	case notes.Under(moved, to):
		return inFolder(moved, to), nil
	}
	return "", errOtherFolder
}

// followBase updates the paths in inFolder(…), hasLink(…), link(…) and file(…), and those
// that file.folder and file.path are compared with.
func (l *linksAround) followBase(name string, text []byte) []byte {
	broken := func(text []byte) bool {
		return markdown.Parse(append(append([]byte("---\n"), text...), "\n---\n"...)).FrontMatter.Err != nil
	}
	if broken(text) {
		return nil
	}
	out, possible := text, true
	for kind, pattern := range basePaths {
		var next []byte
		at := 0
		for _, m := range pattern.FindAllSubmatchIndex(out, -1) {
			was := string(out[m[2]:m[3]])
			var to string
			if kind == "link" {
				to = l.followLink(name, was)
			} else {
				moved, err := l.path(name, was)
				to, possible = moved, possible && err == nil
			}
			possible = possible && !strings.ContainsAny(to, "\"'\\")
			next = append(append(next, out[at:m[2]]...), to...)
			at = m[3]
		}
		out = append(next, out[at:]...)
	}
	if !possible || broken(out) {
		return nil
	}
	return out
}

// followLink returns a link that leads, from the file called name, to where link led.
func (l *linksAround) followLink(name, link string) string {
	plain := markdown.Link{Kind: markdown.LinkWiki, Target: link}
	was, leads := l.keeps(name, plain)
	if leads == nil || leads(link) {
		return link
	}
	if spelled, ok := l.respell(name, plain, was, leads); ok {
		return spelled
	}
	return link
}

// basePaths match the paths of folders and files ("path"), and the note names that resolve
// as links do ("link"), in the formulas and filters of a base. The first group is the path.
var basePaths = map[string]*regexp.Regexp{
	"path": regexp.MustCompile(`\b(?:(?:inFolder|file)\(|file\.(?:folder|path)\s*[!=]=)\s*\\?["']([^"'\\\n]+)\\?["']`),
	"link": regexp.MustCompile(`\b(?:hasLink|link)\(\s*\\?["']([^"'\\\n]+)\\?["']`),
}

// errOtherFolder means that a canvas or base would have to name a file in another of the
// vault's folders.
var errOtherFolder = errors.New("it lies in another folder of the vault")

// Obsidian's canvases (.canvas, JSON) and bases (.base, YAML) refer to notes and folders by
// path; canvases also refer to headings, and have cards with Markdown text. A move updates
// these paths and the links in the cards, a renamed heading updates the references to it,
// a renamed tag the tags in cards, and nothing else changes.

// addCanvases adds to the operation the canvases and bases that follow changes. follow returns
// nil if it cannot update the file, as when it cannot be parsed; such a file is left as it is
// and listed in Left if it matches named. So is a file that cannot be written, and any that
// cannot be read. Left has only files that the caller may read.
func (o *operation) addCanvases(named *regexp.Regexp, follow func(name string, text []byte) []byte) error {
	files, err := o.v.store.Files().Canvases(o.ctx)
	if err != nil {
		return err
	}
	names := func(text []byte) bool { // with escaped characters, it may
		return named.MatchString(notes.Nfc(string(text))) || bytes.Contains(text, []byte(`\u`))
	}
	for _, file := range files {
		if err := o.ctx.Err(); err != nil {
			return err
		}
		f := store.FileChange{OldPath: file.Path, NewPath: file.Path, OldDisk: file.DiskPath, NewDisk: file.DiskPath}
		real, ok := o.root.RealPath(file.DiskPath)
		if f.Old, _, err = disk.Read(o.root, file.DiskPath, notes.MaxAttachmentBytes); err != nil {
			if o.scope.CanRead(file.Path) && (!errors.Is(err, fs.ErrNotExist) || isEvicted(o.root, file.DiskPath) || o.v.mounts.check(o.root, o.Kind, file.Path) != nil) {
				o.Left = append(o.Left, file.Path)
			}
			continue
		}
		f.New, ok = follow(file.Path, f.Old), ok && real == file.DiskPath
		if bytes.Equal(f.Old, f.New) || f.New == nil && !names(f.Old) {
			continue
		}
		if !ok || f.New == nil || o.mayWrite(file.Path) != nil || o.checkReplaceable(f) != nil {
			if o.scope.CanRead(file.Path) {
				o.Left = append(o.Left, file.Path)
			}
			continue
		}
		o.Files = append(o.Files, f)
	}
	return nil
}

// namesNote matches texts that seem to refer to one of the notes or folders.
func namesNote(paths ...string) *regexp.Regexp {
	var names []string
	for _, p := range paths {
		names = append(names, regexp.QuoteMeta(notes.BaseName(p)))
	}
	return regexp.MustCompile(strings.Join(names, "|"))
}

// inFolder makes a vault-relative path relative to a folder of the vault; "" is the vault.
func inFolder(p, folder string) string {
	return strings.TrimPrefix(p, folder+"/")
}

func isCanvas(name string) bool { return strings.EqualFold(path.Ext(name), ".canvas") }

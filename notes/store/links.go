package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"notesd/internal/markdown"
	"notesd/internal/sqlite"
	"notesd/notes"
)

// Limits of a link traversal.
const (
	maxLinkDepth     = 3
	defaultLinkLimit = 100
	linkContextRunes = 160
)

// Links returns the links of a note in both directions, breadth first, up to the
// requested depth.
func (s *Reader) Links(ctx context.Context, ref string, q notes.LinkQuery) (notes.LinkReport, error) {
	meta, err := s.Lookup(ctx, ref, q.Scope)
	if err != nil {
		return notes.LinkReport{}, err
	}
	switch q.Direction {
	case "", "both", "out", "in":
	default:
		return notes.LinkReport{}, &notes.Error{Op: "list links of", Path: meta.Path, Err: notes.ErrInvalid, Detail: "direction must be out, in or both"}
	}
	q.Depth = min(max(q.Depth, 1), maxLinkDepth)
	if q.Limit <= 0 {
		q.Limit = defaultLinkLimit
	}
	report := notes.LinkReport{Path: meta.Path, Outgoing: []notes.LinkedNote{}, Backlinks: []notes.LinkedNote{}, Unresolved: []notes.LinkedNote{}}
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		canRead, err := readable(ctx, tx, q.Scope)
		if err != nil {
			return err
		}
		w := &linkWalk{ctx: ctx, tx: tx, query: q, report: &report, canRead: canRead, sources: map[string]source{}}
		if q.Direction != "in" {
			if err := w.follow("out", meta.ID, &report.Outgoing); err != nil {
				return err
			}
		}
		if q.Direction != "out" {
			if err := w.follow("in", meta.ID, &report.Backlinks); err != nil {
				return err
			}
		}
		in, out := share(len(report.Backlinks), len(report.Outgoing)+len(report.Unresolved), q.Limit)
		broken, leading := share(len(report.Unresolved), len(report.Outgoing), out)
		report.Truncated = report.Truncated || in+broken+leading < len(report.Backlinks)+len(report.Outgoing)+len(report.Unresolved)
		report.Backlinks, report.Unresolved, report.Outgoing = report.Backlinks[:in], report.Unresolved[:broken], report.Outgoing[:leading]
		if q.Bare {
			return nil
		}
		return w.addContext()
	})
	return report, err
}

// share divides a limit between lists of lengths a and b: each gets at least half of it
// if needed, so that many links of one kind do not hide those of the other.
func share(a, b, most int) (ofA, ofB int) {
	ofA = min(a, max(most/2, most-b))
	return ofA, min(b, most-ofA)
}

// linkWalk collects the links around a note, level by level.
type linkWalk struct {
	ctx     context.Context
	tx      *sql.Tx
	query   notes.LinkQuery
	report  *notes.LinkReport
	canRead func(p string) bool
	sources map[string]source // by path
}

const linkColumns = `SELECT l.kind, l.target, l.anchor, l.alias, l.line, l.state, f.id, f.path, f.title, coalesce(t.id, 0), coalesce(t.path, a.path, ''), coalesce(t.title, '')
	FROM links l JOIN notes f ON f.id = l.note LEFT JOIN notes t ON t.id = l.resolved LEFT JOIN attachments a ON a.id = l.attachment WHERE `

// follow traverses links in one direction to the depth of the query.
func (w *linkWalk) follow(direction string, start int64, out *[]notes.LinkedNote) error {
	where := `l.note = ?1 AND (l.resolved IS NULL OR l.resolved <> ?1 OR l.state = 4) ORDER BY l.ordinal`
	if direction == "in" {
		where = `l.resolved = ?1 AND l.note <> ?1 ORDER BY f.mtime DESC, f.id, l.ordinal`
	}
	seen := map[int64]bool{start: true}
	level, full := []int64{start}, false
	for depth := 1; depth <= w.query.Depth && len(level) > 0; depth++ {
		var next []int64
		for _, id := range level {
			err := sqlite.ForEach(w.ctx, w.tx, linkColumns+where, []any{id}, func(rows *sql.Rows) error {
				n, far, err := w.scan(rows, direction, depth)
				if err != nil || !w.canRead(n.From) {
					return err
				}
				if w.query.Lines != nil && !w.query.Lines(n.Line) {
					return nil
				}
				if n.To != "" && !w.canRead(n.To) { // treat the note as missing for this caller
					n.To, n.ToTitle, n.NoAnchor, n.Attachment, far = "", "", false, false, 0
				}
				if n.Ambiguous {
					if n.Ambiguous, err = w.knowsSeveral(n.Target); err != nil {
						return err
					}
				}
				w.add(n, out)
				if full = w.isFull(direction, depth, *out); full {
					return sqlite.ErrEnough
				}
				if far != 0 && !seen[far] {
					seen[far] = true
					next = append(next, far)
				}
				return nil
			})
			if err != nil || full {
				return err
			}
		}
		level = next
	}
	return nil
}

func (w *linkWalk) scan(rows *sql.Rows, direction string, depth int) (n notes.LinkedNote, far int64, err error) {
	var state int
	var from, to int64
	n = notes.LinkedNote{Direction: direction, Depth: depth}
	err = rows.Scan(&n.Kind, &n.Target, &n.Anchor, &n.Alias, &n.Line, &state, &from, &n.From, &n.FromTitle, &to, &n.To, &n.ToTitle)
	n.Ambiguous, n.Attachment, n.NoAnchor = state == linkAmbiguous, state == LinkAttachment, state == linkNoAnchor
	if direction == "in" {
		return n, from, err
	}
	return n, to, err
}

// knowsSeveral reports whether the caller may read at least two files with the name in a link.
func (w *linkWalk) knowsSeveral(target string) (bool, error) {
	if w.query.Scope.Read == nil {
		return true, nil // they may have the target as permalink or alias instead
	}
	paths, err := sqlite.Column[string](w.ctx, w.tx, `SELECT path FROM notes WHERE name_key = ?1 UNION ALL SELECT path FROM attachments WHERE name_key = ?1`, LinkKey(target))
	return len(slices.DeleteFunc(paths, func(p string) bool { return !w.canRead(p) })) > 1, err
}

// add appends a link to its list. A link to a missing part of an existing note is added
// to two: it points to the note, and it is broken.
func (w *linkWalk) add(n notes.LinkedNote, out *[]notes.LinkedNote) {
	var lists []*[]notes.LinkedNote
	if n.To != "" && n.To != n.From {
		lists = append(lists, out)
	}
	if (n.To == "" && (n.Kind != markdown.LinkTag || n.Ambiguous) || n.NoAnchor) && n.Depth == 1 && n.Direction == "out" {
		lists = append(lists, &w.report.Unresolved)
	}
	for _, list := range lists {
		if n.Direction == "in" && w.query.Skip > 0 {
			w.query.Skip--
			continue
		}
		if len(*list) >= w.query.Limit {
			w.report.Truncated = true
			continue
		}
		*list = append(*list, n)
	}
}

// isFull reports whether follow need not read another link: every list that it would be added
// to is at the limit.
func (w *linkWalk) isFull(direction string, depth int, out []notes.LinkedNote) bool {
	return w.report.Truncated && len(out) >= w.query.Limit && (direction == "in" || depth > 1 || len(w.report.Unresolved) >= w.query.Limit)
}

// addNear adds similar headings of the target note to links whose heading is missing
// there, and to links to a missing note those whose title or alias they name, which is not
// enough for a link.
func (w *linkWalk) addNear(links []notes.LinkedNote) error {
	headings, compared := map[string][]string{}, 0
	for i, l := range links {
		if l.To == "" && !l.Ambiguous {
			near, err := entitled(w.ctx, w.tx, l.Target, w.canRead)
			if err != nil {
				return err
			}
			links[i].Near = near[:min(len(near), maxNear)]
		}
		if !l.NoAnchor || strings.HasPrefix(l.Anchor, "^") {
			continue
		}
		names, known := headings[l.To]
		if !known {
			var n notes.Note
			var outline []byte
			err := w.tx.QueryRowContext(w.ctx, `SELECT c.outline FROM contents c JOIN notes n ON n.id = c.note WHERE n.path = ?`, l.To).Scan(&outline)
			if err == nil {
				err = unpackOutline(outline, &n)
			}
			if err != nil {
				return err
			}
			for _, h := range n.Headings {
				names = append(names, h.Text)
			}
			headings[l.To] = names
		}
		if compared += len(names); compared > maxAlike {
			continue
		}
		near := alike(l.Anchor[strings.LastIndexByte(l.Anchor, '#')+1:], names)
		links[i].Near = near[:min(len(near), maxNear)]
	}
	return nil
}

// maxNear is the number of headings or notes that are suggested for a broken link.
const maxNear = 3

// maxAlike bounds the headings with which those that broken links name are compared, for a note
// with a thousand links into a changelog whose headings were renamed. Each takes about
// a microsecond.
const maxAlike = 100_000

// entitled returns the notes with this title or alias.
func entitled(ctx context.Context, tx *sql.Tx, name string, canRead func(string) bool) ([]string, error) {
	paths, err := sqlite.Column[string](ctx, tx, `SELECT path FROM notes WHERE title_key = ?1 OR id IN (SELECT note FROM aliases WHERE alias_key = ?1) ORDER BY path`, notes.Key(name))
	return slices.DeleteFunc(paths, func(p string) bool { return !canRead(p) }), err
}

// addContext adds the lines that contain the links, and suggestions for missing
// headings.
func (w *linkWalk) addContext() error {
	if err := w.addNear(w.report.Unresolved); err != nil {
		return err
	}
	for _, list := range [][]notes.LinkedNote{w.report.Outgoing, w.report.Backlinks, w.report.Unresolved} {
		for i := range list {
			from, err := w.sourceOf(list[i].From)
			if err != nil {
				return err
			}
			list[i].FromHash = from.hash
			if n := list[i].Line; n >= 1 && n <= len(from.lines) {
				list[i].Context = around(from.line(n), list[i].Target)
			}
		}
	}
	return nil
}

// source is a note that contains links.
type source struct {
	hash  string
	lines []string
}

// line returns a line, by its number from 1. An item of a list in front matter follows its
// key: "author: [[Ann]]".
func (s source) line(n int) string {
	line := strings.TrimSpace(s.lines[n-1])
	item, listed := strings.CutPrefix(line, "- ")
	if !listed || strings.TrimSpace(s.lines[0]) != "---" {
		return line
	}
	for i := n - 2; i > 0; i-- {
		above := strings.TrimSpace(s.lines[i])
		switch {
		case strings.HasPrefix(above, "- "):
		case strings.HasSuffix(above, ":") && !slices.ContainsFunc(s.lines[1:i], func(l string) bool { return strings.TrimSpace(l) == "---" }):
			return above + " " + strings.Trim(item, `"'`)
		default:
			return line
		}
	}
	return line
}

func (w *linkWalk) sourceOf(path string) (source, error) {
	if from, ok := w.sources[path]; ok {
		return from, nil
	}
	var codec int
	var packed, hash []byte
	err := w.tx.QueryRowContext(w.ctx, `SELECT n.hash, c.codec, c.data FROM contents c JOIN notes n ON n.id = c.note WHERE n.path = ?`, path).Scan(&hash, &codec, &packed)
	if err != nil {
		return source{}, err
	}
	text, err := Unpack(codec, packed)
	w.sources[path] = source{hex.EncodeToString(hash), strings.Split(string(text), "\n")}
	return w.sources[path], err
}

// around shortens a long line to the part that contains the target.
func around(line, target string) string {
	const most = linkContextRunes * utf8.UTFMax // bytes; a line may have 15 MB and a thousand links
	at := max(0, strings.Index(line, target))
	from, to := max(0, at-most), min(len(line), at+most)
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	for to < len(line) && !utf8.RuneStart(line[to]) {
		to++
	}
	runes := []rune(line[from:to])
	start := max(0, min(utf8.RuneCountInString(line[from:at])-linkContextRunes/3, len(runes)-linkContextRunes))
	end := min(len(runes), start+linkContextRunes)
	cut := string(runes[start:end])
	if from > 0 || start > 0 {
		cut = "…" + cut
	}
	if to < len(line) || end < len(runes) {
		cut += "…"
	}
	return cut
}

// LinkedFrom returns the other notes that link to the note.
func (s *Reader) LinkedFrom(ctx context.Context, note int64, scope notes.Scope) ([]string, error) {
	canRead, err := s.Readable(ctx, scope)
	if err != nil {
		return nil, err
	}
	all, err := sqlite.Column[string](ctx, s.notes.Reader(), `SELECT DISTINCT n.path FROM links l JOIN notes n ON n.id = l.note WHERE l.resolved = ?1 AND l.note <> ?1 ORDER BY n.path`, note)
	return slices.DeleteFunc(append([]string{}, all...), func(p string) bool { return !canRead(p) }), err
}

// DivertedBy returns the notes with a link to another note that would no longer lead there if
// there were a note at p, or with a link by another note's title or alias, which leads nowhere yet,
// that would lead to p. It returns none if that needs too many comparisons, as for the name
// README in a large repository.
func (s *Store) DivertedBy(ctx context.Context, p string, scope notes.Scope) (from []string, err error) {
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		canRead, err := readable(ctx, tx, scope)
		if err != nil {
			return err
		}
		named, err := entitled(ctx, tx, notes.BaseName(p), canRead)
		if err != nil {
			return err
		}
		links, err := selectLinks(ctx, tx, `json_each(?) k CROSS JOIN links l ON l.target_key = k.value AND (l.resolved IS NOT NULL OR ? AND l.state IN (?, ?))`, sqlite.List(s.linkKeys(p)), len(named) > 0, linkUnresolved, linkNoPage)
		if err != nil || len(links) == 0 {
			return err
		}
		targets, err := s.selectTargets(ctx, tx, links)
		if err != nil || len(links)*len(targets[LinkKey(p)]) > maxComparisons {
			return err
		}
		s.AddTarget(targets, LinkKey(p), Target{Path: p})
		for _, l := range links {
			is, _ := s.ChooseTarget(l.from, l.target, l.kind, targets[l.key])
			if !l.resolved.Valid {
				if is.Path == p && canRead(l.from) {
					from = append(from, l.from)
				}
				continue
			}
			was := slices.IndexFunc(targets[l.key], func(t Target) bool { return t.ID == l.resolved.Int64 })
			if is.ID != l.resolved.Int64 && was >= 0 && canRead(l.from) && canRead(targets[l.key][was].Path) {
				from = append(from, l.from)
			}
		}
		return nil
	})
	slices.Sort(from)
	return slices.Compact(from), err
}

// maxComparisons bounds the comparisons of links with the files of their name, which take
// some 10 ns each, while other writes wait.
const maxComparisons = 4 << 20

// Graph returns the notes that the scope may read and the links between them, without
// duplicates.
func (s *Reader) Graph(ctx context.Context, scope notes.Scope) (notes.Graph, error) {
	g := notes.Graph{Nodes: []notes.Node{}, Links: [][2]int{}}
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		canRead, err := readable(ctx, tx, scope)
		if err != nil {
			return err
		}
		index := map[int64]int{}
		err = sqlite.ForEach(ctx, tx, `SELECT id, path, title FROM notes ORDER BY path`, nil, func(rows *sql.Rows) error {
			var id int64
			var n notes.Node
			if err := rows.Scan(&id, &n.Path, &n.Title); err != nil || !canRead(n.Path) {
				return err
			}
			if n.Title == strings.TrimSuffix(path.Base(n.Path), path.Ext(n.Path)) {
				n.Title = "" // true of most notes
			}
			index[id] = len(g.Nodes)
			g.Nodes = append(g.Nodes, n)
			return nil
		})
		if err != nil {
			return err
		}
		return sqlite.ForEach(ctx, tx, `SELECT DISTINCT note, resolved FROM links WHERE resolved > 0 AND resolved <> note`, nil, func(rows *sql.Rows) error {
			var from, to int64
			if err := rows.Scan(&from, &to); err != nil {
				return err
			}
			a, knownFrom := index[from]
			b, knownTo := index[to]
			if knownFrom && knownTo {
				g.Links = append(g.Links, [2]int{a, b})
			}
			return nil
		})
	})
	return g, err
}

// Targets returns what the links of a note lead to, as far as the scope may read it.
func (s *Reader) Targets(ctx context.Context, ref string, scope notes.Scope) (notes.Targets, error) {
	t := notes.Targets{Notes: map[string]string{}, Files: map[string]string{}}
	meta, err := s.Lookup(ctx, ref, scope)
	if err != nil {
		return t, err
	}
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		canRead, err := readable(ctx, tx, scope)
		if err != nil {
			return err
		}
		return sqlite.ForEach(ctx, tx, `SELECT DISTINCT l.target, coalesce(n.path, ''), coalesce(a.path, '') FROM links l
			LEFT JOIN notes n ON n.id = l.resolved LEFT JOIN attachments a ON a.id = l.attachment WHERE l.note = ? AND l.target <> ''`, []any{meta.ID}, func(rows *sql.Rows) error {
			var target, toNote, toFile string
			err := rows.Scan(&target, &toNote, &toFile)
			switch {
			case toNote != "" && canRead(toNote):
				t.Notes[target] = toNote
			case toFile != "" && canRead(toFile):
				t.Files[target] = toFile
			}
			return err
		})
	})
	return t, err
}

// permalinked and aliased select the permalinks and aliases of all notes; the others follow
// them, for some. Logseq does not read the property aliases of front matter, which other apps
// write, and to them an alias is no target.
const (
	permalinked = `SELECT id, permalink FROM notes WHERE permalink <> ''`
	aliased     = `SELECT id, alias_key FROM aliases JOIN notes ON id = note WHERE front_matter ->> '$.aliases' IS NULL`
	withIDs     = ` AND id IN (SELECT value FROM json_each(?))`
	withPaths   = ` AND path IN (SELECT value FROM json_each(?))`
	withAliases = ` AND alias_key IN (SELECT value FROM json_each(?))`
)

// LinksTo returns the notes with a link that may point to one of the paths, and every
// possible link target of the vault, by [LinkKey].
func (s *Store) LinksTo(ctx context.Context, paths ...string) (from []string, targets map[string][]Target, err error) {
	targets = map[string][]Target{}
	var keys []string
	for _, p := range paths {
		keys = append(keys, s.linkKeys(p)...)
	}
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		names, err := s.names(ctx, tx, withPaths, sqlite.List(paths))
		if err != nil {
			return err
		}
		for _, of := range names {
			for _, name := range of {
				keys = append(keys, LinkKey(name))
			}
		}
		from, err = sqlite.Column[string](ctx, tx, `SELECT DISTINCT n.path FROM links l JOIN notes n ON n.id = l.note WHERE l.target_key IN (SELECT value FROM json_each(?))`, sqlite.List(keys))
		if err != nil {
			return err
		}
		pages, err := permalinks(ctx, tx, "") // computed from the front matter of each note if read with the paths
		if err != nil {
			return err
		}
		aliases, err := s.aliases(ctx, tx, "")
		if err != nil {
			return err
		}
		return sqlite.ForEach(ctx, tx, `SELECT name_key, id, path FROM notes UNION ALL SELECT name_key, 0, path FROM attachments ORDER BY 3`, nil, func(rows *sql.Rows) error {
			var k string
			var t Target
			err := rows.Scan(&k, &t.ID, &t.Path)
			t.Permalink, t.Aliases = pages[t.ID], aliases[t.ID]
			s.AddTarget(targets, k, t)
			return err
		})
	})
	return from, targets, err
}

// StaleLinks describes the notes that still have broken links because another program
// changed them while a move after since was rewriting links.
func (s *Store) StaleLinks(ctx context.Context, since time.Time) ([]string, error) {
	moves := map[string]string{} // note → moved path
	var keys []string
	err := sqlite.ForEach(ctx, s.history.Reader(), `SELECT iif(f.link <> '', f.link, f.new_path), first.path FROM operations o
		JOIN operation_files f ON f.operation = o.id JOIN operation_files first ON first.operation = o.id AND first.ordinal = 0
		WHERE o.state = 'done' AND o.kind = 'move' AND o.started > ? AND f.state = 'conflict'`, []any{since.UnixNano()}, func(rows *sql.Rows) error {
		var note, moved string
		err := rows.Scan(&note, &moved)
		moves[notes.Nfc(note)] = notes.Nfc(moved)
		keys = append(keys, s.linkKeys(notes.Nfc(moved))...)
		return err
	})
	if err != nil || len(moves) == 0 {
		return nil, err
	}
	out, err := sqlite.Column[string](ctx, s.notes.Reader(), `SELECT DISTINCT n.path FROM notes n JOIN links l ON l.note = n.id WHERE (l.state = ? OR l.state = ? AND l.target_key IN (SELECT value FROM json_each(?))) AND n.path IN (SELECT value FROM json_each(?)) ORDER BY n.path`,
		linkUnresolved, linkNoPage, sqlite.List(keys), sqlite.List(slices.Collect(maps.Keys(moves))))
	for i, note := range out {
		out[i] = fmt.Sprintf("%s has broken links: it changed while %s was being moved, so its links were not updated; correct them there", notes.Quote(note), notes.Quote(moves[note]))
	}
	return out, err
}

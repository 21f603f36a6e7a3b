package store

import (
	"context"
	"database/sql"
	"strings"

	"notesd/notes"
)

// Bounds of a walk along links.
const (
	maxLinkDepth     = 3
	defaultLinkLimit = 100
	linkContextRunes = 160
)

// Links reports the links of a note in both directions, breadth first up to
// the depth asked for.
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
		outside, err := symlinksOutside(ctx, tx, q.Scope)
		if err != nil {
			return err
		}
		w := &linkWalk{ctx: ctx, tx: tx, query: q, report: &report, outside: outside, lines: map[string][]string{}}
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
		return w.addContext()
	})
	return report, err
}

// linkWalk gathers the links around a note, level by level.
type linkWalk struct {
	ctx     context.Context
	tx      *sql.Tx
	query   notes.LinkQuery
	report  *notes.LinkReport
	outside map[string]bool // symlinks that lead out of the scope
	lines   map[string][]string
}

const linkColumns = `SELECT l.kind, l.target, l.anchor, l.alias, l.line, l.state, f.id, f.path, coalesce(t.id, 0), coalesce(t.path, a.path, ''), coalesce(t.title, '')
	FROM links l JOIN notes f ON f.id = l.note LEFT JOIN notes t ON t.id = l.resolved LEFT JOIN attachments a ON a.id = l.attachment WHERE `

// follow walks to the depth that the query asks for.
func (w *linkWalk) follow(direction string, start int64, out *[]notes.LinkedNote) error {
	where := `l.note = ?1 AND (l.resolved IS NULL OR l.resolved <> ?1 OR l.state = 4) ORDER BY l.ordinal`
	if direction == "in" {
		where = `l.resolved = ?1 AND l.note <> ?1 ORDER BY f.mtime DESC, f.id, l.ordinal`
	}
	seen := map[int64]bool{start: true}
	level := []int64{start}
	for depth := 1; depth <= w.query.Depth && len(level) > 0; depth++ {
		var next []int64
		for _, id := range level {
			err := forEach(w.ctx, w.tx, linkColumns+where, []any{id}, func(rows *sql.Rows) error {
				n, far, err := w.scan(rows, direction, depth)
				if err != nil || !w.canRead(n.From) || n.To != "" && !w.canRead(n.To) {
					return err
				}
				w.add(n, out)
				if far != 0 && !seen[far] {
					seen[far] = true
					next = append(next, far)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		level = next
	}
	return nil
}

func (w *linkWalk) canRead(p string) bool { return w.query.Scope.CanRead(p) && !w.outside[p] }

func (w *linkWalk) scan(rows *sql.Rows, direction string, depth int) (n notes.LinkedNote, far int64, err error) {
	var state int
	var from, to int64
	n = notes.LinkedNote{Direction: direction, Depth: depth}
	err = rows.Scan(&n.Kind, &n.Target, &n.Anchor, &n.Alias, &n.Line, &state, &from, &n.From, &to, &n.To, &n.ToTitle)
	n.Ambiguous, n.Attachment, n.NoAnchor = state == linkAmbiguous, state == LinkAttachment, state == linkNoAnchor
	if direction == "in" {
		return n, from, err
	}
	return n, to, err
}

// add puts a link on its list. One to a part that its note lacks is on two: it
// leads to the note, and it is broken.
func (w *linkWalk) add(n notes.LinkedNote, out *[]notes.LinkedNote) {
	var lists []*[]notes.LinkedNote
	if n.To != "" && n.To != n.From {
		lists = append(lists, out)
	}
	if (n.To == "" || n.NoAnchor) && n.Depth == 1 && n.Direction == "out" {
		lists = append(lists, &w.report.Unresolved)
	}
	for _, list := range lists {
		if len(w.report.Outgoing)+len(w.report.Backlinks)+len(w.report.Unresolved) >= w.query.Limit {
			w.report.Truncated = true
			return
		}
		*list = append(*list, n)
	}
}

// addNear names headings of the note To that a link to one it lacks may mean.
func (w *linkWalk) addNear(links []notes.LinkedNote) error {
	headings := map[string][]string{}
	for i, l := range links {
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
		links[i].Near = alike(l.Anchor[strings.LastIndexByte(l.Anchor, '#')+1:], names)
	}
	return nil
}

// addContext fills in the lines that the links stand in, and what those to a
// missing heading may mean.
func (w *linkWalk) addContext() error {
	if err := w.addNear(w.report.Unresolved); err != nil {
		return err
	}
	for _, list := range [][]notes.LinkedNote{w.report.Outgoing, w.report.Backlinks, w.report.Unresolved} {
		for i := range list {
			lines, err := w.linesOf(list[i].From)
			if err != nil {
				return err
			}
			if n := list[i].Line; n >= 1 && n <= len(lines) {
				list[i].Context = around(strings.TrimSpace(lines[n-1]), list[i].Target)
			}
		}
	}
	return nil
}

func (w *linkWalk) linesOf(path string) ([]string, error) {
	if lines, ok := w.lines[path]; ok {
		return lines, nil
	}
	var codec int
	var packed []byte
	err := w.tx.QueryRowContext(w.ctx, `SELECT c.codec, c.data FROM contents c JOIN notes n ON n.id = c.note WHERE n.path = ?`, path).Scan(&codec, &packed)
	if err != nil {
		return nil, err
	}
	text, err := unpack(codec, packed)
	w.lines[path] = strings.Split(string(text), "\n")
	return w.lines[path], err
}

// around cuts a long line to the part that has the target in it.
func around(line, target string) string {
	runes := []rune(line)
	if len(runes) <= linkContextRunes {
		return line
	}
	at := 0
	if i := strings.Index(line, target); i > 0 {
		at = len([]rune(line[:i]))
	}
	start := max(0, min(at-linkContextRunes/3, len(runes)-linkContextRunes))
	end := min(len(runes), start+linkContextRunes)
	cut := string(runes[start:end])
	if start > 0 {
		cut = "…" + cut
	}
	if end < len(runes) {
		cut += "…"
	}
	return cut
}

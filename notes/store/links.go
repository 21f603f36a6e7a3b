package store

import (
	"context"
	"database/sql"
	"strings"

	"notesd/notes"
)

// Bounds of a walk along links.
const (
	MaxLinkDepth     = 3
	DefaultLinkLimit = 100
	linkContextRunes = 160
)

// LinkWalk gathers the links around a note, level by level.
type LinkWalk struct {
	Ctx     context.Context
	Tx      *sql.Tx
	Query   notes.LinkQuery
	Report  *notes.LinkReport
	Outside map[string]bool // symlinks that lead out of the scope
	lines   map[string][]string
}

const linkColumns = `SELECT l.kind, l.target, l.anchor, l.alias, l.line, l.state, f.id, f.path, coalesce(t.id, 0), coalesce(t.path, a.path, ''), coalesce(t.title, '')
	FROM links l JOIN notes f ON f.id = l.note LEFT JOIN notes t ON t.id = l.resolved LEFT JOIN attachments a ON a.id = l.attachment WHERE `

// Follow walks to the depth that the query asks for.
func (w *LinkWalk) Follow(direction string, start int64, out *[]notes.LinkedNote) error {
	where := `l.note = ?1 AND (l.resolved IS NULL OR l.resolved <> ?1) ORDER BY l.ordinal`
	if direction == "in" {
		where = `l.resolved = ?1 AND l.note <> ?1 ORDER BY f.mtime DESC, f.id, l.ordinal`
	}
	seen := map[int64]bool{start: true}
	level := []int64{start}
	for depth := 1; depth <= w.Query.Depth && len(level) > 0; depth++ {
		var next []int64
		for _, id := range level {
			err := ForEach(w.Ctx, w.Tx, linkColumns+where, []any{id}, func(rows *sql.Rows) error {
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

func (w *LinkWalk) canRead(p string) bool { return w.Query.Scope.CanRead(p) && !w.Outside[p] }

func (w *LinkWalk) scan(rows *sql.Rows, direction string, depth int) (n notes.LinkedNote, far int64, err error) {
	var state int
	var from, to int64
	n = notes.LinkedNote{Direction: direction, Depth: depth}
	err = rows.Scan(&n.Kind, &n.Target, &n.Anchor, &n.Alias, &n.Line, &state, &from, &n.From, &to, &n.To, &n.ToTitle)
	n.Ambiguous, n.Attachment = state == linkAmbiguous, state == LinkAttachment
	if direction == "in" {
		return n, from, err
	}
	return n, to, err
}

func (w *LinkWalk) add(n notes.LinkedNote, out *[]notes.LinkedNote) {
	list := out
	if n.To == "" {
		if n.Depth > 1 {
			return
		}
		list = &w.Report.Unresolved
	}
	if len(w.Report.Outgoing)+len(w.Report.Backlinks)+len(w.Report.Unresolved) >= w.Query.Limit {
		w.Report.Truncated = true
		return
	}
	*list = append(*list, n)
}

// AddContext fills in the lines that the links stand in.
func (w *LinkWalk) AddContext() error {
	w.lines = map[string][]string{}
	for _, list := range [][]notes.LinkedNote{w.Report.Outgoing, w.Report.Backlinks, w.Report.Unresolved} {
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

func (w *LinkWalk) linesOf(path string) ([]string, error) {
	if lines, ok := w.lines[path]; ok {
		return lines, nil
	}
	var codec int
	var packed []byte
	err := w.Tx.QueryRowContext(w.Ctx, `SELECT c.codec, c.data FROM contents c JOIN notes n ON n.id = c.note WHERE n.path = ?`, path).Scan(&codec, &packed)
	if err != nil {
		return nil, err
	}
	text, err := Unpack(codec, packed)
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

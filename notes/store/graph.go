package store

import (
	"context"
	"database/sql"
	"path"
	"strings"

	"notesd/internal/sqlite"
	"notesd/notes"
)

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

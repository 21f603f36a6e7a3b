package notes

import (
	"context"
	"database/sql"
	"encoding/json"
	"path"
	"strings"
)

// Where a link leads, as the links table keeps it.
const (
	linkUnresolved = 0
	linkResolved   = 1
	linkAmbiguous  = 2
	linkAttachment = 3
)

// linkKey is what resolution looks a target up by: its last segment, folded,
// without a note's extension.
func linkKey(target string) string {
	if target == "" {
		return ""
	}
	return key(baseName(strings.TrimSuffix(target, "/")))
}

// target is a file that a link may lead to.
type target struct {
	id         int64 // 0 for an attachment
	attachment int64 // 0 for a note
	path       string
}

// chooseTarget resolves a link as Obsidian does, among the files whose name
// is the target's last segment: the exact path (from the vault, or from the
// linking note's folder), else the files whose path ends in the target, the
// nearest to the linking note first. Two that are equally near are ambiguous.
func chooseTarget(from, link string, kind LinkKind, candidates []target) (target, int) {
	link = strings.TrimPrefix(link, "/")
	dir := path.Dir(from)
	relative := path.Join(dir, link)
	absolute := path.Clean(link)
	first, second := absolute, relative
	if kind == LinkMarkdown || kind == LinkImage || strings.HasPrefix(link, "./") || strings.HasPrefix(link, "../") {
		first, second = relative, absolute
	}
	for _, same := range []func(a, b string) bool{samePath, samePathFolded} {
		for _, want := range []string{first, second} {
			if t, ok := pick(candidates, func(c target) bool { return same(c.path, want) }); ok {
				return t, stateOf(t)
			}
		}
	}
	return nearest(dir, absolute, candidates)
}

func samePath(p, want string) bool { return p == want || stem(p) == want }

func samePathFolded(p, want string) bool { return samePath(key(p), key(want)) }

func pick(candidates []target, ok func(target) bool) (target, bool) {
	for _, c := range candidates {
		if ok(c) {
			return c, true
		}
	}
	return target{}, false
}

func stateOf(t target) int {
	if t.id == 0 {
		return linkAttachment
	}
	return linkResolved
}

// nearest returns the candidate whose path ends in want and that is fewest
// steps through the tree away from dir. A file of just that name comes before
// a note that has it without its extension.
func nearest(dir, want string, candidates []target) (target, int) {
	suffix := "/" + key(want)
	for _, spelled := range []func(string) string{func(p string) string { return p }, stem} {
		t, state := nearestWhere(dir, candidates, func(c target) bool {
			return strings.HasSuffix(spelled("/"+key(c.path)), suffix)
		})
		if state != linkUnresolved {
			return t, state
		}
	}
	return target{}, linkUnresolved
}

func nearestWhere(dir string, candidates []target, matches func(target) bool) (target, int) {
	var best target
	bestSteps, ties := 0, 0
	for _, c := range candidates {
		if !matches(c) {
			continue
		}
		switch steps := treeSteps(dir, path.Dir(c.path)); {
		case ties == 0 || steps < bestSteps:
			best, bestSteps, ties = c, steps, 1
		case steps == bestSteps:
			ties++
		}
	}
	switch ties {
	case 0:
		return target{}, linkUnresolved
	case 1:
		return best, stateOf(best)
	}
	return target{}, linkAmbiguous
}

// treeSteps counts the folders to go up and down from a to b.
func treeSteps(a, b string) int {
	as, bs := segments(a), segments(b)
	common := 0
	for common < len(as) && common < len(bs) && as[common] == bs[common] {
		common++
	}
	return len(as) + len(bs) - 2*common
}

func segments(dir string) []string {
	if dir == "." || dir == "" {
		return nil
	}
	return strings.Split(dir, "/")
}

// resolveChanged resolves the links of the changed notes, and those anywhere
// that name a note which appeared, vanished or moved.
func resolveChanged(ctx context.Context, tx *sql.Tx, entries []entry) error {
	names := map[string]bool{}
	var ids []int64
	for _, e := range entries {
		if e.kind != Deleted {
			ids = append(ids, e.id)
		}
		if e.kind != Modified {
			names[key(baseName(e.path))] = true
		}
		if e.oldPath != "" {
			names[key(baseName(e.oldPath))] = true
		}
	}
	keys := make([]string, 0, len(names))
	for n := range names {
		keys = append(keys, n)
	}
	return resolveWhere(ctx, tx, `l.note IN (SELECT value FROM json_each(?)) OR l.target_key IN (SELECT value FROM json_each(?))`, jsonArg(ids), jsonArg(keys))
}

// resolveAll resolves every link of the vault.
func resolveAll(ctx context.Context, tx *sql.Tx) error {
	if err := resolveWhere(ctx, tx, `TRUE`); err != nil {
		return err
	}
	return setSetting(ctx, tx, linksStale, false)
}

// jsonArg passes a list to json_each: one statement serves any length.
func jsonArg[T any](list []T) string {
	if list == nil {
		return "[]"
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // ints and strings always marshal
	}
	return string(text)
}

// pendingLink is a link to resolve.
type pendingLink struct {
	note, ordinal int64
	from          string
	kind          LinkKind
	target, key   string
	resolved      sql.NullInt64
	attachment    sql.NullInt64
	state         int
}

func resolveWhere(ctx context.Context, tx *sql.Tx, where string, args ...any) error {
	links, err := selectLinks(ctx, tx, where, args...)
	if err != nil || len(links) == 0 {
		return err
	}
	candidates, err := selectTargets(ctx, tx, links)
	if err != nil {
		return err
	}
	update, err := tx.PrepareContext(ctx, `UPDATE links SET resolved = ?, attachment = ?, state = ? WHERE note = ? AND ordinal = ?`)
	if err != nil {
		return err
	}
	defer func() { _ = update.Close() }() // the transaction's end closes it as well
	for _, l := range links {
		t, state := target{id: l.note}, linkResolved // a link within the note
		if l.target != "" {
			t, state = chooseTarget(l.from, l.target, l.kind, candidates[l.key])
		}
		resolved := sql.NullInt64{Int64: t.id, Valid: t.id != 0}
		attachment := sql.NullInt64{Int64: t.attachment, Valid: t.attachment != 0}
		if resolved == l.resolved && attachment == l.attachment && state == l.state {
			continue
		}
		if _, err := update.ExecContext(ctx, resolved, attachment, state, l.note, l.ordinal); err != nil {
			return err
		}
	}
	return nil
}

func selectLinks(ctx context.Context, tx *sql.Tx, where string, args ...any) ([]pendingLink, error) {
	rows, err := tx.QueryContext(ctx, `SELECT l.note, l.ordinal, n.path, l.kind, l.target, l.target_key, l.resolved, l.attachment, l.state
		FROM links l JOIN notes n ON n.id = l.note WHERE `+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err below tells
	var links []pendingLink
	for rows.Next() {
		var l pendingLink
		if err := rows.Scan(&l.note, &l.ordinal, &l.from, &l.kind, &l.target, &l.key, &l.resolved, &l.attachment, &l.state); err != nil {
			return nil, err
		}
		links = append(links, l)
	}
	return links, rows.Err()
}

// selectTargets returns the files that the links may lead to, by key.
func selectTargets(ctx context.Context, tx *sql.Tx, links []pendingLink) (map[string][]target, error) {
	wanted := map[string][]target{}
	keys := make([]string, 0, len(links))
	for _, l := range links {
		if _, seen := wanted[l.key]; !seen {
			wanted[l.key] = nil
			keys = append(keys, l.key)
		}
	}
	rows, err := tx.QueryContext(ctx, `SELECT name_key, id, 0, path FROM notes WHERE name_key IN (SELECT value FROM json_each(?1))
		UNION ALL SELECT name_key, 0, id, path FROM attachments WHERE name_key IN (SELECT value FROM json_each(?1)) ORDER BY 4`, jsonArg(keys))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err below tells
	for rows.Next() {
		var k string
		var t target
		if err := rows.Scan(&k, &t.id, &t.attachment, &t.path); err != nil {
			return nil, err
		}
		wanted[k] = append(wanted[k], t)
	}
	return wanted, rows.Err()
}

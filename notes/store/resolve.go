package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"notesd/internal/markdown"
	"notesd/internal/sqlite"
	"notesd/notes"
)

// The states of links, as stored in the links table.
const (
	linkUnresolved = 0
	LinkResolved   = 1
	linkAmbiguous  = 2
	LinkAttachment = 3
	linkNoAnchor   = 4 // resolved to a note without the heading or block
	linkNoPage     = 5 // a tag without a page, which is not broken
)

// LinkKey returns the key by which the candidates for a link target are found: its last
// segment, folded, without a note's extension.
func LinkKey(target string) string {
	if target == "" {
		return ""
	}
	return notes.Key(notes.BaseName(strings.TrimSuffix(target, "/")))
}

// Target is a file that a link may point to.
type Target struct {
	ID         int64 // 0 for an attachment
	attachment int64 // 0 for a note
	Path       string
	Permalink  string   // as in the front matter, without the slashes around it
	Aliases    []string // folded; only those that links in a folder of Logseq may have as target
	key        string   // Path folded, once a link was compared with it
}

// IsAt reports whether a link is the note's permalink, at which a site shows it.
func (t Target) IsAt(link string, kind notes.LinkKind) bool {
	return t.Permalink != "" && kind == markdown.LinkMarkdown && strings.HasPrefix(link, "/") && strings.Trim(link, "/") == t.Permalink
}

// ChooseTarget resolves a link in the note at from as Obsidian does, among the files
// whose name is the last segment of the target: the exact path (from the vault, or from
// the linking note's folder, which a Markdown link without a leading "/" tries first),
// otherwise the file whose path ends in the target and that is nearest to the linking
// note. If two are equally near, the link is ambiguous.
//
// Before any path, a Markdown link that begins with "/" may be the permalink of a note.
//
// To Obsidian, each folder of a vault with several is a vault of its own, so a link
// points to a file in the folder of its note. Only if none matches is the target tried
// as an exact path from the vault, which begins with the name of a folder.
//
// A Markdown link that matches no file may name a folder and mean its index note. One
// that ends in "/" names a page or folder at that path; only if it also begins with "/"
// may the path be that of a site whose root is a folder of the vault. In a folder that
// Logseq writes, any other link may be the title of a page, or else an alias of one;
// elsewhere it may be the ID at the beginning of a file name.
func (l *Layout) ChooseTarget(from, link string, kind notes.LinkKind, candidates []Target) (Target, int) {
	for i := range candidates { // once: a repository may have a thousand READMEs, and links to each
		if candidates[i].key == "" {
			candidates[i].key = notes.Key(candidates[i].Path)
		}
	}
	folder := l.FolderOf(from)
	if folder == "" {
		return l.chooseTarget(folder, from, link, kind, candidates)
	}
	var own []Target
	prefix := notes.Key(folder + "/")
	for _, c := range candidates {
		if in, ok := strings.CutPrefix(c.Path, folder+"/"); ok {
			c.Path, c.key = in, strings.TrimPrefix(c.key, prefix)
			own = append(own, c)
		}
	}
	t, state := l.chooseTarget(folder, strings.TrimPrefix(from, folder+"/"), link, kind, own)
	if state != linkUnresolved {
		t.Path = path.Join(folder, t.Path)
		return t, state
	}
	return atPath(candidates, path.Clean(strings.TrimPrefix(link, "/")))
}

// atPath returns the candidate at a path, preferring one with exactly this spelling.
func atPath(candidates []Target, want string) (found Target, state int) {
	key := notes.Key(want)
	for _, c := range candidates {
		if !strings.HasPrefix(c.key, key) || !SamePath(c.key, key) {
			continue
		}
		if SamePath(c.Path, want) {
			return c, stateOf(c)
		}
		if state == linkUnresolved {
			found, state = c, stateOf(c)
		}
	}
	return found, state
}

// chooseTarget resolves a link within one folder of the vault; all paths are relative
// to that folder.
func (l *Layout) chooseTarget(folder, from, link string, kind notes.LinkKind, candidates []Target) (Target, int) {
	at := slices.DeleteFunc(slices.Clone(candidates), func(c Target) bool { return !c.IsAt(link, kind) })
	if len(at) > 0 { // each language or version of a site has a copy with the same one
		if t, state := nearestWhere(path.Dir(from), at, func(Target) bool { return true }); state == LinkResolved {
			return t, state
		}
		return at[0], LinkResolved
	}
	link, rooted := strings.CutPrefix(link, "/")
	dir := path.Dir(from)
	relative := path.Join(dir, link)
	absolute := path.Clean(link)
	first, second := absolute, relative
	if !rooted && IsRelative(link, kind) {
		first, second = relative, absolute
	}
	for _, want := range []string{first, second} {
		if t, state := atPath(candidates, want); state != linkUnresolved {
			return t, state
		}
	}
	key := notes.Key(absolute)
	var within []Target
	for _, c := range candidates {
		if strings.Contains(c.key, key) {
			within = append(within, c)
		}
	}
	if kind != markdown.LinkMarkdown || rooted || !strings.HasSuffix(link, "/") {
		if t, state := nearest(dir, key, within); state != linkUnresolved || kind == markdown.LinkImage {
			return t, state
		}
	}
	if kind == markdown.LinkMarkdown {
		for _, want := range []string{notes.Key(first), notes.Key(second)} {
			if i := slices.IndexFunc(candidates, func(c Target) bool { return strings.HasPrefix(c.key, want) && FolderOfIndex(c.key) == want }); i >= 0 {
				return candidates[i], stateOf(candidates[i])
			}
		}
		if !rooted {
			return Target{}, linkUnresolved
		}
		return nearestWhere(dir, within, func(c Target) bool { return strings.HasSuffix("/"+FolderOfIndex(c.key), "/"+key) })
	}
	name := notes.Key(link)
	t, state := nearestWhere(dir, candidates, func(c Target) bool {
		p := path.Join(folder, c.Path)
		return FolderOfIndex(p) == "" && notes.Key(l.otherName(p)) == name
	})
	if state != linkUnresolved {
		return t, state
	}
	return nearestWhere(dir, candidates, func(c Target) bool {
		return slices.Contains(c.Aliases, name) && l.PageTitle(path.Join(folder, c.Path)) != ""
	})
}

// IsRelative reports whether a link is a path from the folder of its note, rather than one
// that Obsidian searches for in the vault.
func IsRelative(link string, kind notes.LinkKind) bool {
	return kind == markdown.LinkMarkdown || kind == markdown.LinkImage || strings.HasPrefix(link, "./") || strings.HasPrefix(link, "../")
}

// FolderOfIndex returns the folder that a Markdown link may name to mean the note at p:
// an index or README, which sites and GitHub show for its folder. It is "" for other
// notes.
func FolderOfIndex(p string) string {
	switch notes.Key(notes.BaseName(p)) {
	case "index", "_index", "readme":
		return strings.TrimSuffix(path.Dir(p), ".")
	}
	return ""
}

// SamePath reports whether want is p, with or without a note's extension.
func SamePath(p, want string) bool { return p == want || notes.Stem(p) == want }

func stateOf(t Target) int {
	if t.ID == 0 {
		return LinkAttachment
	}
	return LinkResolved
}

// nearest returns the candidate whose folded path ends in key and that is the fewest steps
// through the tree from dir. A file with exactly that name is preferred to a note with
// that name before its extension.
func nearest(dir, key string, candidates []Target) (Target, int) {
	for _, spelled := range []func(string) string{func(p string) string { return p }, notes.Stem} {
		t, state := nearestWhere(dir, candidates, func(c Target) bool {
			return strings.HasSuffix("/"+spelled(c.key), "/"+key)
		})
		if state != linkUnresolved {
			return t, state
		}
	}
	return Target{}, linkUnresolved
}

func nearestWhere(dir string, candidates []Target, matches func(Target) bool) (Target, int) {
	var best Target
	bestSteps, ties, from := 0, 0, Segments(dir)
	for _, c := range candidates {
		if !matches(c) {
			continue
		}
		to := Segments(path.Dir(c.Path))
		switch steps := len(from) + len(to) - 2*CommonLength(from, to); { // up and down through the tree
		case ties == 0 || steps < bestSteps:
			best, bestSteps, ties = c, steps, 1
		case steps == bestSteps:
			ties++
		}
	}
	switch ties {
	case 0:
		return Target{}, linkUnresolved
	case 1:
		return best, stateOf(best)
	}
	return Target{}, linkAmbiguous
}

// Segments returns the segments of a folder's path.
func Segments(dir string) []string {
	if dir == "." || dir == "" {
		return nil
	}
	return strings.Split(dir, "/")
}

// resolveChanged resolves the links that were written, those of notes that moved, those
// anywhere that name a note that was created, deleted or moved, those to a heading
// or block of a changed note, and those to the permalinks and aliases that the notes have
// now or had, as were holds them.
func (s *Store) resolveChanged(ctx context.Context, tx *sql.Tx, entries []Entry, written [][2]int64, were map[int64][]string) error {
	are, err := s.namesIn(ctx, tx, entries)
	if err != nil {
		return err
	}
	var keys []string
	var ids, moved []int64
	for _, e := range entries {
		if was, is := were[e.ID], are[e.ID]; !slices.Equal(was, is) || e.Kind != notes.Modified {
			for _, name := range slices.Concat(was, is) {
				keys = append(keys, LinkKey(name))
			}
		}
		if e.Kind != notes.Deleted {
			ids = append(ids, e.ID)
		}
		if e.Kind != notes.Modified {
			keys = append(keys, s.linkKeys(e.Path)...)
		}
		if e.OldPath != "" {
			moved = append(moved, e.ID)
			keys = append(keys, s.linkKeys(e.OldPath)...)
		}
	}
	return s.resolve(ctx, tx, `(SELECT value ->> 0 AS note, value ->> 1 AS ordinal FROM json_each(?)
		UNION SELECT note, ordinal FROM links WHERE note IN (SELECT value FROM json_each(?)) OR target_key IN (SELECT value FROM json_each(?))
			OR anchor <> '' AND resolved IN (SELECT value FROM json_each(?))) c CROSS JOIN links l ON l.note = c.note AND l.ordinal = c.ordinal`, sqlite.List(written), sqlite.List(moved), sqlite.List(keys), sqlite.List(ids))
}

// namesIn returns the names that the notes have in their text, and that links may have as
// target, by ID: the permalink and the aliases.
func (s *Store) namesIn(ctx context.Context, tx *sql.Tx, entries []Entry) (map[int64][]string, error) {
	ids := make([]int64, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	return s.names(ctx, tx, withIDs, sqlite.List(ids))
}

// names is namesIn for the notes that withIDs or withPaths selects.
func (s *Store) names(ctx context.Context, tx *sql.Tx, only string, args ...any) (map[int64][]string, error) {
	names, err := s.aliases(ctx, tx, only, args...)
	if err != nil {
		return nil, err
	}
	at, err := permalinks(ctx, tx, only, args...)
	for note, p := range at {
		names[note] = append(names[note], p)
	}
	return names, err
}

// aliases returns the aliases that links may have as target, folded, by note: those of all
// notes if only is "", or those that withIDs, withPaths or withAliases selects. There are none
// without a folder that Logseq writes.
func (s *Store) aliases(ctx context.Context, tx *sql.Tx, only string, args ...any) (map[int64][]string, error) {
	found := map[int64][]string{}
	if len(*s.logseq.Load()) == 0 {
		return found, nil
	}
	err := sqlite.ForEach(ctx, tx, aliased+only, args, func(rows *sql.Rows) error {
		var id int64
		var alias string
		err := rows.Scan(&id, &alias)
		found[id] = append(found[id], alias)
		return err
	})
	return found, err
}

// permalinks returns permalinks by note: those of all notes if only is "", or of those that
// withIDs or withPaths selects.
func permalinks(ctx context.Context, tx *sql.Tx, only string, args ...any) (map[int64]string, error) {
	found := map[int64]string{}
	err := sqlite.ForEach(ctx, tx, permalinked+only, args, func(rows *sql.Rows) error {
		var id int64
		var p string
		err := rows.Scan(&id, &p)
		found[id] = p
		return err
	})
	return found, err
}

// logseqSetting is the setting that holds the folders written by Logseq.
const logseqSetting = "logseq_titles"

// SetLogseq sets the folders of the vault that Logseq writes, each with the format of
// its journal titles. If they changed, [Store.FinishLinks] resolves every link again.
func (s *Store) SetLogseq(ctx context.Context, titles map[string]string) error {
	var before map[string]string
	if err := s.Setting(ctx, logseqSetting, &before); err != nil || before != nil && maps.Equal(before, titles) {
		return err
	}
	err := s.notes.Write(ctx, func(tx *sql.Tx) error {
		return errors.Join(setSetting(ctx, tx, logseqSetting, titles), setSetting(ctx, tx, LinksStale, true))
	})
	if err == nil {
		s.setLogseq(titles)
	}
	return err
}

func (l *Layout) setLogseq(titles map[string]string) {
	folders := map[string]notes.NameFormat{}
	for folder, format := range titles {
		journals := notes.NameFormat{Format: format}
		journals.Compile()
		folders[folder] = journals
	}
	l.logseq.Store(&folders)
}

// FinishLinks resolves every link of the vault if a batch deferred that. The caller
// must hold the vault's lock.
func (s *Store) FinishLinks(ctx context.Context) error {
	var stale bool
	if err := s.Setting(ctx, LinksStale, &stale); err != nil || !stale {
		return err
	}
	return s.notes.Write(ctx, func(tx *sql.Tx) error {
		if err := s.resolve(ctx, tx, `links l`); err != nil {
			return err
		}
		return setSetting(ctx, tx, LinksStale, false)
	})
}

// pendingLink is a link to resolve.
type pendingLink struct {
	note, ordinal int64
	from          string
	kind          notes.LinkKind
	target, key   string
	anchor        string
	resolved      sql.NullInt64
	attachment    sql.NullInt64
	state         int
}

// resolve resolves the links l selected by a FROM clause.
func (s *Store) resolve(ctx context.Context, tx *sql.Tx, from string, args ...any) error {
	links, err := selectLinks(ctx, tx, from, args...)
	if err != nil || len(links) == 0 {
		return err
	}
	candidates, err := s.selectTargets(ctx, tx, links)
	if err != nil {
		return err
	}
	update, err := tx.PrepareContext(ctx, `UPDATE links SET resolved = ?, attachment = ?, state = ? WHERE note = ? AND ordinal = ?`)
	if err != nil {
		return err
	}
	defer func() { _ = update.Close() }() // also closed when the transaction ends
	targets, states := make([]Target, len(links)), make([]int, len(links))
	anchored := map[int64][]int{} // note → indexes of links to a part of it
	for i, l := range links {
		targets[i], states[i] = Target{ID: l.note}, LinkResolved // a link within the note
		if l.target != "" {
			targets[i], states[i] = s.ChooseTarget(l.from, l.target, l.kind, candidates[l.key])
		}
		if l.kind == markdown.LinkTag && states[i] == linkUnresolved {
			states[i] = linkNoPage
		}
		if id := targets[i].ID; id != 0 && l.anchor != "" {
			anchored[id] = append(anchored[id], i)
		}
	}
	for note, to := range anchored {
		anchors, err := anchorsOf(ctx, tx, note)
		if err != nil {
			return err
		}
		for _, i := range to {
			if !anchors.Has(links[i].anchor) {
				states[i] = linkNoAnchor
			}
		}
	}
	for i, l := range links {
		t, state := targets[i], states[i]
		resolved := sql.NullInt64{Int64: t.ID, Valid: t.ID != 0}
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

func anchorsOf(ctx context.Context, tx *sql.Tx, note int64) (*markdown.Anchors, error) {
	var codec int
	var packed []byte
	if err := tx.QueryRowContext(ctx, `SELECT codec, data FROM contents WHERE note = ?`, note).Scan(&codec, &packed); err != nil {
		return nil, err
	}
	text, err := Unpack(codec, packed)
	return markdown.NewAnchors(markdown.Parse(text), text), err
}

func selectLinks(ctx context.Context, tx *sql.Tx, from string, args ...any) ([]pendingLink, error) {
	columns := func(l *pendingLink) []any {
		return []any{&l.note, &l.ordinal, &l.from, &l.kind, &l.target, &l.key, &l.anchor, &l.resolved, &l.attachment, &l.state}
	}
	return sqlite.All(ctx, tx, columns, `SELECT l.note, l.ordinal, n.path, l.kind, l.target, l.target_key, l.anchor, l.resolved, l.attachment, l.state
		FROM `+from+` JOIN notes n ON n.id = l.note`, args...)
}

// selectTargets returns the candidate targets of the links, by key.
func (s *Store) selectTargets(ctx context.Context, tx *sql.Tx, links []pendingLink) (map[string][]Target, error) {
	wanted := map[string][]Target{}
	keys, ids, indexes, pages, titles := make([]string, 0, len(links)), []string{}, false, []string{}, []string{}
	for _, l := range links {
		indexes = indexes || l.kind == markdown.LinkMarkdown && !notes.IsNoteName(l.target)
		if notes.IsZettelID(l.target) {
			ids = append(ids, l.target)
		}
		if strings.HasPrefix(l.target, "/") {
			pages = append(pages, strings.Trim(l.target, "/"))
		}
		if _, seen := wanted[l.key]; !seen {
			wanted[l.key] = nil
			keys = append(keys, l.key)
		}
		keys = append(keys, s.pageKeys(s.FolderOf(l.from), l.target)...)
		titles = append(titles, notes.Key(strings.TrimPrefix(l.target, "/")))
	}
	aliases, err := s.aliases(ctx, tx, withAliases, sqlite.List(titles))
	if err != nil {
		return nil, err
	}
	err = sqlite.ForEach(ctx, tx, `SELECT name_key, id, 0, path, permalink FROM notes WHERE name_key IN (SELECT value FROM json_each(?1))
		UNION ALL SELECT name_key, 0, id, path, '' FROM attachments WHERE name_key IN (SELECT value FROM json_each(?1))
		UNION SELECT n.name_key, n.id, 0, n.path, n.permalink FROM json_each(?2) i JOIN notes n ON n.name_key > i.value AND n.name_key < i.value || char(1114111)
		UNION SELECT name_key, id, 0, path, permalink FROM notes WHERE ?3 AND name_key IN ('index', '_index', 'readme')
		UNION SELECT name_key, id, 0, path, permalink FROM notes WHERE permalink <> '' AND permalink IN (SELECT value FROM json_each(?4))
		UNION SELECT name_key, id, 0, path, permalink FROM notes WHERE id IN (SELECT value FROM json_each(?5)) ORDER BY 4`, []any{sqlite.List(keys), sqlite.List(ids), indexes, sqlite.List(pages), sqlite.List(slices.Collect(maps.Keys(aliases)))}, func(rows *sql.Rows) error {
		var k string
		var t Target
		err := rows.Scan(&k, &t.ID, &t.attachment, &t.Path, &t.Permalink)
		t.Aliases = aliases[t.ID]
		s.AddTarget(wanted, k, t)
		return err
	})
	return wanted, err
}

// AddTarget adds a file to the candidates, under key, its [LinkKey], and under the keys
// of its other names, if it has any.
func (l *Layout) AddTarget(candidates map[string][]Target, key string, t Target) {
	keys := []string{key, LinkKey(l.otherName(t.Path)), LinkKey(t.Permalink)}
	for _, alias := range t.Aliases {
		keys = append(keys, LinkKey(alias))
	}
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		if k != "" {
			candidates[k] = append(candidates[k], t)
		}
	}
}

// linkKeys returns the [LinkKey] of each name by which links may refer to the file at a
// path. Links without a target, to a part of their own note, have the key "".
func (l *Layout) linkKeys(p string) []string {
	keys := []string{LinkKey(p)}
	if other := l.otherName(p); other != "" {
		keys = append(keys, LinkKey(other))
	}
	return keys
}

package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"notesd/internal/phrase"
	"notesd/internal/sqlite"
	"notesd/notes"
)

// maxCandidates is the limit for the candidates listed in an error.
const maxCandidates = 8

// Lookup finds the note that ref names: a path (with or without .md), a URI, a
// [[wikilink]], the end of a path, a file name, a title, an alias, a permalink or the name
// of a page of Notion without its ID, in that order, first exactly and then ignoring case, then the
// period of a periodic note, as read by [notes.Periodic.Parse], and finally, unless a note that had
// this name was moved or deleted, one with other apostrophes or a day as read by [notes.ParseDate]. A URI matches only its own path. References may also
// be an absolute path inside the vault, any of the above after a slash, which is the
// vault as in links, an obsidian:// link, or a reference to a part of a note
// ([notes.SplitAnchor]). An [*notes.Error] with [notes.ErrAmbiguous] lists the matching
// notes; one with [notes.ErrNotFound] lists similar ones or has the note's new path.
// The tags of the note are not loaded.
func (s *Reader) Lookup(ctx context.Context, ref string, scope notes.Scope) (notes.Meta, error) {
	ref = s.inVault(ref)
	base, _ := notes.SplitAnchor(ref)
	meta, err := s.lookupWhole(ctx, ref, scope, base == ref)
	if base != ref && (errors.Is(err, notes.ErrNotFound) || errors.Is(err, notes.ErrInvalid)) {
		return s.lookupWhole(ctx, s.inVault(base), scope, true)
	}
	return meta, err
}

// lookupWhole finds the note that ref names, without a reference to a part. If there is none,
// the error is [notes.ErrNotFound], with an explanation only if explain is set, because that
// reads the names of all notes and the whole feed.
func (s *Reader) lookupWhole(ctx context.Context, ref string, scope notes.Scope, explain bool) (notes.Meta, error) {
	name, invalid := CleanRef(ref)
	if name == "" {
		return notes.Meta{}, invalid
	}
	var found notes.Meta
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		canRead, err := readable(ctx, tx, scope)
		if err != nil {
			return err
		}
		missing := func() error {
			if invalid != nil {
				return invalid
			}
			if !explain {
				return notes.ErrNotFound
			}
			return notFound(ctx, tx, ref, name, scope, canRead)
		}
		if !notes.IsURI(ref) && strings.HasSuffix(strings.TrimSpace(ref), "/") {
			return missing() // a folder, even if a note has this name
		}
		pick := func(tiers []tier) (notes.Meta, error) {
			for _, tier := range tiers {
				metas, err := selectMetas(ctx, tx, tier.where, tier.args...)
				if err != nil {
					return notes.Meta{}, err
				}
				metas = slices.DeleteFunc(metas, func(m notes.Meta) bool {
					return !canRead(m.Path) || tier.keep != nil && !tier.keep(m)
				})
				switch len(metas) {
				case 0:
					continue
				case 1:
					return metas[0], nil
				}
				if m, err := s.lookupPeriodic(ctx, tx, name, scope, canRead); err == nil && m.ID != 0 {
					return m, nil
				}
				return notes.Meta{}, ambiguous(ref, metas)
			}
			return notes.Meta{}, nil
		}
		if found, err = pick(s.lookupTiers(ref, name)); err != nil || found.ID != 0 {
			return err
		}
		if notes.IsURI(ref) {
			return missing()
		}
		if found, err = s.lookupPeriodic(ctx, tx, name, scope, canRead); err != nil || found.ID != 0 {
			return err
		}
		gone := missing()
		if others := retyped(name); len(others) > 0 && (invalid != nil || errors.Is(gone, notes.ErrNoTrace)) {
			if found, err = pick(namedTiers(others...)); err != nil || found.ID != 0 {
				return err
			}
		}
		// A day written in another way, without a time, unless a note that had this name was moved or deleted.
		if day, ok := notes.ParseDate(name); ok && !strings.Contains(name, ":") && errors.Is(gone, notes.ErrNoTrace) {
			if found, err = s.lookupPeriodic(ctx, tx, day.Format(time.DateOnly), scope, canRead); found.ID != 0 {
				return err
			}
		}
		return gone
	})
	return found, err
}

// CleanRef converts any form of reference to a path or a name. With the error for a name that is
// not a valid path, it returns the name, because it may be a title.
func CleanRef(ref string) (string, error) {
	if notes.IsURI(ref) {
		return notes.ParseURI(ref)
	}
	name := strings.TrimSpace(ref)
	if inner, ok := strings.CutPrefix(strings.TrimPrefix(name, "!"), "[["); ok {
		name, _, _ = strings.Cut(strings.TrimSuffix(inner, "]]"), "|")
		name, _, _ = strings.Cut(name, "#")
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "./"), "/") // a leading slash is the vault
	if name == "" {
		return "", &notes.Error{Op: "find", Err: notes.ErrInvalid, Detail: "no note was named", Hint: "Give a path, URI, title or alias. list_notes shows them."}
	}
	clean, err := notes.CleanPath(name)
	return cmp.Or(clean, notes.Nfc(name)), err
}

// tier is one way to interpret a name.
type tier struct {
	where string
	args  []any
	keep  func(notes.Meta) bool
}

// lookupTiers returns the ways to interpret a reference, in order of precedence: as it is written,
// and the name in it as those of nameTiers. A URI matches only its own path.
func (l *Layout) lookupTiers(ref, name string) []tier {
	switch {
	case notes.IsURI(ref):
		return namedTiers(name)[:1]
	case ref == name:
		return l.nameTiers(name)
	}
	// A name may begin with a space, or be "[[x]].md", and a title "https://example.org" or "/etc/hosts".
	tiers := slices.Insert(l.nameTiers(name), 0, tier{where: `n.path = ?`, args: []any{ref}})
	return append(tiers, tier{where: `n.title_key = ?1 OR n.id IN (SELECT note FROM aliases WHERE alias_key = ?1)`, args: []any{notes.Key(strings.TrimSpace(ref))}})
}

// nameTiers returns the ways to interpret a name, in order of precedence: as a path, a file
// name, a title, an alias, and in the forms that links and apps write.
func (l *Layout) nameTiers(name string) []tier {
	nameKey, tiers := notes.Key(name), namedTiers(name)
	// As in a Markdown link, on Windows, or quoted.
	if plain, err := url.PathUnescape(strings.Trim(strings.ReplaceAll(name, `\`, "/"), "\"'`")); err == nil && plain != name {
		tiers = append(tiers, tier{where: `n.path_key IN (?, ?)`, args: []any{notes.Key(plain), notes.Key(plain + ".md")}})
	}
	tiers = append(tiers, tier{where: `n.permalink <> '' AND n.permalink = ?`, args: []any{strings.Trim(name, "/")}})
	if notes.IsZettelID(name) {
		tiers = append(tiers, tier{where: `n.name_key > ? AND n.name_key < ? || char(1114111)`, args: []any{name, name},
			keep: func(m notes.Meta) bool { return l.otherName(m.Path) == name }})
	}
	if !strings.Contains(name, "/") { // a page of Notion, whose title has characters that its file name lacks
		tiers = append(tiers, tier{where: `n.name_key > ? || ' ' AND n.name_key < ? || '!'`, args: []any{nameKey, nameKey},
			keep: func(m notes.Meta) bool {
				return notes.FromNotion(m.Path) && len(notes.Key(notes.BaseName(m.Path))) == len(nameKey)+len(" 0123456789abcdef0123456789abcdef")
			}})
	}
	if folders := *l.logseq.Load(); len(folders) > 0 {
		var pages []string
		for folder := range folders {
			pages = append(pages, l.pageKeys(folder, name)...)
		}
		tiers = slices.Insert(tiers, 4, tier{where: `n.name_key IN (SELECT value FROM json_each(?))`, args: []any{sqlite.List(pages)},
			keep: func(m notes.Meta) bool {
				return slices.Contains(l.pageKeys(l.FolderOf(m.Path), name), notes.Key(notes.BaseName(m.Path)))
			}})
	}
	return tiers
}

// namedTiers returns the ways to interpret a name, in any of these spellings.
func namedTiers(names ...string) []tier {
	var paths, files, pathKeys, nameKeys, titleKeys []any
	var suffixes []string
	for _, name := range names {
		key, file := notes.Key(name), name+".md"
		paths, files, titleKeys = append(paths, name), append(files, file), append(titleKeys, key)
		pathKeys, nameKeys = append(pathKeys, key, notes.Key(file)), append(nameKeys, LinkKey(name), notes.Key(path.Base(name)))
		suffixes = append(suffixes, "/"+key)
	}
	endsIn := func(m notes.Meta) bool {
		k := "/" + notes.Key(m.Path)
		return slices.ContainsFunc(suffixes, func(suffix string) bool {
			return strings.HasSuffix(k, suffix) || strings.HasSuffix(notes.Stem(k), suffix)
		})
	}
	return []tier{
		{where: `n.path` + among(paths), args: paths},
		{where: `n.path` + among(files), args: files},
		{where: `n.path_key` + among(pathKeys), args: pathKeys},
		{where: `n.name_key` + among(nameKeys), args: nameKeys, keep: endsIn},
		{where: `n.title_key` + among(titleKeys), args: titleKeys},
		{where: `n.id IN (SELECT note FROM aliases WHERE alias_key` + among(titleKeys) + `)`, args: titleKeys},
	}
}

// among returns the condition for one of the values.
func among(values []any) string {
	return " IN (?" + strings.Repeat(", ?", len(values)-1) + ")"
}

// retyped returns a name with the other characters that keyboards and models type for its
// apostrophes, l'été and l’été, or for the gershayim of a Hebrew acronym, דו"ח and דו״ח.
func retyped(name string) (others []string) {
	for _, marks := range []string{"'’ʼ", `"״`} {
		for _, mark := range marks {
			other := strings.Map(func(r rune) rune {
				if strings.ContainsRune(marks, r) {
					return mark
				}
				return r
			}, name)
			if other != name {
				others = append(others, other)
			}
		}
	}
	return others
}

// ambiguous returns the error for a name that several notes have.
func ambiguous(ref string, metas []notes.Meta) error {
	e := &notes.Error{Op: "find", Path: ref, Err: notes.ErrAmbiguous, Detail: fmt.Sprintf("%d notes have this name", len(metas)), Hint: "Give the path of the one you mean."}
	for _, m := range metas[:min(len(metas), maxCandidates)] {
		e.Candidates = append(e.Candidates, m.Path)
	}
	return e
}

// PartOf returns the part of the note found that ref names, as in Note#Heading and
// Note.md:5-14, or the zero anchor if the whole reference is the note's name: a file may be
// called "C# basics.md".
func (s *Reader) PartOf(ctx context.Context, ref string, found notes.Meta, scope notes.Scope) (notes.Anchor, error) {
	base, part := notes.SplitAnchor(ref)
	if part == (notes.Anchor{}) {
		return part, nil
	}
	switch m, err := s.Lookup(ctx, base, scope); {
	case errors.Is(err, notes.ErrNotFound), errors.Is(err, notes.ErrInvalid), errors.Is(err, notes.ErrAmbiguous), err == nil && m.ID != found.ID:
		return notes.Anchor{}, nil
	case err != nil:
		return notes.Anchor{}, err
	}
	return part, nil
}

// CheckWhole returns an error if ref names only a part of the note found, which a
// change of the whole note would ignore.
func (s *Reader) CheckWhole(ctx context.Context, op, ref string, found notes.Meta, scope notes.Scope) error {
	part, err := s.PartOf(ctx, ref, found, scope)
	if err != nil || part == (notes.Anchor{}) {
		return err
	}
	return &notes.Error{Op: op, Path: ref, Err: notes.ErrInvalid, Detail: "this names part of the note " + notes.Quote(found.Path),
		Hint: "Pass the note alone; an edit takes the part as its heading."}
}

// notFound returns the error for a name that no note has. It says what the name is instead, as
// far as the caller may read that: a moved note, a file that cannot be a note, an attachment, a
// folder, a deleted note, or a misspelling of the candidates.
func notFound(ctx context.Context, tx *sql.Tx, ref, name string, scope notes.Scope, canRead func(p string) bool) error {
	from, moved, err := movedTo(ctx, tx, name)
	if err != nil {
		return err
	}
	if moved != "" && canRead(moved) && canRead(from) {
		return &notes.Error{Op: "find", Path: ref, Err: notes.ErrNotFound, Detail: fmt.Sprintf("the note was moved to %s", notes.Quote(moved)), Candidates: []string{moved}, MovedTo: moved, Hint: "Use the new path."}
	}
	reason, err := sqlite.First[string](ctx, tx, `SELECT reason FROM skipped WHERE path IN (?, ?)`, name, name+".md")
	if err != nil {
		return err
	}
	if reason != "" && canRead(name) {
		return &notes.Error{Op: "find", Path: ref, Err: notes.ErrNotFound, Detail: "the file exists but cannot be a note: " + reason, Hint: "Correct the file with another program; then it becomes a note. If it was one before, note_history has its versions."}
	}
	attachment, err := sqlite.First[string](ctx, tx, `SELECT path FROM attachments WHERE path = ?`, name)
	if err != nil {
		return err
	}
	if attachment != "" && canRead(attachment) {
		e := &notes.Error{Op: "find", Path: ref, Err: notes.ErrNotFound, Detail: "this is an attachment, not a note",
			Hint: fmt.Sprintf("If a note links to it, read it as the resource %s; no tool moves or changes it.", notes.URI(attachment))}
		if ext := strings.ToLower(path.Ext(attachment)); ext == ".canvas" || ext == ".base" {
			e.Hint = "read_note shows a canvas or base; no tool moves or changes it."
		}
		return e
	}
	where, args := filterSQL(notes.Filter{Folder: name, Scope: scope.Read})
	var n int
	var one string
	if err := tx.QueryRowContext(ctx, `SELECT count(*), coalesce(min(path), '') FROM notes n WHERE `+where, args...).Scan(&n, &one); err != nil {
		return err
	}
	if n > 0 {
		e := &notes.Error{Op: "find", Path: ref, Err: notes.ErrNotFound, Detail: fmt.Sprintf("this is a folder, not a note (notes in it and its subfolders: %d)", n),
			Hint: fmt.Sprintf("List them with list_notes folder=%s.", notes.Quote(name))}
		if spelled := strings.Join(strings.Split(one, "/")[:strings.Count(name, "/")+1], "/"); spelled != name { // move_note does not fold case
			e.Hint = fmt.Sprintf("The folder is spelled %s.", notes.Quote(spelled))
		}
		return e
	}
	e := &notes.Error{Op: "find", Path: ref, Err: notes.ErrNoTrace, Detail: "there is no such note", Hint: "search_notes finds notes by content."}
	if strings.HasPrefix(ref, "/") {
		e.Hint = "If the path is absolute, give one inside the vault, such as Projects/Plan.md."
	}
	e.Candidates, err = similar(ctx, tx, name, canRead)
	if len(e.Candidates) > 0 {
		e.Hint = "Did you mean one of these?"
	}
	if err != nil {
		return err
	}
	deleted, err := sqlite.First[string](ctx, tx, `SELECT path FROM changes WHERE kind = 'delete' AND
		(path IN (?1, ?1 || '.md') OR substr(path, -length(?1) - 4) = '/' || ?1 || '.md') ORDER BY seq DESC LIMIT 1`, name)
	if err != nil {
		return err
	}
	if deleted != "" && canRead(deleted) {
		e.Err, e.Detail = notes.ErrNotFound, fmt.Sprintf("the note %s was deleted", notes.Quote(deleted))
		e.Hint = "restore_note brings it back. note_history has its versions."
		if len(e.Candidates) > 0 {
			e.Hint += " Did you mean one of these?"
		}
	}
	return e
}

// movedTo returns the former and current path of the note that last had this path or, of
// those in folders, this name, from the feed; "" if none had.
func movedTo(ctx context.Context, tx *sql.Tx, name string) (from, to string, err error) {
	err = sqlite.ForEach(ctx, tx, `SELECT c.old_path, n.path FROM changes c JOIN notes n ON n.id = c.note
		WHERE c.old_path <> '' AND (c.old_path IN (?1, ?1 || '.md') OR substr(c.old_path, -length(?1) - 4) = '/' || ?1 || '.md')
		ORDER BY c.old_path IN (?1, ?1 || '.md') DESC, c.seq DESC LIMIT 1`, []any{name}, func(rows *sql.Rows) error { return rows.Scan(&from, &to) })
	return from, to, err
}

// similar returns the paths of notes that contain each of several words of name, as
// "testify README" may mean the README in a folder testify, and then of those whose file
// names are most like name.
func similar(ctx context.Context, tx *sql.Tx, name string, canRead func(p string) bool) (paths []string, err error) {
	add := func(found []string, err error) error {
		paths = append(paths, slices.DeleteFunc(found, func(p string) bool { return !canRead(p) || slices.Contains(paths, p) })...)
		return err
	}
	words := strings.FieldsFunc(notes.Key(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	if len(words) > 1 {
		err = add(sqlite.Column[string](ctx, tx, `SELECT path FROM notes WHERE NOT EXISTS (SELECT 1 FROM json_each(?) w WHERE instr(path_key, w.value) = 0)
			ORDER BY length(path), path`, sqlite.List(words)))
	}
	if err != nil {
		return nil, err
	}
	keys, err := sqlite.Column[string](ctx, tx, `SELECT DISTINCT name_key FROM notes ORDER BY name_key`) // reads only the index
	for _, k := range alike(notes.BaseName(name), keys) {
		if err != nil || len(paths) >= maxCandidates {
			break
		}
		err = add(sqlite.Column[string](ctx, tx, `SELECT path FROM notes WHERE name_key = ? ORDER BY id`, k))
	}
	return paths[:min(len(paths), maxCandidates)], err
}

// alike returns the values that, without accents, share the most trigrams with name, as a whole or in
// their last segment, that differ from a short name by one edit, or that contain name, as a longer
// Chinese name may. The most similar are first; equally similar ones keep their order.
func alike(name string, values []string) (like []string) {
	key := notes.Unaccented(notes.Key(name))
	want, runes := trigrams(nil, key), []rune(key)
	score := map[string]float64{}
	var have []trigram
	for _, v := range values {
		k, best := notes.Unaccented(notes.Key(v)), 0.0
		compare := func(part string) {
			have = trigrams(have, part)
			best = max(best, overlap(want, have))
			if n := utf8.RuneCountInString(part); len(runes) <= shortName && max(n-len(runes), len(runes)-n) <= 1 && phrase.Distance(runes, []rune(part)) == 1 {
				best = max(best, 1-1/float64(len(runes)))
			}
		}
		compare(k)
		if last := path.Base(k); last != k {
			compare(last)
		}
		if len(key) >= 4 && strings.Contains(k, key) {
			best = max(best, leastAlike)
		}
		if best >= leastAlike && score[v] == 0 { // a heading may be there twice
			score[v] = best
			like = append(like, v)
		}
	}
	slices.SortStableFunc(like, func(a, b string) int { return cmp.Compare(score[b], score[a]) })
	return like
}

// trigram is three runes of 21 bits each.
type trigram uint64

// trigrams returns the distinct three-rune windows of s in ascending order, padded so that
// short names and the beginnings of names count. It overwrites reuse.
func trigrams(reuse []trigram, s string) []trigram {
	const space, mask = ' ', 1<<63 - 1
	grams, window := reuse[:0], trigram(space<<42|space<<21|space)
	add := func(r rune) {
		window = (window<<21 | trigram(r)) & mask
		grams = append(grams, window)
	}
	for _, r := range s {
		add(r)
	}
	add(space)
	slices.Sort(grams)
	return slices.Compact(grams)
}

// overlap returns the Dice coefficient of two sets in ascending order, from 0 to 1.
func overlap(a, b []trigram) float64 {
	shared := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch c := cmp.Compare(a[i], b[j]); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			shared, i, j = shared+1, i+1, j+1
		}
	}
	return 2 * float64(shared) / float64(len(a)+len(b))
}

// leastAlike is the similarity from which a value is shown.
const leastAlike = 0.3

// shortName is the number of runes up to which one wrong letter can leave a name without a
// common trigram.
const shortName = 6

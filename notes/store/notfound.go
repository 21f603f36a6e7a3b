package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"notesd/internal/phrase"
	"notesd/internal/sqlite"
	"notesd/notes"
)

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
		e.Hint = "restore_note brings it back; note_history has its versions."
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

// alike returns the values that share the most trigrams with name, as a whole or in their
// last segment, that differ from a short name by one edit, or that contain name, as a longer
// Chinese name may. The most similar are first; equally similar ones keep their order.
func alike(name string, values []string) (like []string) {
	key := notes.Key(name)
	want, runes := trigrams(key), []rune(key)
	score := map[string]float64{}
	for _, v := range values {
		k := notes.Key(v)
		for _, part := range slices.Compact([]string{k, path.Base(k)}) {
			score[v] = max(score[v], overlap(want, trigrams(part)))
			if n := utf8.RuneCountInString(part); len(runes) <= shortName && max(n-len(runes), len(runes)-n) <= 1 && phrase.Distance(runes, []rune(part)) == 1 {
				score[v] = max(score[v], 1-1/float64(len(runes)))
			}
		}
		if len(key) >= 4 && strings.Contains(k, key) {
			score[v] = max(score[v], leastAlike)
		}
		if score[v] >= leastAlike {
			like = append(like, v)
		}
	}
	slices.SortStableFunc(like, func(a, b string) int { return cmp.Compare(score[b], score[a]) })
	return like
}

// trigrams returns the distinct three-rune windows of s, padded so that short names and
// the beginnings of names count.
func trigrams(s string) map[[3]rune]bool {
	grams := map[[3]rune]bool{}
	window := [3]rune{' ', ' ', ' '}
	for _, r := range s + " " {
		window = [3]rune{window[1], window[2], r}
		grams[window] = true
	}
	return grams
}

// overlap returns the Dice coefficient of two sets, from 0 to 1.
func overlap(a, b map[[3]rune]bool) float64 {
	shared := 0
	for g := range a {
		if b[g] {
			shared++
		}
	}
	return 2 * float64(shared) / float64(len(a)+len(b))
}

// leastAlike is the similarity from which a value is shown.
const leastAlike = 0.3

// shortName is the number of runes up to which one wrong letter can leave a name without a
// common trigram.
const shortName = 6

package store

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// Tags returns the tags of the notes in scope, most used first.
func (s *Reader) Tags(ctx context.Context, scope notes.Scope) ([]notes.TagCount, error) {
	from := `tags t`
	where, args := filterSQL(notes.Filter{Scope: scope.Read})
	if scope.Read != nil { // the join takes most of the time
		from += ` JOIN notes n ON n.id = t.note`
	}
	tags, err := sqlite.All(ctx, s.notes.Reader(), func(t *notes.TagCount) []any { return []any{&t.Tag, &t.Notes} },
		`SELECT t.tag, count(*) FROM `+from+` WHERE `+where+` GROUP BY t.tag_key ORDER BY count(*) DESC, t.tag_key`, args...)
	return append([]notes.TagCount{}, tags...), err
}

// Folders returns the folders that contain notes in scope, by path.
func (s *Reader) Folders(ctx context.Context, scope notes.Scope) ([]notes.FolderCount, error) {
	where, args := filterSQL(notes.Filter{Scope: scope.Read})
	paths, err := sqlite.Column[string](ctx, s.notes.Reader(), `SELECT n.path FROM notes n WHERE `+where+` ORDER BY n.path`, args...)
	out := []notes.FolderCount{}
	at := map[string]int{}
	for _, p := range paths {
		folder := p[:max(0, strings.LastIndexByte(p, '/'))]
		i, ok := at[folder]
		if !ok {
			i = len(out)
			at[folder] = i
			out = append(out, notes.FolderCount{Folder: folder})
		}
		out[i].Notes++
	}
	return out, err
}

// conflictCopy matches the folded names of the copies that Syncthing, Dropbox, Nextcloud,
// Obsidian Sync, Unison, rclone and, in a shared vault, notesd make of a note that was changed
// in two places.
var conflictCopy = regexp.MustCompile(`\.sync-conflict-\d{8}-|\([^)]*conflicted copy|\(conflict( #\d+)?_on_\d{4}-|\.conflict\d+\.md$|\(conflict \d{4}-\d\d-\d\d \d{6} `)

// ConflictCopies returns a warning about the conflict copies among the notes, or "" if there
// are none.
func (s *Reader) ConflictCopies(ctx context.Context) (string, error) {
	paths, err := sqlite.Column[string](ctx, s.notes.Reader(), `SELECT path FROM notes WHERE instr(name_key, 'conflict') ORDER BY path`)
	paths = slices.DeleteFunc(paths, func(p string) bool { return !conflictCopy.MatchString(notes.Key(p)) })
	if err != nil || len(paths) == 0 {
		return "", err
	}
	return fmt.Sprintf("conflict copies of notes that were changed in two places: %d, for example %s. They may hold text that the notes lack, and stay until they are merged and deleted. The glob *conflict* lists them", len(paths), notes.Quote(paths[0])), nil
}

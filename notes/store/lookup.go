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

	"notesd/internal/sqlite"
	"notesd/notes"
)

// maxCandidates is the limit for the candidates listed in an error.
const maxCandidates = 8

// Lookup finds the note that ref names: a path (with or without .md), a URI, a
// [[wikilink]], the end of a path, a file name, a title or an alias, in that order,
// first exactly and then ignoring case, and finally the period of a periodic note, as
// read by [notes.Periodic.Parse]. A URI matches only its own path. References may also
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
		tiers := s.lookupTiers(name)
		if ref != name { // a name may begin with a space, or be "[[x]].md"
			tiers = slices.Insert(tiers, 0, tier{where: `n.path = ?`, args: []any{ref}})
			key := notes.Key(strings.TrimSpace(ref)) // a title may be "https://example.org" or "/etc/hosts"
			tiers = append(tiers, tier{where: `n.title_key = ?1 OR n.id IN (SELECT note FROM aliases WHERE alias_key = ?1)`, args: []any{key}})
		}
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
		if notes.IsURI(ref) {
			tiers = tiers[1:2] // a URI matches only an exact path
		} else if strings.HasSuffix(strings.TrimSpace(ref), "/") {
			return missing() // a folder, even if a note has this name
		}
		for _, tier := range tiers {
			metas, err := selectMetas(ctx, tx, tier.where, tier.args...)
			if err != nil {
				return err
			}
			metas = slices.DeleteFunc(metas, func(m notes.Meta) bool {
				return !canRead(m.Path) || tier.keep != nil && !tier.keep(m)
			})
			switch len(metas) {
			case 0:
				continue
			case 1:
				found = metas[0]
				return nil
			}
			if m, err := s.lookupPeriodic(ctx, tx, name, scope, canRead); err == nil && m.ID != 0 {
				found = m
				return nil
			}
			return ambiguous(ref, metas)
		}
		if !notes.IsURI(ref) {
			if found, err = s.lookupPeriodic(ctx, tx, name, scope, canRead); err != nil || found.ID != 0 {
				return err
			}
		}
		return missing()
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
		return "", &notes.Error{Op: "find", Err: notes.ErrInvalid, Detail: "no note was named", Hint: "Give a path, URI, title or alias; list_notes shows them."}
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

// lookupTiers returns the ways to interpret a name, in order of precedence: as a path, a file
// name, a title, an alias, and in the forms that links and apps write.
func (l *Layout) lookupTiers(name string) []tier {
	withExt := name + ".md"
	nameKey, suffix := notes.Key(name), "/"+notes.Key(name)
	endsIn := func(m notes.Meta) bool {
		k := "/" + notes.Key(m.Path)
		return strings.HasSuffix(k, suffix) || strings.HasSuffix(notes.Stem(k), suffix)
	}
	tiers := []tier{
		{where: `n.path = ?`, args: []any{name}},
		{where: `n.path = ?`, args: []any{withExt}},
		{where: `n.path_key IN (?, ?)`, args: []any{nameKey, notes.Key(withExt)}},
		{where: `n.name_key IN (?, ?)`, args: []any{LinkKey(name), notes.Key(path.Base(name))}, keep: endsIn},
		{where: `n.title_key = ?`, args: []any{nameKey}},
		{where: `n.id IN (SELECT note FROM aliases WHERE alias_key = ?)`, args: []any{nameKey}},
	}
	// As in a Markdown link, on Windows, or quoted.
	if plain, err := url.PathUnescape(strings.Trim(strings.ReplaceAll(name, `\`, "/"), "\"'`")); err == nil && plain != name {
		tiers = append(tiers, tier{where: `n.path_key IN (?, ?)`, args: []any{notes.Key(plain), notes.Key(plain + ".md")}})
	}
	if notes.IsZettelID(name) {
		tiers = append(tiers, tier{where: `n.name_key > ? AND n.name_key < ? || char(1114111)`, args: []any{name, name},
			keep: func(m notes.Meta) bool { return l.otherName(m.Path) == name }})
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

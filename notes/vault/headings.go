package vault

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"notesd/internal/canvas"
	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
	"notesd/notes"
	"notesd/notes/store"
)

// renamedHeadings returns the headings that the operation renames by changing links or tags in
// them, by their note. Obsidian makes its anchors from the source of a heading.
func (o *operation) renamedHeadings() map[string][]edit.HeadingRename {
	renames := map[string][]edit.HeadingRename{}
	for _, f := range o.Files {
		if !f.IsNote() || bytes.Equal(f.Old, f.New) {
			continue
		}
		before, after := markdown.Parse(f.Old).Headings, markdown.Parse(f.New).Headings
		if len(before) == len(after) && !slices.EqualFunc(before, after, func(a, b markdown.Heading) bool {
			return bytes.Equal(f.Old[a.TextStart:a.TextEnd], f.New[b.TextStart:b.TextEnd])
		}) {
			renames[f.OldPath] = []edit.HeadingRename{{Before: f.Old, After: f.New}}
		}
	}
	return renames
}

// followHeadings rewrites links to the headings that the operation renames, in its own notes
// and in all others, which it adds, as well as canvases; see [operation.addCanvases] for named
// and follow, by which these and bases are edited first. The renames of each note, by its
// path, are in order. In a move, which is nil otherwise, links are resolved as they are after
// it. If it is the undo of a move, restored contains the paths of the files with their former
// text, which stays, and a note that cannot be rewritten is listed in Kept.
func (o *operation) followHeadings(renames map[string][]edit.HeadingRename, move *linksAround, restored map[string]bool, named *regexp.Regexp, follow func(name string, text []byte) []byte) error {
	if len(renames) == 0 {
		return o.addCanvases(named, follow)
	}
	if err := o.requireAll(); err != nil {
		return err
	}
	linking, targets, err := o.v.store.LinksTo(o.ctx, slices.Collect(maps.Keys(renames))...)
	if err != nil {
		return err
	}
	slices.Sort(linking)
	after := func(p string) string { return p }
	hint := "Nothing was changed. Change the heading with replace_text, and those links will be broken."
	if move != nil {
		after, targets = move.move.after, move.after
		hint = "If you " + move.move.without() + ", those links will be broken."
	}
	h := &headingLinks{operation: o, anchors: map[string][][2]*markdown.Anchors{}, targets: targets, after: after, hint: hint}
	for p, all := range renames {
		p = after(p)
		for _, r := range all {
			h.anchors[p] = append(h.anchors[p], [2]*markdown.Anchors{markdown.NewAnchors(markdown.Parse(r.Before), r.Before), markdown.NewAnchors(markdown.Parse(r.After), r.After)})
		}
	}
	failed := func(_ string, err error) error { return err }
	if restored != nil {
		failed = move.move.keep
	}
	for i := range o.Files {
		f := &o.Files[i]
		if f.New == nil || restored[f.OldPath] {
			continue // a folder, or a deleted or restored note
		}
		text, err := h.rewrite(f.OldPath, f.New)
		if err == nil {
			f.New = text
		} else if err := failed(f.OldPath, err); err != nil {
			return err
		}
	}
	also := o.addRewrittenNote(h.rewrite, func(where, why string) error {
		return &notes.Error{Op: o.Kind, Path: o.Files[0].OldPath, Err: notes.ErrForbidden, Detail: fmt.Sprintf("links in %s would have to change, and %s", where, why), Hint: hint}
	})
	for _, p := range linking {
		if err := failed(p, also(p)); err != nil {
			return err
		}
	}
	return o.addCanvases(named, func(name string, text []byte) []byte {
		if text = follow(name, text); text == nil || restored[name] || !isCanvas(name) {
			return text
		}
		folder := o.v.store.FolderOf(after(name)) // paths in a canvas are relative to its own folder of the vault
		return canvas.Edit(name, text, h.rewrite, func(file, key, value string) (string, error) {
			anchor, ok := strings.CutPrefix(value, "#")
			if key != "subpath" || !ok {
				return value, nil
			}
			renamed, err := h.rename(path.Join(folder, notes.Nfc(file)), anchor)
			return "#" + renamed, err
		})
	})
}

// headingLinks rewrites links to headings that an operation renames.
type headingLinks struct {
	*operation
	anchors map[string][][2]*markdown.Anchors // of the renames of a note, before and after, by its path after the operation
	targets map[string][]store.Target         // of links, by their key
	after   func(notePath string) string
	hint    string // if a link cannot follow
}

// rename returns the anchor that leads to the same heading of the note after the renames.
func (h *headingLinks) rename(notePath, anchor string) (string, error) {
	followed := anchor
	for _, a := range h.anchors[notePath] {
		next, ok := a[0].Follow(a[1], followed)
		if !ok {
			return "", fmt.Errorf("to %s would lead to another heading of that name", notes.Quote(anchor))
		}
		followed = next
	}
	return followed, nil
}

// rewrite returns the text of a note with its links rewritten.
func (h *headingLinks) rewrite(notePath string, text []byte) ([]byte, error) {
	var missed error
	doc := markdown.Parse(text)
	out := edit.RewriteAnchors(text, doc, func(l markdown.Link) (string, bool) {
		to := h.after(notePath)
		if l.Target != "" {
			t, _ := h.v.store.ChooseTarget(to, l.Target, l.Kind, h.targets[store.LinkKey(l.Target)])
			to = t.Path
		}
		if l.External || h.anchors[to] == nil {
			return "", false
		}
		anchor, err := h.rename(to, l.Anchor)
		if err == nil && anchor != l.Anchor && !edit.CanAnchor(l, anchor) {
			err = fmt.Errorf("cannot be rewritten to the heading %s", notes.Quote(anchor))
		}
		if err != nil {
			e := &notes.Error{Op: h.Kind, Path: to, Err: notes.ErrInvalid, Detail: fmt.Sprintf("a link in %s %v", notes.Quote(notePath), err), Hint: h.hint}
			if h.Kind == "edit" {
				e.Hint = "Nothing was changed. Choose a text that no other heading has, without brackets and quotes, or change the heading with replace_text, and its links will be broken."
			}
			missed = e
		}
		return anchor, err == nil && anchor != l.Anchor
	})
	return out, errors.Join(missed, h.v.opt.checkText(h.Kind, string(out)))
}

package vault

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"notesd/internal/markdown"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"

	"github.com/tailscale/hujson"
)

// Obsidian's canvases (.canvas, JSON) and bases (.base, YAML) name notes and
// folders by their paths, and canvases name headings and have cards of Markdown. A
// move changes these paths and the cards' links, the new name of a heading these
// headings, and nothing else.

// alsoFiles adds to the operation the canvases and bases that follow changes, which
// returns nil if it cannot. One that cannot be parsed or written is left as it is
// and listed in Left, when it seems to name the note or folder and the caller may
// know of it.
func (o *operation) alsoFiles(named string, follow func(name string, text []byte) []byte, also func(*store.FileChange)) error {
	files, err := o.v.store.Files().Canvases(o.ctx)
	if err != nil {
		return err
	}
	names := func(text []byte) bool { // or may, where characters are escaped
		return strings.Contains(notes.Nfc(string(text)), notes.BaseName(named)) || bytes.Contains(text, []byte(`\u`))
	}
	for _, file := range files {
		if err := o.ctx.Err(); err != nil {
			return err
		}
		f := store.FileChange{OldPath: file.Path, NewPath: file.Path, OldDisk: file.DiskPath, NewDisk: file.DiskPath}
		real, ok := o.root.RealPath(file.DiskPath)
		if f.Old, _, err = disk.Read(o.root, file.DiskPath, notes.MaxAttachmentBytes); err != nil || !names(f.Old) {
			continue
		}
		f.New, ok = follow(file.Path, f.Old), ok && real == file.DiskPath
		if bytes.Equal(f.Old, f.New) {
			continue
		}
		if !ok || f.New == nil || o.mayWrite(file.Path) != nil || checkReplaceable(o.root, o.Kind, f) != nil {
			if o.scope.CanRead(file.Path) {
				o.Left = append(o.Left, file.Path)
			}
			continue
		}
		also(&f)
		o.Files = append(o.Files, f)
	}
	return nil
}

// follow returns the text of a canvas or base with the paths changed that the
// move changes, or nil when it cannot be done.
func (l *linksAround) follow(name string, text []byte) []byte {
	if !strings.EqualFold(path.Ext(name), ".canvas") {
		return l.followBase(name, text)
	}
	return editCanvas(text, func(_, key, value string) (string, error) {
		switch key {
		case "file", "background":
			return l.path(name, value)
		case "text":
			return rewriteCard(name, value, l.rewrite)
		}
		return value, nil
	})
}

// rewriteCard rewrites the links in the text of a canvas's card. One with an escape
// that is no character stays as it is, because that could not be written again.
func rewriteCard(name, text string, rewrite func(string, []byte) ([]byte, error)) (string, error) {
	if !strings.Contains(text, "[") || strings.ContainsRune(text, utf8.RuneError) {
		return text, nil
	}
	out, err := rewrite(name, []byte(text))
	return string(out), err
}

// errOtherFolder: a canvas or base cannot name a file of another folder of the vault.
var errOtherFolder = errors.New("it lies in another folder of the vault")

// path returns what becomes of a path in the file called name. In a vault of several
// folders it is one from the file's own.
func (l *linksAround) path(name, p string) (string, error) {
	from, to := l.store.FolderOf(name), l.store.FolderOf(l.move.after(name))
	if from == "" {
		return l.move.path(p), nil
	}
	full := from + "/" + p
	moved := l.move.path(full)
	switch {
	case moved == full && from == to:
		return p, nil
	case notes.Under(moved, to):
		return inFolder(moved, to), nil
	}
	return "", errOtherFolder
}

// inFolder returns a path from the vault as one from a folder of it.
func inFolder(p, folder string) string {
	if folder == "" {
		return p
	}
	return strings.TrimPrefix(p, folder+"/")
}

// renamedIn returns the text of the canvas called name with the headings of a note in
// its nodes ("subpath") and in the links of its cards renamed, or nil if it cannot be
// done.
func renamedIn(name string, text []byte, notePath string, rename func(anchor string) (string, bool), rewrite func(string, []byte) ([]byte, error)) []byte {
	return editCanvas(text, func(file, key, value string) (string, error) {
		if key == "text" {
			return rewriteCard(name, value, rewrite)
		}
		anchor, ok := strings.CutPrefix(value, "#")
		if key == "subpath" && ok && notes.Nfc(file) == notePath {
			if renamed, ok := rename(anchor); ok {
				return "#" + renamed, nil
			}
		}
		return value, nil
	})
}

// editCanvas changes the texts of nodes, of which edit gets the file that the node shows,
// the key and the value. It returns nil for a text that is not JSON, and if an edit fails.
func editCanvas(text []byte, edit func(file, key, value string) (string, error)) []byte {
	if !json.Valid(text) { // which bounds the nesting
		return nil
	}
	canvas, err := hujson.Parse(text)
	if err != nil {
		return nil
	}
	nodes, _ := member(canvas, "nodes").Value.(*hujson.Array)
	if nodes == nil {
		return text
	}
	for _, node := range nodes.Elements {
		fields, ok := node.Value.(*hujson.Object)
		if !ok {
			continue
		}
		file, _ := member(node, "file").Value.(hujson.Literal)
		for i := range fields.Members {
			field := &fields.Members[i]
			value, ok := field.Value.Value.(hujson.Literal)
			if !ok || value.Kind() != '"' {
				continue
			}
			to, err := edit(file.String(), field.Name.Value.(hujson.Literal).String(), value.String())
			if err != nil {
				return nil
			}
			if to != value.String() {
				field.Value.Value = hujson.String(to)
			}
		}
	}
	return canvas.Pack()
}

// member returns a value of an object, the last of several with the name.
func member(object hujson.Value, name string) (value hujson.Value) {
	if fields, ok := object.Value.(*hujson.Object); ok {
		for _, m := range fields.Members {
			if m.Name.Value.(hujson.Literal).String() == name {
				value = m.Value
			}
		}
	}
	return value
}

// basePaths match what in the formulas and filters of a base names a folder,
// a file, or a note as links do; the path is the last group.
var basePaths = map[string]*regexp.Regexp{
	"path": regexp.MustCompile(`\b(?:(?:inFolder|file)\(|file\.(?:folder|path)\s*[!=]=)\s*\\?["']([^"'\\\n]+)\\?["']`),
	"link": regexp.MustCompile(`\b(?:hasLink|link)\(\s*\\?["']([^"'\\\n]+)\\?["']`),
}

// followBase changes the paths in inFolder(…), hasLink(…), link(…) and file(…),
// and those that file.folder and file.path are compared with.
func (l *linksAround) followBase(name string, text []byte) []byte {
	broken := func(text []byte) bool {
		return markdown.Parse(append(append([]byte("---\n"), text...), "\n---\n"...)).FrontMatter.Err != nil
	}
	if broken(text) {
		return nil
	}
	out, possible := text, true
	for kind, pattern := range basePaths {
		var next []byte
		at := 0
		for _, m := range pattern.FindAllSubmatchIndex(out, -1) {
			was := string(out[m[2]:m[3]])
			var to string
			if kind == "link" {
				to = l.followLink(name, was)
			} else {
				moved, err := l.path(name, was)
				to, possible = moved, possible && err == nil
			}
			if to != was {
				possible = possible && !strings.ContainsAny(to, "\"'\\")
				next = append(append(next, out[at:m[2]]...), to...)
				at = m[3]
			}
		}
		out = append(next, out[at:]...)
	}
	if !possible || broken(out) {
		return nil
	}
	return out
}

// followLink returns what leads, from the file called name, to where link led.
func (l *linksAround) followLink(name, link string) string {
	plain := markdown.Link{Kind: markdown.LinkWiki, Target: link}
	was, leads := l.keeps(name, plain)
	if leads == nil || leads(link) {
		return link
	}
	if spelled, ok := l.respell(name, plain, was, leads); ok {
		return spelled
	}
	return link
}

package vault

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"notesd/internal/markdown"
	"notesd/notes"
	"notesd/notes/store"
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
		if f.Old, _, err = readOnce(o.root, file.DiskPath, notes.MaxAttachmentBytes); err != nil || !names(f.Old) {
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
	return editCanvas(text, func(_ int, key, value string) (string, error) {
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
	var canvas struct {
		Nodes []*struct{ File string }
	}
	if json.Unmarshal(text, &canvas) != nil || slices.Contains(canvas.Nodes, nil) {
		return nil
	}
	return editCanvas(text, func(node int, key, value string) (string, error) {
		if key == "text" {
			return rewriteCard(name, value, rewrite)
		}
		anchor, ok := strings.CutPrefix(value, "#")
		if key != "subpath" || !ok || node >= len(canvas.Nodes) || notes.Nfc(canvas.Nodes[node].File) != notePath {
			return value, nil
		}
		if renamed, ok := rename(anchor); ok {
			return "#" + renamed, nil
		}
		return value, nil
	})
}

// editCanvas changes the texts of nodes, of which edit gets the index of the node,
// the key and the value. It returns nil if an edit fails or the result is not JSON.
func editCanvas(text []byte, edit func(node int, key, value string) (string, error)) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	type level struct {
		array, isKey bool // of an object: the next token is a key
		key          string
	}
	var levels []level
	var out []byte
	at, node := 0, -1
	for {
		before := int(d.InputOffset())
		token, err := d.Token()
		if err != nil {
			break
		}
		end := int(d.InputOffset())
		if delim, ok := token.(json.Delim); ok {
			if delim == '{' || delim == '[' {
				levels = append(levels, level{array: delim == '[', isKey: true})
				if len(levels) == 3 && levels[0].key == "nodes" {
					node++
				}
				continue
			}
			levels = levels[:len(levels)-1]
		} else if n := len(levels); n > 0 && !levels[n-1].array && levels[n-1].isKey {
			levels[n-1].key, levels[n-1].isKey = token.(string), false
			continue
		} else if p, ok := token.(string); ok && n == 3 && levels[0].key == "nodes" {
			to, err := edit(node, levels[2].key, p)
			if err != nil {
				return nil
			}
			if to != p {
				start := before + len(text[before:end]) - len(bytes.TrimLeft(text[before:end], " \t\r\n:,"))
				out = append(append(out, text[at:start]...), jsonString(to)...)
				at = end
			}
		}
		if n := len(levels); n > 0 {
			levels[n-1].isKey = true
		}
	}
	out = append(out, text[at:]...)
	if !json.Valid(text) || !json.Valid(out) {
		return nil
	}
	return out
}

func jsonString(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string always marshals
	}
	return bytes.TrimRight(b.Bytes(), "\n")
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
	plain := markdown.Link{Kind: markdown.LinkKind(notes.LinkWiki), Target: link}
	was, leads := l.keeps(name, plain)
	if leads == nil || leads(link) {
		return link
	}
	for _, spelled := range l.spellings(link, notes.LinkWiki, name, was, l.move.after(name), l.move.after(was.Path)) {
		if leads(spelled) {
			return spelled
		}
	}
	return link
}

package vault

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"strings"

	"notesd/internal/markdown"
	"notesd/notes"
	"notesd/notes/store"
)

// Obsidian's canvases (.canvas, JSON) and bases (.base, YAML) name notes and
// folders by their paths. A move changes these paths in them, and no other
// byte.

// followers adds to the operation the canvases and bases that name what moves.
// One that cannot be parsed or written is left as it is and listed in Left,
// when it seems to name what moves and the caller may know of it.
func (o *operation) followers(links *linksAround) error {
	files, err := o.v.store.Canvases(o.ctx)
	if err != nil {
		return err
	}
	names := func(text []byte) bool { // or may, where characters are escaped
		return strings.Contains(notes.Nfc(string(text)), notes.BaseName(links.move.first.OldPath)) || bytes.Contains(text, []byte(`\u`))
	}
	for _, file := range files {
		if err := o.ctx.Err(); err != nil {
			return err
		}
		f := store.FileChange{OldPath: file.Path, NewPath: file.Path, OldDisk: file.DiskPath, NewDisk: file.DiskPath}
		real, ok := realPath(o.root, file.DiskPath)
		if f.Old, _, err = readOnce(o.root, file.DiskPath, notes.MaxAttachmentBytes); err != nil || !names(f.Old) {
			continue
		}
		f.New, ok = links.follow(file.Path, f.Old), ok && real == file.DiskPath
		if bytes.Equal(f.Old, f.New) {
			continue
		}
		if !ok || f.New == nil || o.mayWrite(file.Path) != nil || checkReplaceable(o.root, "move", f) != nil {
			if o.scope.CanRead(file.Path) {
				o.Left = append(o.Left, file.Path)
			}
			continue
		}
		if links.move.first.Folder && notes.Under(file.Path, links.move.first.OldPath) {
			links.move.carry(&f)
		}
		o.Files = append(o.Files, f)
	}
	return nil
}

// follow returns the text of a canvas or base with the paths changed that the
// move changes, or nil when it cannot be done.
func (l *linksAround) follow(name string, text []byte) []byte {
	if strings.EqualFold(path.Ext(name), ".canvas") {
		return l.followCanvas(text)
	}
	return l.followBase(name, text)
}

// path returns what becomes of a path from the vault: of a note, a file, the
// folder, or what is in it.
func (m *movement) path(p string) string {
	was := notes.Nfc(strings.TrimSuffix(p, "/"))
	if m.first.Folder && notes.Under(was, m.first.OldPath) {
		return m.first.NewPath + strings.TrimPrefix(was, m.first.OldPath) + p[len(strings.TrimSuffix(p, "/")):]
	}
	if to, ok := m.paths[was]; ok {
		return to
	}
	return p
}

// followCanvas changes the files of nodes and the backgrounds of groups.
func (l *linksAround) followCanvas(text []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	type level struct {
		array, isKey bool // of an object: the next token is a key
		key          string
	}
	var levels []level
	var out []byte
	at := 0
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
				continue
			}
			levels = levels[:len(levels)-1]
		} else if n := len(levels); n > 0 && !levels[n-1].array && levels[n-1].isKey {
			levels[n-1].key, levels[n-1].isKey = token.(string), false
			continue
		} else if p, ok := token.(string); ok && n == 3 && levels[0].key == "nodes" && (levels[2].key == "file" || levels[2].key == "background") {
			if to := l.move.path(p); to != p {
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
			to := l.move.path(was)
			if kind == "link" {
				to = l.followLink(name, was)
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
	for _, spelled := range spellings(link, notes.LinkWiki, name, was, l.move.after(name), l.move.after(was.Path)) {
		if leads(spelled) {
			return spelled
		}
	}
	return link
}

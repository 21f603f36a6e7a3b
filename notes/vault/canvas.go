package vault

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"

	"github.com/tailscale/hujson"
)

// Obsidian's canvases (.canvas, JSON) and bases (.base, YAML) refer to notes and folders by
// path; canvases also refer to headings, and have cards with Markdown text. A move updates
// these paths and the links in the cards, a renamed heading updates the references to it,
// a renamed tag the tags in cards, and nothing else changes.

// alsoFiles adds to the operation the canvases and bases that follow changes. follow returns
// nil if it cannot update the file, as when it cannot be parsed; such a file is left as it is
// and listed in Left if it matches named. So is a file that cannot be written, and any that
// cannot be read. Left has only files that the caller may read.
func (o *operation) alsoFiles(named *regexp.Regexp, follow func(name string, text []byte) []byte) error {
	files, err := o.v.store.Files().Canvases(o.ctx)
	if err != nil {
		return err
	}
	names := func(text []byte) bool { // with escaped characters, it may
		return named.MatchString(notes.Nfc(string(text))) || bytes.Contains(text, []byte(`\u`))
	}
	for _, file := range files {
		if err := o.ctx.Err(); err != nil {
			return err
		}
		f := store.FileChange{OldPath: file.Path, NewPath: file.Path, OldDisk: file.DiskPath, NewDisk: file.DiskPath}
		real, ok := o.root.RealPath(file.DiskPath)
		if f.Old, _, err = disk.Read(o.root, file.DiskPath, notes.MaxAttachmentBytes); err != nil {
			if o.scope.CanRead(file.Path) && (!errors.Is(err, fs.ErrNotExist) || isEvicted(o.root, file.DiskPath) || o.v.mounts.check(o.root, o.Kind, file.Path) != nil) {
				o.Left = append(o.Left, file.Path)
			}
			continue
		}
		f.New, ok = follow(file.Path, f.Old), ok && real == file.DiskPath
		if bytes.Equal(f.Old, f.New) || f.New == nil && !names(f.Old) {
			continue
		}
		if !ok || f.New == nil || o.mayWrite(file.Path) != nil || o.checkReplaceable(f) != nil {
			if o.scope.CanRead(file.Path) {
				o.Left = append(o.Left, file.Path)
			}
			continue
		}
		o.Files = append(o.Files, f)
	}
	return nil
}

// namesNote matches texts that seem to refer to a note or folder.
func namesNote(p string) *regexp.Regexp {
	return regexp.MustCompile(regexp.QuoteMeta(notes.BaseName(p)))
}

// inFolder makes a vault-relative path relative to a folder of the vault; "" is the vault.
func inFolder(p, folder string) string {
	return strings.TrimPrefix(p, folder+"/")
}

func isCanvas(name string) bool { return strings.EqualFold(path.Ext(name), ".canvas") }

// editCanvas edits the canvas called name: it calls card with the name and the text of each
// card that may have a link or tag, and other with the other string values of nodes, after the
// file that the node shows and the key. It returns nil if the text is not JSON or an edit fails.
func editCanvas(name string, text []byte, card func(name string, text []byte) ([]byte, error), other func(file, key, value string) (string, error)) []byte {
	if !json.Valid(text) { // also bounds the nesting
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
			literal, ok := field.Value.Value.(hujson.Literal)
			if !ok || literal.Kind() != '"' {
				continue
			}
			key, value := field.Name.Value.(hujson.Literal).String(), literal.String()
			var to string
			switch {
			case key != "text":
				to, err = other(file.String(), key, value)
			case !strings.ContainsAny(value, "[#") || strings.ContainsRune(value, utf8.RuneError):
				continue // an escape that is not a valid character could not be written back
			default:
				var edited []byte
				edited, err = card(name, []byte(value))
				to = string(edited)
			}
			if err != nil {
				return nil
			}
			if to != value {
				field.Value.Value = hujson.String(to)
			}
		}
	}
	return canvas.Pack()
}

// member returns the value of an object's member, the last one if the name is repeated.
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

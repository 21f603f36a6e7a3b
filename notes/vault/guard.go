package vault

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"notesd/notes"
)

// guard decides what may be read and written.
type guard struct {
	ignore *notes.Ignore
	opt    *Options
}

// checkText refuses what could not be a note.
func (g *guard) checkText(op, text string) error {
	switch {
	case !utf8.ValidString(text):
		return &notes.Error{Op: op, Err: notes.ErrInvalid, Detail: "the text is not valid UTF-8"}
	case strings.IndexByte(text, 0) >= 0:
		return &notes.Error{Op: op, Err: notes.ErrInvalid, Detail: "the text has a NUL byte in it"}
	case int64(len(text)) > g.opt.MaxNoteBytes:
		return &notes.Error{Op: op, Err: notes.ErrTooLarge, Detail: fmt.Sprintf("the text has %d bytes; a note may have %d", len(text), g.opt.MaxNoteBytes), Hint: "Split it into several notes."}
	}
	return nil
}

// checkWrite is the one place that says whether a path may be written.
func (g *guard) checkWrite(op, p string, scope notes.Scope) error {
	switch {
	case g.opt.ReadOnly || scope.ReadOnly:
		return &notes.Error{Op: op, Path: p, Err: notes.ErrReadOnly, Detail: "notesd is in read-only mode", Hint: "The owner of the daemon can change vault.read_only."}
	case g.ignore.Match(p):
		return &notes.Error{Op: op, Path: p, Err: notes.ErrForbidden, Detail: "the path is hidden or matches an ignore pattern, so it is not notesd's to write"}
	case notes.InAny(p, g.protected()):
		return &notes.Error{Op: op, Path: p, Err: notes.ErrForbidden, Detail: "the folder holds the user's prompts, which no client may write", Hint: "The user can change them with an editor."}
	case scope.CanRead(p) && notes.InAny(p, scope.NoWrite):
		return &notes.Error{Op: op, Path: p, Err: notes.ErrForbidden, Detail: "the folder is read-only", Hint: "The user can change vault.read_only_folders."}
	case !scope.CanWrite(p):
		places := scope.Write
		if places == nil {
			places = scope.Read
		}
		return &notes.Error{Op: op, Path: p, Err: notes.ErrForbidden, Detail: "this client may not write there",
			Hint: "It may write in: " + strings.Join(places, ", ")}
	}
	return nil
}

// protected returns the folders that clients may read and not write.
func (g *guard) protected() []string {
	if g.opt.Protected == nil {
		return nil
	}
	return g.opt.Protected()
}

// mayAttach reports whether a caller may read the attachment at p.
func (g *guard) mayAttach(p string, scope notes.Scope) bool {
	return scope.CanRead(p) && !g.ignore.Match(p)
}

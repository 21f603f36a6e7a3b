package notes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Create writes a new note durably and makes it known to the store and the
// followers before it returns. It never replaces a file: a path that is taken
// is an [*Error] with [ErrExists].
func (v *Vault) Create(ctx context.Context, r CreateRequest) (Written, error) {
	if err := v.checkText("create", r.Content); err != nil {
		return Written{}, err
	}
	for _, tag := range r.Tags {
		if words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(tag), "#")); len(words) > 1 {
			return Written{}, &Error{Op: "create", Err: ErrInvalid, Detail: fmt.Sprintf("the tag %s has a space in it, which no tag can have", quote(tag)),
				Hint: "Write " + quote(strings.Join(words, "-")) + ", or give each word as a tag of its own."}
		}
	}
	return v.change(ctx, r.RequestKey, func(root *os.Root) (*operation, error) {
		p, err := v.newPath(ctx, root, r)
		if err != nil {
			return nil, err
		}
		text, err := composeNote(p, r)
		if err != nil {
			return nil, err
		}
		return &operation{kind: "create", author: r.Author, files: []fileChange{{newPath: p, newDisk: p, new: text}}}, nil
	})
}

// change runs one operation under the vault's lock: the answer of an earlier
// sending of the same request, or else what plan makes of the files as they
// are now, performed and fed to the followers.
func (v *Vault) change(ctx context.Context, requestKey string, plan func(root *os.Root) (*operation, error)) (Written, error) {
	written, err := v.changeLocked(ctx, requestKey, plan)
	if err != nil {
		return written, err
	}
	v.feed.run(context.WithoutCancel(ctx))
	return written, nil
}

func (v *Vault) changeLocked(ctx context.Context, requestKey string, plan func(root *os.Root) (*operation, error)) (Written, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var written Written
	if err := v.recoverOnce(ctx); err != nil {
		return written, err
	}
	if done, err := Answered(ctx, v.store.History().Reader(), requestKey, &written); done || err != nil {
		return written, err
	}
	root, err := v.disk.open()
	if err != nil {
		return written, err
	}
	defer func() { _ = root.Close() }() // what is written is synced
	op, err := plan(root)
	if err != nil || op == nil {
		return written, v.mounts.explain(root, err)
	}
	if err := v.mounts.checkOperation(root, op); err != nil {
		return written, err
	}
	op.requestKey = requestKey
	return v.perform(ctx, root, op)
}

// checkText refuses what could not be a note.
func (v *Vault) checkText(op, text string) error {
	switch {
	case !utf8.ValidString(text):
		return &Error{Op: op, Err: ErrInvalid, Detail: "the text is not valid UTF-8"}
	case strings.IndexByte(text, 0) >= 0:
		return &Error{Op: op, Err: ErrInvalid, Detail: "the text has a NUL byte in it"}
	case int64(len(text)) > v.opt.MaxNoteBytes:
		return &Error{Op: op, Err: ErrTooLarge, Detail: fmt.Sprintf("the text has %d bytes; a note may have %d", len(text), v.opt.MaxNoteBytes), Hint: "Split it into several notes."}
	}
	return nil
}

// checkWrite is the one place that says whether a path may be written.
func (v *Vault) checkWrite(op, p string, scope Scope) error {
	switch {
	case v.opt.ReadOnly || scope.ReadOnly:
		return &Error{Op: op, Path: p, Err: ErrReadOnly, Detail: "notesd is in read-only mode", Hint: "Whoever runs notesd can change vault.read_only."}
	case v.ignore.Match(p):
		return &Error{Op: op, Path: p, Err: ErrForbidden, Detail: "the path is hidden or matches an ignore pattern, so it is not notesd's to write"}
	case v.isProtected(p):
		return &Error{Op: op, Path: p, Err: ErrForbidden, Detail: "the folder holds the user's prompts, which no client may write", Hint: "The user can change them with an editor."}
	case !scope.CanWrite(p):
		return &Error{Op: op, Path: p, Err: ErrForbidden, Detail: "this client may not write there",
			Hint: "It may write in: " + strings.Join(slices.Concat(scope.Write, scope.Read), ", ")}
	}
	return nil
}

func (v *Vault) protected() []string {
	if v.opt.Protected == nil {
		return nil
	}
	return v.opt.Protected()
}

// isProtected reports whether only the user may write at p.
func (v *Vault) isProtected(p string) bool { return inAny(p, v.protected()) }

// checkNew says whether a note may be created at p, before anything is said
// about what is there.
func (v *Vault) checkNew(root *os.Root, p string, scope Scope) error {
	if err := checkNewPath(p); err != nil {
		return err
	}
	if err := v.checkWrite("create", p, scope); err != nil {
		return err
	}
	return checkPlace(root, "create", p)
}

// checkPlace refuses a new path that lies below a symlink to a folder, or
// below a file.
func checkPlace(root *os.Root, op, p string) error {
	folder := symlinkAbove(root, p)
	if folder == "" {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			info, err := root.Lstat(dir)
			switch {
			case err == nil && info.IsDir():
				return nil
			case err == nil:
				return &Error{Op: op, Path: p, Err: ErrInvalid, Detail: fmt.Sprintf("%s is a file and no folder", quote(dir)), Hint: "Name a folder, or one that does not exist yet."}
			}
		}
		return nil
	}
	return &Error{Op: op, Path: p, Err: ErrForbidden, Detail: fmt.Sprintf("%s is a symlink to a folder, which is not followed", quote(folder)), Hint: "Name the folder that it leads to."}
}

// newPath decides where a new note goes. A path that ends in a slash is a
// folder.
func (v *Vault) newPath(ctx context.Context, root *os.Root, r CreateRequest) (string, error) {
	if strings.HasSuffix(strings.TrimSpace(r.Path), "/") {
		r.Folder, r.Path = r.Path, ""
	}
	if r.Path != "" {
		return v.explicitPath(ctx, root, r.Path, r.Scope)
	}
	if strings.TrimSpace(r.Title) == "" {
		return "", &Error{Op: "create", Err: ErrInvalid, Detail: "the note has neither a title nor a path", Hint: "Give a title; the file name is made from it."}
	}
	folder := strings.Trim(r.Folder, "/ ")
	if folder != "" && folder != "." {
		clean, err := CleanPath(folder)
		if err != nil {
			return "", err
		}
		folder = clean
	} else {
		folder = ""
	}
	return v.titledPath(ctx, root, folder, strings.TrimSpace(r.Title), r.Scope)
}

func (v *Vault) explicitPath(ctx context.Context, root *os.Root, p string, scope Scope) (string, error) {
	p, err := CleanPath(p)
	if err != nil {
		return "", err
	}
	if !IsNoteName(p) {
		p += ".md"
	}
	if err := v.checkNew(root, p, scope); err != nil {
		return "", err
	}
	taken, err := v.takenBy(ctx, root, p)
	if err != nil || taken == "" {
		return p, err
	}
	return "", exists(p, taken)
}

func exists(p, taken string) error {
	e := &Error{Op: "create", Path: p, Err: ErrExists, Candidates: []string{taken}, Detail: "this note exists already", Hint: "Change it with edit_note, or choose another title."}
	if taken != p {
		e.Detail = fmt.Sprintf("%s exists already, and differs only in case or Unicode form: it is the same name on some systems", quote(taken))
	}
	return e
}

// maxNumbered ends the search for a free name.
const maxNumbered = 1000

// titledPath makes the path from the title. A note of this title, in any case
// or Unicode form, is an error; one of another title that needs the same file
// name gets a number.
func (v *Vault) titledPath(ctx context.Context, root *os.Root, folder, title string, scope Scope) (string, error) {
	wanted := path.Join(folder, FileName(title))
	if err := v.checkNew(root, wanted, scope); err != nil {
		return "", err
	}
	for n := 1; n < maxNumbered; n++ {
		p := wanted
		if n > 1 {
			p = numbered(wanted, n)
		}
		taken, err := v.takenBy(ctx, root, p)
		if err != nil || taken == "" {
			return p, err
		}
		if v.hasTitle(ctx, taken, title) {
			return "", exists(p, taken)
		}
	}
	return "", &Error{Op: "create", Path: wanted, Err: ErrExists, Detail: "a thousand notes have this name", Hint: "Choose another title."}
}

func (v *Vault) hasTitle(ctx context.Context, p, title string) bool {
	meta, err := v.store.Lookup(ctx, p, Scope{})
	return err != nil || key(meta.Title) == key(title) || key(baseName(p)) == key(title)
}

// takenBy returns the path of what has the name already, in any case, or "".
func (v *Vault) takenBy(ctx context.Context, root *os.Root, p string) (string, error) {
	if _, err := root.Lstat(p); err == nil {
		return p, nil
	} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotDirectory) {
		return "", writeProblem(&operation{kind: "create", files: []fileChange{{newPath: p}}}, err)
	}
	return v.store.pathByKey(ctx, key(p))
}

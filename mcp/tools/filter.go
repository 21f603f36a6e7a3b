package tools

import (
	"path"
	"strings"
	"time"

	"notesd/internal/phrase"
	"notesd/notes"
)

// filter builds the filter that several tools share.
func (in *invocation) filter(folder string, tags []string, after, before string) (notes.Filter, error) {
	f := notes.Filter{Folder: in.place(folder), Scope: in.Scope.Read}
	for _, tag := range tags {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "#"); tag != "" {
			f.Tags = append(f.Tags, tag)
		}
	}
	var err error
	if f.After, err = in.moment("after", after, false); err != nil {
		return f, err
	}
	f.Before, err = in.moment("before", before, false)
	return f, err
}

// place makes a folder or path, however a caller writes it, one in the vault; "" is the
// vault.
func (in *invocation) place(p string) string {
	return strings.Trim(path.Clean("/"+in.Vault.InVault(p)), "/")
}

// moment reads an argument that names a time, as [Vault] does: of a period the last
// moment, or the first. The zero time stands for "not given".
func (in *invocation) moment(name, text string, last bool) (time.Time, error) {
	if text = strings.TrimSpace(text); text == "" {
		return time.Time{}, nil
	}
	at, ok := in.Vault.Moment(text, in.Now(), last)
	if !ok {
		return time.Time{}, usagef("%s must be a time like 2026-01-31, 2026-01-31T18:00, \"last week\" or 36h, not %q", name, phrase.Clip(phrase.OneLine(text), 40))
	}
	return at, nil
}

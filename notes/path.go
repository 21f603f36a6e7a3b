package notes

import (
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// uriPrefix is the prefix of every note URI: note:///Folder/Name.md
const uriPrefix = "note:///"

// maxPathBytes is a length accepted by Linux, macOS and Windows with long paths.
const maxPathBytes = 1024

// URI returns the resource URI of the note at path, with each segment percent-encoded.
func URI(notePath string) string {
	segments := strings.Split(notePath, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return uriPrefix + strings.Join(segments, "/")
}

// legibleURI returns a form of the URI, also accepted by [ParseURI], with non-ASCII
// characters left unencoded. A percent-encoded Chinese character would cost a model
// nine bytes.
func legibleURI(notePath string) string {
	var b strings.Builder
	b.WriteString(uriPrefix)
	for _, r := range notePath {
		if r == '/' || r >= utf8.RuneSelf && unicode.IsGraphic(r) && !unicode.IsSpace(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(url.PathEscape(string(r)))
		}
	}
	return b.String()
}

// ParseURI returns the vault-relative path in a note URI. %2F is accepted for '/'. The
// error is an [*Error] with [ErrInvalid].
func ParseURI(uri string) (string, error) {
	rest, ok := cutURI(uri)
	if !ok {
		return "", &Error{Op: "read", Path: uri, Err: ErrInvalid, Detail: "not a note URI",
			Hint: "Note URIs look like note:///Folder/Name.md."}
	}
	p, err := url.PathUnescape(rest)
	if err != nil {
		return "", &Error{Op: "read", Path: uri, Err: ErrInvalid, Detail: "broken percent-encoding in the URI"}
	}
	return CleanPath(p)
}

// URIsOf returns those of the URIs that name one of the paths, in whatever form they are
// written. It modifies uris.
func URIsOf(paths, uris []string) []string {
	return slices.DeleteFunc(uris, func(uri string) bool {
		p, err := ParseURI(uri)
		return err != nil || !slices.Contains(paths, p)
	})
}

// IsURI reports whether ref is a note URI.
func IsURI(ref string) bool {
	_, ok := cutURI(ref)
	return ok
}

// cutURI returns the escaped path in a note URI. Models also write it with two slashes,
// note://Folder/Name.md: there is no authority.
func cutURI(uri string) (rest string, ok bool) {
	scheme := strings.TrimSuffix(uriPrefix, "/")
	if len(uri) < len(scheme) || !strings.EqualFold(uri[:len(scheme)], scheme) {
		return "", false
	}
	return strings.TrimPrefix(uri[len(scheme):], "/"), true
}

// CleanPath returns p in the form used for notes, NFC with single slashes, or an
// [*Error] with [ErrInvalid] if it is not a valid path inside a vault: it is absolute,
// is not UTF-8, or contains "..", a drive letter, an alternate stream, or a control
// character.
func CleanPath(p string) (string, error) {
	invalid := func(detail string) (string, error) {
		return "", &Error{Op: "use path", Path: strings.ToValidUTF8(p, "\uFFFD"), Err: ErrInvalid, Detail: detail,
			Hint: "Give a path inside the vault, such as Projects/Plan.md."}
	}
	clean := norm.NFC.String(path.Clean(p)) // "./~/x" is "~/x"
	switch {
	case p == "":
		return invalid("the path is empty")
	case !utf8.ValidString(p):
		return invalid("the path is not UTF-8")
	case strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return invalid("the path contains a control character")
	case strings.HasPrefix(clean, "/") || strings.HasPrefix(clean, `\`) || strings.HasPrefix(clean, "~/"):
		return invalid("the path is absolute")
	case len(clean) > 1 && clean[1] == ':':
		return invalid("the path starts with a drive letter")
	}
	for segment := range strings.SplitSeq(p, "/") {
		if segment == ".." {
			return invalid(`the path leads out through ".."`)
		}
	}
	if clean == "." {
		return invalid("the path names the vault itself")
	}
	if !filepath.IsLocal(filepath.FromSlash(clean)) { // on Windows: devices (nul.md), alternate streams (a.md:b)
		return invalid("this system cannot store a file with that name")
	}
	if len(clean) > maxPathBytes {
		return invalid("the path is longer than 1024 bytes")
	}
	return clean, nil
}

// noteExtensions are the extensions of notes. Obsidian supports only the first; the
// others are used by other editors, documentation sites, Quarto and R Markdown.
var noteExtensions = []string{".md", ".markdown", ".mdx", ".qmd", ".rmd"}

// IsNoteName reports whether the file name has the extension of a note.
func IsNoteName(p string) bool {
	return slices.Contains(noteExtensions, strings.ToLower(path.Ext(p)))
}

// BaseName returns the file name without a note's extension.
func BaseName(p string) string { return Stem(path.Base(p)) }

// Stem returns the path without a note's extension.
func Stem(p string) string {
	if IsNoteName(p) {
		return strings.TrimSuffix(p, path.Ext(p))
	}
	return p
}

// Key folds s for comparison, to NFC without case.
func Key(s string) string {
	if isLowerASCII(s) {
		return s
	}
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(s)))
}

// Unaccented returns a text without accents: "café" is "cafe"; without the vowel marks and the hamza of
// Hebrew and Arabic; and with plain apostrophes: "l’été" is "l'ete".
func Unaccented(s string) string {
	const first, last = 'À', 0x1fff // characters with accents, and these themselves
	const lastMark = 0x670          // of Arabic; in the scripts after it, vowels are marks
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= first && r <= last || r == '’' }) {
		return s
	}
	return norm.NFC.String(strings.Map(func(r rune) rune {
		switch {
		case r <= lastMark && unicode.Is(unicode.Mn, r):
			return -1
		case r == '’' || r == 'ʼ':
			return '\''
		}
		return r
	}, norm.NFD.String(s)))
}

func isLowerASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// Under reports whether p is the folder or is below it. The empty folder is the vault.
func Under(p, folder string) bool {
	return folder == "" || p == folder || strings.HasPrefix(p, folder+"/")
}

// Nfc returns s in Unicode form NFC, the form of note names.
func Nfc(s string) string { return norm.NFC.String(s) }

// FolderKey returns the folded form of a folder, without surrounding slashes.
func FolderKey(folder string) string { return Key(strings.Trim(folder, "/ ")) }

package notes

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Anchor is a part of a note named in a reference, such as Plan.md:5-14, Plan#Risks or
// note:///Plan.md#L5-L14. The zero value means the whole note.
type Anchor struct {
	Heading     string // as accepted by [Note.Section]
	First, Last int    // lines, from 1, both inclusive
}

var (
	lineSuffix   = regexp.MustCompile(`(?i)^(.*):L?(\d{1,9})(?:[-–]L?(\d{1,9}))?$`)
	lineFragment = regexp.MustCompile(`(?i)^L(\d{1,9})(?:-L?(\d{1,9}))?$`)
)

// SplitAnchor splits a reference into the note, as accepted by Lookup, and the part of
// it. A reference without a part is returned unchanged. Since a file name may look like
// a reference to a part, Lookup first tries the whole reference.
func SplitAnchor(ref string) (note string, a Anchor) {
	given := strings.TrimSpace(ref)
	ref, _ = AppRef(given)
	if IsURI(ref) {
		note, fragment, _ := strings.Cut(ref, "#")
		note, _, _ = strings.Cut(note, "?")
		if text, err := url.PathUnescape(fragment); err == nil {
			fragment = text
		}
		return note, anchorOf(fragment)
	}
	if inner, ok := strings.CutPrefix(strings.TrimPrefix(ref, "!"), "[["); ok {
		ref, _, _ = strings.Cut(strings.TrimSuffix(inner, "]]"), "|")
		if note, heading, ok := strings.Cut(ref, "#"); ok && note != "" { // in a link, L5 is a heading too
			return strings.TrimSpace(note), Anchor{Heading: strings.TrimSpace(heading)}
		}
	}
	if m := lineSuffix.FindStringSubmatch(ref); m != nil && IsNoteName(m[1]) {
		return m[1], linesOf(m[2], m[3])
	}
	if at := strings.IndexByte(ref, '#'); at > 0 {
		if ref != given { // in an app's link, too
			return strings.TrimSpace(ref[:at]), Anchor{Heading: strings.TrimSpace(ref[at+1:])}
		}
		return strings.TrimSpace(ref[:at]), anchorOf(ref[at+1:])
	}
	return ref, a
}

// PassageURI returns a reference to lines of a version of a note, identified by its
// [Note.Hash]: note:///Plan.md?rev=1a2b3c4d5e6f#L12-L18.
func PassageURI(notePath, hash string, first, last int) string {
	return passage(URI(notePath), hash, first, last)
}

// PassageRef is like PassageURI, but for people and models: non-ASCII characters are
// not encoded.
func PassageRef(notePath, hash string, first, last int) string {
	return passage(legibleURI(notePath), hash, first, last)
}

func passage(uri, hash string, first, last int) string {
	return fmt.Sprintf("%s?rev=%s#L%d-L%d", uri, ShortHash(hash), first, last)
}

// ShortHash returns the first 12 digits of a hash, which texts show and requests accept in
// its place.
func ShortHash(hash string) string { return hash[:min(12, len(hash))] }

// RevisionOf returns the prefix of the hash in a reference made by PassageURI, or "".
func RevisionOf(ref string) string {
	ref, _, _ = strings.Cut(strings.TrimSpace(ref), "#")
	_, query, _ := strings.Cut(ref, "?")
	if !IsURI(ref) {
		return ""
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return ""
	}
	return strings.ToLower(values.Get("rev"))
}

func anchorOf(fragment string) Anchor {
	if m := lineFragment.FindStringSubmatch(fragment); m != nil {
		return linesOf(m[1], m[2])
	}
	return Anchor{Heading: strings.TrimSpace(fragment)}
}

func linesOf(first, last string) Anchor {
	if last == "" {
		last = first
	}
	a, _ := strconv.Atoi(first) // at most nine digits
	b, _ := strconv.Atoi(last)
	return Anchor{First: max(1, a), Last: b}
}

// AppRef converts an obsidian:// or file: link to a reference, and returns the name of the
// vault in the link, if it has one: obsidian://open?vault=V&file=Plan%23Risks,
// obsidian://vault/V/Folder/Plan, file:///home/ann/vault/Plan.md. Other references are
// returned unchanged.
func AppRef(ref string) (note, vault string) {
	lower := strings.ToLower(ref)
	if !strings.HasPrefix(lower, "obsidian:") && !strings.HasPrefix(lower, "file:/") {
		return ref, ""
	}
	u, err := url.Parse(ref)
	if err != nil {
		return ref, ""
	}
	if u.Scheme == "file" {
		file := filepath.FromSlash(u.Path)
		if filepath.VolumeName(file[min(1, len(file)):]) != "" {
			file = file[1:] // file:///C:/Notes/Plan.md
		}
		return file, ""
	}
	if vault, file, ok := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/"); ok && strings.EqualFold(u.Host, "vault") {
		return file, vault
	}
	q := u.Query()
	return cmp.Or(q.Get("file"), q.Get("path"), ref), q.Get("vault")
}

package notes

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Anchor is the part of a note that a reference names, as in Plan.md:5-14,
// Plan#Risks or note:///Plan.md#L5-L14. The zero value stands for all of it.
type Anchor struct {
	Heading     string // as [Note.Section] takes it
	First, Last int    // lines, from 1, both inclusive
}

var (
	lineSuffix   = regexp.MustCompile(`(?i)^(.*\.(?:md|markdown)):L?(\d{1,9})(?:[-–]L?(\d{1,9}))?$`)
	lineFragment = regexp.MustCompile(`(?i)^L(\d{1,9})(?:-L?(\d{1,9}))?$`)
)

// SplitAnchor takes a reference apart: the note, as Lookup takes it, and the
// part of it. A reference without a part is returned as it is. A file's own
// name may look like one with a part: Lookup tries the whole first.
func SplitAnchor(ref string) (note string, a Anchor) {
	ref = AppRef(strings.TrimSpace(ref))
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
	}
	if m := lineSuffix.FindStringSubmatch(ref); m != nil {
		return m[1], linesOf(m[2], m[3])
	}
	if at := strings.IndexByte(ref, '#'); at > 0 {
		return strings.TrimSpace(ref[:at]), anchorOf(ref[at+1:])
	}
	return ref, a
}

// PassageURI returns the reference to some lines of a version of a note, of which
// hash is the [Note.Hash]: note:///Plan.md?rev=1a2b3c4d5e6f#L12-L18.
func PassageURI(notePath, hash string, first, last int) string {
	return passage(URI(notePath), hash, first, last)
}

// PassageRef is PassageURI as people and models read it: characters that are no ASCII
// are not encoded.
func PassageRef(notePath, hash string, first, last int) string {
	return passage(legibleURI(notePath), hash, first, last)
}

func passage(uri, hash string, first, last int) string {
	const digits = 12
	return fmt.Sprintf("%s?rev=%s#L%d-L%d", uri, hash[:min(digits, len(hash))], first, last)
}

// RevisionOf returns the first digits of the hash that a reference names, as
// PassageURI writes them, or "".
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

// AppVault returns the name of the vault in a link of Obsidian's, or "".
func AppVault(ref string) string {
	u, err := url.Parse(ref)
	if err != nil || !strings.EqualFold(u.Scheme, "obsidian") {
		return ""
	}
	if vault, _, ok := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/"); ok && strings.EqualFold(u.Host, "vault") {
		return vault
	}
	return u.Query().Get("vault")
}

// AppRef turns a link of Obsidian's, or of the file system's, into a reference:
// obsidian://open?vault=V&file=Plan%23Risks, file:///home/ann/vault/Plan.md.
func AppRef(ref string) string {
	lower := strings.ToLower(ref)
	if !strings.HasPrefix(lower, "obsidian:") && !strings.HasPrefix(lower, "file:") {
		return ref
	}
	u, err := url.Parse(ref)
	if err != nil {
		return ref
	}
	if strings.EqualFold(u.Scheme, "file") {
		file := filepath.FromSlash(u.Path)
		if filepath.VolumeName(file[min(1, len(file)):]) != "" {
			return file[1:] // file:///C:/Notes/Plan.md
		}
		return file
	}
	if file := u.Query().Get("file"); file != "" {
		return file
	}
	if file := u.Query().Get("path"); file != "" {
		return file
	}
	if _, file, ok := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/"); ok && strings.EqualFold(u.Host, "vault") {
		return file // obsidian://vault/NAME/Folder/Plan
	}
	return ref
}

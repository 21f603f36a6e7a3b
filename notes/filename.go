package notes

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"notesd/internal/markdown"
	"notesd/internal/moment"
)

// maxNameBytes leaves room, within the 255 bytes that file systems allow, for the
// extension, a number that makes the name unique, and suffixes added by sync tools.
const maxNameBytes = 180

// reservedNames cannot be file names on Windows, with any extension, and would break a
// vault that is synced there.
var reservedNames = map[string]bool{
	"con": true, "prn": true, "aux": true, "nul": true,
	"com0": true, "com1": true, "com2": true, "com3": true, "com4": true, "com5": true, "com6": true, "com7": true, "com8": true, "com9": true,
	"lpt0": true, "lpt1": true, "lpt2": true, "lpt3": true, "lpt4": true, "lpt5": true, "lpt6": true, "lpt7": true, "lpt8": true, "lpt9": true,
}

// FileName converts any title to a file name (with .md) that is valid on every system
// and that a wikilink can name. If it differs from the title, the caller stores the
// title in the front matter.
func FileName(title string) string {
	name := strings.Map(nameRune, norm.NFC.String(strings.ToValidUTF8(title, "")))
	name = norm.NFC.String(name) // removed characters may have separated composable ones
	name = strings.Join(strings.Fields(name), " ")
	name = strings.TrimLeft(name, ". ")  // would be hidden
	name = strings.TrimRight(name, ". ") // Windows drops them
	name = strings.TrimSpace(markdown.Truncate(name, maxNameBytes))
	if lower := strings.ToLower(name); strings.HasSuffix(lower, ".md") {
		name = strings.TrimRight(name[:len(name)-len(".md")], ". ")
	}
	if name == "" {
		name = "Untitled"
	}
	if stem, _, _ := strings.Cut(name, "."); reservedNames[strings.ToLower(strings.TrimSpace(stem))] {
		name = "_" + name
	}
	return name + ".md"
}

// LogseqNames returns the names, without extension, of the files that may be Logseq's
// page with this title: the current form, "a___b" for "a/b", the older one, and, if the
// title is a date, those of the journal of that day.
func LogseqNames(title string, journals NameFormat) []string {
	title = strings.Trim(norm.NFC.String(title), "/")
	name := percentEscape.ReplaceAllStringFunc(title, func(s string) string { return "%25" + s[1:] })
	name = logseqReserved.ReplaceAllStringFunc(name, url.QueryEscape)
	if reservedNames[strings.ToLower(name)] || strings.HasSuffix(name, ".") {
		name += "/"
	}
	for _, ambiguous := range []string{"___", "_/", "/_"} { // in Logseq's order
		name = strings.ReplaceAll(name, ambiguous, strings.ReplaceAll(ambiguous, "_", "%5F"))
	}
	old := strings.ReplaceAll(logseqReserved.ReplaceAllStringFunc(title, url.QueryEscape), "/", "%2F")
	names := []string{strings.ReplaceAll(name, "/", "___"), old}
	if day, ok := journals.Match(title); ok {
		for _, layout := range logseqDays {
			names = append(names, day.Format(layout))
		}
	}
	return names
}

// logseqDays are the formats of the file names of Logseq's journals, current form
// first.
var logseqDays = []string{"2006_01_02", "2006-01-02"}

// LogseqTitle returns the title of the Logseq page in a file with this name, without
// extension.
func LogseqTitle(name string, journals NameFormat) string {
	for _, layout := range logseqDays {
		if day, err := time.Parse(layout, name); err == nil {
			return moment.Format(day, journals.Format)
		}
	}
	title := percentEscape.ReplaceAllStringFunc(strings.ReplaceAll(name, "___", "/"), func(s string) string {
		if c, err := url.PathUnescape(s); err == nil && c[0] < utf8.RuneSelf {
			return c
		}
		return s
	})
	return strings.Join(slices.DeleteFunc(strings.Split(title, "/"), func(s string) bool { return s == "" }), "/")
}

// ZettelID returns the time, as 12 or 14 digits, at the beginning of a note's name, by
// which The Archive, Zettlr and others link to it: [[202602140930]] is "202602140930
// Tides". It returns "" if there is none.
func ZettelID(name string) string {
	n := strings.IndexFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	if n != 12 && n != 14 {
		return ""
	}
	if r, _ := utf8.DecodeRuneInString(name[n:]); unicode.IsLetter(r) {
		return ""
	}
	return name[:n]
}

// IsZettelID reports whether a link target has the form of a [ZettelID].
func IsZettelID(link string) bool { return link != "" && ZettelID(link+" ") == link }

var (
	percentEscape  = regexp.MustCompile(`%[0-9a-fA-F]{2}`)
	logseqReserved = regexp.MustCompile(`[:*?"<>|#\\]+`)
)

// nameRune replaces or removes characters that are not allowed in file names on some
// system or in wikilinks.
func nameRune(r rune) rune {
	switch r {
	case '/', '\\', ':', '|':
		return '-'
	case '*', '?', '"', '<', '>', '#', '^', '[', ']':
		return -1
	case '\t', '\n', '\r', '\v', '\f', '\u2028', '\u2029', '\u0085':
		return ' '
	}
	if unicode.IsControl(r) || isBidiControl(r) {
		return -1
	}
	return r
}

// isBidiControl reports whether r can make a name display as a different one.
func isBidiControl(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0xFEFF
}

// CheckNewPath rejects the path of a new note if [CheckPortable] does, or if no
// wikilink can name it. Existing notes may have any name.
func CheckNewPath(op, p string) error {
	switch {
	case !IsNoteName(p):
		return &Error{Op: op, Path: p, Err: ErrInvalid, Detail: "the path does not end in .md", Hint: "Add .md to the path."}
	case strings.ContainsAny(path.Base(p), "#^[]"):
		return &Error{Op: op, Path: p, Err: ErrInvalid, Detail: "the name contains # ^ [ or ], so no link could refer to it", Hint: leaveOut(op)}
	}
	return CheckPortable(op, p)
}

func leaveOut(op string) string {
	if op == "create" {
		return "Omit the character, or pass a title and let notesd choose the file name."
	}
	return "Omit the character."
}

// CheckPortable rejects a new path that is invalid on some system, so that the vault
// can be synced to it.
func CheckPortable(op, p string) error {
	invalid := func(detail, hint string) error {
		return &Error{Op: op, Path: p, Err: ErrInvalid, Detail: detail, Hint: hint}
	}
	for segment := range strings.SplitSeq(p, "/") {
		switch stem, _, _ := strings.Cut(segment, "."); {
		case p == ".": // the vault
		case strings.HasPrefix(segment, "."):
			return invalid("a file whose name starts with a dot is hidden and is not a note", "Omit the leading dot.")
		case strings.ContainsAny(segment, `\:*?"<>|`):
			return invalid(`one of \ : * ? " < > | is in the name, which not every system can store`, leaveOut(op))
		case strings.HasSuffix(segment, ".") || strings.HasSuffix(segment, " ") || strings.HasPrefix(segment, " "):
			return invalid("a name that starts or ends with a space, or ends with a dot, cannot be stored on every system", "Trim it.")
		case reservedNames[strings.ToLower(strings.TrimSpace(stem))]:
			return invalid("the name is reserved by Windows", "Choose another name.")
		case len(segment) > 255:
			return invalid("a name is longer than 255 bytes", "Shorten it.")
		}
	}
	return nil
}

// Numbered returns p with " n" before its extension: Plan.md → Plan 2.md.
func Numbered(p string, n int) string {
	ext := path.Ext(p)
	return strings.TrimSuffix(p, ext) + " " + strconv.Itoa(n) + ext
}

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

// maxNameBytes leaves room, in the 255 bytes that file systems allow a name,
// for the extension, a number against twins, and what sync tools append.
const maxNameBytes = 180

// reservedNames cannot be file names on Windows, with any extension; a vault
// that syncs there would break on them.
var reservedNames = map[string]bool{
	"con": true, "prn": true, "aux": true, "nul": true,
	"com0": true, "com1": true, "com2": true, "com3": true, "com4": true, "com5": true, "com6": true, "com7": true, "com8": true, "com9": true,
	"lpt0": true, "lpt1": true, "lpt2": true, "lpt3": true, "lpt4": true, "lpt5": true, "lpt6": true, "lpt7": true, "lpt8": true, "lpt9": true,
}

// FileName makes a file name (with .md) from any title: one that every
// system accepts, that a wikilink can name, and that says the same. What it
// has to change, the caller keeps as front matter's title.
func FileName(title string) string {
	name := strings.Map(nameRune, norm.NFC.String(strings.ToValidUTF8(title, "")))
	name = norm.NFC.String(name) // what was parted may now stand together
	name = strings.Join(strings.Fields(name), " ")
	name = strings.TrimLeft(name, ". ")  // would be hidden
	name = strings.TrimRight(name, ". ") // Windows drops them
	name = strings.TrimSpace(truncate(name, maxNameBytes))
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

// LogseqNames returns the names, without extension, of the files that may hold Logseq's
// page of this title: the present form, "a___b" for "a/b", the older one, and those of
// the journal of a day, if the title is one.
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

// logseqDays are how Logseq names the files of its journals, the present form first.
var logseqDays = []string{"2006_01_02", "2006-01-02"}

// LogseqTitle returns the title of the page that Logseq keeps in a file of this name,
// which is without its extension.
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

// ZettelID returns the time, as 12 or 14 digits, that the name of a note begins with and
// that The Archive, Zettlr and others link to it by: [[202602140930]] is "202602140930
// Tides". It is "" without one.
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

// IsZettelID reports whether a link may be a [ZettelID].
func IsZettelID(link string) bool { return link != "" && ZettelID(link+" ") == link }

var (
	percentEscape  = regexp.MustCompile(`%[0-9a-fA-F]{2}`)
	logseqReserved = regexp.MustCompile(`[:*?"<>|#\\]+`)
)

// nameRune replaces what a file name on some system, or a wikilink, cannot hold.
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

// isBidiControl: characters that make a name display as another.
func isBidiControl(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0xFEFF
}

// truncate cuts s to at most n bytes, not within a grapheme that ends in
// combining marks or joiners.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	for n > 0 {
		next, _ := utf8.DecodeRuneInString(s[n:])
		last, size := utf8.DecodeLastRuneInString(s[:n])
		if !markdown.Joins(next) && last != markdown.ZeroWidthJoiner {
			break
		}
		n -= size
	}
	return s[:n]
}

// CheckNewPath refuses the path of a new note that [CheckPortable] refuses, and a name
// that no wikilink can have. Existing notes may have any name.
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

// CheckPortable refuses a new path that some system could not hold, so that a vault
// stays whole when it is synced.
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

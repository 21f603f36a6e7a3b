package search

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"notesd/internal/markdown"
	"notesd/notes"
	"notesd/search/terms"
)

// Hit is a note that was found, with its best passage.
type Hit struct {
	NoteID    int64
	Path      string
	Hash      string // of the version of the note that was read
	Title     string
	Date      time.Time // stated by the note in its front matter or name; zero if it states none
	Heading   string    // nearest above the best lines of the passage
	LineStart int       // of the passage in the file, from 1
	LineEnd   int
	Focus     int    // byte offset in the note's SearchText of the best words of the passage
	Snippet   string // from the passage, on one line; untrusted content of the note
	Score     float64
	Weak      bool // a poor match, both in words and semantically
	Why       Why
}

// Why explains the rank of a hit.
type Why struct {
	TextRank    int      `json:"text_rank,omitempty"`    // from 1 among the notes found by words; 0: not found by words
	VectorRank  int      `json:"vector_rank,omitempty"`  // from 1 among the notes found semantically; 0: not found so
	TextScore   float64  `json:"text_score,omitempty"`   // BM25F and the bonuses of rescoring; unbounded
	VectorScore float64  `json:"vector_score,omitempty"` // cosine of the best passage
	Terms       []string `json:"terms,omitempty"`        // matched words of the query, highest idf first; function words only if there are no others
	Forms       []string `json:"forms,omitempty"`        // other words of the snippet that match: inflected forms, corrections
}

// Words returns the words to mark in the snippet.
func (w Why) Words() []string { return slices.Concat(w.Terms, w.Forms) }

// clipName shortens a title or heading, which may be a line of any length.
func clipName(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return clipWords(s, most) + "…"
}

// bestChunk returns the passage of a note to show: the first chunk that has, with the headings
// above it, the greatest weight of distinct matched words, or, where the chunk has less than half
// of what the headings lack of the query, the semantically nearest chunk (-1: none).
func (s *rescorer) bestChunk(n *notes.Note, matches []match, nearest int) int {
	best, weight := s.heaviest(n, matches, -1)
	if nearest >= 0 && nearest < len(n.Chunks) {
		if best < 0 {
			return nearest
		}
		above := distinct(s.weights, s.matcher.find(nil, strings.Join(n.Chunks[best].Path, "\n")), nil)
		if weight-above < (s.total()-above)/2 {
			return nearest
		}
	}
	if best < 0 && len(n.Chunks) > 0 {
		return 0
	}
	return best
}

// topicShare is the share of the query that both the beginning of a note and another
// passage must contain for two passages to be shown.
var topicShare = 0.5

// secondChunk returns another passage of a note whose topic is the query, which the
// beginning of the note shows. It returns -1 if the query is not the topic, or no other
// passage contains half of it.
func (s *rescorer) secondChunk(n *notes.Note, matches []match, first int) int {
	half := s.total() * topicShare
	if s.leadIn(n, s.matcher.find(nil, n.Title), matches) < half {
		return -1
	}
	if i, weight := s.heaviest(n, matches, first); weight >= half {
		return i
	}
	return -1
}

// heaviest returns the chunk whose distinct matched words have the greatest weight, and
// that weight; -1 if no chunk has a match. The words of the headings above a chunk, and the
// column names of a table that it continues, count as its own: they are written once, for more
// than the chunk that they begin. If a chunk is excepted, headings do not count.
func (s *rescorer) heaviest(n *notes.Note, matches []match, except int) (best int, weight float64) {
	best = -1
	at := 0
	var above []string // the headings of the chunk before
	var crumb string
	var crumbed []match
	for i, c := range n.Chunks {
		for at < len(matches) && matches[at].start < c.Start {
			at++
		}
		from := at
		for at < len(matches) && matches[at].start < c.End {
			at++
		}
		if i == except {
			continue
		}
		if except >= 0 {
			text := c.Start + headingEnd(n.Content[c.Start:c.End])
			for from < at && matches[from].start < text {
				from++
			}
		}
		if from == at {
			continue
		}
		inside := matches[from:at]
		if start, end := TableHead(n.Content, c.Start); start < end {
			inside = slices.Concat(within(matches, start, end), inside)
		}
		if except < 0 && !slices.Equal(above, c.Path) {
			above, crumb = c.Path, strings.Join(c.Path, "\n")
			crumbed = s.matcher.find(nil, crumb)
		}
		w := s.pair * s.pairsIn(n.Content, inside, crumb, crumbed)
		w += s.headed * distinct(s.weights, slices.Concat(inHeadings(n.Content, inside), crumbed), nil)
		inside = slices.Concat(inside, crumbed)
		w += distinct(s.weights, inside, nil) + s.exact*distinct(s.weights, inside, asAsked) // asked forms count a little more
		if w > weight+1e-9 {
			best, weight = i, w
		}
	}
	return best, weight
}

// inHeadings returns the matches in lines that begin with the marker of a heading.
func inHeadings(text string, matches []match) (in []match) {
	const longest = 200 // bytes of a heading
	for _, m := range matches {
		before := text[max(0, m.start-longest):m.start]
		if line := before[strings.LastIndexByte(before, '\n')+1:]; strings.HasPrefix(line, "#") {
			in = append(in, m)
		}
	}
	return in
}

// TableHead returns the line with the column names of the table that text[at:] continues, as a
// range. The range is empty if the text begins outside a table, or far below its column names.
func TableHead(text string, at int) (from, to int) {
	const farthest, first = 64 << 10, 1 << 10 // bytes to the column names, to a bar
	if row, _, _ := strings.Cut(text[at:min(len(text), at+first)], "\n"); !strings.Contains(row, "|") {
		return 0, 0
	}
	least, below := max(0, at-farthest), ""
	for end := at; end > 0; {
		start := strings.LastIndexByte(text[least:end-1], '\n') + 1 + least
		if start == least && least > 0 {
			return 0, 0
		}
		row := text[start:end]
		if !strings.Contains(row, "|") {
			break
		}
		if isDelimiter(below, row) { // if several are, values of rows are also dashes
			from, to = start, end
		}
		below, end = row, start
	}
	return from, to
}

// isDelimiter reports whether a row is the one of dashes below the column names in head.
func isDelimiter(row, head string) bool {
	if row = strings.TrimLeft(row, " \t>"); strings.Trim(row, "|:- \t\r\n") != "" || strings.HasPrefix(row, "- ") { // a list
		return false
	}
	delimiters := cells(row)
	return len(delimiters) == len(cells(strings.TrimLeft(head, " \t>-*+"))) &&
		!slices.ContainsFunc(delimiters, func(cell string) bool {
			return strings.Trim(strings.TrimSpace(cell), ":-") != "" || !strings.Contains(cell, "-")
		})
}

// cells returns the cells of a table's row.
func cells(row string) []string {
	row = strings.TrimSpace(strings.ReplaceAll(row, `\|`, ""))
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), "|")
}

// rowsRather leaves out the matches in the column names of a table if there are others below
// them: every row has those.
func rowsRather(text string, matches []match) []match {
	if len(matches) < 2 || !strings.Contains(text[matches[0].start:], "|") {
		return matches
	}
	head := 0 // the end of the last column names with matches
	rows := slices.DeleteFunc(slices.Clone(matches), func(m match) bool {
		_, below, _ := strings.Cut(text[m.end:], "\n")
		row, rest, _ := strings.Cut(below, "\n")
		if !strings.Contains(row, "|") || strings.Trim(row, "|:-> \t\r") != "" {
			return false
		}
		from, to := TableHead(text, len(text)-len(rest))
		if m.start < from || m.start >= to {
			return false
		}
		head = to
		return true
	})
	if len(rows) == 0 || rows[len(rows)-1].start < head {
		return matches
	}
	return rows
}

// within returns the matches inside a range of the text.
func within(matches []match, from, to int) []match {
	first, _ := slices.BinarySearchFunc(matches, from, func(m match, at int) int { return cmp.Compare(m.start, at) })
	last, _ := slices.BinarySearchFunc(matches, to, func(m match, at int) int { return cmp.Compare(m.start, at) })
	return matches[first:last]
}

// total returns the weight of all terms of the request.
func (s *rescorer) total() float64 {
	sum := 0.0
	for _, w := range s.weights[:len(s.request.plan.Terms)] {
		sum += w
	}
	return sum
}

// show returns the hit for a note and one of its chunks (-1: it has none).
func (s *rescorer) show(n *notes.Note, matches []match, chunk, size int) Hit {
	h := Hit{NoteID: n.ID, Path: n.Path, Hash: n.Hash, Title: clipName(n.Title), LineStart: 1, LineEnd: 1}
	if !n.Date.Equal(n.Modified) {
		h.Date = n.Date
	}
	start, end, from := 0, len(n.Content), 0
	if chunk < 0 {
		h.LineEnd += strings.Count(strings.TrimRight(n.Content, " \t\r\n"), "\n")
	} else {
		c := n.Chunks[chunk]
		h.Heading, h.LineStart, h.LineEnd = clipName(c.Heading()), c.LineStart, c.LineEnd
		start, end, from = c.Start, c.End, c.Start
	}
	start += frontMatterEnd(n.Content, start, end)
	start += headingEnd(n.Content[start:end])
	inside := matches[:0:0]
	for _, m := range matches {
		if m.start >= start && m.end <= end {
			inside = append(inside, m)
		}
	}
	fields := ""
	if chunk == 0 {
		fields = s.askedFields(n, matches, max(minSnippet, size-minSnippet))
	}
	room := size - len(fields) - len(" …") // beside them
	if fields != "" && room >= minSnippet/2 {
		size = room
	}
	inside = rowsRather(n.Content[:end], inside)
	e := s.excerpt(n.Content, start, end, inside, size)
	h.Focus = e.first
	if len(inside) > 0 {
		line := h.LineStart + strings.Count(n.Content[from:e.first], "\n")
		if i := headingAt(n.Headings, line); i >= 0 && n.Headings[i].Line > h.LineStart {
			h.Heading = clipName(n.Headings[i].Text)
		}
	}
	h.Snippet = snippet(n.Content, start, end, e, size)
	if h.Snippet == "" {
		h.Snippet = withoutText(n, from, end, size)
	}
	if fields != "" {
		h.LineStart = 1
		if len(inside) == 0 {
			h.Focus = matches[0].start
		}
		switch {
		case size == room:
			h.Snippet = fields + " …" + strings.TrimPrefix(h.Snippet, "…")
		case len(inside) == 0:
			h.Snippet = fields + "…"
		}
	}
	return h
}

// longestFields is the greatest size of a front matter that is shown with a passage, in bytes.
const longestFields = 1000

// fieldStart matches the beginning of a field in front matter, fieldsInName the names of those
// that say what the title says.
var (
	fieldStart   = regexp.MustCompile(`(?m)^[^\s#-]`)
	fieldsInName = regexp.MustCompile(`^(?i:tags?|alias(es)?|title)$`)
)

// askedFields returns the fields of a note's front matter that the query asks for: those whose
// key is a word of it, as in "phone of Ann", or whose value has a word that neither the title nor
// the first passage has. They are on one line, of at most size bytes, "" if there are none.
func (s *rescorer) askedFields(n *notes.Note, matches []match, size int) string {
	front := frontMatterEnd(n.Content, 0, min(n.Chunks[0].Start, longestFields))
	if front == 0 || len(matches) == 0 || matches[0].start >= front {
		return ""
	}
	have := uint64(0)
	for _, m := range s.matcher.find(nil, n.Title) {
		have |= 1 << min(m.term, 63)
	}
	for _, m := range matches {
		if m.start >= front && m.end <= n.Chunks[0].End {
			have |= 1 << min(m.term, 63)
		}
	}
	var asked strings.Builder
	last := -1 // the end of the last of them
	starts := fieldStart.FindAllStringIndex(n.Content[:front], -1)
	for i, at := range starts {
		from, to := at[0], front
		if i+1 < len(starts) {
			to = starts[i+1][0]
		}
		key, _, _ := strings.Cut(n.Content[from:to], ":")
		if !fieldsInName.MatchString(key) && slices.ContainsFunc(matches, func(m match) bool {
			return from <= m.start && m.end <= to && (m.end <= from+len(key) || have&(1<<min(m.term, 63)) == 0)
		}) {
			if shown := oneLine(markdown.ShownProperties(n.Content[from:to])); last == from {
				asked.WriteString("; " + shown)
			} else {
				asked.WriteString(" …" + shown) // others are between them
			}
			last = to
		}
	}
	line := strings.TrimPrefix(asked.String(), " …")
	if len(line) > size {
		line = clipWords(line, size)
	}
	return line
}

// headingAt returns the index of the last heading at or above a line, or -1.
func headingAt(headings []notes.Heading, line int) int {
	i, _ := slices.BinarySearchFunc(headings, line+1, func(h notes.Heading, line int) int { return cmp.Compare(h.Line, line) })
	return i - 1
}

// withoutText returns the snippet of a passage that has no text below its headings: the
// headings, the note's front matter, or its title.
func withoutText(n *notes.Note, start, end, size int) string {
	front := frontMatterEnd(n.Content, start, end)
	text := plain(n.Content[start+front : end])
	if text == "" && front > 0 {
		text = oneLine(markdown.ShownProperties(n.Content[start : start+front]))
	}
	text = cmp.Or(text, n.Title)
	if len(text) > size {
		text = clipWords(text, size) + "…"
	}
	return text
}

// excerpt is the part of a passage to show.
type excerpt struct {
	from, to    int // bytes of the note's text
	first, last int // the range that it must contain
}

// excerpt returns the part of a passage, about size bytes long, around the matches with
// the greatest weight.
func (s *rescorer) excerpt(text string, start, end int, matches []match, size int) excerpt {
	if end-start <= size {
		e := excerpt{start, end, start, end}
		if len(matches) > 0 {
			i, _, _ := s.window(matches, func(a, b match) bool { return b.end-a.start <= windowSize })
			e.first = matches[i].start
		}
		return e
	}
	if len(matches) == 0 {
		return excerpt{start, start + size, start, start}
	}
	i, j, _ := s.window(matches, func(a, b match) bool { return b.end-a.start <= size })
	e := excerpt{first: matches[i].start, last: wordTail(text, matches[max(i, j-1)].end, end)}
	e.from, e.to = around(text, start, end, e, size)
	return e
}

// around returns a range of size bytes within text[start:end] that contains e.first to
// e.last and begins with a sentence if one begins nearby.
func around(text string, start, end int, e excerpt, size int) (from, to int) {
	room := max(0, size-(e.last-e.first))
	from = max(start, e.first-room/3)
	if at := lastSentence(text, start, max(start, e.first-room), e.first); at >= 0 {
		from = at
	}
	to = max(e.last, min(end, from+size))
	if back := max(start, to-size); back < from { // the passage ends before
		from = firstSentence(text, start, back, from)
	}
	return from, to
}

// Around returns a range of the text, at most size bytes long, that contains the offset
// at, such as the Focus of a Hit. It begins at a sentence or word and ends at a word. size
// must be at least 60.
func Around(text string, at, size int) (from, to int) {
	from, to = around(text, 0, len(text), excerpt{first: at, last: at}, size)
	if from > 0 {
		from = wordStart(text, from, at)
	}
	if to = min(to, from+size); to < len(text) {
		to = wordEnd(text, at, to)
	}
	return from, to
}

// snippet strips markup and white space from an excerpt of the passage text[start:end]
// and cuts it to size bytes between words. An ellipsis marks where the passage continues.
func snippet(text string, start, end int, e excerpt, size int) string {
	from, to := start, end
	if e.from > start {
		from = wordStart(text, e.from, e.first)
		if l, r := markupAt(text, from); l >= start {
			if from = l; r <= e.first {
				from = r
			}
		}
	}
	if e.to < end {
		to = wordEnd(text, e.last, e.to)
		if l, r := markupAt(text, to); r <= end {
			if to = l; l < e.last {
				to = r
			}
		}
	}
	clean, cut := plain(text[from:max(from, to)]), to < end
	if len(clean) > size {
		clean, cut = clipWords(clean, size), true
	}
	if clean = strings.TrimSpace(clean); clean == "" {
		return ""
	}
	if cut {
		clean = strings.TrimRight(clean, " #>*_=~-[(!|`·")
	}
	if from > start {
		clean = "…" + clean
	}
	if cut {
		clean += "…"
	}
	return clean
}

// lastSentence returns the start of the last sentence or line of a passage that begins within
// [from, to], or -1.
func lastSentence(text string, start, from, to int) int {
	for at := to; at >= from; at-- {
		if beginsSentence(text, start, at) {
			return at
		}
	}
	return -1
}

// firstSentence returns the start of the first such sentence, or from if there is none.
func firstSentence(text string, start, from, to int) int {
	for at := from; at <= to; at++ {
		if beginsSentence(text, start, at) {
			return at
		}
	}
	return from
}

// beginsSentence reports whether a sentence or line of the passage that begins at start begins
// at a position.
func beginsSentence(text string, start, at int) bool {
	if at == start {
		return true
	}
	switch before := text[at-1]; {
	case before == '\n':
		return true
	case before == ' ':
		end, _ := utf8.DecodeLastRuneInString(text[start : at-1])
		return strings.ContainsRune(".!?؟۔।", end)
	case before >= utf8.RuneSelf: // scripts without spaces
		end, _ := utf8.DecodeLastRuneInString(text[start:at])
		return strings.ContainsRune("。！？", end)
	}
	return false
}

// markupAt returns the range of the link, image, comment or HTML tag around an offset,
// or an empty range.
func markupAt(text string, at int) (from, to int) {
	const longest = 500 // bytes
	from = strings.LastIndexByte(text[max(0, at-longest):at], '\n') + 1 + max(0, at-longest)
	to = min(len(text), at+longest)
	if i := strings.IndexByte(text[at:to], '\n'); i >= 0 {
		to = at + i
	}
	line := text[from:to]
	if !strings.ContainsAny(line, "[<") { // most lines
		return at, at
	}
	for _, markup := range markdown.InlineMarks {
		for _, m := range markup.FindAllStringIndex(line, -1) {
			if from+m[0] < at && at < from+m[1] {
				return from + m[0], from + m[1]
			}
		}
	}
	return at, at
}

// slack is the distance in bytes that a cut may move to a word boundary.
const slack = 24

// wordStart moves a cut forward to the beginning of a word, at most to most, or back to
// the beginning of a long word.
func wordStart(text string, at, most int) int {
	if beginsSentence(text, 0, at) {
		return at
	}
	for i := at; i <= min(most, at+slack); i++ {
		if isSpace(text[i-1]) {
			return i
		}
	}
	for i := at; i > max(0, at-slack); i-- {
		if isSpace(text[i-1]) {
			return i
		}
	}
	for at < most && splits(text, at) {
		at++
	}
	return at
}

// wordTail moves the end of a match, such as "Postgre" in "PostgreSQL", forward to the end of the
// letters and digits, unless that is far.
func wordTail(text string, at, most int) int {
	for i, r := range text[at:min(most, at+slack)] {
		if !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number) {
			return at + i
		}
	}
	return at
}

// wordEnd moves a cut back to the end of a word, at most to least.
func wordEnd(text string, least, at int) int {
	for i := at; i >= max(least, at-slack); i-- {
		if isSpace(text[i]) {
			return i
		}
	}
	for at > least && splits(text, at) {
		at--
	}
	return at
}

// splits reports whether a cut would divide a character: the bytes of a rune, a letter and
// its combining marks (vowels and tones of Hindi and Thai, accents), a decomposed Korean
// syllable, joined or coloured emoji, or a flag.
func splits(text string, at int) bool {
	if at == 0 || at == len(text) {
		return false
	}
	const joiner = '\u200D'
	r, _ := utf8.DecodeRuneInString(text[at:])
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	switch {
	case !utf8.RuneStart(text[at]), before == joiner, unicode.IsMark(r), unicode.Is(unicode.Other_Grapheme_Extend, r):
		return true
	case r == joiner, r == 'ำ', r == 'ຳ', '🏻' <= r && r <= '🏿', '\u1160' <= r && r <= '\u11FF':
		return true
	case unicode.Is(unicode.Regional_Indicator, r): // a flag has two
		others := strings.TrimRightFunc(text[:at], func(r rune) bool { return unicode.Is(unicode.Regional_Indicator, r) })
		return (at-len(others))/utf8.RuneLen(r)%2 == 1
	}
	return false
}

// clipWords cuts s to at most size bytes, between words if possible.
func clipWords(s string, size int) string {
	cut := min(len(s), size)
	for cut > 0 && splits(s, cut) {
		cut--
	}
	s = s[:cut]
	if i := strings.LastIndexByte(s, ' '); i > len(s)-slack && i > 0 {
		return s[:i]
	}
	return s
}

// headings matches the headings at the beginning of a passage.
var headings = regexp.MustCompile(`^(?:\s*#{1,6}[ \t][^\n]*(?:\n|$))+\s*`)

// frontMatterEnd returns the length of the front matter at the beginning of
// text[start:end], 0 if there is none.
func frontMatterEnd(text string, start, end int) int {
	const fence = "---"
	if start > 3 || !strings.HasPrefix(strings.TrimPrefix(text, "\uFEFF"), fence) {
		return 0
	}
	size := 0
	for line := range strings.Lines(text[start:end]) {
		opens := size == 0
		if size += len(line); !opens && strings.TrimRight(line, " \t\r\n") == fence {
			return size
		}
	}
	return 0
}

// headingEnd returns the length of the headings at the beginning of a passage, which its
// hit names already; 0 if nothing follows them.
func headingEnd(passage string) int {
	at := headings.FindStringIndex(passage)
	if at == nil || at[1] == len(passage) {
		return 0
	}
	return at[1]
}

// plain returns Markdown text on one line without markup, invalid UTF-8 and control
// characters.
func plain(s string) string {
	return oneLine(markdown.Shown(strings.TrimRight(s, " \t\r\n"), true))
}

func oneLine(s string) string {
	var b strings.Builder
	gap := "" // since the last character: a space, a line, an item, a bar between cells, the last one of a row, or the next row
	for i, r := range s {
		switch {
		case r == utf8.RuneError && s[i] != 0xEF:
		case r == markdown.ItemStart:
			if gap = " · "; strings.HasSuffix(b.String(), ":") {
				gap = " "
			}
		case r == '|' && gap == "|\n":
			gap = " || "
		case r == '|' && i > 0 && s[i-1] == '|' && gap == " | ": // in code
			gap = " || "
		case r == '|' && strings.HasPrefix(gap, " | "): // an empty cell
			gap += "| "
		case r == '|' && gap != "\n" && gap != " || ":
			gap = " | "
		case r == '\n' && strings.HasPrefix(gap, " | "):
			gap = "|\n"
		case r == '\n' && (gap == "" || gap == " "):
			gap = "\n"
		case r == '|' || r <= ' ' || r == 0x7f || r == 0x85 || r == 0xA0 || r == 0x2028 || r == 0x2029:
			gap = cmp.Or(gap, " ")
		default:
			if strings.HasSuffix(gap, "\n") {
				gap = " "
			}
			if b.Len() > 0 {
				b.WriteString(gap)
			}
			b.WriteRune(r)
			gap = ""
		}
	}
	return b.String()
}

// snippetSize returns the length in bytes of the snippet of a hit, given its rank from 0
// and the number of hits. When there are many, the first get half as much again at the
// expense of the rest, because the answer is usually among them, and keep most of it
// beside a long path. The passage shows how many bytes a character of the script takes.
func (q *Query) snippetSize(n *notes.Note, heading, passage string, rank, hits int) int {
	const many, first = 6, 3
	passage = passage[:min(len(passage), 1000)]
	size, least := defaultSnippet, max(minSnippet, minSnippet*len(passage)/max(1, utf8.RuneCountInString(passage)))
	if q.MaxBytes > 0 {
		size = max(q.MaxBytes/q.Limit, min(longSnippet, q.MaxBytes/hits))
		switch {
		case hits < many:
		case rank < first:
			least, size = max(least, size), size*3/2
		default:
			size -= size * first / 2 / (hits - first)
		}
	}
	if q.HitOverhead != nil {
		size -= q.HitOverhead(n.Path, clipName(n.Title), clipName(heading))
	}
	return max(least, size)
}

// maxShown bounds the matched words listed with a hit.
const maxShown = 10

// shown returns the words of the query for a set of terms, the most significant first. Function
// words are omitted if the query has other words. Overlapping n-grams of a run are joined into
// one word.
func (s *rescorer) shown(list uint64) []string {
	telling := func(w queryWord) bool { return terms.Telling(w.exact) }
	any := !slices.ContainsFunc(s.request.words, telling)
	var found []queryWord
	add := func(words []queryWord, known func(have, word string) bool) {
		for _, w := range words {
			if list&(1<<min(w.term, 63)) == 0 || !any && !telling(w) {
				continue
			}
			if last := len(found) - 1; w.gram && last >= 0 && found[last].start < w.start && w.start < found[last].end {
				found[last].shown += w.shown[found[last].end-w.start:]
				found[last].end = w.end
				continue
			}
			w.shown = strings.ToLower(w.shown)
			if !slices.ContainsFunc(found, func(have queryWord) bool { return known(have.shown, w.shown) }) {
				found = append(found, w)
			}
		}
	}
	add(s.request.words, func(have, word string) bool { return have == word })
	add(s.request.parts, strings.Contains)
	slices.SortStableFunc(found, func(a, b queryWord) int { return cmp.Compare(s.weights[b.term], s.weights[a.term]) })
	out := make([]string, 0, min(len(found), maxShown))
	for _, w := range found {
		if word := terms.Clip(w.shown); len(out) < maxShown && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// forms returns the words of a snippet that match the query and are not among the words shown:
// inflected forms, and corrections of a misspelt word.
func (s *rescorer) forms(snippet string, shown []string) (out []string) {
	for _, m := range s.matcher.find(nil, snippet) {
		word := string(terms.Fold(nil, snippet[m.start:m.end]))
		has := func(term string) bool { return strings.Contains(string(terms.Fold(nil, term)), word) }
		if terms.Telling(word) && len(word) <= terms.MaxTerm && !slices.ContainsFunc(shown, has) && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

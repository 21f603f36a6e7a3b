package search

import (
	"cmp"
	"slices"
	"strings"

	"notesd/notes"
)

// Hit is a note that was found, with its best passage.
type Hit struct {
	NoteID    int64
	Path      string
	Hash      string // of the note's bytes that were read
	Title     string
	Heading   string // the nearest above the lines of the passage that answer best
	LineStart int    // of the passage, from 1, over the whole file
	LineEnd   int
	Focus     int    // where the words of the passage that answer best begin: bytes of the note's Prose
	Snippet   string // from the passage, on one line; untrusted: the note's own words
	Score     float64
	Weak      bool // it has little of what was asked for, in words and in meaning
	Why       Why
}

// Why says what put a hit where it is.
type Why struct {
	TextRank    int      // from 1 among the notes found by words; 0: not found by words
	VectorRank  int      // from 1 among the notes found semantically; 0: not found so
	TextScore   float64  // with Query.Explain: BM25F and what the text adds; no upper bound
	VectorScore float64  // with Query.Explain: cosine of the best passage
	Terms       []string // words of the query that the note has, those that say most first; function words only if the query has no others
}

// clipName cuts a title or heading that is no name: any line may be one.
func clipName(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return clipWords(s, most) + "…"
}

// bestChunk chooses the passage of a note to show: the chunk whose distinct
// matched words weigh most; of equals the first, but rather than one without
// any, the chunk nearest in meaning (-1: none).
func (s *rescorer) bestChunk(n *notes.Note, matches []match, nearest int) int {
	best, weight := s.heaviest(n, matches, -1)
	if best < 0 || nearest >= 0 && weight < s.total()/2 {
		if nearest >= 0 && nearest < len(n.Chunks) {
			return nearest
		}
	}
	if best < 0 && len(n.Chunks) > 0 {
		return 0
	}
	return best
}

// topicShare is how much of what was asked for a note begins with, and another passage
// has, that the note has two.
var topicShare = 0.5

// secondChunk chooses another passage of a note that the query is about, which the
// note says where it begins; -1: it is not, or no other has half of what was asked
// for.
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

// heaviest returns the chunk whose distinct matched words weigh most, and their
// weight; -1 if none has any. Beside a chunk that is excepted, headings at the
// beginning of a chunk do not count.
func (s *rescorer) heaviest(n *notes.Note, matches []match, except int) (best int, weight float64) {
	best = -1
	at := 0
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
		if w := s.weigh(n.Content, matches[from:at]); w > weight+1e-9 {
			best, weight = i, w
		}
	}
	return best, weight
}

// weigh sums the distinct terms of matches, those that were met as asked for a
// little more.
func (s *rescorer) weigh(text string, matches []match) float64 {
	return distinct(s.weights, matches, nil) + s.exact*distinct(s.weights, matches, asAsked) + s.pair*s.pairsIn(text, matches, "", nil)
}

// total is the weight of all terms of the request.
func (s *rescorer) total() float64 {
	sum := 0.0
	for _, w := range s.weights[:len(s.request.plan.Terms)] {
		sum += w
	}
	return sum
}

// show makes the hit of a note and one of its chunks; -1: it has none.
func (s *rescorer) show(n *notes.Note, matches []match, chunk, size int) Hit {
	h := Hit{NoteID: n.ID, Path: n.Path, Hash: n.Hash, Title: clipName(n.Title), LineStart: 1, LineEnd: 1}
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
	return h
}

// headingAt returns the last heading up to a line, -1 before the first.
func headingAt(headings []notes.Heading, line int) int {
	i, _ := slices.BinarySearchFunc(headings, line+1, func(h notes.Heading, line int) int { return cmp.Compare(h.Line, line) })
	return i - 1
}

// withoutText is the snippet of a passage that has no text of its own: its
// headings, or the note's front matter.
func withoutText(n *notes.Note, start, end, size int) string {
	front := frontMatterEnd(n.Content, start, end)
	text := plain(n.Content[start+front : end])
	if text == "" && front > 0 {
		text = strings.Join(strings.FieldsFunc(strings.ReplaceAll(n.Content[start:start+front], "---", ""), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	}
	if text == "" {
		text = n.Title
	}
	if len(text) > size {
		text = clipWords(text, size) + "…"
	}
	return text
}

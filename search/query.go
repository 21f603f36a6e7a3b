package search

import (
	"strings"
	"time"

	"notesd/notes"
	"notesd/search/terms"
)

// Mode chooses what ranks the notes.
type Mode string

// The modes of a search.
const (
	ModeHybrid   Mode = "hybrid"   // by words and semantically; by words alone while there is nothing else
	ModeText     Mode = "text"     // by words
	ModeSemantic Mode = "semantic" // by the nearness of passages
)

// Query is what a caller asks of an Engine.
type Query struct {
	// Text is what to look for: words, and whatever of this is well formed:
	//
	//	"exact phrase"  -word  -"phrase"  title:word  begin*
	//	tag:x  path:Projects/  folder:Work  has:todo  after:2026-01-31  before:yesterday
	//
	// each of which '-' before it turns around, but for has and begin*.
	// Anything else is words: no text is a syntax error. Phrases in running text,
	// of more than a dozen words that say something, are words.
	Text    string
	Mode    Mode         // "" is ModeHybrid
	Filter  notes.Filter // beside what Text says
	Limit   int          // hits, 1 to 50; 0 is 10
	Cursor  string       // Result.Next of the page before
	Explain bool         // fill in the scores of Hit.Why
	// Of is the path of the note that Text is from, "" if it is from none. That note
	// matches its own text, so it does not show that the vault has an answer.
	Of string
	// MaxBytes bounds the sum of the hits' snippets. Each has its part of Limit hits, and
	// of fewer up to 200 bytes; 0 stands for 160 each.
	MaxBytes int
	// Beside, if set, returns how many bytes of a hit's share of MaxBytes are taken by
	// what the caller shows of it beside the snippet. It may be called by several
	// goroutines at once.
	Beside func(path, title, heading string) int
}

// kind says what a clause of a query asks for.
type kind uint8

const (
	kindWord   kind = iota // ranks; negated: excludes
	kindPhrase             // must stand in the text word for word
	kindTitle              // must stand in title, alias or file name
	kindTag
	kindPath
	kindFolder
	kindHas
	kindAfter
	kindBefore
)

// node is one clause of a query.
type node struct {
	kind kind
	not  bool
	text string
	time time.Time // of kindAfter and kindBefore
}

// maxConditions bounds the clauses of a query that are no words: each is looked
// up in every part of the index, and phrases in the text.
const maxConditions = 100

// conditionsIn counts the clauses that are no words.
func conditionsIn(nodes []node) int {
	n := 0
	for _, node := range nodes {
		if node.kind != kindWord || node.not {
			n++
		}
	}
	return n
}

// runningText is how many words that say something make a query running text:
// what it quotes is not meant as a condition.
var runningText = 12

// sentence is how many words that say something make a query a sentence: what it quotes
// is a condition unless no note has it.
var sentence = 5

// withoutRepeats drops clauses that stand in the query before, but not words:
// who repeats one means it more. In running text phrases become words.
func withoutRepeats(nodes []node) []node {
	content := 0
	for _, n := range nodes {
		if n.kind == kindWord && !n.not {
			content += contentWords(n.text)
		}
	}
	seen := map[node]bool{}
	kept := nodes[:0]
	for _, n := range nodes {
		if n.kind == kindPhrase && !n.not && content > runningText {
			n.kind = kindWord
		}
		if n.kind != kindWord || n.not {
			if seen[n] {
				continue
			}
			seen[n] = true
		}
		kept = append(kept, n)
	}
	return kept
}

// contentWords counts the words of a text that are no stop words.
func contentWords(text string) int {
	n := 0
	for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
		if !terms.StopWords[string(terms.Fold(nil, text[s.Start:s.End]))] {
			n++
		}
	}
	return n
}

// maxQuery is how much of a query's text is looked at. No person types as much;
// it is the length of a note that was given whole.
const maxQuery = 16 << 10

// parseQuery reads a query's text. It never fails.
func parseQuery(text string, now time.Time) []node {
	if len(text) > maxQuery {
		text = terms.ClipTo(text, maxQuery)
	}
	p := parser{text: text, now: now}
	for p.skipSpace(); p.pos < len(p.text); p.skipSpace() {
		p.clause()
	}
	return withoutRepeats(p.nodes)
}

type parser struct {
	text  string
	pos   int
	now   time.Time
	nodes []node
}

func (p *parser) skipSpace() {
	for p.pos < len(p.text) && isSpace(p.text[p.pos]) {
		p.pos++
	}
}

// isSpace reports white space and control characters. Spaces outside ASCII
// stay within a word and part its terms there.
func isSpace(b byte) bool { return b <= ' ' || b == 0x7f }

// clause reads one clause and appends its node.
func (p *parser) clause() {
	not := p.text[p.pos] == '-' && p.pos+1 < len(p.text) && !isSpace(p.text[p.pos+1]) && p.text[p.pos+1] != '-'
	start := p.pos
	if not {
		p.pos++
	}
	if phrase, ok := p.quoted(); ok {
		p.add(node{kind: kindPhrase, not: not, text: phrase})
		return
	}
	if n, ok := p.field(not); ok {
		p.add(n)
		return
	}
	if p.text[p.pos] == '"' { // never closed: only a mark
		p.pos++
		return
	}
	word := p.word()
	if not && !hasTerms(word) {
		word, not = p.text[start:p.pos], false
	}
	p.add(node{kind: kindWord, not: not, text: word})
}

func (p *parser) add(n node) {
	if n.kind <= kindTitle && !hasTerms(n.text) {
		return
	}
	p.nodes = append(p.nodes, n)
}

// quoted reads "…" at the position.
func (p *parser) quoted() (string, bool) {
	if p.pos >= len(p.text) || p.text[p.pos] != '"' {
		return "", false
	}
	n := strings.IndexByte(p.text[p.pos+1:], '"')
	if n < 0 {
		return "", false
	}
	s := p.text[p.pos+1 : p.pos+1+n]
	p.pos += n + 2
	return s, true
}

// word reads up to white space or a quotation mark that begins a phrase.
func (p *parser) word() string {
	start := p.pos
	for p.pos < len(p.text) && !isSpace(p.text[p.pos]) && p.text[p.pos] != '"' {
		p.pos++
	}
	return p.text[start:p.pos]
}

// field reads name:value or name:"value"; when that is not one of the filters
// with a value that makes sense, nothing is read.
func (p *parser) field(not bool) (node, bool) {
	start := p.pos
	colon := strings.IndexByte(p.text[p.pos:], ':')
	if colon <= 0 || colon > len("before") {
		return node{}, false
	}
	read, ok := filters[strings.ToLower(p.text[p.pos:p.pos+colon])]
	if !ok {
		return node{}, false
	}
	p.pos += colon + 1
	value, quoted := p.quoted()
	if !quoted {
		value = p.word()
	}
	value = strings.TrimSpace(value)
	if value != "" {
		if n, ok := read(value, p.now); ok {
			if n, ok = n.negated(not); ok {
				return n, true
			}
		}
	}
	p.pos = start
	return node{}, false
}

// negated turns a filter around if not is set; ok is false where that means
// nothing.
func (n node) negated(not bool) (negated node, ok bool) {
	if !not {
		return n, true
	}
	switch n.kind {
	case kindHas:
		return n, false
	case kindAfter:
		n.kind = kindBefore
	case kindBefore:
		n.kind = kindAfter
	default:
		n.not = true
	}
	return n, true
}

// filters read the value of each filter.
var filters = map[string]func(value string, now time.Time) (node, bool){
	"tag": func(v string, _ time.Time) (node, bool) {
		v = strings.Trim(v, "#/")
		return node{kind: kindTag, text: v}, v != ""
	},
	"path":   func(v string, _ time.Time) (node, bool) { return pathNode(kindPath, strings.TrimPrefix(v, "/")) },
	"folder": func(v string, _ time.Time) (node, bool) { return pathNode(kindFolder, strings.Trim(v, "/")) },
	"title":  func(v string, _ time.Time) (node, bool) { return node{kind: kindTitle, text: v}, hasTerms(v) },
	"has": func(v string, _ time.Time) (node, bool) {
		switch strings.ToLower(v) {
		case "todo", "todos", "task", "tasks":
			return node{kind: kindHas, text: "todo"}, true
		}
		return node{}, false
	},
	"after": func(v string, now time.Time) (node, bool) {
		t, ok := parseDay(v, now)
		return node{kind: kindAfter, text: v, time: t}, ok
	},
	"before": func(v string, now time.Time) (node, bool) {
		t, ok := parseDay(v, now)
		return node{kind: kindBefore, text: v, time: t}, ok
	},
}

func pathNode(k kind, p string) (node, bool) {
	return node{kind: k, text: p}, p != "" && !strings.Contains(p, "\x00")
}

// hasTerms reports whether anything in s can be looked for.
func hasTerms(s string) bool {
	_, ok := terms.NextSpan(s, 0)
	return ok
}

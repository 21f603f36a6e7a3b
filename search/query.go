package search

import (
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"notesd/notes"
	"notesd/search/index"
	"notesd/search/terms"
)

// Mode chooses what ranks the notes.
type Mode string

// The modes of a search.
const (
	ModeHybrid   Mode = "hybrid"   // by words and semantically; by words alone if there are no vectors
	ModeText     Mode = "text"     // by words
	ModeSemantic Mode = "semantic" // by the similarity of passages
)

// Query is a request to an Engine.
type Query struct {
	// Text consists of words and of the following clauses, if they are well formed:
	//
	//	"exact phrase"  -word  -"phrase"  title:word  begin*
	//	tag:x  path:Projects/  folder:Work  has:todo  after:2026-01-31  before:yesterday
	//
	// '-' before a clause other than has and begin* negates it. Anything else is a word, so no
	// text is a syntax error. Phrases in running text, which has more than a dozen content
	// words, are treated as words.
	Text   string
	Mode   Mode         // "" is ModeHybrid
	Filter notes.Filter // in addition to the filters in Text
	Limit  int          // hits, 1 to 50; 0 is 10
	Cursor string       // Result.Next of the previous page
	// FromPath is the path of the note that Text was taken from, if any. That note matches its own
	// text, so it does not show that the vault has an answer.
	FromPath string
	// MaxBytes bounds the total size of the snippets. Each of Limit hits gets an equal share,
	// and if there are fewer hits, up to 200 bytes; 0 means 160 bytes each.
	MaxBytes int
	// HitOverhead, if set, returns the part of a hit's share of MaxBytes, in bytes, that the caller
	// uses for text beside the snippet. It must be safe for concurrent use.
	HitOverhead func(path, title, heading string) int
}

// kind is the kind of a clause.
type kind uint8

const (
	kindWord   kind = iota // ranks; negated: excludes
	kindPhrase             // must occur verbatim in the text
	kindTitle              // must occur in the title, an alias or the file name
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
	soft bool // a phrase that is searched as words if no note has it
	text string
	time time.Time // of kindAfter and kindBefore
}

// maxConditions bounds the clauses of a query other than plain words: each is looked up in
// every segment of the index, and phrases in the text.
const maxConditions = 100

// conditionsIn returns the number of clauses other than plain words.
func conditionsIn(nodes []node) int {
	n := 0
	for _, node := range nodes {
		if node.kind != kindWord || node.not {
			n++
		}
	}
	return n
}

// runningTextWords is the number of content words above which a query is running text, whose
// quotations are not meant as conditions.
var runningTextWords = 12

// sentenceWords is the least number of content words that make a query a sentence, whose quotations
// are conditions unless no note contains them.
var sentenceWords = 5

// withoutRepeats drops repeated clauses, except words, which count more when repeated. In
// running text, phrases become words.
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
		if n.kind == kindPhrase && !n.not && content > runningTextWords {
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

// contentWords returns the number of words of a text that are not stop words.
func contentWords(text string) int {
	n := 0
	for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
		if !terms.StopWords[string(terms.Fold(nil, text[s.Start:s.End]))] {
			n++
		}
	}
	return n
}

// maxQuery bounds the bytes of a query that are parsed. Anything longer is a pasted note.
const maxQuery = 16 << 10

// parseQuery parses a query's text, in NFC: letters typed as several characters, as macOS
// writes them in file names, show the language too. It never fails.
func parseQuery(text string, now time.Time) []node {
	p := parser{text: strings.Map(plainSigns(), notes.Nfc(terms.ClipTo(text, maxQuery))), now: now}
	for p.skipSpace(); p.pos < len(p.text); p.skipSpace() {
		p.clause()
	}
	return withoutRepeats(p.nodes)
}

// plainSigns returns a mapping of a query's characters in order: each space outside quotes to a
// plain one, as between words typed on a Japanese keyboard, and a wide minus before a word to '-'.
func plainSigns() func(rune) rune {
	before, quoted := ' ', false
	return func(r rune) rune {
		switch {
		case r == '"':
			quoted = !quoted
		case unicode.IsSpace(r) && !quoted:
			r = ' '
		case before == ' ' && (r == '－' || r == '−'):
			r = '-'
		}
		before = r
		return r
	}
}

// Parse parses a query for callers that search by other means. It returns the words and
// phrases that a note must contain, those that it must not, each without the punctuation
// around it, and the filter with the other clauses added.
func Parse(text string, now time.Time, filter notes.Filter) (want, avoid []string, restricted notes.Filter) {
	r := &request{filter: filter}
	for _, n := range parseQuery(text, now) {
		switch {
		case n.kind > kindTitle:
			r.addFilter(n)
		case n.not:
			avoid = append(avoid, bare(n.text))
		default:
			want = append(want, bare(n.text))
		}
	}
	return want, avoid, r.filter
}

// WordsOf returns how many words a query has, function words aside, and a function that returns how
// many of them a text has.
func WordsOf(query string) (all int, in func(text string) int) {
	r := newRequest(parseQuery(query, time.Time{}), notes.Filter{})
	var telling uint64 // their terms
	for _, w := range r.words {
		if w.term < 64 && terms.Telling(w.exact) {
			telling |= 1 << w.term
		}
	}
	m := newMatcher(r)
	return bits.OnesCount64(telling), func(text string) int { return bits.OnesCount64(termsIn(m.find(nil, text)) & telling) }
}

// bare returns a text from its first term to its last.
func bare(text string) string {
	start, end := len(text), 0
	for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
		start, end = min(start, s.Start), s.End
	}
	return text[min(start, end):end]
}

// CountWords returns how many words of a text begin with a text of [Parse]; both must be folded
// alike. Every character of a script without spaces between words may begin one.
func CountWords(text, begin string) (n int) {
	inWord := func(r rune) bool { return terms.ClassOf(r)&terms.ClassWord != 0 }
	first, _ := utf8.DecodeRuneInString(begin)
	for at := 0; ; at += len(begin) {
		i := strings.Index(text[at:], begin)
		if i < 0 {
			return n
		}
		at += i
		if before, _ := utf8.DecodeLastRuneInString(text[:at]); !inWord(before) || !inWord(first) {
			n++
		}
	}
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

// isSpace reports whether b is white space or a control character.
func isSpace(b byte) bool { return b <= ' ' || b == 0x7f }

// clause parses one clause and appends its node.
func (p *parser) clause() {
	not := p.text[p.pos] == '-' && p.pos+1 < len(p.text) && !isSpace(p.text[p.pos+1]) && p.text[p.pos+1] != '-'
	start := p.pos
	if not {
		p.pos++
	}
	soft := p.text[p.pos] != '"'
	if phrase, ok := p.quoted(); ok {
		p.add(node{kind: kindPhrase, not: not, soft: soft, text: phrase})
		return
	}
	if n, ok := p.field(not); ok {
		p.add(n)
		return
	}
	if p.text[p.pos] == '"' { // unclosed, so it is ignored
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

// quotes are the pairs of quotation marks that people type, also those that keyboards make of ".
var quotes = [][2]string{{`"`, `"`}, {"“", "”"}, {"”", "”"}, {"„", "“"}, {"„", "”"}, {"«", "»"}, {"「", "」"}, {"『", "』"}, {"＂", "＂"}}

// quoted parses "…" at the current position. Marks other than " must enclose a whole clause: in
// Chinese, they are as frequent within a sentence.
func (p *parser) quoted() (string, bool) {
	for _, mark := range quotes {
		rest, opened := strings.CutPrefix(p.text[p.pos:], mark[0])
		if !opened {
			continue
		}
		inside, after, closed := cutQuote(rest, mark[1])
		if closed && (mark[0] == `"` || after == "" || isSpace(after[0])) {
			p.pos = len(p.text) - len(after)
			return inside, true
		}
	}
	return "", false
}

// cutQuote cuts s at a closing quotation mark, which is not one within an acronym.
func cutQuote(s, mark string) (inside, after string, closed bool) {
	for at := 0; ; at += len(mark) {
		i := strings.Index(s[at:], mark)
		if i < 0 {
			return s, "", false
		}
		if at += i; !terms.InAcronym(s, at) {
			return s[:at], s[at+len(mark):], true
		}
	}
}

// quotesFrom reports whether the quotation mark at the current position follows only particles that
// Hebrew writes together with the next word, and opens a quotation: ו"הדוח הכספי".
func (p *parser) quotesFrom(start int) bool {
	if strings.Trim(p.text[start:p.pos], "והבלמשכ") != "" {
		return false
	}
	inside, _, closed := cutQuote(p.text[p.pos+1:], `"`)
	return closed && len(inside) > 2 && !isSpace(inside[2])
}

// word parses up to white space or a quotation mark.
func (p *parser) word() string {
	start := p.pos
	for p.pos < len(p.text) && !isSpace(p.text[p.pos]) && (p.text[p.pos] != '"' || terms.InAcronym(p.text, p.pos) && !p.quotesFrom(start)) {
		p.pos++
	}
	return p.text[start:p.pos]
}

// field parses name:value or name:"value"; the colon may be the wide one of Chinese and Japanese
// keyboards. A value that is not valid makes it a word. If it has no value or the name is not
// that of a filter, it consumes nothing.
func (p *parser) field(not bool) (node, bool) {
	start := p.pos
	head := p.text[p.pos:min(len(p.text), p.pos+len("before："))]
	colon := strings.IndexAny(head, ":：")
	if colon <= 0 {
		return node{}, false
	}
	name := head[:colon]
	read, ok := filters[strings.ToLower(name)]
	if !ok {
		return node{}, false
	}
	_, width := utf8.DecodeRuneInString(head[colon:])
	p.pos += colon + width
	value, quoted := p.quoted()
	if !quoted {
		value = p.word()
	}
	value = strings.TrimSpace(value)
	if value == "" {
		p.pos = start
		return node{}, false
	}
	if n, ok := read(value, p.now); ok {
		if n, ok = n.negated(not); ok {
			return n, true
		}
	}
	return node{kind: kindWord, not: not, text: name + ":" + value}, true
}

// unread returns a remark for each filter in the query whose value is not valid, so that it
// was read as a word.
func unread(nodes []node) (remarks []string) {
	for _, n := range nodes {
		name, value, _ := strings.Cut(n.text, ":")
		valid := map[string]string{"after": "2026-01-31, yesterday or 7d", "before": "2026-01-31, yesterday or 7d", "has": "todo"}[strings.ToLower(name)]
		if n.kind == kindWord && valid != "" && value != "" {
			remarks = append(remarks, fmt.Sprintf("%q is not a filter and was read as a word; %s: takes %s", terms.Clip(n.text), name, valid))
		}
	}
	return remarks
}

// negated returns the filter, negated if not is set; ok is false if the filter cannot be
// negated.
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

// filters maps the name of each filter to the function that parses its value.
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

// hasTerms reports whether s contains any term.
func hasTerms(s string) bool {
	_, ok := terms.NextSpan(s, 0)
	return ok
}

// maxTerms bounds the terms of a query that affect the ranking; further terms are ignored.
const maxTerms = 64

// partWeight is the weight of a part of a compound, relative to the whole.
const partWeight = 0.7

// request is a compiled query: the plan for the index, the filter, and the phrases to verify in
// the text.
type request struct {
	plan         index.Plan
	words        []queryWord // of the plan's terms, in query order
	parts        []queryWord // of compounds, for notes without the whole
	phrases      []phrase    // must occur verbatim
	quoted       []string    // the phrases as written, if their words suffice when no note has them
	titles       []index.Clause
	notPhrases   []phrase
	notWords     []index.Clause // the words of each of notPhrases
	filter       notes.Filter
	semanticText string // the query without filters, for semantic search
	foreign      bool   // the query is not in English
	onlyDays     bool   // each word belongs to a day, such as "January 6th"
}

// planTerms returns the indexes of the words' terms in the plan.
func planTerms(words []queryWord) []int {
	terms := make([]int, len(words))
	for i, w := range words {
		terms[i] = w.term
	}
	return terms
}

// queryWord is a term of the plan as it occurs in the query.
type queryWord struct {
	term  int    // index into the plan's terms
	exact string // folded, not stemmed
	shown string // as written
	gap   int    // stop words between it and the previous word
	gram  bool   // one of the overlapping n-grams of a run
	start int    // byte range in the query's words
	end   int    // exclusive
	alone bool   // the only term of its word
}

// Parts of the ranking that tests disable.
var (
	languageOf   = terms.LanguageOf
	repeatWeight = 1.0 // weight of each repetition of a word
)

// newRequest compiles the clauses of a query and a filter.
func newRequest(nodes []node, filter notes.Filter) *request {
	r := &request{filter: filter}
	var meaning, quoted []string
	said, hard := 0, false
	b := planBuilder{request: r, terms: map[string]int{}}
	for _, n := range nodes {
		switch {
		case n.kind > kindTitle:
			r.addFilter(n)
			continue
		case n.not:
			r.addExclusion(n)
			continue
		}
		meaning = append(meaning, n.text)
		switch n.kind {
		case kindPhrase:
			r.phrases = append(r.phrases, newPhrase(n.text))
			quoted, hard = append(quoted, n.String()), hard || !n.soft
			r.plan.Require = append(r.plan.Require, allOf(n.text, nil))
		case kindTitle:
			r.titles = append(r.titles, allOf(n.text, []string{index.FieldName}))
		case kindWord:
			said += contentWords(n.text)
		}
	}
	r.plan.Require = append(r.plan.Require, r.titles...)
	if said >= sentenceWords || !hard {
		r.quoted = quoted
	}
	b.Language = languageOf(meaning)
	b.foreign, b.plan.Open = b.Foreign, b.Open
	r.semanticText = strings.Join(meaning, " ")
	b.add(r.semanticText)
	b.finish()
	r.addDays()
	return r
}

// addFilter adds a clause of the query to the filter.
func (r *request) addFilter(n node) {
	f := &r.filter
	switch n.kind {
	case kindTag:
		if n.not {
			f.NotTags = append(slices.Clip(f.NotTags), n.text)
		} else {
			f.Tags = append(slices.Clip(f.Tags), n.text)
		}
	case kindPath, kindFolder:
		prefix := n.text
		if n.kind == kindFolder {
			prefix += "/"
		}
		switch {
		case n.not:
			f.NotPaths = append(slices.Clip(f.NotPaths), prefix)
		case n.kind == kindFolder && f.Folder == "":
			f.Folder = n.text
		default:
			f.Paths = append(slices.Clip(f.Paths), prefix)
		}
	case kindHas:
		f.HasTodo = true
	case kindAfter:
		if n.time.After(f.After) {
			f.After = n.time
		}
	case kindBefore:
		if f.Before.IsZero() || n.time.Before(f.Before) {
			f.Before = n.time
		}
	}
}

// addExclusion adds an excluded clause. A word with several terms (東京都, src/lib) is a phrase: a
// note may have the terms apart. So is a file name, because allOf ignores its extension.
func (r *request) addExclusion(n node) {
	if n.kind == kindTitle {
		r.plan.Exclude = append(r.plan.Exclude, allOf(n.text, []string{index.FieldName}))
		return
	}
	words := allOf(n.text, nil)
	if p := newPhrase(n.text); len(words.Terms) > 1 || (n.kind == kindPhrase || notes.IsNoteName(n.text)) && len(p.units) > 1 {
		r.notPhrases = append(r.notPhrases, p)
		r.notWords = append(r.notWords, words)
		return
	}
	r.plan.Exclude = append(r.plan.Exclude, words)
}

// allOf returns a clause that requires every word of a text, each as a whole, and of the file
// names in it.
func allOf(text string, fields []string) index.Clause {
	c := index.Clause{Fields: fields}
	for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
		for _, t := range queryTerms(text, withoutExtension(text, s)) {
			if !t.Part {
				c.Terms = append(c.Terms, lookupOf(t))
			}
		}
	}
	return c
}

// queryTerms returns the terms to look up for a span. For a run that is cut into n-grams, these
// are the complete n-grams; a run shorter than n is looked up as a prefix.
func queryTerms(text string, s terms.Span) []terms.Term {
	list := terms.Expand(nil, text, s)
	if k := s.Kind(); k != terms.ClassDense && k != terms.ClassRunOn {
		return list
	}
	whole := list[:0:0]
	for _, t := range list {
		if !t.Short {
			whole = append(whole, t)
		}
	}
	if len(whole) > 0 || len(list) == 0 {
		return whole
	}
	return list[:1]
}

func lookupOf(t terms.Term) index.Lookup { return index.Lookup{Text: t.Text, Prefix: t.Short} }

// planBuilder collects the terms of a request's plan.
type planBuilder struct {
	*request
	terms.Language
	terms map[string]int // → index into the plan's terms
	stops []string       // the stop words, used if there are no other words
	gap   int            // stop words skipped since the last term
}

// add adds the words of a text to the plan, except stop words: the* is a prefix, *the* a stop
// word with emphasis.
func (b *planBuilder) add(text string) {
	var number terms.Term
	var last terms.Span // whose word is the last of b.words
	for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
		prefix := strings.HasPrefix(text[s.End:], "*") && s.Kind() == terms.ClassWord && isPrefix(text[s.Start:s.End])
		if (!prefix || strings.HasSuffix(text[:s.Start], "*")) && b.isStop(string(terms.Fold(nil, text[s.Start:s.End]))) {
			b.stops = append(b.stops, text[s.Start:s.End])
			b.gap++
			continue
		}
		if prefix {
			b.addPrefix(text, s)
			continue
		}
		if n, ok := terms.Number(text, s); ok && n.End > number.End {
			number = n
		}
		known := len(b.words)
		b.addSpan(text, withoutExtension(text, s))
		if s.Start < number.End { // notes may have the number without groups
			for _, w := range b.words[known:] {
				b.plan.Terms[w.term].Others = append(b.plan.Terms[w.term].Others, number.Text)
			}
		}
		if code := text[last.Start:s.End]; known > 0 && len(b.words) == known+1 && spacedCode(code) { // notes may have LH1790
			for _, w := range b.words[known-1:] {
				b.plan.Terms[w.term].Others = append(b.plan.Terms[w.term].Others, strings.ToLower(strings.Replace(code, " ", "", 1)))
			}
		}
		last = s
	}
}

// spacedCode matches a code that is written with and without a space, as of a flight: LH 1790.
var spacedCode = regexp.MustCompile(`^[A-Za-z]{1,3} \d+$`).MatchString

// isStop reports whether a folded word is a stop word. Words of Vietnamese, the foreign language
// without families, are not: folded, số and để are English or Spanish ones.
func (b *planBuilder) isStop(word string) bool {
	if b.Foreign {
		return b.Families && (terms.StopWords[word] || terms.FunctionWords[word])
	}
	return terms.StopWords[word]
}

// withoutExtension removes a note's extension from a word: a pasted path refers to the note,
// whose name is indexed without the extension.
func withoutExtension(text string, s terms.Span) terms.Span {
	s.End = s.Start + len(notes.Stem(text[s.Start:s.End]))
	return s
}

// isPrefix reports whether word* is a prefix search.
func isPrefix(word string) bool {
	const least = 2 // characters
	return utf8.RuneCountInString(word) >= least && !strings.ContainsFunc(word, func(r rune) bool { return terms.ClassOf(r) == terms.ClassConnector })
}

// addPrefix adds a prefix search to the plan.
func (b *planBuilder) addPrefix(text string, s terms.Span) {
	exact := string(terms.Fold(nil, text[s.Start:s.End]))
	if exact == "" || len(b.plan.Terms) == maxTerms {
		return
	}
	i, known := b.terms[exact]
	if !known {
		i = len(b.plan.Terms)
		b.plan.Terms = append(b.plan.Terms, index.PlanTerm{})
		b.terms[exact] = i
	}
	t := &b.plan.Terms[i]
	t.Lookup, t.Weight, t.Times = index.Lookup{Text: exact, Prefix: true}, 1, t.Times+1
	b.words = append(b.words, queryWord{term: i, exact: exact, shown: text[s.Start : s.End+1], gap: b.gap, alone: true})
	b.gap = 0
}

func (b *planBuilder) addSpan(text string, s terms.Span) {
	list := queryTerms(text, s)
	for _, t := range list {
		exact := string(terms.Fold(nil, text[t.Start:t.End]))
		weight := 1.0
		if t.Part {
			if b.isStop(exact) {
				continue
			}
			weight = partWeight
		}
		i, known := b.terms[t.Text]
		if !known {
			if len(b.plan.Terms) == maxTerms {
				continue
			}
			i = len(b.plan.Terms)
			b.plan.Terms = append(b.plan.Terms, index.PlanTerm{Lookup: lookupOf(t), Family: (b.Families || b.Open) && s.Kind() == terms.ClassWord && !t.Part})
			b.terms[t.Text] = i
		}
		pt := &b.plan.Terms[i]
		pt.Weight = max(pt.Weight, weight)
		if !known {
			pt.Times = 1
		} else if s.Kind() == terms.ClassWord { // n-grams overlap
			pt.Times += repeatWeight
		}
		if t.Part {
			b.parts = append(b.parts, queryWord{term: i, exact: exact, shown: text[t.Start:t.End], start: t.Start, end: t.End})
		} else {
			b.words = append(b.words, queryWord{term: i, exact: exact, shown: text[t.Start:t.End], gap: b.gap,
				gram: s.Kind() != terms.ClassWord, start: t.Start, end: t.End, alone: len(list) == 1})
			b.gap = 0
		}
	}
}

// finish falls back to stop words if there are no other words.
func (b *planBuilder) finish() {
	if len(b.plan.Terms) > 0 {
		return
	}
	for _, text := range b.stops {
		if s, ok := terms.NextSpan(text, 0); ok {
			b.addSpan(text, s)
		}
	}
}

// maxUnknown bounds the words of a query that are treated as possible misspellings.
var maxUnknown = 4

// unknown returns the words that no note has, given the number of notes with each term.
func (r *request) unknown(with []int) []queryWord {
	var out []queryWord
	for _, w := range r.words {
		if w.alone && !w.gram && with[w.term] == 0 && len(out) < maxUnknown &&
			!slices.ContainsFunc(out, func(o queryWord) bool { return o.term == w.term }) {
			out = append(out, w)
		}
	}
	return out
}

// A Reading is a query as the engine interprets it.
type Reading struct {
	Words   []string `json:"words"`
	Phrases []string `json:"phrases,omitempty"`
	Without []string `json:"without,omitempty"`
	Filters []string `json:"filters,omitempty"`
}

// String returns the clause in query syntax.
func (n node) String() string {
	name := map[kind]string{kindTitle: "title:", kindTag: "tag:", kindPath: "path:", kindFolder: "folder:", kindHas: "has:", kindAfter: "after:", kindBefore: "before:"}[n.kind]
	text := n.text
	if n.kind == kindPhrase || strings.Contains(text, " ") {
		text = `"` + text + `"`
	}
	if n.not {
		name = "-" + name
	}
	return name + text
}

// reading describes the clauses.
func reading(nodes []node) Reading {
	r := Reading{Words: []string{}}
	for _, n := range nodes {
		switch {
		case n.kind > kindTitle:
			r.Filters = append(r.Filters, n.String())
		case n.not:
			r.Without = append(r.Without, n.String())
		case n.kind == kindPhrase, n.kind == kindTitle:
			r.Phrases = append(r.Phrases, n.String())
		default:
			r.Words = append(r.Words, n.text)
		}
	}
	return r
}

package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"notesd/notes"
	"notesd/search/index"
)

// SemanticHit is a note found semantically.
type SemanticHit struct {
	NoteID  int64
	Ordinal int     // of its nearest chunk
	Cosine  float64 // of that chunk and the query
	// Near is the cosine on the scale of how well words match, where 1 is all
	// words of the query. [Chance] says what it is by chance.
	Near float64
	// First is Near of how the note begins: what it is about.
	First float64
	// Missing is the share, from 0 to 1, of the note's chunks that have no vector yet
	// and of which one may be nearer.
	Missing float64
}

// Semantic finds notes whose passages are near a text. The vectors of the vault are one.
type Semantic interface {
	// Nearest returns the k notes of allowed (nil: all) whose best chunk is
	// nearest to text, the nearest first.
	Nearest(ctx context.Context, text string, allowed *notes.IDSet, k int) ([]SemanticHit, error)
	// Coverage says how much of the vault can be found so; its State is one of
	// "ready", "building", "loading" and "off". While it is loading, Nearest waits.
	Coverage() Coverage
	// Weight is the share, from 0 to 1, that meaning has in the score of this
	// query's hits; 0 means that the model does not know its script.
	Weight(text string) float64
}

// Scorer is a Semantic that also returns how near given notes are. Notes without
// vectors are left out of its answer. It is asked while Nearest runs, with the
// same text.
type Scorer interface {
	Cosines(ctx context.Context, text string, ids []int64) ([]SemanticHit, error)
}

// Chance is a Semantic that also returns how near passages are that have nothing
// to do with text. Of others their mean is taken to be 0 and their deviation
// .095. It is asked right after Nearest, with the same text.
type Chance interface {
	// Unrelated returns the spread of the model in general, and that in this vault,
	// which is lower for a text in another language than the notes.
	Unrelated(ctx context.Context, text string) (usual, here Spread, err error)
	// Alike returns the mean cosine of pairs of the hits' passages. ok reports whether
	// that distinguishes passages about one subject from others: with some models, and
	// in small vaults, it does not.
	Alike(hits []SemanticHit) (cosine float64, ok bool)
}

// Yielder is a Semantic with work in the background that can pause while a search
// runs, by words too.
type Yielder interface {
	Yield() (over func())
}

// The states of the semantic side of a search.
const (
	StateReady       = "ready"              // took part, over all notes
	StateBuilding    = "building"           // took part, over those that are embedded so far
	StateLoading     = "loading"            // the vectors were still being read from the disk
	StateOff         = "off"                // there is no model, or the query did not want it
	StateLate        = "late"               // did not answer in time
	StateFailed      = "failed"             // answered with an error
	StateUnsupported = "unsupported-script" // the model cannot read the query
)

// Coverage is the state of the semantic side, and how many of the vault's
// chunks it can find, also as a share from 0 to 1.
type Coverage struct {
	State    string
	Coverage float64
	Passages int    // that it can find
	Why      string // what keeps it from being more; "" when nothing does, or it is a matter of time
}

// Spread describes values by their mean and their standard deviation.
type Spread struct{ Mean, Deviation float64 }

// UnavailableError is the error of a semantic side that cannot answer for a reason
// that is not its own, such as a server that is away. It is reported to the reader and
// not logged.
type UnavailableError struct{ Why string }

func (e UnavailableError) Error() string { return e.Why }

// candidate is a note on its way to being a hit.
type candidate struct {
	note  int64
	score float64 // what it is ranked by
	text  float64
	bonus float64 // what its text adds, see bonuses
	met   float64 // the part of what was asked for that meets in its text; 0: not read
	terms uint64
	// textRank and vectorRank count from 1; 0: not found that way
	textRank, vectorRank int
	cosine               float64
	near, first, missing float64 // see SemanticHit
	weak                 bool
	named                bool // a passage of another names it
	embedded             bool // the cosine is known
	chunk                int  // nearest in meaning; -1: none
	meet                 int  // without one: where the words meet in its text
}

// byText makes candidates of what was found by words.
func byText(found []index.Ranked) []candidate {
	out := make([]candidate, len(found))
	for i, r := range found {
		out[i] = candidate{note: r.Note, score: r.Score, text: r.Score, terms: r.Terms, textRank: i + 1, chunk: -1}
	}
	return out
}

// meaning is what the semantic side has to say about a query.
type meaning struct {
	near     []SemanticHit // the nearest first
	also     []SemanticHit // how near the notes are that were found by words
	complete bool          // every note that is in neither is far, not unknown
	building bool          // notes are being embedded
	weight   float64
	passages int // that near was chosen from
	// usual and here are the spreads of unrelated passages, see [Chance].
	usual, here Spread
	// scatter is how much less alike the nearest passages are than usual, see
	// usualAlike; 0: not known.
	scatter float64

	known  float64 // share of the notes found by words whose nearness is known
	likely float64 // nearness of such a note, beyond likelyNear times its text score
}

// What words and meaning count in a hybrid search. Chosen on judged sets;
// docs/retrieval.md has the table.
var (
	// firstShare is what a note's first passage counts beside its best: of many
	// passages one is near by chance, and the first says what a note is about.
	firstShare = 0.4
	// textPower is the power of the text score, so that half of the words count for more
	// than half, and nearness decides more among notes that have most of them. It does
	// not apply to queries in other languages than English, which rely on words, or than
	// the notes, which have few of the words.
	textPower = 0.7
	// likelyNear is how much nearer a note without vectors is taken to be than another,
	// as a part of how much better its words match.
	likelyNear = 0.5
	// missingNear is how much nearer a note is with all of its vectors than with few,
	// on average.
	missingNear = 0.05
	// gapWeight is how much more nearness counts across a whole [meaning.languageGap]:
	// names and numbers are then all that words can find.
	gapWeight = 0.3
)

// While notes are embedded, those without vectors are taken to be as near as those
// with vectors are whose words match as well. The mean is that of this query, together
// with usualNotes notes of the mean usualNear.
const (
	usualNear  = 0.1
	usualNotes = 5
)

// textOf returns the text scores of near notes; see [index.Ranking.TextOf].
var textOf = (*index.Ranking).TextOf

// fuse ranks what was found by words and semantically together, by their scores
// and not their ranks: the text score as a part of what a note would score that
// has all the words, so that a query which no text answers well leaves more to
// meaning, and nearness as it is, weighted. A note without vectors is taken to be as
// near as its words let expect, see [search.expect].
func (s *search) fuse(text []candidate, r *index.Ranking, m *meaning) []candidate {
	out := slices.Clone(text)
	at := make(map[int64]int, len(text)+len(m.near))
	for i := range out {
		at[out[i].note] = i
	}
	others := &notes.IDSet{}
	set := func(h SemanticHit, rank int) {
		i, ok := at[h.NoteID]
		if !ok {
			i = len(out)
			at[h.NoteID] = i
			out = append(out, candidate{note: h.NoteID})
			others.Add(h.NoteID)
		}
		c := &out[i]
		c.cosine, c.near, c.first, c.missing, c.chunk, c.embedded = h.Cosine, h.Near, h.First, h.Missing, h.Ordinal, true
		if rank > 0 {
			c.vectorRank = rank
		}
	}
	for _, h := range m.also {
		set(h, 0)
	}
	for i, h := range m.near {
		set(h, i+1)
	}
	for id, found := range textOf(r, others) {
		c := &out[at[id]]
		c.text, c.terms, c.textRank = found.Score, found.Terms, len(text)+1
	}
	s.expect(out[:len(text)], m)
	for i := range out {
		s.score(&out[i], m)
	}
	sortByScore(out)
	return out
}

// expect estimates how near the notes without vectors are from those with vectors
// among the notes found by words.
func (s *search) expect(found []candidate, m *meaning) {
	n, sum := 0, usualNotes*usualNear
	for _, c := range found {
		if c.embedded {
			n++
			sum += c.nearness() - likelyNear*s.wordShare(&c, m)
		}
	}
	m.likely = sum / float64(n+usualNotes)
	m.known = 1
	if m.building && len(found) > 0 {
		m.known = float64(n) / float64(len(found))
	}
}

// nearness returns how near a note with vectors is.
func (c *candidate) nearness() float64 {
	return (1-firstShare)*(c.near+missingNear*c.missing) + firstShare*c.first
}

// languageGap estimates whether the notes are in another language than the query, which
// the query does not show: how much farther a sample of the passages is from the query
// than unrelated ones usually are, in deviations beyond the first, at most 1.
func (m *meaning) languageGap() float64 {
	if m.usual.Deviation == 0 { // not known
		return 0
	}
	return min(1, max(0, (m.usual.Mean-m.here.Mean)/m.usual.Deviation-1))
}

// wordShare returns the text score of a candidate, without its bonus, as a part of what
// a note scores that has all the words.
func (s *search) wordShare(c *candidate, m *meaning) float64 {
	text := c.text / s.rescorer.ideal
	if s.r.foreign || m.languageGap() > 0 {
		return text
	}
	return math.Pow(text, textPower)
}

// score makes one score of what is known about a candidate. The fewer notes have
// vectors, the less they count: of many notes with vectors some are near by chance,
// and they would displace better notes without.
func (s *search) score(c *candidate, m *meaning) {
	text := s.wordShare(c, m)
	if s.q.Mode == ModeSemantic && m.weight > 0 {
		c.score = c.near
		return
	}
	near := 0.0
	if !m.complete {
		near = m.likely + likelyNear*text
	}
	if c.embedded {
		near += m.known * m.known * (c.nearness() - near)
	}
	c.score = (1-m.weight)*(text+c.bonus/s.rescorer.ideal) + m.weight*near
}

func sortByScore(found []candidate) {
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.note, a.note))
	})
}

package search

import (
	"cmp"
	"context"
	"slices"

	"notesd/notes"
)

// SemanticHit is a note found by meaning.
type SemanticHit struct {
	NoteID  int64
	Ordinal int     // of its nearest chunk
	Cosine  float64 // of that chunk and the query
	// Near is the cosine on one scale for all models: what is about the query
	// has more than .3, what has nothing to do with it about 0.
	Near float64
}

// Semantic finds notes by meaning. The vectors of the vault are one.
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

// Scorer is a Semantic that also tells how near given notes are. Notes without
// vectors are left out of its answer. It is asked right after Nearest, with the
// same text.
type Scorer interface {
	Cosines(ctx context.Context, text string, ids []int64) ([]SemanticHit, error)
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

// UnavailableError is the error of a semantic side that cannot answer for a reason
// that is not its own, such as a server that is away. It is told to the reader and
// not logged.
type UnavailableError struct{ Why string }

func (e UnavailableError) Error() string { return e.Why }

// candidate is a note on its way to being a hit.
type candidate struct {
	note  int64
	score float64 // what it is ranked by
	text  float64
	terms uint64
	// textRank and vectorRank count from 1; 0: not found that way
	textRank, vectorRank int
	cosine, near         float64
	weak                 bool
	embedded             bool // the cosine is known
	chunk                int  // nearest in meaning; -1: none
}

// byText makes candidates of what was found by words.
func byText(found []ranked) []candidate {
	out := make([]candidate, len(found))
	for i, r := range found {
		out[i] = candidate{note: r.note, score: r.score, text: r.score, terms: r.terms, textRank: i + 1, chunk: -1}
	}
	return out
}

// meaning is what the semantic side has to say about a query.
type meaning struct {
	near     []SemanticHit // the nearest first
	also     []SemanticHit // how near the notes are that were found by words
	complete bool          // every note that is in neither is far, not unknown
	weight   float64
	passages int // that near was chosen from
}

// fuse ranks what was found by words and by meaning together, by their scores
// and not their ranks: the text score divided by its maximum, and the cosine
// scaled from the least to the greatest, weighted. A note of which no cosine
// is known because it has no vectors is ranked by its text score alone.
func fuse(text []candidate, m meaning) []candidate {
	if len(m.near) == 0 {
		return text
	}
	most := 0.0
	for _, c := range text {
		most = max(most, c.text)
	}
	out := slices.Clone(text)
	at := make(map[int64]int, len(text)+len(m.near))
	for i := range out {
		at[out[i].note] = i
	}
	set := func(h SemanticHit, rank int) {
		i, ok := at[h.NoteID]
		if !ok {
			i = len(out)
			at[h.NoteID] = i
			out = append(out, candidate{note: h.NoteID, chunk: -1})
		}
		out[i].cosine, out[i].near, out[i].chunk, out[i].embedded = h.Cosine, h.Near, h.Ordinal, true
		if rank > 0 {
			out[i].vectorRank = rank
		}
	}
	for _, h := range m.also {
		set(h, 0)
	}
	for i, h := range m.near {
		set(h, i+1)
	}
	lowest, highest := m.span()
	for i := range out {
		c := &out[i]
		c.score = 0
		if most > 0 {
			c.score = c.text / most
		}
		switch {
		case c.embedded && highest > lowest:
			c.score = (1-m.weight)*c.score + m.weight*(c.cosine-lowest)/(highest-lowest)
		case c.embedded:
			c.score = (1-m.weight)*c.score + m.weight
		case m.complete:
			c.score *= 1 - m.weight
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.note, a.note))
	})
	return out
}

// span returns the least and the greatest cosine.
func (m meaning) span() (lowest, highest float64) {
	lowest, highest = m.near[0].Cosine, m.near[0].Cosine
	for _, hits := range [][]SemanticHit{m.near, m.also} {
		for _, h := range hits {
			lowest, highest = min(lowest, h.Cosine), max(highest, h.Cosine)
		}
	}
	return lowest, highest
}

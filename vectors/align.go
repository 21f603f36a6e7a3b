package vectors

import (
	"cmp"
	"maps"
	"slices"

	"notesd/notes"
	"notesd/vectors/flat"
	"notesd/vectors/language"
)

// alignedFrom is the least number of sampled passages of a language whose mean is used. The mean
// of eight shows their subjects as well.
const alignedFrom = 16

// samples are passages by the language of their text.
type samples map[language.Group][]slotKey

// alignable reports whether queries of a model are to be aligned: it is multilingual.
func alignable(e Embedder) bool {
	if e == nil {
		return false
	}
	c, ok := calibration(e)
	return ok && c.Mean > 0
}

// align computes the mean vectors of the languages with enough sampled passages, for aligned.
func (s *space) align(of samples) {
	s.means = nil
	if !alignable(s.embedder) {
		return
	}
	bySize := func(a, b language.Group) int {
		return cmp.Or(cmp.Compare(len(of[b]), len(of[a])), cmp.Compare(a, b))
	}
	for _, group := range slices.SortedFunc(maps.Keys(of), bySize) {
		mean, n := make([]float32, s.embedder.Dim()), 0
		for _, key := range of[group] {
			if slot, ok := s.slots.find(key); ok {
				v := s.slots.vector(slot)
				for i := range mean {
					mean[i] += v.Scale * float32(v.Values[i])
				}
				n++
			}
		}
		if n >= alignedFrom && !slices.ContainsFunc(s.means, func(other []float32) bool { return areAlike(mean, other) }) {
			s.means = append(s.means, plus(make([]float32, len(mean)), 1/float32(n), mean))
		}
	}
}

// areAlike reports whether two means have nearly the same direction. Languages that a model
// distinguishes have means with a squared cosine of .86 to .94, and passages in one language that
// are taken for two, such as Norwegian and Danish, of .96 or more (multilingual-e5-small). Beyond
// .95, aligning a query would leave little of it.
func areAlike(a, b []float32) bool {
	return dot(a, b)*dot(a, b) > .95*dot(a, a)*dot(b, b)
}

// aligned returns the query with the same mean cosine to the passages in each language as to
// those in its own, to which the model finds it nearer than to others with the same meaning, and
// the mean of its own language. If the notes are in one language, the query remains as it is,
// and own is nil.
func (s *space) aligned(query []float32) (aligned, own []float32) {
	if len(s.means) < 2 {
		return query, nil
	}
	own = slices.MaxFunc(s.means, func(a, b []float32) int { return cmp.Compare(dot(query, a), dot(query, b)) })
	target := dot(query, own)
	basis := [][]float32{own} // orthogonal, so that no step undoes another
	for _, mean := range s.means {
		if &mean[0] == &own[0] {
			continue
		}
		across := mean
		for _, b := range basis {
			across = plus(across, -dot(mean, b)/dot(b, b), b)
		}
		query = plus(query, (target-dot(query, mean))/dot(across, mean), across)
		basis = append(basis, across)
	}
	return query, own
}

// markAcross sets [notes.SemanticHit.Across] of the hits that are nearer to the mean of another
// language than to own.
func (s *space) markAcross(own []float32, hits []notes.SemanticHit) {
	for _, mean := range s.means {
		if &mean[0] == &own[0] {
			continue
		}
		q, bound := flat.NewQuery(plus(mean, -1, own)), (dot(mean, mean)-dot(own, own))/2
		for i, h := range hits {
			for _, row := range s.entries.rowsOf[h.NoteID] {
				if int(s.entries.ordinal[row]) == h.Ordinal && q.Dot(s.entries.vector(s.entries.slot[row])) > bound {
					hits[i].Across = true
				}
			}
		}
	}
}

func dot(a, b []float32) (sum float32) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// plus returns a + factor*b.
func plus(a []float32, factor float32, b []float32) []float32 {
	sum := slices.Clone(a)
	for i, x := range b {
		sum[i] += factor * x
	}
	return sum
}

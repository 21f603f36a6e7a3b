package search

import (
	"context"
	"fmt"
	"slices"

	"notesd/notes"
	"notesd/search/index"
)

// The number of candidates of a phrase that are read at a time and in total: a phrase of common
// words may have thousands.
const (
	verifyBatch = 32
	maxVerified = 512
)

// certain returns the notes that satisfy the request's phrases without being read: if it
// requires none, those that lack a word of each excluded phrase.
func (r *request) certain(ctx context.Context, x *index.Index) (*notes.IDSet, error) {
	if len(r.phrases) > 0 || len(r.notPhrases) == 0 {
		return &notes.IDSet{}, nil
	}
	return x.Matching(ctx, index.Plan{Exclude: r.notWords}, nil)
}

// verified returns the notes that contain the request's phrases and none of its excluded ones.
func (s *search) verified(ctx context.Context, list *rankedList, found []index.Ranked) ([]index.Ranked, error) {
	var kept []index.Ranked
	checked, read := 0, 0
	for batch := range slices.Chunk(found, verifyBatch) {
		before := len(s.read)
		verifies, err := s.verifies(ctx, byText(batch))
		if err != nil {
			return nil, err
		}
		read += len(s.read) - before
		for _, r := range batch {
			if verifies(r.Note) {
				kept = append(kept, r)
			} else {
				delete(s.read, r.Note)
			}
		}
		checked += len(batch)
		if read >= maxVerified || len(s.r.phrases) > 0 && len(kept) >= poolSize {
			break
		}
	}
	if checked < list.total {
		list.remarks = append(list.remarks, fmt.Sprintf("the phrase was checked in only %d of %d notes that have the words", checked, list.total))
	}
	list.total = len(kept)
	return kept, nil
}

// verifiedNear returns the semantic hits that the request's phrases admit.
func (s *search) verifiedNear(ctx context.Context, near []notes.SemanticHit) ([]notes.SemanticHit, error) {
	if !s.r.hasPhrases() {
		return near, nil
	}
	found := make([]candidate, len(near))
	for i, h := range near {
		found[i].note = h.NoteID
	}
	verifies, err := s.verifies(ctx, found)
	if err != nil {
		return nil, err
	}
	var kept []notes.SemanticHit
	for _, h := range near {
		if verifies(h.NoteID) {
			kept = append(kept, h)
		}
	}
	return kept, ctx.Err()
}

// verifies reads those of the candidates that are not certain, and returns a function that
// reports whether the request's phrases admit one of the candidates.
func (s *search) verifies(ctx context.Context, of []candidate) (func(id int64) bool, error) {
	doubtful := slices.DeleteFunc(of, func(c candidate) bool { return s.certain.Has(c.note) })
	if err := s.readNotes(ctx, doubtful); err != nil {
		return nil, err
	}
	return func(id int64) bool {
		n := s.read[id]
		return s.certain.Has(id) || n != nil && s.r.verify(n)
	}, ctx.Err()
}

func (r *request) hasPhrases() bool { return len(r.phrases)+len(r.notPhrases) > 0 }

// verify reports whether a note contains all required phrases and no excluded one.
func (r *request) verify(n *notes.Note) bool {
	has := func(p phrase) bool {
		return p.in(n.Content) || p.in(n.Title) || p.in(n.Path) || slices.ContainsFunc(n.Aliases, p.in)
	}
	for _, p := range r.phrases {
		if !has(p) {
			return false
		}
	}
	return !slices.ContainsFunc(r.notPhrases, has)
}

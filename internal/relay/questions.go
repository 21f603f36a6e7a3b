package relay

import (
	"bytes"
	"strconv"
)

// questions is the table of unanswered requests from daemons to the client
// (elicitation, roots, sampling, ping). Every daemon counts its ids from 1, so the
// client sees other ids, unique across generations. It is not safe for concurrent use.
type questions struct {
	open map[uint64]question
	last uint64
}

type question struct {
	generation int
	rawID      string // as the daemon spelled it
}

func newQuestions() questions { return questions{open: map[uint64]question{}} }

// add adds a question and returns the id that the client sees, as JSON.
func (q *questions) add(generation int, rawID []byte) string {
	q.last++
	q.open[q.last] = question{generation, string(rawID)}
	return strconv.FormatUint(q.last, 10)
}

// take removes and returns the question with the client's id rawID.
func (q *questions) take(rawID []byte) (question, bool) {
	n, err := strconv.ParseUint(string(rawID), 10, 64)
	if err != nil {
		return question{}, false
	}
	found, ok := q.open[n]
	delete(q.open, n)
	return found, ok
}

// withdraw removes the question with the daemon's id rawID and returns the client's id.
func (q *questions) withdraw(generation int, rawID []byte) (string, bool) {
	for n, open := range q.open {
		if open.generation == generation && bytes.Equal(rawID, []byte(open.rawID)) {
			delete(q.open, n)
			return strconv.FormatUint(n, 10), true
		}
	}
	return "", false
}

// drop removes all questions of a generation and returns the client's ids.
func (q *questions) drop(generation int) []string {
	var ids []string
	for n, open := range q.open {
		if open.generation == generation {
			delete(q.open, n)
			ids = append(ids, strconv.FormatUint(n, 10))
		}
	}
	return ids
}

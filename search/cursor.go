package search

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"notesd/notes"
)

// pageStart is the beginning of a page: the query, its ranked list, and the offset of the page in
// it. A cursor is its opaque encoding.
type pageStart struct {
	query  [8]byte
	list   uint32
	offset int
}

// queryHash hashes the parts of a query that determine the order of its hits.
func queryHash(q Query) (h [8]byte) {
	// An age such as 36h is another moment on each page, and the page applies the present one.
	for _, t := range []*time.Time{&q.Filter.After, &q.Filter.Before} {
		if !t.IsZero() {
			*t = time.Unix(0, 0)
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %+v", q.Mode, q.Text, q.Filter))
	copy(h[:], sum[:])
	return h
}

// after returns the cursor of the page that begins at offset.
func (p pageStart) after(offset int) string {
	b := append([]byte(nil), p.query[:]...)
	b = binary.BigEndian.AppendUint32(b, p.list)
	b = binary.AppendUvarint(b, uint64(offset))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor decodes the cursor of a query; "" is the beginning.
func parseCursor(q Query) (pageStart, error) {
	p := pageStart{query: queryHash(q)}
	if q.Cursor == "" {
		return p, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err != nil || len(b) < len(p.query)+4 {
		return p, badCursor("was not returned by a search")
	}
	offset, n := binary.Uvarint(b[len(p.query)+4:])
	if n <= 0 || offset > maxResults {
		return p, badCursor("was not returned by a search")
	}
	if [8]byte(b) != p.query {
		return p, badCursor("belongs to another query")
	}
	p.list, p.offset = binary.BigEndian.Uint32(b[len(p.query):]), int(offset)
	return p, nil
}

func badCursor(detail string) error {
	return &notes.Error{Op: "search", Err: notes.ErrInvalid, Detail: "the cursor " + detail,
		Hint: "Repeat the query that returned it, or omit the cursor to start from the beginning."}
}

// rankings caches the lists of the last queries, so that the pages of a query come from one
// ranking. A list that was replaced is computed again.
type rankings struct {
	mu   sync.Mutex
	last [64]keptRanking // each takes a few kilobytes
	next int
}

type keptRanking struct {
	first pageStart // with offset 0
	list  *rankedList
}

// find returns the beginning of the page of a query, and its list, or nil if the list is not
// cached.
func (r *rankings) find(q Query) (pageStart, *rankedList, error) {
	p, err := parseCursor(q)
	if err != nil {
		return p, nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := r.index(p); i >= 0 {
		return p, r.last[i].list, nil
	}
	return p, nil, nil
}

// keep caches the list of p, to which it gives an id if it has none.
func (r *rankings) keep(p *pageStart, l *rankedList) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.list == 0 {
		p.list = 1 + rand.Uint32N(math.MaxUint32)
	}
	i := r.index(*p)
	if i < 0 {
		i, r.next = r.next, (r.next+1)%len(r.last)
	}
	r.last[i] = keptRanking{pageStart{query: p.query, list: p.list}, l}
}

// index returns the index of the list of p, or -1. The caller must hold mu.
func (r *rankings) index(p pageStart) int {
	p.offset = 0
	return slices.IndexFunc(r.last[:], func(k keptRanking) bool { return k.first == p })
}

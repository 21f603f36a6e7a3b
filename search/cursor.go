package search

import (
	"container/list"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"

	"notesd/notes"
)

// place is the beginning of a page: the query, its ranked list, and the offset of the page in
// it. A cursor is its opaque encoding.
type place struct {
	query  [8]byte
	list   uint32
	offset int
}

// queryHash hashes the parts of a query that determine the order of its hits.
func queryHash(q Query) (h [8]byte) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %+v", q.Mode, q.Text, q.Filter))
	copy(h[:], sum[:])
	return h
}

// after returns the cursor of the page that begins at offset.
func (p place) after(offset int) string {
	b := append([]byte(nil), p.query[:]...)
	b = binary.BigEndian.AppendUint32(b, p.list)
	b = binary.AppendUvarint(b, uint64(offset))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parsePlace decodes the cursor of a query; "" is the beginning.
func parsePlace(q Query) (place, error) {
	p := place{query: queryHash(q)}
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
	return &notes.Error{Op: "search", Err: notes.ErrBadCursor, Detail: "the cursor " + detail,
		Hint: "Repeat the query that returned it, or omit the cursor to start from the beginning."}
}

// rankings caches the lists of recent queries, so that the pages of a query come from one
// ranking. An evicted list is computed again.
type rankings struct {
	mu    sync.Mutex
	byID  map[uint32]*list.Element
	order list.List // of keptRanking, the most recently used first
}

type keptRanking struct {
	place place
	list  *rankedList
}

// maxRankings bounds the number of lists; each takes a few kilobytes.
const maxRankings = 64

// find returns the beginning of the page of a query, and its list, or nil if the list is not
// cached.
func (r *rankings) find(q Query) (place, *rankedList, error) {
	p, err := parsePlace(q)
	if err != nil || p.list == 0 {
		return p, nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.byID[p.list]
	if e == nil || e.Value.(keptRanking).place.query != p.query {
		return p, nil, nil
	}
	r.order.MoveToFront(e)
	return p, e.Value.(keptRanking).list, nil
}

// keep caches a list under an id, which it sets in p.
func (r *rankings) keep(p *place, l *rankedList) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.byID[p.list]; e != nil && p.list != 0 {
		e.Value = keptRanking{*p, l}
		return
	}
	if r.byID == nil {
		r.byID = map[uint32]*list.Element{}
	}
	for p.list == 0 || r.byID[p.list] != nil {
		p.list = rand.Uint32()
	}
	r.byID[p.list] = r.order.PushFront(keptRanking{*p, l})
	if r.order.Len() > maxRankings {
		last := r.order.Back()
		delete(r.byID, last.Value.(keptRanking).place.list)
		r.order.Remove(last)
	}
}

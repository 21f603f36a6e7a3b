package flat

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
)

// candidate is a row of a scan.
type candidate struct {
	Row      int32
	distance int32 // Hamming distance of its signs from those of the query
}

// parallelFrom is the number of rows from which a second goroutine pays off.
const parallelFrom = 32 << 10

// Scan returns the k rows whose signs have the least Hamming distance from those
// of the query, in no particular order. table holds len(query) words for each row.
// If keep is not nil, only rows for which it returns true are considered.
func Scan(table, query []uint64, k int, keep func(row int32) bool) []candidate {
	rows := len(table) / len(query)
	workers := 1
	if rows >= parallelFrom {
		workers = min(runtime.GOMAXPROCS(0), runtime.NumCPU(), rows/(parallelFrom/2))
	}
	found := make([][]candidate, workers)
	var wait sync.WaitGroup
	for w := range workers {
		from, to := rows*w/workers, rows*(w+1)/workers
		if w == workers-1 {
			found[w] = scanRange(table, query, from, to, k, keep)
			break
		}
		wait.Go(func() { found[w] = scanRange(table, query, from, to, k, keep) })
	}
	wait.Wait()
	all := slices.Concat(found...)
	return nearestOf(all, k, len(query))
}

// nearestOf returns the k nearest candidates, in no particular order. Ties at the
// cut-off are broken arbitrarily.
func nearestOf(all []candidate, k, words int) []candidate {
	if len(all) <= k {
		return all
	}
	s := selection{k: k, found: all, counts: make([]int32, 64*words+2)}
	for _, c := range all {
		s.counts[c.distance]++
	}
	s.cut()
	return s.found
}

// scanRange collects the rows below a bound on the distance. Whenever it has 2k
// rows, it reduces them to the k nearest and lowers the bound to the largest
// distance among those. After a few such steps most rows fail the comparison with
// the bound and cost nothing else.
func scanRange(table, query []uint64, from, to, k int, keep func(row int32) bool) []candidate {
	s := selection{k: k, bound: int32(64*len(query)) + 1, found: make([]candidate, 0, 2*k), counts: make([]int32, 64*len(query)+2)}
	if len(query) == 6 { // 384 dimensions, the most frequent case, has an unrolled loop
		scan384(table, (*[6]uint64)(query), from, to, keep, &s)
		return s.found
	}
	for row := from; row < to; row++ {
		words := table[row*len(query) : (row+1)*len(query)]
		distance := 0
		for i, q := range query {
			distance += bits.OnesCount64(words[i] ^ q)
		}
		if d := int32(distance); d < s.bound && (keep == nil || keep(int32(row))) {
			s.add(candidate{int32(row), d})
		}
	}
	return s.found
}

func scan384(table []uint64, query *[6]uint64, from, to int, keep func(row int32) bool, s *selection) {
	q0, q1, q2, q3, q4, q5 := query[0], query[1], query[2], query[3], query[4], query[5]
	rest := table[from*6 : to*6]
	for row := int32(from); len(rest) >= 6; row++ {
		w := (*[6]uint64)(rest)
		rest = rest[6:]
		d := int32(bits.OnesCount64(w[0]^q0) + bits.OnesCount64(w[1]^q1) + bits.OnesCount64(w[2]^q2) +
			bits.OnesCount64(w[3]^q3) + bits.OnesCount64(w[4]^q4) + bits.OnesCount64(w[5]^q5))
		if d < s.bound && (keep == nil || keep(row)) {
			s.add(candidate{row, d})
		}
	}
}

// selection holds the nearest rows of a scan so far.
type selection struct {
	k      int
	bound  int32 // only rows with a smaller distance are added
	found  []candidate
	counts []int32 // number of rows in found by distance
}

func (s *selection) add(c candidate) {
	s.found = append(s.found, c)
	s.counts[c.distance]++
	if len(s.found) == 2*s.k {
		s.cut()
	}
}

// cut reduces at least k candidates to the k nearest without sorting them. It
// adds up the counts by distance until they reach k; this gives the cut-off, the
// distance of the k-th nearest row. It keeps all rows below the cut-off and as many
// at the cut-off as are needed for k. Further rows can only displace one of them
// if they are below the cut-off, so it becomes the new bound.
func (s *selection) cut() {
	sum, limit := int32(0), int32(0)
	for sum < int32(s.k) {
		sum += s.counts[limit]
		limit++
	}
	kept := s.found[:0]
	excess := sum - int32(s.k) // rows at the cut-off, limit-1, beyond the k-th
	for _, c := range s.found {
		switch {
		case c.distance >= limit:
		case c.distance == limit-1 && excess > 0:
			excess--
		default:
			kept = append(kept, c)
		}
	}
	s.found, s.bound = kept, limit-1
	clear(s.counts)
	for _, c := range kept {
		s.counts[c.distance]++
	}
}

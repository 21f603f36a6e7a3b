package vectors

import (
	"cmp"
	"slices"
)

// lane is a part of the backlog. Lower lanes are embedded first.
type lane int

const (
	edited lane = iota // all passages of notes that changed recently, the latest first
	heads              // the first passage of each other note
	tails              // the remaining passages of those
	lanes
)

// mostEdited bounds the notes in the lane edited. If more change, as in an import, first
// passages are embedded first.
const mostEdited = 32

// backlog orders the notes that have passages without vectors.
type backlog struct {
	notes   [lanes][]int64 // the last is next; notes that waiting has in another lane are skipped
	waiting map[int64]lane // the lane of each note
	sorted  bool           // heads are sorted, and are added to tails in this order
}

func newBacklog() backlog { return backlog{waiting: map[int64]lane{}} }

func (b *backlog) len() int { return len(b.waiting) }

// add puts a note on top of a lane unless it is in this lane or a lower one.
func (b *backlog) add(note int64, l lane) {
	if now, ok := b.waiting[note]; ok && now <= l {
		return
	}
	b.waiting[note] = l
	b.notes[l] = append(b.notes[l], note)
	if l == edited && len(b.notes[edited]) > mostEdited {
		oldest := b.notes[edited][0]
		b.notes[edited] = b.notes[edited][1:]
		if b.waiting[oldest] == edited { // otherwise it was removed or moved
			b.waiting[oldest] = heads
			b.notes[heads] = append(b.notes[heads], oldest)
		}
	}
}

func (b *backlog) remove(note int64) { delete(b.waiting, note) }

// next removes notes with at least n texts to embed from the lowest nonempty lane up to last.
// missing returns the number of texts of a note without vectors.
func (b *backlog) next(n int, last lane, missing func(note int64) int) (ids []int64, from lane) {
	for l := range last + 1 {
		if l == tails && b.sorted { // the most important was appended first
			slices.Reverse(b.notes[l])
			b.sorted = false
		}
		for n > 0 && len(b.notes[l]) > 0 {
			top := len(b.notes[l]) - 1
			id := b.notes[l][top]
			b.notes[l] = b.notes[l][:top]
			if now, ok := b.waiting[id]; ok && now == l {
				delete(b.waiting, id)
				ids = append(ids, id)
				if l == heads {
					n--
				} else {
					n -= missing(id)
				}
			}
		}
		if len(ids) > 0 {
			return ids, l
		}
	}
	return nil, last
}

// sort moves all notes to the heads, the most important on top.
func (b *backlog) sort(notes map[int64]importance) {
	all := make([]int64, 0, len(b.waiting))
	for id := range b.waiting {
		all = append(all, id)
		b.waiting[id] = heads
	}
	b.notes, b.sorted = [lanes][]int64{heads: byImportance(all, notes)}, true
}

// importance determines the order of a note in the backlog.
type importance struct {
	modified int64
	linking  int // number of notes that link to the note
}

// byImportance sorts notes, the most important last. The newest note and the one with
// the most links to it are first, then the second of both orders, and so on.
func byImportance(ids []int64, notes map[int64]importance) []int64 {
	slices.SortFunc(ids, func(a, b int64) int {
		return cmp.Or(cmp.Compare(notes[b].modified, notes[a].modified), cmp.Compare(b, a))
	})
	linked := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return notes[id].linking == 0 })
	slices.SortStableFunc(linked, func(a, b int64) int { return cmp.Compare(notes[b].linking, notes[a].linking) })
	rank := make(map[int64]int, len(ids))
	for i, id := range ids {
		rank[id] = i
	}
	for i, id := range linked {
		rank[id] = min(rank[id], i)
	}
	slices.SortStableFunc(ids, func(a, b int64) int { return cmp.Compare(rank[a], rank[b]) })
	slices.Reverse(ids)
	return ids
}

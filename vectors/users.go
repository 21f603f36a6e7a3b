package vectors

import (
	"cmp"
	"slices"
)

// users counts the chunks that use each slot, and records the order in which slots
// became idle.
type users struct {
	counts []int32
	idle   map[uint32]uint64 // slots without users, with the clock when they became idle
	clock  uint64            // incremented by each slot that becomes idle
}

func newUsers() users { return users{idle: map[uint32]uint64{}} }

func (u *users) add(slot uint32) {
	if int(slot) >= len(u.counts) {
		u.counts = append(u.counts, make([]int32, int(slot)+1-len(u.counts))...)
	}
	if u.counts[slot]++; u.counts[slot] == 1 {
		delete(u.idle, slot)
	}
}

// has reports whether the slot has any users.
func (u *users) has(slot uint32) bool { return int(slot) < len(u.counts) && u.counts[slot] > 0 }

func (u *users) drop(slot uint32) {
	u.counts[slot]--
	u.offer(slot)
}

// offer records the slot as idle if it has no users.
func (u *users) offer(slot uint32) {
	if u.has(slot) {
		return
	}
	u.clock++
	u.idle[slot] = u.clock
}

// surplus returns the longest idle slots if more than keep are idle, and no longer
// records them. It leaves three quarters of keep, so that it seldom has to sort.
func (u *users) surplus(keep int) []uint32 {
	if len(u.idle) <= keep {
		return nil
	}
	slots := make([]uint32, 0, len(u.idle))
	for slot := range u.idle {
		slots = append(slots, slot)
	}
	slices.SortFunc(slots, func(a, b uint32) int { return cmp.Compare(u.idle[a], u.idle[b]) })
	slots = slots[:len(slots)-keep*3/4]
	for _, slot := range slots {
		delete(u.idle, slot)
	}
	return slots
}

package vocabulary

import (
	"encoding/binary"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

func hashOf(text string) Hash {
	h := Start
	for _, c := range []byte(text) {
		h = h.Add(c)
	}
	return h
}

func TestTable_FindsEachToken(t *testing.T) {
	for _, n := range []int{1, 2, 3, 64, 5000} {
		var text, ends []byte
		for id := range n {
			text = strconv.AppendInt(text, int64(id/2), 36) // each token is there twice
			ends = binary.LittleEndian.AppendUint32(ends, uint32(len(text)))
		}
		table := New(text, ends, func(id int, _ []byte) bool { return id != 2 })
		assert.Equal(t, n, table.Len())
		for id := range n {
			token := strconv.FormatInt(int64(id/2), 36)
			assert.Equal(t, token, string(table.Token(id)))
			found, ok := table.Find(hashOf(token), token)
			want := id / 2 * 2
			if want == 2 { // not included
				want = 3
			}
			assert.Equal(t, want < n, ok, token)
			if ok {
				assert.EqualValues(t, want, found, "the first of equal tokens")
			}
		}
		_, ok := table.Find(hashOf("none"), "none")
		assert.False(t, ok)
		_, ok = table.Find(hashOf("0"), "none")
		assert.False(t, ok, "the text is compared")
	}
}

func TestCoverage_Shares(t *testing.T) {
	known, whole := Coverage{Letters: 4, Known: 3, Whole: 1}.Shares()
	assert.InDelta(t, .75, known, 1e-9)
	assert.InDelta(t, .25, whole, 1e-9)
	known, whole = Coverage{}.Shares()
	assert.InDelta(t, 1, known, 0)
	assert.InDelta(t, 1, whole, 0)
	assert.Equal(t, 5, Letters("a1 бß中!e"))
}

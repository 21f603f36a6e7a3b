package store

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestShare(t *testing.T) {
	for _, c := range [][5]int{ // a, b, most: of a, of b
		{3, 4, 10, 3, 4}, {3, 97, 10, 3, 7}, {97, 3, 10, 7, 3}, {97, 98, 10, 5, 5}, {0, 20, 10, 0, 10}, {20, 0, 10, 10, 0},
	} {
		a, b := share(c[0], c[1], c[2])
		assert.Equal(t, [2]int{c[3], c[4]}, [2]int{a, b}, "%v", c)
	}
}

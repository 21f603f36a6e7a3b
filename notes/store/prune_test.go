package store

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFairShare(t *testing.T) {
	tests := []struct {
		sizes []int64
		limit int64
		left  int64
	}{
		{nil, 10, 0}, {[]int64{5, 5}, 10, 10}, {[]int64{5, 6}, 10, 10}, {[]int64{1, 100}, 50, 50}, {[]int64{1, 100, 100}, 51, 51}, {[]int64{3}, 0, 0},
	}
	for _, tt := range tests {
		sizes := map[int64]int64{}
		for i, size := range tt.sizes {
			sizes[int64(i)] = size
		}
		var left int64
		for _, size := range tt.sizes {
			left += min(size, fairShare(sizes, tt.limit))
		}
		assert.Equal(t, tt.left, left, "%v", tt)
	}
}

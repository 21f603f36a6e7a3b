package search

import (
	"strings"
	"testing"
)

// BenchmarkPlaces searches for the words of a query in text of which a hundredth resembles
// them.
func BenchmarkPlaces(b *testing.B) {
	s := matcherOf("who invented the steam engine used for pumping water").seeker
	text := strings.Repeat("The canal was begun in 1761, and is one of the oldest of its kind: water flows through locks, and the boats stop at each. ", 1<<10)
	b.SetBytes(int64(len(text)))
	var places []int
	for b.Loop() {
		places = s.places(places[:0], text, 0, len(text))
	}
	b.ReportMetric(1000*float64(len(places))/float64(len(text)), "places/KB")
}

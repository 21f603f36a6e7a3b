package tasks

import (
	"strings"
	"testing"
)

func BenchmarkUpdate(b *testing.B) {
	src := strings.Repeat("- [ ] a plain task of a few words\n", 2000) + "- [ ] the one 📅 2026-02-20\n"
	places := placesOf(src)
	for b.Loop() {
		if _, err := Update([]byte(src), places, Target{Text: "the one"}, Change{}, Options{Today: monday}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(places))*float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"notesd/internal/service"
	"notesd/notes"
)

// A chart's axis ends at or above its largest value, in a few round steps, and
// nothing is drawn outside the plot.
func TestChart(t *testing.T) {
	for most, want := range map[float64]float64{0: 1, 0.7081: 0.8, 1: 1, 1.01: 1.2, 3.2: 3.5, 9876: 10_000, 10_000: 10_000, 43_210: 50_000} {
		c := chart{Places: []string{"a", "b", "c"}, Series: []series{{"x", []float64{0, most / 2, most}}, {"y", []float64{most, 0, most / 3}}}}
		end, steps := c.top()
		assert.InDelta(t, want, end, 1e-9, "%v", most)
		assert.LessOrEqual(t, steps, 10)
		assert.Len(t, c.Ticks(), steps+1)
		c.Bars = true
		for _, bar := range c.Marks() {
			assert.GreaterOrEqual(t, bar.X, float64(plotLeft))
			assert.LessOrEqual(t, bar.X+bar.W, float64(plotRight))
			assert.GreaterOrEqual(t, bar.Y, float64(plotTop)-1e-9)
			assert.InDelta(t, plotBottom, bar.Y+bar.H, 1e-9)
		}
	}
	many := chart{Places: make([]string, 95)}
	assert.LessOrEqual(t, len(many.Names()), placesShown)
}

func TestGrowth(t *testing.T) {
	c := growth([]notes.MonthCount{{Month: "2025-11", Notes: 2}, {Month: "2026-01", Notes: 3}})
	assert.Equal(t, []string{"2025-11", "2025-12", "2026-01"}, c.Places)
	assert.Equal(t, []float64{2, 2, 5}, c.Series[0].Values)
	c = growth([]notes.MonthCount{{Month: "1911-06", Notes: 1}, {Month: "2026-01", Notes: 1}})
	assert.Len(t, c.Places, 2026-1911+1)
	assert.InDelta(t, 2, c.Series[0].Values[2026-1911], 0)
}

// A report is one HTML file whose texts stay texts, and which loads nothing.
func TestReportIsSelfContained(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.html")
	r := report{Title: "<script>1</script>", Problems: []string{"<img src=x>"}, Charts: []chart{{Title: "t", Bars: true, Places: []string{"<b>"}, Series: []series{{"s", []float64{1}}}}}}
	require.NoError(t, r.save(name))
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	doc, err := html.Parse(strings.NewReader(string(text)))
	require.NoError(t, err)
	bars := 0
	for n := range doc.Descendants() {
		assert.NotContains(t, []string{"script", "img", "link", "b"}, n.Data)
		for _, a := range n.Attr {
			assert.NotContains(t, []string{"src", "href"}, a.Key)
		}
		if n.Data == "rect" && n.NextSibling != nil {
			bars++
		}
	}
	assert.Equal(t, 2, bars, "the bar, and its place in the legend")
}

func TestReportSave(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	require.NoError(t, os.WriteFile(file, []byte("the report before"), 0o600))
	r := report{Title: "Scores"}
	require.NoError(t, r.save(file))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), "Scores")

	err = r.save(filepath.Join(dir, "nowhere", "report.html"))
	f := service.FailureOf(err)
	assert.Equal(t, "not_found", f.Code)
	assert.Contains(t, f.Message, filepath.Join(dir, "nowhere")+" for the report")
	assert.Contains(t, f.Hint, "Make it")

	require.NoError(t, os.Mkdir(filepath.Join(dir, "taken"), 0o700))
	assert.Error(t, r.save(filepath.Join(dir, "taken")), "the name of a folder")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2, "%v", left)
}

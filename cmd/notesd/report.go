package main

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"notesd/internal/service"
)

// A report is a document with charts: one HTML file that needs nothing else.
type report struct {
	Title, Subtitle string
	Problems        []string
	Facts           [][2]string
	Charts          []chart
}

// A chart has a value of each series at each place, from 0 up: as lines from
// place to place, or as bars side by side.
type chart struct {
	Title  string
	Bars   bool
	Places []string
	Series []series
}

type series struct {
	Name   string
	Values []float64 // one for each place
}

//go:embed report.html
var reportHTML string

// save writes the report to a file, in place of one that exists.
func (r *report) save(name string) error {
	t, err := template.New("report").Parse(reportHTML)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, r); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	err = os.WriteFile(name, []byte(b.String()), 0o600) // private, as notes are
	if errors.Is(err, fs.ErrNotExist) {
		return &service.Failure{Code: "not_found", Message: fmt.Sprintf("there is no folder %s for the report", filepath.Dir(name)), Hint: "Make it, or name a file in another folder."}
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// The drawing, in units of the SVG's view box.
const (
	chartWide, chartTall    = 720, 260
	plotLeft, plotRight     = 62, 712
	plotTop, plotBottom     = 24, 232
	legendWide, placesShown = 110, 10
)

// A shape is a part of the drawing: a bar, a line, a text.
type shape struct {
	Series     int
	X, Y, W, H float64
	Points     string
	Text       string
}

// top returns the end of the axis and its number of steps: steps of 1, 2 or 5
// times a power of ten.
func (c chart) top() (end float64, steps int) {
	most := 0.0
	for _, s := range c.Series {
		for _, v := range s.Values {
			most = max(most, v)
		}
	}
	if most == 0 {
		return 1, 1
	}
	step := math.Pow(10, math.Floor(math.Log10(most)))
	switch {
	case most/step < 2:
		step /= 5
	case most/step < 4:
		step /= 2
	case most/step > 5:
		step *= 2
	}
	steps = int(math.Ceil(most/step - 1e-9))
	return step * float64(steps), steps
}

func (c chart) y(v float64) float64 {
	end, _ := c.top()
	return plotBottom - v/end*(plotBottom-plotTop)
}

// slot is the width of a place.
func (c chart) slot() float64 { return float64(plotRight-plotLeft) / float64(max(1, len(c.Places))) }

// Ticks are the lines of the grid, with their numbers.
func (c chart) Ticks() []shape {
	end, steps := c.top()
	ticks := make([]shape, steps+1)
	for i := range ticks {
		v := end * float64(i) / float64(steps)
		ticks[i] = shape{X: plotLeft, W: plotRight, Y: c.y(v), Text: number(v)}
	}
	return ticks
}

// Names are the names of places, of some where there are many.
func (c chart) Names() []shape {
	var names []shape
	every := (len(c.Places) + placesShown - 1) / placesShown
	for i, place := range c.Places {
		if i%every == 0 {
			names = append(names, shape{X: plotLeft + (float64(i)+0.5)*c.slot(), Y: plotBottom + 18, Text: place})
		}
	}
	return names
}

// Marks are the bars or the lines.
func (c chart) Marks() []shape {
	var marks []shape
	const gap = 0.2 // of a slot, between places
	wide := c.slot() * (1 - gap) / float64(max(1, len(c.Series)))
	for i, s := range c.Series {
		var points []string
		for at, v := range s.Values {
			left := plotLeft + float64(at)*c.slot()
			if c.Bars {
				marks = append(marks, shape{Series: i, X: left + c.slot()*gap/2 + float64(i)*wide, Y: c.y(v), W: wide, H: plotBottom - c.y(v)})
			} else {
				points = append(points, fmt.Sprintf("%.1f,%.1f", left+c.slot()/2, c.y(v)))
			}
		}
		if !c.Bars {
			marks = append(marks, shape{Series: i, Points: strings.Join(points, " ")})
		}
	}
	return marks
}

// Legend names the series.
func (c chart) Legend() []shape {
	var legend []shape
	for i, s := range c.Series {
		legend = append(legend, shape{Series: i, X: float64(plotLeft + i*legendWide), Text: s.Name})
	}
	return legend
}

// Rows are the numbers: the name of a place, and its value of each series.
func (c chart) Rows() [][]string {
	rows := make([][]string, len(c.Places))
	for i, place := range c.Places {
		rows[i] = []string{place}
		for _, s := range c.Series {
			rows[i] = append(rows[i], number(s.Values[i]))
		}
	}
	return rows
}

// number has four significant digits, more for large whole numbers.
func number(v float64) string {
	if v == math.Trunc(v) && v < 1e9 {
		return thousands(int(v))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

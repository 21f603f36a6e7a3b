package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFiles fails if the assembly is not up to date.
func TestFiles(t *testing.T) {
	for name, content := range files() {
		old, err := os.ReadFile(filepath.Join("..", name))
		if err != nil || !bytes.Equal(old, content) {
			t.Errorf("%s is not what this program prints: run go generate (%v)", name, err)
		}
	}
}

// count is the number of instructions per loop iteration or per token: all, vector
// instructions (without loads and stores), and the integer multiplications among those.
type count struct{ all, vector, multiply float64 }

func (c *count) add(d count, times float64) {
	c.all += d.all * times
	c.vector += d.vector * times
	c.multiply += d.multiply * times
}

var (
	functionLine = regexp.MustCompile(`^TEXT ·(\w+)\(`)
	labelLine    = regexp.MustCompile(`^(\w+):$`)
	branchLine   = regexp.MustCompile(`^\t(?:BLT|BNE|B\.\w+) (\w+)$`)
	vectorLine   = regexp.MustCompile(`^\t(WORD|V)`)
	multiplyLine = regexp.MustCompile(`// (smull|smlal|sdot|smmla|mul)`)
)

// loops returns the innermost loops of each function in arm64 assembly, in order.
func loops(text string) map[string][]count {
	all := map[string][]count{}
	var function, label string
	var body count
	for line := range strings.SplitSeq(text, "\n") {
		if m := functionLine.FindStringSubmatch(line); m != nil {
			function = m[1]
		} else if m := labelLine.FindStringSubmatch(line); m != nil {
			if !strings.HasPrefix(m[1], "check") { // which is inside a loop
				label, body = m[1], count{}
			}
		} else if strings.HasPrefix(line, "\t") {
			body.all++
			if vectorLine.MatchString(line) {
				body.vector++
			}
			if multiplyLine.MatchString(line) {
				body.multiply++
			}
			if m := branchLine.FindStringSubmatch(line); m != nil && m[1] == label {
				all[function] = append(all[function], body)
			}
		}
	}
	return all
}

// perToken returns the instructions executed by a layer's innermost loops for one token
// of a text whose length is a multiple of 48, padded to 256, in both bundled networks.
func perToken(tile8, rows map[string][]count, suffix string) (matrices, attention, others count) {
	const hidden, wide, heads, tokens = 384, 1536, 12, 256
	last := func(all []count) count { return all[len(all)-1] } // of a tile: for the most rows
	tileRows := 8.0
	if suffix == "NEON" {
		tileRows = 4
	}
	for _, m := range [][2]float64{{hidden, 3 * hidden}, {hidden, hidden}, {hidden, wide}, {wide, hidden}} {
		matrices.add(last(tile8["tile8"+suffix]), m[0]/16*m[1]/8/tileRows)
	}
	scores, values := hidden/heads/8*tokens/8, tokens/8*hidden/heads/8
	attention.add(last(rows["tile16NEON"]), float64(heads*(scores+values))/8)
	for name, elements := range map[string]float64{
		"quantise": 3*hidden + wide, "dequantise": 4 * hidden, "dequantiseAdd": 2 * hidden, "dequantiseGELU": wide,
		"normalise": 2 * hidden, "maxAbs": 3 * hidden, "round16": 3 * hidden, "score": heads * tokens, "softmax": heads * tokens,
	} {
		for _, loop := range rows[name+"NEON"] {
			others.add(loop, elements/lanesPerBlock)
		}
	}
	return matrices, attention, others
}

// TestCounts prints the instructions per token and layer of the arm64 tiers, and compares
// their sums with docs/speed.md.
func TestCounts(t *testing.T) {
	doc, err := os.ReadFile("../../../../docs/speed.md")
	if err != nil {
		t.Fatal(err)
	}
	files := files()
	rows := loops(string(files["neon_arm64.s"]))
	t.Logf("%-10s %-10s %9s %9s %9s", "tier", "", "all", "vector", "multiply")
	for _, suffix := range []string{"NEON", "NEONDot", "NEONI8MM"} {
		name := strings.ToLower(suffix)
		parts := make([]count, 4)
		parts[0], parts[1], parts[2] = perToken(loops(string(files[name+"_arm64.s"])), rows, suffix)
		for _, part := range parts[:3] {
			parts[3].add(part, 1)
		}
		for i, what := range []string{"matrices", "attention", "others", "together"} {
			t.Logf("%-10s %-10s %9.0f %9.0f %9.0f", name, what, parts[i].all, parts[i].vector, parts[i].multiply)
		}
		thousands := func(n float64) string { return fmt.Sprintf("%.0f 000", math.Round(n/1000)) }
		all := parts[3]
		want := fmt.Sprintf(" | %s | %s | %s |\n", thousands(all.all), thousands(all.vector), thousands(all.multiply))
		if !regexp.MustCompile("(?m)^\\| `" + name + "`: .*" + regexp.QuoteMeta(want)).Match(doc) {
			t.Errorf("docs/speed.md should have, of %s,%s", name, want)
		}
	}
}

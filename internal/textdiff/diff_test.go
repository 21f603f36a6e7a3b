package textdiff

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnified(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"a\n", "a\n", ""},
		{"a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"", "a\n", "@@ -0,0 +1 @@\n+a\n"},
		{"a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n", "1\n3\n4\n5\n6\n7\n8\n9\n", "@@ -1,3 +1,2 @@\n 1\n-2\n 3\n@@ -8 +7,2 @@\n 8\n+9\n"},
		{"a\r\nb\r\n", "a\r\nc\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"\xff\n", "a\n", "@@ -1 +1 @@\n-\uFFFD\n+a\n"},
	} {
		want := test.want
		if want != "" {
			want = "--- a/n.md\n+++ b/n.md\n" + want
		}
		assert.Equal(t, want, Unified([]byte(test.old), []byte(test.new), "n.md", 1, 0))
	}
}

func TestUnifiedIsShort(t *testing.T) {
	old := strings.Repeat("line\n", 1000)
	diff := Unified([]byte(old), []byte(strings.Repeat("new\n", 500)), "n.md", 3, 1000)
	assert.Less(t, len(diff), 1100)
	assert.Contains(t, diff, "more lines\n")

	diff = Unified([]byte("a\n1\n2\n3\nb\nc\nd\n"), []byte("x\n1\n2\n3\ny\nc\nz\n"), "n.md", 1, 1)
	assert.True(t, strings.HasSuffix(diff, "+++ b/n.md\n… 9 more lines\n"), diff)

	long := strings.Repeat("word ", 40_000)
	assert.Contains(t, Unified([]byte(long+"old"+long), []byte(long+"new"+long), "n.md", 3, 0), "+"+long+"new"+long, "without a bound lines are whole")
	diff = Unified([]byte(long+"old"+long), []byte(long+"new"+long), "n.md", 3, 4000)
	assert.Less(t, len(diff), 1200)
	assert.Contains(t, diff, "word old")
	assert.Contains(t, diff, "word new")
}

// TestUnifiedApplies makes random changes and applies their diffs.
func TestUnifiedApplies(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var old, new []string
		for range random.IntN(60) {
			line := strconv.Itoa(random.IntN(9)) + "\n"
			switch random.IntN(8) {
			case 0:
				old = append(old, line)
			case 1:
				new = append(new, line)
			default:
				old, new = append(old, line), append(new, line)
			}
		}
		a, b := strings.Join(old, ""), strings.Join(new, "")
		diff := Unified([]byte(a), []byte(b), "n.md", random.IntN(4), 0)
		require.Equal(t, b, patch(t, old, diff), "%q to %q by\n%s", a, b, diff)
	}
}

// patch applies a unified diff to lines.
func patch(t *testing.T, lines []string, diff string) string {
	t.Helper()
	var out strings.Builder
	at := 0
	for _, line := range strings.SplitAfter(diff, "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ "):
		case strings.HasPrefix(line, "@@ "):
			var start int
			_, err := fmt.Sscanf(line, "@@ -%d", &start)
			require.NoError(t, err)
			if !strings.HasPrefix(line, fmt.Sprintf("@@ -%d,0", start)) {
				start--
			}
			for ; at < start; at++ {
				out.WriteString(lines[at])
			}
		case line[0] == '+':
			out.WriteString(line[1:])
		default:
			require.Equal(t, lines[at], line[1:])
			if line[0] == ' ' {
				out.WriteString(line[1:])
			}
			at++
		}
	}
	return out.String() + strings.Join(lines[at:], "")
}

func TestMerge(t *testing.T) {
	for _, test := range []struct{ name, base, a, b, want string }{
		{"changes apart", "1\n2\n3\n", "x\n2\n3\n", "1\n2\ny\n", "x\n2\ny\n"},
		{"changes of adjacent lines", "1\n2\n", "x\n2\n", "1\ny\n", "x\ny\n"},
		{"the same line", "1\n2\n3\n", "1\nx\n3\n", "1\ny\n3\n", ""},
		{"the same change", "1\n2\n3\n", "1\nx\n3\n", "1\nx\n3\n", ""},
		{"both add at the end", "1\n", "1\nx\n", "1\ny\n", ""},
		{"text within what goes", "1\n- a\n- b\n", "1\n", "1\n- a\n- x\n- b\n", ""},
		{"the next item of a list", "1\n- a\n", "1\n", "1\n- a\n- x\n", "1\n- x\n"},
		{"the next section", "1\n## A\na\n", "1\n", "1\n## A\na\n## B\n", "1\n## B\n"},
		{"text below a heading that goes", "1\n\n## A\n", "1\n", "1\n\n## A\n- x\n", ""},
		{"an item below one that goes", "1\n- a\n", "1\n", "1\n- a\n\t- x\n", ""},
		{"an item above one that goes", "1\n- a\n", "1\n", "1\n- x\n- a\n", "1\n- x\n"},
		{"the last line break goes", "1\n2\n", "1\n2", "1\n2\nx\n", ""},
		{"line breaks of Windows", "1\r\n2\r\n3\r\n", "x\r\n2\r\n3\r\n", "1\r\n2\r\ny", "x\r\n2\r\ny"},
		{"from nothing", "", "x\n", "", "x\n"},
	} {
		for _, sides := range [][2]string{{test.a, test.b}, {test.b, test.a}} {
			merged, ok := Merge([]byte(test.base), []byte(sides[0]), []byte(sides[1]))
			assert.Equal(t, test.want != "", ok, test.name)
			if ok {
				assert.Equal(t, test.want, string(merged), test.name)
			}
		}
	}
}

// TestMergeAgainstAModel changes the lines of a text at random, and says of each line which of
// the two changes concerns it.
func TestMergeAgainstAModel(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 2000 {
		var base, a, b, want strings.Builder
		apart := round%2 == 0
		for i := range random.IntN(40) {
			line := fmt.Sprintf("line %d\n", i)
			changed := []string{"", line + "more\n", "more\n" + line, "other\n", fmt.Sprintf("%d\n%d\n", i, i)}[random.IntN(5)]
			base.WriteString(line)
			switch random.IntN(6) {
			case 0:
				a.WriteString(changed)
				b.WriteString(line)
				want.WriteString(changed)
			case 1:
				a.WriteString(line)
				b.WriteString(changed)
				want.WriteString(changed)
			default:
				a.WriteString(line)
				b.WriteString(line)
				want.WriteString(line)
			}
			if apart {
				for _, w := range []*strings.Builder{&base, &a, &b, &want} {
					fmt.Fprintf(w, "between %d\n", i)
				}
			}
		}
		merged, ok := Merge([]byte(base.String()), []byte(a.String()), []byte(b.String()))
		if ok {
			require.Equal(t, want.String(), string(merged))
		}
		require.True(t, ok || !apart)
	}
}

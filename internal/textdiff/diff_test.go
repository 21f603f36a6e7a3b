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
		{"changes of two parts", "#1\n2\n#3\n4\n", "#1\nx\n#3\n4\n", "#1\n2\n#3\ny\n", "#1\nx\n#3\ny\n"},
		{"changes of one part", "#1\n2\n3\n4\n", "#1\nx\n3\n4\n", "#1\n2\n3\ny\n", ""},
		{"the same change", "#1\n2\n", "#1\nx\n", "#1\nx\n", ""},
		{"both add at the end", "#1\n", "#1\nx\n", "#1\ny\n", ""},
		{"a part added below a change", "#1\n2\n", "#1\nx\n", "#1\n2\n#3\n", ""},
		{"a change above a part that goes", "#1\n2\n\n#3\n4\n", "#1\n2\n", "#1\nx\n\n#3\n4\n", "#1\nx\n"},
		{"an addition above a part that goes", "#1\n2\n\n#3\n4\n", "#1\n2\n", "#1\n2\nx\n\n#3\n4\n", "#1\n2\nx\n"},
		{"a change within a part that goes", "#1\n2\n\n#3\n4\n", "#1\n2\n", "#1\n2\n\n#3\nx\n", ""},
		{"the last line break goes", "#1\n#2\n", "#1\n#2", "#1\nx\n#2\n", "#1\nx\n#2"},
		{"a line below a last line without a line break", "1\n#2\n", "1", "1\n#2\nx\n", ""},
		{"line breaks of Windows", "#1\r\n2\r\n#3\r\n", "#x\r\n2\r\n#3\r\n", "#1\r\n2\r\n#y", "#x\r\n2\r\n#y"},
		{"from nothing", "", "x\n", "", "x\n"},
	} {
		part := func(offset int) int { return strings.Count(test.base[:min(offset+1, len(test.base))], "#") }
		for _, sides := range [][2]string{{test.a, test.b}, {test.b, test.a}} {
			merged, ok := Merge([]byte(test.base), []byte(sides[0]), []byte(sides[1]), part)
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
	for range 2000 {
		var base, a, b, want strings.Builder
		for i := range random.IntN(40) {
			line := fmt.Sprintf("line %d\n", i)
			changed := []string{"", line + "more\n", "more\n" + line, "other\n", fmt.Sprintf("%d\n%d\n", i, i)}[random.IntN(5)]
			first, second := line, line
			switch random.IntN(3) {
			case 0:
				first = changed
			case 1:
				second = changed
			default:
				changed = line
			}
			for w, text := range map[*strings.Builder]string{&base: line, &a: first, &b: second, &want: changed} {
				fmt.Fprintf(w, "# %d\n%s", i, text)
			}
		}
		part := func(offset int) int { return strings.Count(base.String()[:offset+1], "#") }
		merged, ok := Merge([]byte(base.String()), []byte(a.String()), []byte(b.String()), part)
		require.True(t, ok)
		require.Equal(t, want.String(), string(merged))
	}
}

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

package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const plan = `# Plan

## Risks
first
## Cost & Time!
## Sub
### Risks
second
# Archive
## Risks
third
## a -> b
fourth
# 計画
text ^id-1
- item ^id-2
  - child
# Twice
# Twice
`

func TestFindSection(t *testing.T) {
	doc := Parse([]byte(plan))
	for ref, want := range map[string]string{
		"Archive":             "# Archive\n## Risks\nthird\n## a -> b\nfourth\n",
		"# Archive":           "# Archive\n## Risks\nthird\n## a -> b\nfourth\n",
		"archive":             "# Archive\n## Risks\nthird\n## a -> b\nfourth\n",
		"Archive > Risks":     "## Risks\nthird\n",
		"archive>risks":       "## Risks\nthird\n",
		"#Archive#Risks":      "## Risks\nthird\n",
		"### Risks":           "### Risks\nsecond\n",
		"### Archive":         "# Archive\n## Risks\nthird\n## a -> b\nfourth\n", // with the wrong level
		"Sub > Risks":         "### Risks\nsecond\n",
		"Plan > Sub":          "## Sub\n### Risks\nsecond\n",
		"`Archive` > *Risks*": "## Risks\nthird\n",
		"cost-time":           "## Cost & Time!\n",
		"a -> b":              "## a -> b\nfourth\n",
		"Archive > a -> b":    "## a -> b\nfourth\n",
		"計画":                  "# 計画\ntext ^id-1\n- item ^id-2\n  - child\n",
		"^id-1":               "text ^id-1",
		"#^ID-2":              "- item ^id-2",
		"Risks (line 10)":     "## Risks\nthird\n",
		`"Twice" (line 19)`:   "# Twice\n",
	} {
		s, err := FindSection(doc, []byte(plan), ref)
		if assert.NoError(t, err, ref) {
			assert.Equal(t, want, plan[s.Start:s.End], ref)
		}
	}
	s, err := FindSection(doc, []byte(plan), "Sub > Risks")
	require.NoError(t, err)
	assert.Equal(t, "Risks", s.Heading)
	assert.Equal(t, 3, s.Level)
	assert.Equal(t, 7, s.Line)
}

// TestFindSection_Block: text inserted after a block goes after its line; after a list
// item, it goes after the item's children.
func TestFindSection_Block(t *testing.T) {
	src := "a ^x\nb\n\nc ^y\n\n- d ^z\n  - e\n\n  f\n- g ^w"
	doc := Parse([]byte(src))
	for id, want := range map[string]struct {
		text, after string
		item        bool
	}{
		"^y": {"c ^y", "\n- d ^z\n  - e\n\n  f\n- g ^w", false},
		"^z": {"- d ^z", "- g ^w", true},
		"^w": {"- g ^w", "", true},
	} {
		s, err := FindSection(doc, []byte(src), id)
		require.NoError(t, err, id)
		assert.Equal(t, want.text, src[s.Start:s.End], id)
		assert.Equal(t, strings.TrimPrefix(want.text, "- "), src[s.ContentStart:s.End], id)
		assert.Equal(t, want.after, src[s.After:], id)
		assert.Equal(t, want.item, s.Item, id)
	}
}

func TestFindSectionFails(t *testing.T) {
	doc := Parse([]byte(plan))
	for ref, want := range map[string]struct {
		is         error
		candidates []string
	}{
		"Risks":        {ErrAmbiguous, []string{"Plan > Risks (line 3)", "Plan > Sub > Risks (line 7)", "Archive > Risks (line 10)"}},
		"Plan > Risks": {nil, nil},
		"Twice":        {ErrAmbiguous, []string{"Twice (line 18)", "Twice (line 19)"}},
	} {
		_, err := FindSection(doc, []byte(plan), ref)
		require.ErrorIs(t, err, want.is, ref)
		if want.is != nil {
			var e *SectionError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, want.candidates, e.Candidates)
		}
	}
	for _, ref := range []string{"Nothing", "", "##", "^nothing", "Archive > Sub", "Risks (line 99)"} {
		_, err := FindSection(doc, []byte(plan), ref)
		var e *SectionError
		require.ErrorAs(t, err, &e, ref)
		assert.ErrorIs(t, err, ErrMissing, ref)
		assert.Contains(t, e.Candidates, "Plan > Sub (line 6)", ref)
		assert.Contains(t, e.Candidates, "^id-1 (line 15)", ref)
	}
	twice := "a ^x\n\n- b ^X\n"
	_, err := FindSection(Parse([]byte(twice)), []byte(twice), "^x")
	require.ErrorIs(t, err, ErrAmbiguous)
	var ambiguous *SectionError
	require.ErrorAs(t, err, &ambiguous)
	assert.Equal(t, []string{"^x (line 1)", "^X (line 3)"}, ambiguous.Candidates)
	s, err := FindSection(Parse([]byte(twice)), []byte(twice), "^x (line 3)")
	require.NoError(t, err)
	assert.Equal(t, "- b ^X", twice[s.Start:s.End])
	many := strings.Repeat("# A\n", 12)
	_, err = FindSection(Parse([]byte(many)), []byte(many), "A")
	require.ErrorAs(t, err, &ambiguous)
	assert.Len(t, ambiguous.Candidates, 12)
	_, err = FindSection(doc, []byte(plan), "Risks (line 99999999999999999999)")
	require.ErrorIs(t, err, ErrMissing)

	_, err = FindSection(doc, []byte(plan), "Risks")
	assert.EqualError(t, err, `section "Risks": more than one section matches`)
	_, err = FindSection(Parse(nil), nil, "x")
	assert.EqualError(t, err, `section "x": not in the note; the note has no headings or block ids`)
}

// TestFindSection_ExactFirst: of headings that differ only in case or punctuation, a
// reference selects the exact match and is ambiguous only if there is none.
func TestFindSection_ExactFirst(t *testing.T) {
	src := "# Setup\n## C\n## C++\n## C#\n## c\n## Café\n## What's new?\n## Whats new\n## Step 1\n## Step 1.\n"
	doc := Parse([]byte(src))
	for _, h := range doc.Headings {
		for _, ref := range []string{h.Text, "Setup > " + h.Text, strings.Repeat("#", h.Level) + " " + h.Text} {
			s, err := FindSection(doc, []byte(src), ref)
			if h.Text == "Setup" && strings.Contains(ref, ">") {
				assert.ErrorIs(t, err, ErrMissing, ref)
			} else if assert.NoError(t, err, ref) {
				assert.Equal(t, h.Line, s.Line, ref)
			}
		}
	}
	for ref, want := range map[string][]int{
		"step 1":       {9, 10},
		"STEP 1!":      {9, 10},
		"Cafe\u0301":   {6}, // the same text in another Unicode form
		"WHAT'S NEW":   {7}, // letters and digits separated by an apostrophe
		"whats new":    {8},
		"## step 1":    {9, 10},
		"Setup#café":   {6},
		"setup > CAFÉ": {6},
	} {
		s, err := FindSection(doc, []byte(src), ref)
		var several *SectionError
		switch {
		case len(want) == 1 && assert.NoError(t, err, ref):
			assert.Equal(t, want[0], s.Line, ref)
		case len(want) > 1 && assert.ErrorAs(t, err, &several, ref):
			var lines []int
			for _, c := range several.Candidates {
				_, line := SplitLine(c)
				lines = append(lines, line)
			}
			assert.Equal(t, want, lines, ref)
		}
	}
}

// Of many headings, an error lists the likely ones first: those with the words of the reference,
// then those that are spelled like it.
func TestFindSection_NearestCandidates(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Diary\n")
	for day := range 200 {
		fmt.Fprintf(&b, "\n## Day %03d\n", day)
	}
	b.WriteString("\n## Risks of the move\n\n## 会議の記録\n\n## Résumé\n\ntext ^id\n")
	src := []byte(b.String())
	for ref, want := range map[string]string{
		"Risk":         "Diary > Risks of the move (line 403)",
		"## The move":  "Diary > Risks of the move (line 403)",
		"Day 1990":     "Diary > Day 190 (line 383)",
		"Diary#Resume": "Diary > Résumé (line 407)",
		"会議の記":         "Diary > 会議の記録 (line 405)",
		"会議録":          "Diary > 会議の記録 (line 405)",
	} {
		_, err := FindSection(Parse(src), src, ref)
		var e *SectionError
		require.ErrorAs(t, err, &e, ref)
		assert.Equal(t, want, e.Candidates[0], ref)
		assert.Len(t, e.Candidates, 50)
	}
}

// TestFindSection_ManyCandidates: an error lists at most 50 sections, headings before
// blocks.
func TestFindSection_ManyCandidates(t *testing.T) {
	for _, n := range []struct{ headings, blocks, wantBlocks int }{{10, 10, 10}, {45, 10, 5}, {60, 10, 0}} {
		var b strings.Builder
		for i := range n.headings {
			fmt.Fprintf(&b, "# H%d\n\n", i)
		}
		for i := range n.blocks {
			fmt.Fprintf(&b, "text ^b%d\n\n", i)
		}
		src := []byte(b.String())
		_, err := FindSection(Parse(src), src, "none")
		var e *SectionError
		require.ErrorAs(t, err, &e)
		assert.Len(t, e.Candidates, min(50, n.headings+n.blocks))
		blocks := 0
		for _, c := range e.Candidates {
			if strings.HasPrefix(c, "^") {
				blocks++
			}
		}
		assert.Equal(t, n.wantBlocks, blocks)
	}
}

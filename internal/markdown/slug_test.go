package markdown

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outlined is a note of headings, with the anchors that other programs generate for them.
type outlined struct {
	text    string
	anchors [][]string // anchors of each heading
	paths   []string   // path of each heading, as in Obsidian's links
}

var (
	gitHubDrops   = regexp.MustCompile(`[^\p{L}\p{M}\p{N}_ -]`)
	obsidianDrops = regexp.MustCompile(`[:#|^\\]`)
)

// composeOutline generates the note for a seed. Slugs are formed as by github-slugger:
// letters, digits, "-" and "_" in lower case, "-" for each space, and a number for a
// repeated slug.
func composeOutline(seed uint64) outlined {
	rng := rand.New(rand.NewPCG(seed, 3))
	words := []string{"Risks", "What's", "new?", "C++", "&", "Go", "1.", "Einführung", "日本語", "10:30", "snake_case", "dash-ed", "(old)", "e.g.", "`code`", "**bold**", "Ünï"}
	var o outlined
	var b strings.Builder
	slugs, texts := map[string]int{}, map[string]bool{}
	above := make([]string, 4) // by level
	for range 1 + rng.IntN(8) {
		level := 1 + rng.IntN(3)
		var parts []string
		for range 1 + rng.IntN(3) {
			parts = append(parts, words[rng.IntN(len(words))])
		}
		source := "T" + strings.Join(parts, " ") // does not start a list, and contains a letter
		text := strings.NewReplacer("`", "", "**", "").Replace(source)
		fmt.Fprintf(&b, "%s %s\n\ntext\n\n", strings.Repeat("#", level), source)
		slug := strings.ReplaceAll(gitHubDrops.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
		anchors := []string{text, strings.Join(strings.Fields(obsidianDrops.ReplaceAllString(text, " ")), " "), strings.ToUpper(text)}
		if n := slugs[slug]; n == 0 || texts[text] { // otherwise another text has the slug, which finds only the first
			anchors = append(anchors, slug)
		}
		slugs[slug]++
		texts[text] = true
		path := text
		for l := level - 1; l > 0; l-- {
			if above[l] != "" {
				path = above[l] + "#" + path
			}
		}
		above[level] = text
		clear(above[level+1:])
		o.anchors, o.paths = append(o.anchors, anchors), append(o.paths, path)
	}
	o.text = b.String()
	return o
}

// TestAnchors_Composed: the anchors that Obsidian, GitHub and people write for a heading
// lead to it, and so do those that Rename returns after it is renamed.
func TestAnchors_Composed(t *testing.T) {
	for seed := range uint64(1500) {
		o := composeOutline(seed)
		src := []byte(o.text)
		doc := Parse(src)
		require.Len(t, doc.Headings, len(o.anchors), "%s", o.text)
		anchors := NewAnchors(doc, src)
		for i, list := range o.anchors {
			for _, anchor := range append(list, o.paths[i], strings.ReplaceAll(o.paths[i], "#", " > ")) {
				require.True(t, anchors.Has(anchor), "%q in\n%s", anchor, o.text)
				require.False(t, anchors.Has(anchor+"x"), "%qx in\n%s", anchor, o.text)
				require.False(t, anchors.Has("Other#"+anchor), "Other#%q in\n%s", anchor, o.text)
			}
		}
		renamed := int(seed) % len(doc.Headings)
		h := doc.Headings[renamed]
		after := []byte(o.text[:h.TextStart] + "Quite another: name" + o.text[h.TextEnd:])
		now := NewAnchors(Parse(after), after)
		for i, list := range o.anchors {
			for k, anchor := range append(list, o.paths[i]) {
				is, ok := anchors.Follow(now, anchor)
				require.True(t, ok, "%q in\n%s", anchor, after)
				if is == anchor {
					assert.True(t, now.Has(anchor) || doc.Headings[i].Text == h.Text, "%q leads elsewhere, and still does in\n%s", anchor, after)
					continue
				}
				require.True(t, now.Has(is), "%q became %q, which is not in\n%s", anchor, is, after)
				if i == renamed && k == 3 && len(list) == 4 && anchor != list[0] {
					require.Equal(t, "quite-another-name", is, "a slug of %q", h.Text)
				}
			}
		}
		namesake := doc.Headings[int(seed/7)%len(doc.Headings)].Text
		after = []byte(o.text[:h.TextStart] + namesake + o.text[h.TextEnd:])
		now = NewAnchors(Parse(after), after)
		if len(now.headings) != len(doc.Headings) {
			continue
		}
		for i, list := range o.anchors {
			for _, anchor := range append(list, o.paths[i]) {
				if is, ok := anchors.Follow(now, anchor); ok {
					require.Equal(t, anchors.heading(anchor), now.heading(is), "%q became %q in\n%s\nafter\n%s", anchor, is, after, o.text)
				}
			}
		}
	}
}

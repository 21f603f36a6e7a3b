package edit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
)

// taggedNote generates a note with the tags in random places, some more than once.
func taggedNote(rng *rand.Rand, tags []string) string {
	places := make([][]string, 4) // front matter, property, a line of tags, prose
	for _, tag := range tags {
		for range 1 + rng.IntN(2) {
			at := rng.IntN(4)
			places[at] = append(places[at], tag)
		}
	}
	for i := range places {
		slices.Sort(places[i])
		places[i] = slices.DeleteFunc(slices.Compact(places[i]), func(tag string) bool { return i == 2 && strings.Contains(tag, " ") })
	}
	var b strings.Builder
	if front := places[0]; len(front) > 0 {
		b.WriteString("---\nk: #x\n")
		if rng.IntN(2) == 0 {
			b.WriteString("tags: [\"" + strings.Join(front, "\", \"") + "\"] # of it\n")
		} else {
			b.WriteString("Tags:\n  - " + strings.Join(front, "\n  - ") + "\n")
		}
		b.WriteString("---\n")
	}
	if len(places[1]) > 0 {
		b.WriteString("tags:: [[" + strings.Join(places[1], []string{"]], [[", "]] [[", "]] #[["}[rng.IntN(3)]) + "]]\n\n")
	}
	b.WriteString("Text with `#code` and [a link](#part).\n\n")
	if len(places[2]) > 0 {
		b.WriteString("#" + strings.Join(places[2], " #") + "\n\n")
	}
	for _, tag := range places[3] {
		if strings.Contains(tag, " ") {
			tag = "[[" + tag + "]]"
		}
		fmt.Fprintf(&b, "- [ ] do #%s now\n", tag)
	}
	return b.String()
}

// TestTags_Anywhere: wherever a note has its tags, a removed tag is gone, a renamed tag
// and those nested in it have the new name, and all other tags, the text and the lines
// are preserved.
func TestTags_Anywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 33))
	names := []string{"a", "a/b", "a/b/c", "ab", "c d", "é-1", "Work", "a b/x"}
	without := func(tags []string, gone ...string) []string {
		return slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return slices.Contains(gone, tag) })
	}
	for range 400 {
		var tags []string
		for _, i := range rng.Perm(len(names))[:1+rng.IntN(5)] {
			tags = append(tags, names[i])
		}
		src := taggedNote(rng, tags)
		has := markdown.Parse([]byte(src)).Tags
		require.Subset(t, tags, has, src)
		for _, tag := range names {
			out, err := edit.RemoveTag([]byte(src), "#"+tag)
			renamed, renameErr := edit.RenameTag([]byte(src), tag, "new/name")
			var nested []string
			for _, other := range has {
				if strings.HasPrefix(other, tag+"/") {
					nested = append(nested, other)
				}
			}
			if !slices.Contains(has, tag) {
				require.ErrorIs(t, err, markdown.ErrMissing, "%s\n%s", tag, src)
			} else {
				require.NoError(t, err, "%s\n%s", tag, src)
				require.ElementsMatch(t, without(has, tag), markdown.Parse(out).Tags, "without %s\n%s\n%s", tag, src, out)
				assert.Contains(t, string(out), "Text with `#code` and [a link](#part).\n")
			}
			if !slices.Contains(has, tag) && nested == nil {
				require.ErrorIs(t, renameErr, markdown.ErrMissing, "%s\n%s", tag, src)
				continue
			}
			require.NoError(t, renameErr, "%s\n%s", tag, src)
			want := without(has, append(nested, tag)...)
			for _, old := range append(nested, tag) {
				if slices.Contains(has, old) {
					want = append(want, "new/name"+strings.TrimPrefix(old, tag))
				}
			}
			require.ElementsMatch(t, want, markdown.Parse(renamed).Tags, "%s renamed\n%s\n%s", tag, src, renamed)
			require.Equal(t, strings.Count(src, "\n"), strings.Count(string(renamed), "\n"), "%s\n%s", src, renamed)
		}
		added, err := edit.AddTag([]byte(src), "fresh")
		require.NoError(t, err, src)
		require.ElementsMatch(t, append(slices.Clone(has), "fresh"), markdown.Parse(added).Tags, "%s\n%s", src, added)
		back, err := edit.RemoveTag(added, "fresh")
		require.NoError(t, err)
		require.ElementsMatch(t, has, markdown.Parse(back).Tags, "%s\n%s", src, back)
	}
}

// TestReplaceText_Oracle: with any combination of line endings and Unicode forms and the
// right count, the result equals that of strings.ReplaceAll on text in one form.
func TestReplaceText_Oracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 34))
	some := func(n int) string {
		var b strings.Builder
		for range 1 + rng.IntN(n) {
			b.WriteString([]string{"a", "b", "ab", "\n", "é", " "}[rng.IntN(6)])
		}
		return b.String()
	}
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	replaced := 0
	for range 5000 {
		src, old, with := some(30), some(3), some(4)
		count := strings.Count(src, old)
		want := strings.ReplaceAll(src, old, with)
		given, asked, put := src, old, with
		if rng.IntN(2) == 0 && strings.Contains(src, "\n") {
			given, want = crlf(src), crlf(want)
		}
		if rng.IntN(2) == 0 {
			asked, put = crlf(old), crlf(with)
		}
		for _, text := range []*string{&given, &asked} {
			if rng.IntN(2) == 0 {
				*text = norm.NFD.String(*text)
			}
		}
		out, err := edit.ReplaceText([]byte(given), asked, put, count)
		switch {
		case count == 0:
			require.ErrorIs(t, err, markdown.ErrMissing)
		default:
			require.NoError(t, err)
			require.Equal(t, want, norm.NFC.String(string(out)), "%q: %q to %q", given, asked, put)
			replaced++
		}
		if count > 0 {
			_, err = edit.ReplaceText([]byte(given), asked, put, count+1)
			require.ErrorIs(t, err, edit.ErrMismatch)
		}
	}
	assert.Greater(t, replaced, 1000)
}

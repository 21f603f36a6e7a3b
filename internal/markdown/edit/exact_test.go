package edit

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
	"notesd/internal/markdown/mdtest"
)

// forEachNote calls fn with the notes of the example vault, with both kinds of line
// endings, and with notes that contain every construct.
func forEachNote(t *testing.T, fn func(t *testing.T, src []byte)) {
	vault := os.DirFS("../../../examples/vault")
	names, err := fs.Glob(vault, "*/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		src, err := fs.ReadFile(vault, name)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) { fn(t, src) })
		t.Run(name+" CRLF", func(t *testing.T) {
			fn(t, []byte(strings.ReplaceAll(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n", "\r\n")))
		})
	}
	for _, seed := range mdtest.Seeds {
		t.Run("", func(t *testing.T) { fn(t, []byte(seed)) })
	}
}

func TestAddTag_RemoveTagRestores(t *testing.T) {
	const tag = "a-tag/of-no-note"
	forEachNote(t, func(t *testing.T, src []byte) {
		before := markdown.Parse(src)
		out, err := AddTag(src, tag)
		if before.FrontMatter.Err != nil {
			require.ErrorIs(t, err, ErrFrontMatter)
			return
		}
		require.NoError(t, err)
		assert.ElementsMatch(t, append(before.Tags, tag), markdown.Parse(out).Tags)
		again, err := AddTag(out, "#"+strings.ToUpper(tag))
		require.NoError(t, err)
		assert.Equal(t, string(out), string(again), "it has the tag")
		back, err := RemoveTag(out, tag)
		require.NoError(t, err)
		if len(before.FrontMatter.Values) == 0 || before.FrontMatter.Values["tags"] == nil {
			assert.Equal(t, string(src), string(back))
		}
		assert.ElementsMatch(t, before.Tags, markdown.Parse(back).Tags)
	})
}

func TestRenameTag_ReverseRestores(t *testing.T) {
	forEachNote(t, func(t *testing.T, src []byte) {
		before := markdown.Parse(src)
		if before.FrontMatter.Err != nil {
			return
		}
		for _, tag := range before.Tags {
			if !markdown.IsTag(tag) {
				continue
			}
			out, err := RenameTag(src, tag, "zz-new")
			require.NoError(t, err, tag)
			after := markdown.Parse(out)
			assert.Len(t, after.Tags, len(before.Tags), tag)
			assert.Len(t, after.Links, len(before.Links), tag)
			assert.Len(t, after.Headings, len(before.Headings), tag)
			back, err := RenameTag(out, "zz-new", tag)
			require.NoError(t, err, tag)
			assert.True(t, strings.EqualFold(string(src), string(back)), "%s: %q became %q", tag, src, back)
		}
	})
}

func TestRenameHeading_ReverseRestores(t *testing.T) {
	forEachNote(t, func(t *testing.T, src []byte) {
		doc := markdown.Parse(src)
		refs := markdown.References(doc)
		for i, ref := range refs {
			h := doc.Headings[i]
			old := string(src[h.TextStart:h.TextEnd])
			if ref == "" || strings.Contains(old, "\n") {
				continue
			}
			renamed, err := RenameHeading(src, ref, "A new name")
			require.NoError(t, err, ref)
			out := renamed.After
			assert.Equal(t, string(src[:h.TextStart])+"A new name"+string(src[h.TextEnd:]), string(out), ref)
			back, err := RenameHeading(out, markdown.References(markdown.Parse(out))[i], old)
			require.NoError(t, err, ref)
			assert.Equal(t, string(src), string(back.After), ref)
		}
	})
}

func TestRewriteAnchors_ReverseRestores(t *testing.T) {
	forEachNote(t, func(t *testing.T, src []byte) {
		doc := markdown.Parse(src)
		isHeading := func(l markdown.Link) bool { return l.AnchorEnd > 0 && !strings.Contains(l.Anchor, "^") }
		out := RewriteAnchors(src, doc, func(l markdown.Link) (string, bool) { return "New place", isHeading(l) })
		after := markdown.Parse(out)
		require.Len(t, after.Links, len(doc.Links))
		for i, l := range after.Links {
			was := doc.Links[i]
			assert.Equal(t, was.Target, l.Target)
			assert.Equal(t, was.Alias, l.Alias)
			if isHeading(was) {
				assert.Equal(t, "New place", l.Anchor)
			} else {
				assert.Equal(t, was.Anchor, l.Anchor)
			}
		}
		i := -1
		back := RewriteAnchors(out, after, func(l markdown.Link) (string, bool) {
			for i = range after.Links {
				if after.Links[i].Start == l.Start {
					break
				}
			}
			return doc.Links[i].Anchor, isHeading(doc.Links[i])
		})
		for i, l := range markdown.Parse(back).Links {
			assert.Equal(t, doc.Links[i].Anchor, l.Anchor)
		}
	})
}

func TestSetFrontMatter_ReverseRestores(t *testing.T) {
	forEachNote(t, func(t *testing.T, src []byte) {
		for _, value := range []any{"text: with colon", int64(7), true, 1.5, []any{"a", "b, c"}, map[string]any{"k": []any{int64(1)}}, "2026-01-02", ""} {
			out, err := SetFrontMatter(src, "a-new-key", value)
			if markdown.Parse(src).FrontMatter.Err != nil {
				require.ErrorIs(t, err, ErrFrontMatter)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, value, markdown.Parse(out).FrontMatter.Values["a-new-key"])
			back, err := SetFrontMatter(out, "a-new-key", nil)
			require.NoError(t, err)
			assert.Equal(t, string(src), string(back), "%v", value)
		}
	})
}

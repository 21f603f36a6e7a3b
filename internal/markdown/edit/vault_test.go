package edit

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
	"notesd/internal/markdown/mdtest"
)

// TestVaultFrontMatterRoundTrip sets and removes a new key in every note of NOTESD_VAULTS,
// and changes and restores each existing key.
func TestVaultFrontMatterRoundTrip(t *testing.T) {
	notes, refused, keys, kept := 0, 0, 0, 0
	mdtest.VaultNotes(t, func(path string, src []byte) {
		notes++
		doc := markdown.Parse(src)
		out, err := SetFrontMatter(src, "notesd-test", []any{"a: b", int64(1)})
		if err != nil {
			refused++
			require.ErrorIs(t, err, ErrFrontMatter, path)
			t.Logf("%s: %v", path, err)
			return
		}
		requireInserted(t, src, out)
		back, err := SetFrontMatter(out, "notesd-test", nil)
		require.NoError(t, err, path)
		require.Equal(t, string(src), string(back), path)
		for key, value := range doc.FrontMatter.Values {
			keys++
			changed, err := SetFrontMatter(src, key, "another: value")
			if err != nil {
				t.Logf("%s: %v", path, err)
				continue
			}
			restored, err := SetFrontMatter(changed, key, value)
			if value == nil {
				continue // nil removes the key
			}
			require.NoError(t, err, path)
			require.Equal(t, src[:doc.FrontMatter.InnerStart], restored[:doc.FrontMatter.InnerStart])
			require.Equal(t, doc.FrontMatter.Values, markdown.Parse(restored).FrontMatter.Values, path)
			if bytes.Equal(src, restored) {
				kept++
			}
			checkListItem(t, path, src, key, value)
		}
	})
	t.Logf("%d notes, %d refused; %d keys set to another value and back, %d of them to the same bytes", notes, refused, keys, kept)
}

// checkListItem adds an item to a list, which must insert one run of bytes, and removes it.
func checkListItem(t *testing.T, path string, src []byte, key string, value any) {
	t.Helper()
	list, ok := value.([]any)
	if !ok || len(list) == 0 || bytes.Contains(src, []byte(key+": [")) {
		return
	}
	longer, err := SetFrontMatter(src, key, append(append([]any{}, list...), "[[another]]"))
	require.NoError(t, err, path)
	requireInserted(t, src, longer)
	back, err := SetFrontMatter(longer, key, value)
	require.NoError(t, err, path)
	require.Equal(t, string(src), string(back), path)
}

// TestVaultEditsRoundTrip makes an edit of each kind and its inverse.
func TestVaultEditsRoundTrip(t *testing.T) {
	const text = "A paragraph that no note holds."
	notes, sections, links := 0, 0, 0
	mdtest.VaultNotes(t, func(path string, src []byte) {
		notes++
		doc := markdown.Parse(src)
		for _, op := range []string{OpAppend, OpPrepend} {
			out, _, err := Apply(t.Context(), src, []Edit{{Op: op, Content: text}})
			require.NoError(t, err, path)
			requireInserted(t, src, out)
			require.Contains(t, string(out), text)
			require.Equal(t, structure(src), structure(out), path)
		}
		checkAddedTag(t, path, src)
		refs := markdown.References(doc)
		for i := range doc.Headings {
			if len(doc.Headings) > 40 && i%20 > 0 {
				continue
			}
			if refs[i] == "" {
				continue
			}
			path := refs[i]
			found, err := markdown.FindSection(doc, src, path)
			require.NoError(t, err, path)
			sections++
			require.Equal(t, doc.Headings[i].Start, found.Start)
			checkSectionEdits(t, path, src, found, text)
			checkRenamed(t, path, src, doc.Headings[i])
		}
		links += len(doc.Links)
		same := RewriteLinks(src, doc, func(l markdown.Link) (string, bool) { return l.Target, true })
		require.Equal(t, string(src), string(same), path)
		checkRewrite(t, path, src, doc)
	})
	t.Logf("%d notes, %d sections edited, %d links", notes, sections, links)
}

// checkSectionEdits replaces a section with its own text, and inserts text around it.
func checkSectionEdits(t *testing.T, path string, src []byte, section markdown.Section, text string) {
	t.Helper()
	same, err := ReplaceSection(src, path, string(src[section.ContentStart:section.End]))
	require.NoError(t, err, path)
	if !bytes.Contains(src, []byte("\r")) {
		require.Equal(t, string(src), string(same), path)
	}
	out, err := ReplaceSection(src, path, text)
	require.NoError(t, err, path)
	require.Equal(t, src[:section.ContentStart], out[:section.ContentStart])
	require.True(t, bytes.HasSuffix(out, src[section.End:]))
	for _, op := range []string{OpInsertBefore, OpInsertAfter} {
		out, _, err := Apply(t.Context(), src, []Edit{{Op: op, Heading: path, Content: text}})
		require.NoError(t, err, path)
		requireInserted(t, src, out)
		if !section.Nested { // indented text in an outline may be code
			require.Equal(t, structure(src), structure(out), path)
		}
		back, err := ReplaceText(out, text, "", 1)
		require.NoError(t, err, path)
		require.Equal(t, bytes.Fields(src), bytes.Fields(back), path)
	}
}

// structure describes what a paragraph that is inserted must not change.
func structure(src []byte) (all []string) {
	doc := markdown.Parse(src)
	for _, h := range doc.Headings {
		all = append(all, fmt.Sprint(h.Level, h.Text))
	}
	for _, l := range doc.Links {
		all = append(all, fmt.Sprint(l.Kind, l.Target, "#", l.Anchor, "|", l.Alias))
	}
	for _, b := range doc.Blocks {
		all = append(all, "^"+b.ID)
	}
	for _, p := range doc.Tasks {
		all = append(all, string(src[p.Start:p.End]))
	}
	return append(all, doc.Tags...)
}

// checkAddedTag adds a tag, which must insert one run of bytes, and removes it.
func checkAddedTag(t *testing.T, path string, src []byte) {
	t.Helper()
	out, err := AddTag(src, "a-tag/of-no-note")
	if err != nil {
		require.ErrorIs(t, err, ErrFrontMatter, path)
		return
	}
	requireInserted(t, src, out)
	back, err := RemoveTag(out, "a-tag/of-no-note")
	require.NoError(t, err, path)
	require.Equal(t, string(src), string(back), path)
}

// checkRenamed renames a heading, which must replace its text only.
func checkRenamed(t *testing.T, ref string, src []byte, h markdown.Heading) {
	t.Helper()
	if bytes.IndexByte(src[h.TextStart:h.TextEnd], '\n') >= 0 {
		return
	}
	r, err := RenameHeading(src, ref, "A name of no heading")
	require.NoError(t, err, ref)
	end := h.TextStart + bytes.LastIndex(r.After[h.TextStart:], src[h.TextEnd:])
	require.Equal(t, string(src[:h.TextStart])+"A name of no heading", string(r.After[:end]), ref)
}

// checkRewrite changes the target of every link and reads the targets back.
func checkRewrite(t *testing.T, path string, src []byte, doc *markdown.Document) {
	t.Helper()
	const target = "Folder (1)/it's new.md"
	out := RewriteLinks(src, doc, func(markdown.Link) (string, bool) { return target, true })
	requireOnlyTargetsChanged(t, src, out, doc)
	after := markdown.Parse(out)
	if !assert.Len(t, after.Links, len(doc.Links), path) {
		return
	}
	for i, l := range after.Links {
		old := doc.Links[i]
		want := target
		if !CanTarget(old, target) {
			want = old.Target
		}
		assert.Equal(t, want, l.Target, "%s: %s", path, out[l.Start:l.End])
		assert.Equal(t, old.Anchor, l.Anchor, path)
		assert.Equal(t, old.Alias, l.Alias, path)
	}
}

package notes_test

import (
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

func TestURI(t *testing.T) {
	for p, uri := range map[string]string{
		"Plan.md":          "note:///Plan.md",
		"A b/ä?#%.md":      "note:///A%20b/%C3%A4%3F%23%25.md",
		"Projects/Boat.md": "note:///Projects/Boat.md",
	} {
		assert.Equal(t, uri, notes.URI(p))
		back, err := notes.ParseURI(uri)
		require.NoError(t, err)
		assert.Equal(t, p, back)
		assert.True(t, notes.IsURI(uri))
	}
	for uri, p := range map[string]string{
		"NOTE:///Plan.md": "Plan.md", "note:///A%2FB.md": "A/B.md", "note:///A//B.md": "A/B.md", "note:///u%CC%88.md": "ü.md",
		"note://Plan.md": "Plan.md", "note://A/B%20C.md": "A/B C.md",
	} {
		got, err := notes.ParseURI(uri)
		require.NoError(t, err, uri)
		assert.Equal(t, p, got)
	}
	for _, uri := range []string{"", "Plan.md", "notes://tags/x", "note:Plan.md", "note://", "note:///", "note:///%zz.md", "note:///..%2Fout.md", "note:////etc/passwd", "note:///a%00.md"} {
		_, err := notes.ParseURI(uri)
		assert.ErrorIs(t, err, notes.ErrInvalid, uri)
	}
	assert.False(t, notes.IsURI("note:x"))
}

func TestCleanPath(t *testing.T) {
	for in, want := range map[string]string{
		"Plan.md": "Plan.md", "a/./b.md": "a/b.md", "a//b.md": "a/b.md", "./a.md": "a.md", "u\u0308.md": "ü.md", "..a/b...md": "..a/b...md",
	} {
		got, err := notes.CleanPath(in)
		require.NoError(t, err, in)
		assert.Equal(t, want, got)
	}
	for _, in := range []string{"", ".", "./", "/etc/passwd", `\\host\x`, "~/x", "C:/x.md", "c:x.md", "./~/x.md", "./C:/x.md", `./\x.md`, "../x.md", "a/../../x.md", "a/../b.md", "a\x00.md", "a\nb.md", "a\x7f", "\xff.md", strings.Repeat("a/", 600) + "b.md"} {
		_, err := notes.CleanPath(in)
		require.ErrorIs(t, err, notes.ErrInvalid, in)
		assert.True(t, utf8.ValidString(err.Error()))
	}
}

// FileName converts any title to a valid path of a new note that every system accepts
// and that a wikilink can name.
func TestFileName(t *testing.T) {
	for title, want := range map[string]string{
		"Plan": "Plan.md", "Plan.md": "Plan.md", "Read me.MD": "Read me.md", "a/b\\c:d|e": "a-b-c-d-e.md", "*?\"<>#^[]": "Untitled.md", "": "Untitled.md",
		"  two\t \nlines ": "two lines.md", "...hidden": "hidden.md", "ends...": "ends.md", "con": "_con.md", "LPT1.notes": "_LPT1.notes.md", "cone": "cone.md",
		"u\u0308": "ü.md", "\u202egnp.exe": "gnp.exe.md", "\x00a\x7f": "a.md", "\xffa": "a.md", ".md": "md.md",
	} {
		assert.Equal(t, want, notes.FileName(title), "%q", title)
	}
	family := "👩\u200d👩\u200d👧"
	for _, title := range []string{strings.Repeat("x", 500), strings.Repeat("ä", 200), strings.Repeat("e\u0301\u0302", 90), strings.Repeat(family, 30), "x" + strings.Repeat(family, 30), strings.Repeat("👍🏽", 40), "nul", "nul .txt", strings.Repeat("a.", 200)} {
		name := notes.FileName(title)
		require.NoError(t, notes.CheckNewPath("create", name), title)
		clean, err := notes.CleanPath(name)
		require.NoError(t, err)
		assert.Equal(t, name, clean)
		assert.LessOrEqual(t, len(name), 190)
		assert.NotEqual(t, "Untitled.md", name)
	}
	cut := notes.BaseName(notes.FileName(strings.Repeat(family, 30)))
	assert.Empty(t, strings.ReplaceAll(cut, family, ""), "no family is parted")
}

func TestCheckNewPath(t *testing.T) {
	for _, p := range []string{"Plan.md", "a b/c.markdown", "Ünï/x.md", "console/cone.md", "a/b/c/d.MD", "C#/[x]/a.md"} {
		assert.NoError(t, notes.CheckNewPath("create", p), p)
	}
	for _, p := range []string{"Plan", "Plan.txt", ".hidden.md", "a/.git/x.md", `a\b.md`, "a:b.md", "what?.md", "a|b.md", "C#.md", "[[a]].md", "a [1].md", "x^2.md", "a /x.md", " a.md", "a./x.md", "CON.md", "x/lpt9.md", "nul/x.md", strings.Repeat("x", 253) + ".md"} {
		err := notes.CheckNewPath("create", p)
		require.ErrorIs(t, err, notes.ErrInvalid, p)
		var e *notes.Error
		require.ErrorAs(t, err, &e)
		assert.NotEmpty(t, e.Hint, p)
	}
	assert.Equal(t, "a/Plan 2.md", notes.Numbered("a/Plan.md", 2))
}

func TestNamesOfNotes(t *testing.T) {
	for name, base := range map[string]string{"a/Plan.md": "Plan", "Plan.MARKDOWN": "Plan", "v1.2.md": "v1.2", "Plan.mdx": "Plan", "Plan.Rmd": "Plan"} {
		assert.True(t, notes.IsNoteName(name))
		assert.Equal(t, base, notes.BaseName(name))
		assert.Equal(t, base, path.Base(notes.Stem(name)))
	}
	for _, name := range []string{"Plan", "Plan.mdown", "a.md/x.png", "md"} {
		assert.False(t, notes.IsNoteName(name), name)
		assert.Equal(t, path.Base(name), notes.BaseName(name))
		assert.Equal(t, name, notes.Stem(name))
	}
	assert.Equal(t, notes.Key("STRASSE Ü"), notes.Key("straße u\u0308"), "folded, in any Unicode form")
	assert.NotEqual(t, notes.Key("a"), notes.Key("ä"))
	assert.Equal(t, "Cafe 📅 한 и", notes.Unaccented("Café 📅 한 й"))
	assert.Equal(t, "الغاء كل שלום־", notes.Unaccented("إلغاء كلّ שָׁלוֹם־"), "without vowel marks and hamza")
	assert.Equal(t, "किताबें ทำ が", notes.Unaccented("किताबें ทำ が"), "vowels of other scripts stay")
	assert.Equal(t, "l'ete сім'я l'ete", notes.Unaccented("l’été сімʼя l'été"), "plain apostrophes")
	for _, tt := range []struct {
		p, folder string
		under     bool
	}{{"a/b.md", "a", true}, {"a", "a", true}, {"ab/c.md", "a", false}, {"x", "", true}, {"a", "a/b", false}} {
		assert.Equal(t, tt.under, notes.Under(tt.p, tt.folder), "%v", tt)
	}
}

func TestSplitAnchor(t *testing.T) {
	for ref, want := range map[string]struct {
		note   string
		anchor notes.Anchor
	}{
		"Plan":                                  {"Plan", notes.Anchor{}},
		" Plan.md:5-14 ":                        {"Plan.md", notes.Anchor{First: 5, Last: 14}},
		"Plan.md:L5–L14":                        {"Plan.md", notes.Anchor{First: 5, Last: 14}},
		"a/Plan.markdown:7":                     {"a/Plan.markdown", notes.Anchor{First: 7, Last: 7}},
		"R.qmd:5-14":                            {"R.qmd", notes.Anchor{First: 5, Last: 14}},
		"a/R.Rmd:7":                             {"a/R.Rmd", notes.Anchor{First: 7, Last: 7}},
		"p.mdx:L5-L14":                          {"p.mdx", notes.Anchor{First: 5, Last: 14}},
		"Plan.txt:5":                            {"Plan.txt:5", notes.Anchor{}},
		"Plan.md:0":                             {"Plan.md", notes.Anchor{First: 1, Last: 0}},
		"Plan:5":                                {"Plan:5", notes.Anchor{}},
		"Plan#Risks":                            {"Plan", notes.Anchor{Heading: "Risks"}},
		"Plan # Risks > Old ":                   {"Plan", notes.Anchor{Heading: "Risks > Old"}},
		"Plan#L3-L4":                            {"Plan", notes.Anchor{First: 3, Last: 4}},
		"Plan#^block":                           {"Plan", notes.Anchor{Heading: "^block"}},
		"#tag":                                  {"#tag", notes.Anchor{}},
		"[[Plan#Risks|shown]]":                  {"Plan", notes.Anchor{Heading: "Risks"}},
		"[[Lectures#L5|x]]":                     {"Lectures", notes.Anchor{Heading: "L5"}},
		"![[ Lectures # A#L5 ]]":                {"Lectures", notes.Anchor{Heading: "A#L5"}},
		"[[Plan#^id]]":                          {"Plan", notes.Anchor{Heading: "^id"}},
		"[[#L5]]":                               {"#L5", notes.Anchor{}},
		"[[Plan.md:5-14]]":                      {"Plan.md", notes.Anchor{First: 5, Last: 14}},
		"![[Plan]]":                             {"Plan", notes.Anchor{}},
		"note:///A%20b.md?rev=1a2b#L12-L18":     {"note:///A%20b.md", notes.Anchor{First: 12, Last: 18}},
		"note:///A.md#Two%20words":              {"note:///A.md", notes.Anchor{Heading: "Two words"}},
		"obsidian://open?vault=V&file=A%23Plan": {"A", notes.Anchor{Heading: "Plan"}},
		"obsidian://open?vault=V&file=A%23L5":   {"A", notes.Anchor{Heading: "L5"}},
	} {
		note, anchor := notes.SplitAnchor(ref)
		assert.Equal(t, want.note, note, ref)
		assert.Equal(t, want.anchor, anchor, ref)
	}
}

func TestPassageURI(t *testing.T) {
	hash := notes.Hash([]byte("text"))
	uri := notes.PassageURI("A b.md", hash, 12, 18)
	assert.Equal(t, "note:///A%20b.md?rev="+hash[:12]+"#L12-L18", uri)
	assert.Equal(t, hash[:12], notes.RevisionOf(uri))
	note, anchor := notes.SplitAnchor(uri)
	assert.Equal(t, notes.URI("A b.md"), note)
	assert.Equal(t, notes.Anchor{First: 12, Last: 18}, anchor)
	assert.Equal(t, "note:///A.md?rev=ab#L1-L1", notes.PassageURI("A.md", "ab", 1, 1))

	for name, want := range map[string]string{
		"A b.md": "note:///A%20b.md?rev=ab#L1-L1", "日记/会议 #1，“记录”.md": "note:///日记/会议%20%231，“记录”.md?rev=ab#L1-L1",
		"😀 50%?.md": "note:///😀%2050%25%3F.md?rev=ab#L1-L1", "a\u202eb\u3000c\u200d.md": "note:///a%E2%80%AEb%E3%80%80c%E2%80%8D.md?rev=ab#L1-L1", "[x]\"y\".md": "note:///%5Bx%5D%22y%22.md?rev=ab#L1-L1",
	} {
		ref := notes.PassageRef(name, "ab", 1, 1)
		assert.Equal(t, want, ref)
		base, anchor := notes.SplitAnchor(ref)
		path, err := notes.ParseURI(base)
		require.NoError(t, err)
		assert.Equal(t, name, path)
		assert.Equal(t, notes.Anchor{First: 1, Last: 1}, anchor)
		assert.Equal(t, "ab", notes.RevisionOf(ref))
	}
	for ref, rev := range map[string]string{"note:///A.md?rev=AB12": "ab12", "note:///A.md#?rev=ab": "", "A.md?rev=ab": "", "note:///A.md?x=1": "", "note:///A.md?%zz": "", "": ""} {
		assert.Equal(t, rev, notes.RevisionOf(ref), ref)
	}
}

func TestAppRef(t *testing.T) {
	for ref, want := range map[string]string{
		"Plan": "Plan", "https://a.b/Plan.md": "https://a.b/Plan.md",
		"obsidian://open?vault=V&file=Folder%2FPlan":      "Folder/Plan",
		"OBSIDIAN://open?vault=V&path=%2Fhome%2Fv%2FA.md": "/home/v/A.md",
		"obsidian://vault/V/Folder/Plan":                  "Folder/Plan",
		"obsidian://open?vault=V":                         "obsidian://open?vault=V",
		"obsidian://%zz":                                  "obsidian://%zz",
		"file:///home/v/A%20b.md":                         filepath.FromSlash("/home/v/A b.md"),
		"file://":                                         "",
	} {
		note, vault := notes.AppRef(ref)
		assert.Equal(t, want, note, ref)
		assert.Equal(t, strings.Contains(ref, "V"), vault == "V", ref)
	}
	want := "/C:/Notes/A b.md"
	if runtime.GOOS == "windows" {
		want = `C:\Notes\A b.md`
	}
	note, _ := notes.AppRef("file:///C:/Notes/A%20b.md")
	assert.Equal(t, want, note)
}

func TestMediaType(t *testing.T) {
	for name, want := range map[string]string{"a.PNG": "image/png", "a.pdf": "application/pdf", "x": "text/plain", "y.unknown": "text/plain"} {
		assert.Equal(t, want, notes.MediaType(name, []byte("plain text")), name)
	}
	assert.Equal(t, "application/octet-stream", notes.MediaType("x", nil))
	assert.Equal(t, "image/png", notes.MediaType("x", []byte("\x89PNG\r\n\x1a\n")))
}

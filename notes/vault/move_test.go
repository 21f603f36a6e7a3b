package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"notesd/internal/notestest"
	"notesd/notes"
	"notesd/notes/store"
)

func TestMoveRewritesLinks(t *testing.T) {
	ctx := context.Background()
	tests := []struct {
		name     string
		files    []string
		note, to string
		want     map[string]string // only what changes, by new path
	}{
		{
			"a rename in place", []string{"Old.md", "o", "A.md", "[[Old]] [[Old|shown]] [[Old#H|x]] ![[Old#^b]] [m](Old.md) `[[Old]]`"}, "Old", "New.md",
			map[string]string{"New.md": "o", "A.md": "[[New]] [[New|shown]] [[New#H|x]] ![[New#^b]] [m](New.md) `[[Old]]`"},
		},
		{
			"a wikilink that still leads there stays", []string{"Old.md", "o", "A.md", "[[Old]] [m](Old.md#h)"}, "Old", "dir/",
			map[string]string{"dir/Old.md": "o", "A.md": "[[Old]] [m](dir/Old.md#h)"},
		},
		{
			"ss becomes ß, which other programs do not treat as equal; another case is", []string{"Strasse.md", "o", "A.md", "[[strasse]] [[Strasse#H|x]] [m](Strasse.md) [[Straße]]"}, "Strasse", "Straße.md",
			map[string]string{"Straße.md": "o", "A.md": "[[Straße]] [[Straße#H|x]] [m](Straße.md) [[Straße]]"},
		},
		{
			"a wikilink in another case stays", []string{"old.md", "o", "A.md", "[[old]] [[OLD|x]]"}, "old", "Old.md",
			map[string]string{"Old.md": "o", "A.md": "[[old]] [[OLD|x]]"},
		},
		{
			"a path stays written as it was", []string{"dir/Old.md", "o", "A.md", "[[/dir/Old]] [m](./dir/Old.md)"}, "Old", "sub/New.md",
			map[string]string{"sub/New.md": "o", "A.md": "[[/sub/New]] [m](./sub/New.md)"},
		},
		{
			"spaces are encoded", []string{"a b.md", "o", "A.md", "[m](a%20b.md) [n](<a b.md>)"}, "a b", "c d/e f.md",
			map[string]string{"c d/e f.md": "o", "A.md": "[m](c%20d/e%20f.md) [n](<c d/e f.md>)"},
		},
		{
			"links inside the moved note", []string{"Old.md", "[x](A.md) [[A]] ![p](img/p.png) [s](#self) [w](https://a.b/Old.md)", "A.md", "a", "img/p.png", "p"}, "Old", "deep/er/Old.md",
			map[string]string{"deep/er/Old.md": "[x](../../A.md) [[A]] ![p](../../img/p.png) [s](#self) [w](https://a.b/Old.md)"},
		},
		{
			"front matter", []string{"Old.md", "o", "A.md", "---\nup: \"[[Old]]\" # keep\nlist:\n  - '[[Old|x]]'\n---\n"}, "Old", "New.md",
			map[string]string{"New.md": "o", "A.md": "---\nup: \"[[New]]\" # keep\nlist:\n  - '[[New|x]]'\n---\n"},
		},
		{
			"a link to another file, of which the path cannot be written", []string{"Work/C#/Plan.md", "x", "Inbox/Foo.md", "y", "B.md", "[[Plan]]"}, "Inbox/Foo", "N/d/e/Plan.md",
			map[string]string{"N/d/e/Plan.md": "y", "B.md": "[[Plan]]"},
		},
		{
			"a link to another file, with a shorter path than the moved one", []string{"日本語の/Plan.md", "x", "Inbox/Foo.md", "y", "Inbox/A.md", "[[Plan]]"}, "Inbox/Foo", "abcdef/d/Plan.md",
			map[string]string{"abcdef/d/Plan.md": "y", "Inbox/A.md": "[[Plan]]"},
		},
		{
			"comments, as of Excalidraw, but not the code in them", []string{"Old.md", "o", "A.md", "a %% [[Old]] %%\n\n%%\n# Data\n1f: [[Old#H]] #t\n\n```json\n{\"a\": \"[[Old]]\"}\n```\n%%\n<!-- [[Old]] -->\n"}, "Old", "New.md",
			map[string]string{"New.md": "o", "A.md": "a %% [[New]] %%\n\n%%\n# Data\n1f: [[New#H]] #t\n\n```json\n{\"a\": \"[[Old]]\"}\n```\n%%\n<!-- [[Old]] -->\n"},
		},
		{
			"a link that the move would capture keeps its note", []string{"X/Plan.md", "x", "A.md", "[[Plan]]", "Y/Foo.md", "y"}, "Y/Foo", "Plan.md",
			map[string]string{"Plan.md": "y", "A.md": "[[X/Plan]]"},
		},
		{
			"a name that becomes ambiguous", []string{"X/Plan.md", "x", "Z/A.md", "[[Plan]]", "Y/Foo.md", "y"}, "Y/Foo", "Y/Plan.md",
			map[string]string{"Y/Plan.md": "y", "Z/A.md": "[[X/Plan]]"},
		},
		{
			"a name that another file has, to which it leads in Obsidian", []string{"W/Foo.md", "x", "W/D/A.md", "[[Foo]] [[Foo|f]]", "X/Plan.md", "y", "W/B.md", "[[Foo]]"}, "W/Foo", "W/Plan.md",
			map[string]string{"W/Plan.md": "x", "W/D/A.md": "[[W/Plan]] [[W/Plan|f]]", "W/B.md": "[[Plan]]"},
		},
		{
			"a link to another file, which in Obsidian would lead to the moved one", []string{"Notes/Plan.md", "x", "Inbox/Foo.md", "y", "Inbox/A.md", "[[Plan]]", "Notes/B.md", "[[Plan]]"}, "Inbox/Foo", "N/d/Plan.md",
			map[string]string{"N/d/Plan.md": "y", "Inbox/A.md": "[[Notes/Plan]]"},
		},
		{
			"a folder", []string{"P/One.md", "[[Two]] [t](Two.md) [a](../A.md) ![i](i.png)", "P/Two.md", "2", "P/i.png", "i", "A.md", "[o](P/One.md) [[P/Two]]"}, "P", "Archive/Q",
			map[string]string{"Archive/Q/One.md": "[[Two]] [t](Two.md) [a](../../A.md) ![i](i.png)", "Archive/Q/Two.md": "2", "Archive/Q/i.png": "i", "A.md": "[o](Archive/Q/One.md) [[Archive/Q/Two]]"},
		},
		{
			"a linked image", []string{"notes/n.md", "[![thumb](img/a.png)](img/b.png) [text ![i](img/a.png)](T.md)", "notes/img/a.png", "a", "notes/img/b.png", "b", "notes/T.md", "t"}, "notes/n.md", "other/deep/n.md",
			map[string]string{"other/deep/n.md": "[![thumb](../../notes/img/a.png)](../../notes/img/b.png) [text ![i](../../notes/img/a.png)](../../notes/T.md)"},
		},
		{
			"an embed in a link", []string{"Old.md", "o", "p.md", "p", "A.md", "[![[Old]] x](Old.md) [a ![[Old]] ![q](Old.md) b](p.md)"}, "Old", "New.md",
			map[string]string{"New.md": "o", "A.md": "[![[New]] x](New.md) [a ![[New]] ![q](New.md) b](p.md)"},
		},
		{
			"a page that becomes the index of a folder", []string{"guide.md", "x", "a.md", "[x](guide) [y](guide/)"}, "guide", "guide/index.md",
			map[string]string{"guide/index.md": "x", "a.md": "[x](guide) [y](guide/)"},
		},
		{
			"links to a folder for its index", []string{"d/g/index.md", "[i](../i.md)", "d/i.md", "[a](g/) [b](./g#x) [c](/d/g/) [d](g/index.md)"}, "d/g", "d/h/k",
			map[string]string{"d/h/k/index.md": "[i](../../i.md)", "d/i.md": "[a](h/k/) [b](./h/k#x) [c](/d/h/k/) [d](h/k/index.md)"},
		},
		{
			"links from the root of a site", []string{"content/g/index.md", "x", "content/n.md", "[a](/p) [b](/p/)", "content/p.md", "[c](/g/) [d](/g/index.md) [e](/content/g)"}, "content/g", "content/h/g2",
			map[string]string{"content/h/g2/index.md": "x", "content/n.md": "[a](/p) [b](/p/)", "content/p.md": "[c](/h/g2/) [d](/h/g2/index.md) [e](/content/h/g2)"},
		},
		{
			"a link from the root in a note at the root", []string{"N.md", "[a](/A/B.md) ![i](/A/i.png) [b](A/B.md)", "A/B.md", "b", "A/i.png", "i"}, "N", "F/N.md",
			map[string]string{"F/N.md": "[a](/A/B.md) ![i](/A/i.png) [b](../A/B.md)", "A/B.md": "b", "A/i.png": "i"},
		},
		{
			"pages named from the root of a site", []string{"content/about.md", "x", "content/p.md", "[a](/about/) [b](/about) [c](about/) [d](/about.md#x) [[about]]", "content/info/y.md", "y"}, "content/about", "content/info/about.md",
			map[string]string{"content/p.md": "[a](/info/about/) [b](/info/about) [c](info/about/) [d](/info/about.md#x) [[about]]"},
		},
		{
			"pages named from the root of the vault", []string{"about.md", "x", "d/p.md", "[a](/about/) [b](/about.md) [[/about]] ![p](/pic.png)", "pic.png", "p"}, "about", "d/about.md",
			map[string]string{"d/p.md": "[a](/d/about/) [b](/d/about.md) [[/d/about]] ![p](/pic.png)"},
		},
		{
			"a page of a site at the path of another note", []string{"site/about.md", "x", "site/p.md", "[a](/about/)", "info/about.md", "y"}, "site/about", "site/info/about.md",
			map[string]string{"site/p.md": "[a](/about/)"},
		},
		{
			"permalinks stay", []string{"about.md", "---\npermalink: /about/\n---\n[me](/about/)\n", "p.md", "---\nurl: /post\n---\n[a](/about/) [b](/about#x) [c](about/) [d](/about.md) [[about]]\n", "q.md", "[p](/post/) [p](/p/)\n"}, "about", "info/me.md",
			map[string]string{"info/me.md": "---\npermalink: /about/\n---\n[me](/about/)\n", "p.md": "---\nurl: /post\n---\n[a](/about/) [b](/about#x) [c](info/me/) [d](/info/me.md) [[me]]\n"},
		},
		{
			"a note at the path of a permalink", []string{"pages/about.md", "---\npermalink: /about/\n---\n", "p.md", "[a](/about/)", "info/y.md", "y"}, "info/y", "about.md",
			map[string]string{"about.md": "y"},
		},
		{
			"links of Docusaurus", []string{"content/blog/first.md", "# Who\n[b](@site/b.md)", "content/b.md", "[a](@site/blog/first.md#who) ![p](@site/content/p.png)\n\n[c]: <@site/blog/first.md>\n", "content/p.png", "p"}, "content/blog", "content/my posts",
			map[string]string{"content/my posts/first.md": "# Who\n[b](@site/b.md)", "content/b.md": "[a](@site/my%20posts/first.md#who) ![p](@site/content/p.png)\n\n[c]: <@site/my%20posts/first.md>\n"},
		},
		{
			"HTML", []string{"old/a.md", "# H\n", "old/p q.png", "p", "n.md", "<img width=9 src=\"old/p%20q.png\"> <img src='old/p q.png'/> <a href=old/a.md#h>a</a> `<img src=\"old/a.md\">` {{< figure src=\"old/p q.png\" >}}\n\n<div>\n<a href=\"/old/a.md\"><img src=\"./old/p q.png\"></a>\n</div>\n"}, "old", "R & D's",
			map[string]string{"R & D's/a.md": "# H\n", "n.md": "<img width=9 src=\"R%20%26%20D%27s/p%20q.png\"> <img src='R %26 D%27s/p q.png'/> <a href=R%20%26%20D%27s/a.md#h>a</a> `<img src=\"old/a.md\">` {{< figure src=\"R %26 D%27s/p q.png\" >}}\n\n<div>\n<a href=\"/R%20%26%20D%27s/a.md\"><img src=\"./R %26 D%27s/p q.png\"></a>\n</div>\n"},
		},
		{
			"references of Hugo", []string{"content/posts/first.md", "# Who\n", "content/posts/second.md", "[a]({{< ref \"first.md#who\" >}}) ![b]({{%relref `/posts/first`%}} 'T')\n\n[c]: {{< ref \"../posts/first\" >}}\n[d]({{< ref \"nothing\" >}} x) {{< ref \"first\" >}}\n"}, "first", "content/posts/My first.md",
			map[string]string{"content/posts/second.md": "[a]({{< ref \"My first.md#who\" >}}) ![b]({{%relref `/posts/My first`%}} 'T')\n\n[c]: {{< ref \"My first\" >}}\n[d]({{< ref \"nothing\" >}} x) {{< ref \"first\" >}}\n"},
		},
		{
			"references of Jekyll", []string{"_posts/2026-01-31-a.md", "x", "_posts/2026-02-01-b.md", "[a]({% post_url 2026-01-31-a %}#top) [a]({{ site.baseurl }}{% link _posts/2026-01-31-a.md %})\n\n[a]: {% post_url 2026-01-31-a %}\n", "about.md", "[a]({%- post_url 2026-01-31-a -%})"}, "2026-01-31-a", "_posts/2026-01-30-c d.md",
			map[string]string{"_posts/2026-02-01-b.md": "[a]({% post_url 2026-01-30-c d %}#top) [a]({{ site.baseurl }}{% link _posts/2026-01-30-c d.md %})\n\n[a]: {% post_url 2026-01-30-c d %}\n", "about.md": "[a]({%- post_url 2026-01-30-c d -%})"},
		},
		{
			"a post of Jekyll with references", []string{"_posts/2026-01-31-a.md", "[b]({% post_url 2026-02-01-b %}) [c]({% link _docs/c.md %}) ![d]({% link assets/d.png %})", "_posts/2026-02-01-b.md", "x", "_docs/c.md", "x", "assets/d.png", "x"}, "2026-01-31-a", "blog/_posts/2026-01-31-a.md",
			map[string]string{"blog/_posts/2026-01-31-a.md": "[b]({% post_url 2026-02-01-b %}) [c]({% link _docs/c.md %}) ![d]({% link assets/d.png %})"},
		},
		{
			"a page that leaves its site", []string{"site/about.md", "x", "site/p.md", "[a](/about/)"}, "site/about", "old/about.md",
			map[string]string{"site/p.md": "[a](/about/)"},
		},
		{
			"an index that is one no longer", []string{"d/g/index.md", "x", "d/i.md", "[a](g/) [b](g)"}, "d/g/index", "d/g/other.md",
			map[string]string{"d/g/other.md": "x", "d/i.md": "[a](g/other.md) [b](g/other.md)"},
		},
		{
			"a note with a link to a folder", []string{"d/g/README.md", "x", "d/i.md", "[a](g/) [b](g)"}, "d/i", "e/i.md",
			map[string]string{"d/g/README.md": "x", "e/i.md": "[a](../d/g/) [b](../d/g)"},
		},
		{
			"case only", []string{"old.md", "o", "A.md", "[[old]] [m](old.md)"}, "old", "Old.md",
			map[string]string{"Old.md": "o", "A.md": "[[old]] [m](Old.md)"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tt.files...)
			before := f.files()
			dry, err := f.Move(ctx, notes.MoveRequest{Note: tt.note, To: tt.to, UpdateLinks: true, DryRun: true})
			require.NoError(t, err)
			require.Equal(t, before, f.files(), "a dry run writes nothing")
			w, err := f.Move(ctx, notes.MoveRequest{Note: tt.note, To: tt.to, UpdateLinks: true})
			require.NoError(t, err)
			assert.Equal(t, dry.Relinked, w.Relinked)
			after := f.files()
			for p, text := range tt.want {
				assert.Equal(t, text, after[p], p)
			}
			assert.Len(t, after, len(before))
			paths, _ := f.queue.Take()
			require.NoError(t, f.reconcilePaths(ctx, paths))
			f.requireConsistent()
		})
	}
}

// A wikilink that begins with ./ or ../ stays the path from its note, although notesd would
// find the note by its name.
func TestMove_RelativeWikilinks(t *testing.T) {
	f := newFixture(t, "P/Alpha.md", "[[../Top]]\n", "Top.md", "[[./P/Alpha]]\n",
		"P/n.md", "---\nup: \"[[./Alpha]]\"\n---\n[[./Alpha|a]] ![[./Alpha#H]] [[../P/Alpha]] [[../Top]] [[Alpha]] [[./Gone]]\n")
	move := func(note, to string) map[string]string {
		before := f.files()
		w, err := f.Move(t.Context(), notes.MoveRequest{Note: note, To: to, UpdateLinks: true})
		require.NoError(t, err)
		after := f.files()
		f.requireUndone(w, before, after)
		return after
	}
	files := move("P/n.md", "Z/n.md")
	assert.Equal(t, "---\nup: \"[[../P/Alpha]]\"\n---\n[[../P/Alpha|a]] ![[../P/Alpha#H]] [[../P/Alpha]] [[../Top]] [[Alpha]] [[./Gone]]\n", files["Z/n.md"])
	files = move("P/Alpha.md", "Z/Alpha.md")
	assert.Equal(t, "---\nup: \"[[Alpha]]\"\n---\n[[Alpha|a]] ![[Alpha#H]] [[Alpha]] [[../Top]] [[Alpha]] [[./Gone]]\n", files["Z/n.md"])
	assert.Equal(t, "[[./Z/Alpha]]\n", files["Top.md"])
	files = move("Z/Alpha.md", "Alpha.md")
	assert.Equal(t, "[[Top]]\n", files["Alpha.md"])
	assert.Equal(t, "[[./Alpha]]\n", files["Top.md"])
	f.requireConsistent()

	f = newFixture(t, "Alpha.md", "root\n", "P/Alpha.md", "a\n", "Z/Y/n.md", "[[../../P/Alpha]]\n")
	assert.Equal(t, "[[./Alpha]]\n", move("Z/Y/n.md", "P/n.md")["P/n.md"])
	f = newFixture(t, "Alpha.md", "root\n", "P/Alpha.md", "a\n", "Z/n.md", "[[../P/Alpha]]\n")
	assert.Equal(t, "[[./Alpha]]\n", move("P/Alpha.md", "Z/Alpha.md")["Z/n.md"])

	f = newFixture(t, "logseq/config.edn", "{}\n", "pages/a___b.md", "x\n", "pages/n.md", "[[./a___b]] [[a/b]]\n")
	assert.Equal(t, "[[../pages/a___b]] [[a/b]]\n", move("pages/n.md", "other/n.md")["other/n.md"])
}

// A link that names the folder of an index note names the note, with its extension, once the
// note is no index: GitHub and editors do not add the extension.
func TestMove_FolderLinks(t *testing.T) {
	f := newFixture(t, "Docs/README.md", "# Docs\n", "idx.md", "[d](Docs/) [e](Docs) [h](Docs/#docs) [f](Docs/README.md) [g](Docs/README) [r](/Docs/)\n")
	move := func(note, to string) string {
		before := f.files()
		w, err := f.Move(t.Context(), notes.MoveRequest{Note: note, To: to, UpdateLinks: true})
		require.NoError(t, err)
		after := f.files()
		f.requireUndone(w, before, after)
		return after["idx.md"]
	}
	assert.Equal(t, "[d](Help/) [e](Help) [h](Help/#docs) [f](Help/README.md) [g](Help/README) [r](/Help/)\n", move("Docs/README.md", "Help/README.md"))
	assert.Equal(t, "[d](Help/Guide.md) [e](Help/Guide.md) [h](Help/Guide.md#docs) [f](Help/Guide.md) [g](Help/Guide) [r](/Help/Guide.md)\n", move("Help/README.md", "Help/Guide.md"))
	f.requireConsistent()
}

// Links to a deleted note are redirected to its replacement, in one change; links to other
// notes stay.
func TestDeleteRedirectsLinks(t *testing.T) {
	ctx := t.Context()
	board := `{"nodes":[{"type":"file","file":"P/Old.md"},{"type":"text","text":"[[P/Old]]"}]}`
	f := newFixture(t, "P/Old.md", "# Old\n[[Old]] [[Hub]]\n", "P/New ß.md", "# Part\n[[Old]]\n", "Q/Old.md", "another\n", "board.canvas", board,
		"Hub.md", "---\nup: \"[[P/Old|it]]\"\n---\n[[P/Old#Part|x]] ![[P/Old#^b]] [m](P/Old.md#part) [[Q/Old]] [[Hub]] `[[P/Old]]` [w](https://a.b/P/Old.md)\n",
		"P/Near.md", "[[Old]] [m](Old.md) [[Gone]]\n", "Q/Near.md", "[[Old]]\n")
	before := f.files()
	dry, err := f.Delete(ctx, notes.DeleteRequest{Note: "P/Old", Redirect: "New ß", DryRun: true})
	require.NoError(t, err)
	assert.Zero(t, dry.Change)
	assert.Equal(t, before, f.files())

	w, err := f.Delete(ctx, notes.DeleteRequest{Note: "P/Old", Redirect: "New ß", RequestKey: "k"})
	require.NoError(t, err)
	assert.Equal(t, []string{"Hub.md", "P/Near.md", "P/New ß.md", "board.canvas"}, w.Relinked)
	assert.Equal(t, w.Relinked, dry.Relinked)
	assert.Empty(t, w.LinkedFrom)
	want := maps.Clone(before)
	delete(want, "P/Old.md")
	want["Hub.md"] = "---\nup: \"[[P/New ß|it]]\"\n---\n[[P/New ß#Part|x]] ![[P/New ß#^b]] [m](P/New%20ß.md#part) [[Q/Old]] [[Hub]] `[[P/Old]]` [w](https://a.b/P/Old.md)\n"
	want["P/Near.md"] = "[[New ß]] [m](New%20ß.md) [[Gone]]\n"
	want["P/New ß.md"] = "# Part\n[[New ß]]\n"
	want["board.canvas"] = strings.ReplaceAll(board, "P/Old", "P/New ß")
	assert.Equal(t, want, f.files())
	again, err := f.Delete(ctx, notes.DeleteRequest{Note: "P/Old", Redirect: "New ß", RequestKey: "k"})
	require.NoError(t, err)
	assert.Equal(t, []any{w.Change, w.Relinked}, []any{again.Change, again.Relinked}, "the same request")
	f.reconcile()
	f.requireConsistent()
	links, err := f.Links(ctx, "New ß", notes.LinkQuery{Direction: "in"})
	require.NoError(t, err)
	assert.Len(t, links.Backlinks, 6)

	_, err = f.History().Restore(ctx, notes.RestoreRequest{Change: w.Change})
	require.NoError(t, err)
	assert.Equal(t, before, f.files())
	for ref, sentinel := range map[string]error{"P/Old.md": notes.ErrInvalid, "Nowhere": notes.ErrNotFound, "New ß#Part": notes.ErrInvalid, "Old": notes.ErrAmbiguous, "board.canvas": notes.ErrNotFound} {
		_, err = f.Delete(ctx, notes.DeleteRequest{Note: "P/Old", Redirect: ref})
		require.ErrorIs(t, err, sentinel, ref)
	}
	_, err = f.Delete(ctx, notes.DeleteRequest{Note: "P/Old", Redirect: "New ß", Scope: notes.Scope{Write: []string{"P"}}})
	require.ErrorIs(t, err, notes.ErrForbidden, "a note with a link may not be written")
	assert.Contains(t, domainError(t, err).Hint, "delete without redirect")
	_, err = f.Delete(ctx, notes.DeleteRequest{Note: "P/Old", Redirect: "Hub", Scope: notes.Scope{Read: []string{"P"}}})
	require.ErrorIs(t, err, notes.ErrNotFound, "it may not be read")
	assert.Equal(t, before, f.files())
}

func TestMove_KeepsIdentity(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "Old.md", "o\n")
	old, err := f.Lookup(ctx, "Old", notes.Scope{})
	require.NoError(t, err)
	_, err = f.Move(ctx, notes.MoveRequest{Note: "Old", To: "New.md", UpdateLinks: true})
	require.NoError(t, err)
	moved, err := f.Lookup(ctx, "New", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, old.ID, moved.ID)
	_, err = f.Read(ctx, notes.URI("Old.md"), notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)
	assert.Equal(t, []string{"New.md"}, domainError(t, err).Candidates)
	assert.Contains(t, err.Error(), "moved to")
	page, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "New"})
	require.NoError(t, err)
	require.Len(t, page.Revisions, 2)
	assert.Equal(t, "Old.md", page.Revisions[0].OldPath)
}

// SMB refuses to rename a folder with an open file, such as one that an edit has displaced.
func TestMove_FolderOfDisplacedFile(t *testing.T) {
	f := newFixture(t, "A/N.md", "one\n")
	_, err := f.Edit(t.Context(), notes.EditRequest{Note: "N", Edits: []notes.Edit{{Op: "append", Content: "two"}}})
	require.NoError(t, err)
	f.failpoint = func(step string) error {
		if step == "rename" && !f.late.next().IsZero() {
			return fs.ErrPermission
		}
		return nil
	}
	f.move("A/", "B")
	assert.Equal(t, "one\n\ntwo\n", f.files()["B/N.md"])
}

// TestMove_FolderClosed checks that no folder below one that is renamed is open, because
// Windows would not rename it then.
func TestMove_FolderClosed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("lists the open files in /proc")
	}
	f := newFixture(t, "Q.md", "q\n", "P/N.md", "[q](../Q.md)\n", "P/sub/A.md", "[q](../../Q.md)\n")
	dir, err := filepath.EvalSymlinks(f.dir)
	require.NoError(t, err)
	renamed := false
	f.failpoint = func(step string) error {
		if renamed = renamed || step == "before swap 0"; step != "rename" || !renamed {
			return nil
		}
		f.failpoint = nil
		open, err := filepath.Glob("/proc/self/fd/*")
		require.NoError(t, err)
		require.NotEmpty(t, open)
		for _, fd := range open {
			file, _ := os.Readlink(fd) // fails for the one that listed the folder
			assert.False(t, notes.Under(file, filepath.Join(dir, "P")), file)
		}
		return nil
	}
	f.move("P/", "Z/P")
	assert.Nil(t, f.failpoint)
	assert.Equal(t, map[string]string{"Q.md": "q\n", "Z/P/N.md": "[q](../../Q.md)\n", "Z/P/sub/A.md": "[q](../../../Q.md)\n"}, f.files())
}

// A folder that another program has just renamed keeps its notes' histories, even if another
// folder is to move to its old path before the scan.
func TestMove_FolderOntoOneThatDisappeared(t *testing.T) {
	ctx := t.Context()
	f := newFixture(t, "A/N.md", "one\n", "B/N.md", "two\n")
	for note, text := range map[string]string{"A/N.md": "a", "B/N.md": "b"} {
		_, err := f.Edit(ctx, notes.EditRequest{Note: note, Edits: []notes.Edit{{Op: "append", Content: text}}})
		require.NoError(t, err)
	}
	require.NoError(t, os.Rename(filepath.Join(f.dir, "A"), filepath.Join(f.dir, "C")))
	_, err := f.Move(ctx, notes.MoveRequest{Note: "B/", To: "A"})
	require.ErrorIs(t, err, notes.ErrUnavailable)
	require.NoError(t, f.Reconcile(ctx))
	f.move("B/", "A")
	for note, want := range map[string]string{"A/N.md": "B/N.md", "C/N.md": "A/N.md"} {
		revisions, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: note})
		require.NoError(t, err)
		assert.Equal(t, want, revisions.Revisions[0].OldPath, note)
	}
	f.requireConsistent()
}

func TestMove_Errors(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "A.md", "a [[B]] [[C]]", "B.md", "b", "dir/C.md", "c", "dir/B.md", "other b")
	for _, tt := range []struct {
		note, to string
		want     error
	}{
		{"A", "B.md", notes.ErrExists}, {"A", "b.md", notes.ErrExists}, {"A", "../A.md", notes.ErrInvalid}, {"A", ".git/A.md", notes.ErrInvalid},
		{"A", "A.md", notes.ErrInvalid}, {"dir", "dir/sub", notes.ErrInvalid}, {"nowhere", "X.md", notes.ErrNotFound}, {"A", "con.md", notes.ErrInvalid},
		{"C", "C #1.md", notes.ErrInvalid}, // a wikilink cannot contain the name, and A has a wikilink to it
	} {
		before := f.files()
		_, err := f.Move(ctx, notes.MoveRequest{Note: tt.note, To: tt.to, UpdateLinks: true})
		require.ErrorIs(t, err, tt.want, "%s → %s", tt.note, tt.to)
		assert.NotEqual(t, "create", domainError(t, err).Op, "%s → %s", tt.note, tt.to)
		assert.Equal(t, before, f.files())
	}
}

// TestMove_UnlinkableNames checks that a note may keep a name that links cannot contain
// and may be edited, but no new note gets one.
func TestMove_UnlinkableNames(t *testing.T) {
	f := newFixture(t, "Old/C# [1].md", "text\n", "From.md", "[c](Old/C%23%20[1].md)\n")
	_, err := f.Edit(t.Context(), notes.EditRequest{Note: "Old/C# [1].md", Edits: []notes.Edit{{Op: "append", Content: "more"}}})
	require.NoError(t, err)
	_, err = f.Move(t.Context(), notes.MoveRequest{Note: "Old/C# [1].md", To: "New#1/", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, "text\n\nmore\n", f.onDisk("New#1/C# [1].md"))
	assert.Equal(t, []string{"New#1/C# [1].md"}, f.leads("From.md"))
	_, err = f.Move(t.Context(), notes.MoveRequest{Note: "From", To: "F#.md"})
	require.ErrorIs(t, err, notes.ErrInvalid)
	require.ErrorContains(t, err, "no link could refer to it")
	_, err = f.Create(t.Context(), notes.CreateRequest{Path: "New#1/[[a]].md"})
	require.ErrorIs(t, err, notes.ErrInvalid)
	created, err := f.Create(t.Context(), notes.CreateRequest{Title: "[[a]] #1", Folder: "New#1"})
	require.NoError(t, err)
	assert.Equal(t, "New#1/a 1.md", created.Path)
}

// TestMove_ConcurrentEditor: another program saves a note whose links are about to change.
func TestMove_ConcurrentEditor(t *testing.T) {
	ctx := context.Background()
	start := []string{"Old.md", "o", "A.md", "[[Old]]", "B.md", "[[Old]]"}
	at := func(f *fixture, when string) {
		f.failpoint = func(step string) error {
			if step == when {
				f.write("B.md", "[[Old]] theirs")
			}
			return nil
		}
	}
	t.Run("before the first rename, the move starts again", func(t *testing.T) {
		f := newFixture(t, start...)
		at(f, "staged")
		w, err := f.Move(ctx, notes.MoveRequest{Note: "Old", To: "New.md", UpdateLinks: true})
		require.NoError(t, err)
		assert.Empty(t, w.Conflicts)
		assert.Equal(t, map[string]string{"New.md": "o", "A.md": "[[New]]", "B.md": "[[New]] theirs"}, f.files())
		f.requireConsistent()
	})
	t.Run("and so do its undo and a deletion with redirect", func(t *testing.T) {
		f := newFixture(t, start...)
		w, err := f.Move(ctx, notes.MoveRequest{Note: "Old", To: "New.md", UpdateLinks: true})
		require.NoError(t, err)
		atOnce := func(save func()) {
			f.failpoint = func(step string) error {
				if step == "staged" {
					f.failpoint = nil
					save()
				}
				return nil
			}
		}
		atOnce(func() { f.write("B.md", "[[New]] theirs") })
		w, err = f.History().Restore(ctx, notes.RestoreRequest{Change: w.Change})
		require.NoError(t, err)
		assert.Empty(t, w.Conflicts)
		assert.Equal(t, map[string]string{"Old.md": "o", "A.md": "[[Old]]", "B.md": "[[Old]] theirs"}, f.files())
		atOnce(func() { f.remove("B.md") })
		r := notes.DeleteRequest{Note: "Old", Redirect: "A", ExpectedHash: notes.Hash([]byte("o"))}
		_, err = f.Delete(ctx, r)
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"A.md": "[[A]]"}, f.files())
		f.requireConsistent()
	})
	for _, hash := range []string{"", notes.Hash([]byte("o"))} {
		t.Run("a note saved while it is being deleted stays", func(t *testing.T) {
			f := newFixture(t, start...)
			f.failpoint = func(step string) error {
				if step == "staged" {
					f.write("Old.md", "theirs")
				}
				return nil
			}
			_, err := f.Delete(ctx, notes.DeleteRequest{Note: "Old", Redirect: "A", ExpectedHash: hash})
			require.ErrorIs(t, err, notes.ErrConflict)
			assert.Equal(t, map[string]string{"Old.md": "theirs", "A.md": "[[Old]]", "B.md": "[[Old]]"}, f.files())
		})
	}
	t.Run("after it, that note alone is reported", func(t *testing.T) {
		f := newFixture(t, start...)
		at(f, "after swap 0")
		w, err := f.Move(ctx, notes.MoveRequest{Note: "Old", To: "New.md", UpdateLinks: true})
		require.NoError(t, err)
		assert.Equal(t, []string{"B.md"}, w.Conflicts)
		assert.Equal(t, map[string]string{"New.md": "o", "A.md": "[[New]]", "B.md": "[[Old]] theirs"}, f.files())
	})
	t.Run("a note that links only to itself is not opened", func(t *testing.T) {
		f := newFixture(t, "Old.md", "o", "Contents.md", "[part](#part)\n\n# Part\n")
		f.remove("Contents.md")
		_, err := f.Move(ctx, notes.MoveRequest{Note: "Old", To: "New.md", UpdateLinks: true})
		require.NoError(t, err)
	})
}

// The oracle below resolves links as Obsidian does and shares no code with notesd: it reads
// files with two regular expressions and walks folders.

var (
	oracleWiki = regexp.MustCompile(`\[\[([^\]|#\n]+)[^\]\n]*\]\]`)
	oracleCode = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	oracleRef  = regexp.MustCompile(`(?m)^\[[^\]\n]+\]: <?([^\s>#]+)`)
	oracleMD   = regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
)

type oracleLink struct{ from, to string }

// oracleLinks returns the targets of all links of the vault, by original note name, with
// each note identified by its number.
func oracleLinks(files map[string]string) map[string][]oracleLink {
	id := func(p string) string { // the first line of every note identifies it
		first, _, _ := strings.Cut(files[p], "\n")
		return first
	}
	out := map[string][]oracleLink{}
	for p, text := range files {
		if !strings.HasSuffix(p, ".md") {
			continue
		}
		var links []oracleLink
		text = oracleCode.ReplaceAllString(text, "")
		for _, m := range oracleWiki.FindAllStringSubmatch(text, -1) {
			links = append(links, oracleLink{"w", id(oracleWikiTarget(files, p, m[1]))})
		}
		for _, m := range oracleMD.FindAllStringSubmatch(text, -1) {
			target := strings.ReplaceAll(m[1], "%20", " ")
			links = append(links, oracleLink{"m", id(path.Join(path.Dir(p), target))})
		}
		for _, m := range oracleRef.FindAllStringSubmatch(text, -1) {
			links = append(links, oracleLink{"r", id(path.Join(path.Dir(p), strings.ReplaceAll(m[1], "%20", " ")))})
		}
		out[id(p)] = links
	}
	return out
}

func oracleWikiTarget(files map[string]string, from, link string) string {
	if _, ok := files[link+".md"]; ok {
		return link + ".md"
	}
	best, steps, ties := "", 1<<30, 0
	for p := range files {
		if p == link+".md" || strings.HasSuffix(p, "/"+link+".md") {
			rel, err := filepath.Rel(path.Dir(from), path.Dir(p))
			if err != nil {
				continue
			}
			n := 0
			if rel != "." {
				n = len(strings.Split(rel, string(filepath.Separator)))
			}
			switch {
			case n < steps:
				best, steps, ties = p, n, 1
			case n == steps:
				ties++
			}
		}
	}
	if ties == 1 {
		return best
	}
	return ""
}

// TestMovesAgainstAnOracle moves random notes of random vaults: every link must lead where
// it led, and no other byte may change.
func TestMovesAgainstAnOracle(t *testing.T) {
	seed := uint64(20260101)
	if s := os.Getenv("TEST_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
		seed = n
	}
	moves := notestest.Rounds(40)
	if n, err := strconv.Atoi(os.Getenv("TEST_MOVES")); err == nil {
		moves = n
	}
	t.Logf("TEST_SEED=%d TEST_MOVES=%d", seed, moves)
	rng := rand.New(rand.NewPCG(seed, 1))
	t.Run("generated", func(t *testing.T) { checkMoves(t, rng, moves, newFixture(t, randomVault(rng)...)) })
	for _, dir := range filepath.SplitList(os.Getenv("NOTESD_VAULTS")) { // real vaults, which are not part of this repository
		t.Run(filepath.Base(dir), func(t *testing.T) { checkMoves(t, rng, moves, newFixture(t, realVault(t, dir)...)) })
	}
}

// realVault returns the files of a vault, each note with a unique first line added.
func realVault(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		data, readErr := os.ReadFile(p)
		if rel = filepath.ToSlash(rel); strings.HasPrefix(rel, ".") || strings.Contains(rel, "/.") {
			return errors.Join(err, readErr)
		}
		text := string(data)
		if strings.HasSuffix(rel, ".md") {
			text = fmt.Sprintf("note %d\n%s", len(files)/2, text)
		}
		files = append(files, rel, text)
		return errors.Join(err, readErr)
	}))
	return files
}

func checkMoves(t *testing.T, rng *rand.Rand, moves int, f *fixture) {
	t.Helper()
	ctx := context.Background()
	for i := range moves {
		before := f.files()
		links := oracleLinks(before)
		paths := []string{}
		for p := range before {
			paths = append(paths, p)
		}
		slices.Sort(paths)
		from := paths[rng.IntN(len(paths))]
		to := randomPath(rng)
		if rng.IntN(5) == 0 && strings.Contains(from, "/") { // a whole folder
			from = path.Dir(from)
			to = fmt.Sprintf("moved%d", i)
		}
		var more []string
		if isNote := notes.IsNoteName(from); isNote && rng.IntN(3) == 0 {
			for range 1 + rng.IntN(3) {
				if also := paths[rng.IntN(len(paths))]; notes.IsNoteName(also) {
					more = append(more, also)
				}
			}
			if len(more) > 0 {
				to = path.Dir(to) + "/"
			}
		}
		w, err := f.Move(ctx, notes.MoveRequest{Note: from, More: more, To: to, UpdateLinks: true})
		if err != nil {
			require.True(t, errors.Is(err, notes.ErrExists) || from == to || len(more) > 0 && errors.Is(err, notes.ErrInvalid), "%s → %s: %v", from, to, err)
			continue
		}
		after := f.files()
		now := oracleLinks(after)
		for note, was := range links {
			for j, l := range was {
				if l.to != "" {
					require.Equal(t, l, now[note][j], "move %d, %s %v → %s: link %d of %s; rewritten: %v; before:\n%s", i, from, more, w.Path, j, note, w.Relinked, textOf(before, note))
				}
			}
		}
		requireSameBesidesLinks(t, before, after)
		if i%3 == 0 {
			f.requireUndone(w, before, after)
		}
		queued, _ := f.queue.Take()
		require.NoError(t, f.reconcilePaths(ctx, queued))
	}
	f.requireConsistent()
}

// textOf returns the text of the note with this first line.
func textOf(files map[string]string, first string) string {
	for _, text := range files {
		if strings.HasPrefix(text, first+"\n") {
			return text
		}
	}
	return ""
}

// requireSameBesidesLinks compares all texts after blanking the targets of links.
func requireSameBesidesLinks(t *testing.T, before, after map[string]string) {
	t.Helper()
	texts := func(files map[string]string) []string {
		out := []string{}
		for _, text := range files {
			for _, link := range []*regexp.Regexp{oracleWiki, oracleMD, oracleRef} {
				text = link.ReplaceAllStringFunc(text, func(m string) string { return strings.Replace(m, link.FindStringSubmatch(m)[1], "@", 1) })
			}
			out = append(out, text)
		}
		slices.Sort(out)
		return out
	}
	was, is := texts(before), texts(after)
	require.Len(t, is, len(was))
	for i := range was {
		if was[i] != is[i] {
			require.Empty(t, store.ShortDiff([]byte(was[i]), []byte(is[i]), "a note"), "bytes besides link targets changed")
		}
	}
}

var oracleFolders = []string{"", "a/", "b/", "a/c/", "b/c/", "d e/"}

func randomPath(rng *rand.Rand) string {
	return fmt.Sprintf("%sn%d.md", oracleFolders[rng.IntN(len(oracleFolders))], rng.IntN(12))
}

func randomVault(rng *rand.Rand) []string {
	paths := map[string]bool{}
	for len(paths) < 40 {
		paths[randomPath(rng)] = true
	}
	list := []string{}
	for p := range paths {
		list = append(list, p)
	}
	slices.Sort(list)
	var files []string
	for i, p := range list {
		var b strings.Builder
		fmt.Fprintf(&b, "note %d\n", i)
		for range 6 {
			target := strings.TrimSuffix(list[rng.IntN(len(list))], ".md")
			relative := func(target string) string {
				rel, err := filepath.Rel(path.Dir(p), target)
				if err != nil {
					panic(err) // cannot happen: both are vault-relative paths
				}
				return strings.ReplaceAll(filepath.ToSlash(rel), " ", "%20")
			}
			switch other := strings.TrimSuffix(list[rng.IntN(len(list))], ".md"); rng.IntN(6) {
			case 0:
				fmt.Fprintf(&b, "see [[%s]] and\n", path.Base(target))
			case 1:
				fmt.Fprintf(&b, "see [[%s#h|shown]] and\n", target)
			case 2:
				fmt.Fprintf(&b, "embed ![[%s]]\n", path.Base(target))
			case 3:
				fmt.Fprintf(&b, "a [link](%s.md#x)\n", relative(target))
			case 4:
				fmt.Fprintf(&b, "a [![linked](%s.md) image](%s.md#x)\n", relative(other), relative(target))
			case 5:
				fmt.Fprintf(&b, "a [linked ![[%s]] embed](%s.md)\n", path.Base(other), relative(target))
			}
		}
		files = append(files, p, b.String())
	}
	return files
}

func TestLookup_URIIsExact(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "dir/n.md", "text")
	_, err := f.Lookup(ctx, "n.md", notes.Scope{})
	require.NoError(t, err, "a name finds the note")
	_, err = f.Read(ctx, notes.URI("n.md"), notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound, "a URI does not")
}

// TestFolderInAnotherUnicodeForm writes to a folder whose name on disk is decomposed, as most
// programs on macOS write it, by its composed name.
func TestFolderInAnotherUnicodeForm(t *testing.T) {
	nfd := norm.NFD.String("Café/Crème")
	f := newFixture(t, nfd+"/A.md", "[[Café/Crème/B]]\n", nfd+"/B.md", "b\n", "Home.md", "[[Café/Crème/A]]\n")
	ctx := t.Context()
	does := func(_ notes.Written, err error) {
		t.Helper()
		require.NoError(t, err)
		f.requireConsistent()
	}
	does(f.Create(ctx, notes.CreateRequest{Path: "Café/Crème/New.md", Content: "n\n"}))
	does(f.Move(ctx, notes.MoveRequest{Note: "Home.md", To: "Café", UpdateLinks: true}))
	does(f.Delete(ctx, notes.DeleteRequest{Note: "Café/Crème/B.md"}))
	does(f.History().Restore(ctx, notes.RestoreRequest{Note: "Café/Crème/B.md", Revision: f.revisions("Café/Crème/B.md")[1].Revision}))
	assert.Len(t, f.dirs(), 2, "no folder was made in the other form")
	does(f.Move(ctx, notes.MoveRequest{Note: "Café/Crème", To: "Café/Thé", UpdateLinks: true}))
	cafe := norm.NFD.String("Café/")
	assert.Equal(t, map[string]string{cafe + "Thé/A.md": "[[Café/Thé/B]]\n", cafe + "Thé/B.md": "b\n", cafe + "Thé/New.md": "n\n", cafe + "Home.md": "[[Café/Thé/A]]\n"}, f.files())
	f.restart()
	f.requireConsistent()
}

// A name shared by a folder and a note is ambiguous, unless the note is beside the folder and
// the new path is that of a note.
func TestMoveOfAFolderWithTheNameOfANote(t *testing.T) {
	f := newFixture(t, "Clippings/a.md", "a", "Categories/Clippings.md", "c", "Daily.md", "d", "Daily/x.md", "x")
	before := f.files()
	_, err := f.Move(t.Context(), notes.MoveRequest{Note: "Clippings", To: "Web"})
	require.ErrorIs(t, err, notes.ErrAmbiguous)
	assert.Equal(t, []string{"Clippings/", "Categories/Clippings.md"}, domainError(t, err).Candidates)
	for _, to := range []string{"Archive/", "Archive/Daily"} {
		_, err = f.Move(t.Context(), notes.MoveRequest{Note: "Daily", To: to})
		require.ErrorIs(t, err, notes.ErrAmbiguous)
		assert.Equal(t, []string{"Daily/", "Daily.md"}, domainError(t, err).Candidates)
	}
	assert.Equal(t, before, f.files())
	for _, m := range [][2]string{{"Clippings/", "Web"}, {"Categories/Clippings.md", "Categories/Web.md"}, {"Daily", "Journal.md"}, {"Daily/", "Journal"}} {
		_, err := f.Move(t.Context(), notes.MoveRequest{Note: m[0], To: m[1]})
		require.NoError(t, err, m)
	}
	assert.Equal(t, map[string]string{"Web/a.md": "a", "Categories/Web.md": "c", "Journal.md": "d", "Journal/x.md": "x"}, f.files())
	_, err = f.Lookup(t.Context(), "Web", notes.Scope{Read: []string{"Categories"}})
	require.NoError(t, err)
	_, err = f.Move(t.Context(), notes.MoveRequest{Note: "Web", To: "Categories/Net.md", DryRun: true, Scope: notes.Scope{Read: []string{"Categories"}}})
	require.NoError(t, err, "a folder outside of the scope is no other meaning")
}

// TestMove_FolderInTwoUnicodeForms: a ZIP file made on macOS, unpacked elsewhere, may leave two
// folders with one path. Renaming one of them moves only its own notes.
func TestMove_FolderInTwoUnicodeForms(t *testing.T) {
	f := newFixture(t, "Bücher/A.md", "a", norm.NFD.String("Bücher/B.md"), "b", "L.md", "[[Bücher/B]]")
	before := f.files()
	if _, err := os.Stat(filepath.Join(f.dir, norm.NFD.String("Bücher/A.md"))); err == nil {
		t.Skip("this file system folds Unicode forms")
	}
	_, err := f.Move(t.Context(), notes.MoveRequest{Note: "Bücher", To: "Books", UpdateLinks: true})
	require.ErrorIs(t, err, notes.ErrInvalid)
	assert.Equal(t, "Bücher/B.md", domainError(t, err).Path)
	assert.Equal(t, before, f.files())
	f.requireConsistent()
	require.NoError(t, os.Rename(filepath.Join(f.dir, norm.NFD.String("Bücher/B.md")), filepath.Join(f.dir, "Bücher/B.md")))
	f.reconcile()
	_, err = f.Move(t.Context(), notes.MoveRequest{Note: "Bücher", To: "Books", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"Books/A.md": "a", "Books/B.md": "b", "L.md": "[[Books/B]]"}, f.files())
}

// TestFolderMoveKeepsWhatIsIgnored checks that a move does not turn ignored files into
// notes, and that access to part of a folder does not allow moving all of it.
func TestFolderMoveKeepsWhatIsIgnored(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		name     string
		ignore   []string
		scope    notes.Scope
		from, to string
		want     error // nil: moved
	}{
		{"a pattern with the folder's path", []string{"Work/Secrets/**"}, notes.Scope{}, "Work", "Open", notes.ErrForbidden},
		{"of names", []string{"pw.md"}, notes.Scope{}, "Work", "Open", nil},
		{"of names in any folder called so", []string{"**/Secrets/**"}, notes.Scope{}, "Work", "Open", nil},
		{"hidden files stay hidden", nil, notes.Scope{}, "Work", "Open", nil},
		{"out of scope, all ignored", []string{"Private/keys/*"}, notes.Scope{Read: []string{"Public"}}, "Private/keys", "Public/k", notes.ErrNotFound},
		{"out of scope, notes ignored", []string{"Private/**/*.md"}, notes.Scope{Read: []string{"Public"}}, "Private", "Public/x", notes.ErrNotFound},
		{"out of scope, no notes", nil, notes.Scope{Read: []string{"Public"}}, "Private/empty", "Public/e", notes.ErrNotFound},
		{"into what may not be written", nil, notes.Scope{Read: []string{"Public", "Work"}, Write: []string{"Public"}}, "Public/in", "Work/in", notes.ErrForbidden},
		{"from what may not be written", nil, notes.Scope{Read: []string{"Public", "Work"}, Write: []string{"Public"}}, "Work", "Public/Work", notes.ErrForbidden},
		{"above the scope", nil, notes.Scope{Read: []string{"Work/Secrets"}}, "Work", "Work/Secrets/x", notes.ErrInvalid},
		{"above the scope, away", nil, notes.Scope{Read: []string{"Private/keys"}}, "Private", "Elsewhere", notes.ErrForbidden},
		{"within the scope", nil, notes.Scope{Read: []string{"Public"}}, "Public/in", "Public/out", nil},
		{"without notes, within the scope", nil, notes.Scope{Read: []string{"Private"}}, "Private/empty", "Private/full", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			for name, text := range map[string]string{"Work/n.md": "n", "Work/.h.md": "hidden", "Work/Secrets/pw.md": "hunter2", "Private/keys/k.md": "k", "Private/p.md": "p", "Private/empty/.keep": "", "Public/in/a.md": "[[p]]"} {
				f.write(name, text)
			}
			require.NoError(t, f.store.Close())
			f.open(Options{Ignore: tt.ignore})
			f.reconcile()
			before := f.files()
			_, err := f.Move(ctx, notes.MoveRequest{Note: tt.from, To: tt.to, UpdateLinks: true, Scope: tt.scope})
			if tt.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tt.want)
			assert.Equal(t, before, f.files())
			assert.NotRegexp(t, `p\.md|k\.md|pw`, domainError(t, err).Error())
		})
	}
}

// A rewritten note is parsed again: here, the backtick in the new name would make code of
// the link.
func TestMove_ParsesAgain(t *testing.T) {
	f := newFixture(t, "A.md", "a ` [[B]]\n", "B.md", "b\n")
	before := f.files()
	_, err := f.Move(t.Context(), notes.MoveRequest{Note: "B", To: "x`y.md", UpdateLinks: true})
	require.ErrorIs(t, err, notes.ErrInvalid)
	assert.ErrorContains(t, err, `the links in "A.md" cannot be rewritten without changing something else`)
	assert.Equal(t, before, f.files())
}

// A link that the moved note now diverts is not rewritten if that would show the caller the
// path of a note that it may not read.
func TestMove_DivertedLinkOutOfScope(t *testing.T) {
	f := newFixture(t, "P/A.md", "[[S]]\n", "P/B.md", "b\n", "Secret/S.md", "s\n")
	w, err := f.Move(t.Context(), notes.MoveRequest{Note: "P/B.md", To: "P/S.md", UpdateLinks: true, Scope: notes.Scope{Read: []string{"P"}}})
	require.NoError(t, err)
	assert.Empty(t, w.Relinked)
	assert.Equal(t, "[[S]]\n", f.onDisk("P/A.md"))
}

// TestMove_LinkOutOfScope: a link to a file that the scope does not cover still leads to its path.
func TestMove_LinkOutOfScope(t *testing.T) {
	f := newFixture(t, "Pub/s/t/a.md", "[x](../../../Private/X.md/)\n", "Private/X.md", "x")
	_, err := f.Move(t.Context(), notes.MoveRequest{Note: "Pub/s/t/", To: "Pub/s/u/t/", UpdateLinks: true, Scope: notes.Scope{Read: []string{"Pub"}}})
	require.NoError(t, err)
	assert.Equal(t, "[x](../../../../Private/X.md)\n", f.onDisk("Pub/s/u/t/a.md"))
}

// TestErrorsNameNothingOutOfScope checks that errors reveal neither notes outside the scope
// nor links to or from them.
func TestErrorsNameNothingOutOfScope(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "Public/a.md", "a", "Private/Hidden.md", "[[Public/a]] [a](../Public/a.md) [[Public/h#One]]\n", "A.md", "a file", "Public/h.md", "# One\n")
	public := notes.Scope{Read: []string{"Public"}}
	for name, change := range map[string]func() error{
		"move": func() error {
			_, err := f.Move(ctx, notes.MoveRequest{Note: "Public/a.md", To: "Public/b/c.md", UpdateLinks: true, Scope: public})
			return err
		},
		"redirect": func() error {
			_, err := f.Delete(ctx, notes.DeleteRequest{Note: "Public/a.md", Redirect: "Public/h.md", Scope: public})
			return err
		},
		"move, no link": func() error {
			_, err := f.Move(ctx, notes.MoveRequest{Note: "Public/a.md", To: "Public/b #1/c.md", UpdateLinks: true, Scope: public})
			return err
		},
		"rename a heading": func() error {
			_, err := f.Edit(ctx, notes.EditRequest{Note: "Public/h.md", Edits: []notes.Edit{{Op: "rename_heading", Heading: "One", New: "Two"}}, Scope: public})
			return err
		},
		"rename a heading, no link": func() error {
			_, err := f.Edit(ctx, notes.EditRequest{Note: "Public/h.md", Edits: []notes.Edit{{Op: "rename_heading", Heading: "One", New: "Two ]] three"}}, Scope: public})
			return err
		},
		"create": func() error {
			_, err := f.Create(ctx, notes.CreateRequest{Path: "private/hidden.md", Scope: public})
			return err
		},
		"create titled": func() error {
			_, err := f.Create(ctx, notes.CreateRequest{Title: "hidden", Folder: "private", Scope: public})
			return err
		},
	} {
		err := change()
		require.ErrorIs(t, err, notes.ErrForbidden, name)
		e := domainError(t, err)
		assert.NotContains(t, strings.Join(append(e.Candidates, e.Error(), e.Hint), " "), "Hidden", name)
		assert.NotContains(t, e.Error(), "exists", name)
	}
	for _, r := range []notes.CreateRequest{{Folder: "A.md", Title: "x"}, {Path: "A.md/x.md"}, {Path: "A.md/deep/x.md"}} {
		_, err := f.Create(ctx, r)
		require.ErrorIs(t, err, notes.ErrInvalid)
		assert.Contains(t, domainError(t, err).Error(), "is a file")
	}
	_, err := f.Move(ctx, notes.MoveRequest{Note: "Public/a.md", To: "A.md/x.md"})
	require.ErrorIs(t, err, notes.ErrInvalid)
	assert.Contains(t, domainError(t, err).Error(), "is a file")
	require.NoError(t, os.Symlink("/", filepath.Join(f.dir, "root")))
	for _, p := range []string{"root/x.md", "root/etc/x.md"} {
		_, err := f.Create(ctx, notes.CreateRequest{Path: p})
		require.ErrorIs(t, err, notes.ErrForbidden)
		assert.Contains(t, domainError(t, err).Error(), "symlink")
	}
}

// TestWrite_PromptsFolder checks that no tool can write below a protected folder; the user
// can, with an editor.
func TestWrite_PromptsFolder(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "Meta/Prompts/p.md", "first\n", "a.md", "a [[p]]", "X/Prompts/q.md", "q")
	f.open(Options{Protected: func() []string { return []string{"Meta/Prompts"} }})
	f.reconcile()
	_, err := f.Edit(ctx, notes.EditRequest{Note: "p", Edits: []notes.Edit{{Op: "append", Content: "x"}}})
	require.ErrorIs(t, err, notes.ErrForbidden)
	_, err = f.Delete(ctx, notes.DeleteRequest{Note: "p"})
	require.ErrorIs(t, err, notes.ErrForbidden)
	for _, p := range []string{"Meta/Prompts/n.md", "meta/prompts/n.md", "Meta/Prompts/deep/n.md"} {
		_, err = f.Create(ctx, notes.CreateRequest{Path: p})
		require.ErrorIs(t, err, notes.ErrForbidden, p)
		assert.Contains(t, domainError(t, err).Error(), "prompts")
	}
	for from, to := range map[string]string{"a.md": "Meta/Prompts/", "Meta": "M", "Meta/Prompts": "P", "p": "p.md", "X": "Meta/Prompts/X"} {
		_, err = f.Move(ctx, notes.MoveRequest{Note: from, To: to, UpdateLinks: true})
		require.ErrorIs(t, err, notes.ErrForbidden, "%s → %s", from, to)
	}
	f.write("Meta/Prompts/p.md", "second\n")
	note, err := f.Read(ctx, "p", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "second\n", note.Content)
	f.rename("Meta", "Elsewhere")
	f.reconcile()
	_, err = f.Move(ctx, notes.MoveRequest{Note: "X", To: "Meta"})
	require.ErrorIs(t, err, notes.ErrForbidden, "a folder whose prompts would be the user's")
}

// A canvas that its owner has made read-only stays as it is, and is named.
func TestMove_ReadOnlyCanvas(t *testing.T) {
	f := newFixture(t, "A.md", "x\n", "B.canvas", `{"nodes":[{"file":"A.md"}]}`)
	require.NoError(t, os.Chmod(filepath.Join(f.dir, "B.canvas"), 0o444))
	before := f.files()["B.canvas"]
	w, err := f.Move(t.Context(), notes.MoveRequest{Note: "A", To: "C.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"B.canvas"}, w.Left)
	assert.Equal(t, before, f.files()["B.canvas"])

	require.NoError(t, os.Chmod(filepath.Join(f.dir, "B.canvas"), 0o644))
	_, err = f.Move(t.Context(), notes.MoveRequest{Note: "C", To: "A.md", UpdateLinks: true})
	require.NoError(t, err)
	w, err = f.Move(t.Context(), notes.MoveRequest{Note: "A", To: "C.md", UpdateLinks: true})
	require.NoError(t, err)
	require.NoError(t, os.Chmod(filepath.Join(f.dir, "B.canvas"), 0o444))
	w, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: w.Change})
	require.NoError(t, err, "an undo goes on without it, too")
	assert.Contains(t, f.files(), "A.md")
	assert.Equal(t, []string{"B.canvas"}, append(w.Left, w.Conflicts...))
}

// TestCanvasesAndBasesFollowAMove checks that only paths change, including in a canvas that
// moves with its folder, and that moving back restores every byte.
func TestCanvasesAndBasesFollowAMove(t *testing.T) {
	ctx := context.Background()
	canvas := "{\n\t\"nodes\":[\n\t\t{\"id\":\"1\",\"type\":\"file\",\"file\":\"P/Old.md\",\"subpath\":\"#h\", \"x\":1.50},\n" +
		"\t\t{\"id\":\"2\",\"type\":\"text\",\"text\":\"P\\/Old.md\", \"file\" : \"P\\/Old.md\"}, {\"type\":\"group\",\"label\":\"P/Old.md\",\"background\":\"P/i.png\"},\n" +
		"\t\t{\"type\":\"file\",\"file\":\"PQ/Old.md\",\"meta\":{\"file\":\"P/Old.md\"}}\n\t],\n\t\"edges\":[{\"file\":\"P/Old.md\"}]\n}\n"
	base := "filters:\n  and:\n    - file.inFolder(\"P\") # the folder\n    - 'file.path != \"P/Old.md\"'\n    - \"file.hasLink(\\\"Old\\\")\"\nviews:\n  - type: table\n    name: P\n    filters: link('P/Old') == this && file.folder == \"P/sub\" && inFolder(\"PQ\")\n"
	start := []string{"P/Old.md", "o", "P/i.png", "i", "P/sub/x.md", "x", "PQ/Old2.md", "q", "B.canvas", canvas, "T.base", base, "P/in.canvas", `{"nodes":[{"file":"P/Old.md"}]}`}
	moved := func(from, to string) (*fixture, notes.Written) {
		f := newFixture(t, start...)
		dry, err := f.Move(ctx, notes.MoveRequest{Note: from, To: to, UpdateLinks: true, DryRun: true})
		require.NoError(t, err)
		w, err := f.Move(ctx, notes.MoveRequest{Note: from, To: to, UpdateLinks: true})
		require.NoError(t, err)
		assert.Equal(t, dry.Relinked, w.Relinked)
		assert.Empty(t, w.Conflicts)
		assert.Empty(t, w.Left)
		queued, _ := f.queue.Take()
		require.NoError(t, f.reconcilePaths(ctx, queued))
		f.requireConsistent()
		return f, w
	}
	f, w := moved("P/Old.md", "New ß.md")
	assert.Equal(t, []string{"B.canvas", "P/in.canvas", "T.base"}, w.Relinked)
	want := strings.ReplaceAll(canvas, `"file":"P/Old.md","subpath"`, `"file":"New ß.md","subpath"`)
	want = strings.ReplaceAll(want, `"file" : "P\/Old.md"`, `"file" : "New ß.md"`)
	assert.Equal(t, want, f.onDisk("B.canvas"))
	assert.Equal(t, strings.NewReplacer(`!= "P/Old.md"`, `!= "New ß.md"`, `hasLink(\"Old\")`, `hasLink(\"New ß\")`, "link('P/Old')", "link('New ß')").Replace(base), f.onDisk("T.base"))
	assert.JSONEq(t, `{"nodes":[{"file":"New ß.md"}]}`, f.onDisk("P/in.canvas"))
	_, err := f.Lookup(ctx, "B.canvas", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound, "it is no note")
	_, err = f.History().Revisions(ctx, notes.HistoryQuery{Note: "B.canvas"})
	require.Error(t, err)

	f, w = moved("P", "Archive/Q")
	assert.Equal(t, []string{"B.canvas", "Archive/Q/in.canvas", "T.base"}, w.Relinked)
	assert.JSONEq(t, `{"nodes":[{"file":"Archive/Q/Old.md"}]}`, f.onDisk("Archive/Q/in.canvas"))
	assert.Contains(t, f.onDisk("B.canvas"), `"background":"Archive/Q/i.png"`)
	assert.Contains(t, f.onDisk("B.canvas"), `"file":"PQ/Old.md"`)
	assert.Equal(t, strings.NewReplacer(`inFolder("P")`, `inFolder("Archive/Q")`, `!= "P/Old.md"`, `!= "Archive/Q/Old.md"`, "link('P/Old')", "link('Archive/Q/Old')", `"P/sub"`, `"Archive/Q/sub"`).Replace(base), f.onDisk("T.base"))
	_, err = f.Move(ctx, notes.MoveRequest{Note: "Archive/Q", To: "P", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, base, f.onDisk("T.base"))
	assert.Equal(t, strings.ReplaceAll(canvas, `"file" : "P\/Old.md"`, `"file" : "P/Old.md"`), f.onDisk("B.canvas"))
}

// Links in the cards of a canvas follow moves and renamed headings, as links in notes do,
// and can be undone; code and all other text stays.
func TestCanvas_CardLinks(t *testing.T) {
	ctx := t.Context()
	card := func(text string) string {
		return "{\n\t\"nodes\":[\n\t\t{\"id\":\"1\",\"type\":\"text\",\"text\":\"" + text + "\",\"x\":1}\n\t]\n}"
	}
	links := `## To do\n[[Old#Late delivery|risks]] ![[Old]] [r](<../P/Old.md#Late delivery>) [[Other]] \"q\"\n` + "`[[Old]]`" + ` [[#Late delivery]] 1<2 [x](https://example.org/Old)`
	f := newFixture(t, "P/Old.md", "# Old\n## Late delivery\n", "Other.md", "o", "C/B.canvas", card(links), "C/Lone.canvas", card(`[[Old]] \ud800`))
	lone := f.onDisk("C/Lone.canvas")

	w, err := f.Move(ctx, notes.MoveRequest{Note: "P/Old.md", To: "New.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"C/B.canvas"}, w.Relinked)
	moved := strings.NewReplacer("[[Old#", "[[New#", "![[Old]]", "![[New]]", "../P/Old.md#", "../New.md#").Replace(links)
	assert.Equal(t, card(moved), f.onDisk("C/B.canvas"))
	assert.Equal(t, lone, f.onDisk("C/Lone.canvas"), "what cannot be written again is not touched")

	renamed, err := f.Edit(ctx, notes.EditRequest{Note: "New", Edits: []notes.Edit{{Op: "rename_heading", Heading: "Late delivery", New: "Delays"}}})
	require.NoError(t, err)
	assert.Equal(t, []string{"C/B.canvas"}, renamed.Relinked)
	assert.Equal(t, card(strings.NewReplacer("New#Late delivery", "New#Delays", "New.md#Late delivery", "New.md#Delays").Replace(moved)), f.onDisk("C/B.canvas"))

	for _, change := range []int64{renamed.Change, w.Change} {
		_, err = f.History().Restore(ctx, notes.RestoreRequest{Change: change})
		require.NoError(t, err)
	}
	assert.Equal(t, card(links), f.onDisk("C/B.canvas"))
	f.requireConsistent()

	w, err = f.Move(ctx, notes.MoveRequest{Note: "P", To: "Q/R", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"C/B.canvas"}, w.Relinked)
	assert.Equal(t, card(strings.ReplaceAll(links, "../P/Old.md", "../Q/R/Old.md")), f.onDisk("C/B.canvas"))
}

// A card may spell the moved note otherwise than its path, or be in the folder that moves.
func TestCanvas_CardLinksInOtherSpellings(t *testing.T) {
	card := func(text string) string {
		return `{"nodes":[{"id":"1","type":"text","text":"` + text + `"}]}`
	}
	f := newFixture(t, "P/Late plan.md", "l", "Other.md", "o", "202602140930 Tides.md", "t",
		"A.canvas", card("[r](P/Late%20plan.md) [[late plan]] [[202602140930]]"), "P/B.canvas", card("[x](../Other.md)"))
	for _, step := range []struct{ note, to, canvas, want string }{
		{"P/Late plan.md", "P/New.md", "A.canvas", card("[r](P/New.md) [[New]] [[202602140930]]")},
		{"202602140930 Tides.md", "Ebb.md", "A.canvas", card("[r](P/New.md) [[New]] [[Ebb]]")},
		{"P", "Deep/er", "Deep/er/B.canvas", card("[x](../../Other.md)")},
	} {
		_, err := f.Move(t.Context(), notes.MoveRequest{Note: step.note, To: step.to, UpdateLinks: true})
		require.NoError(t, err)
		assert.Equal(t, step.want, f.onDisk(step.canvas))
		f.reconcile()
	}
}

// TestCanvas_Broken also covers a canvas that may not be written.
func TestCanvas_Broken(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "W/Old.md", "o", "Broken.canvas", `{"nodes":[{"file":"W/Old.md"}`, "Other.canvas", `{"nodes":[`, "Broken.base", "a: [\nb: file.path == \"W/Old.md\"\n",
		"W/Fine.canvas", `{"nodes":[{"file":"W/Old.md"}]}`, "Quote.base", "filters: file.path == 'W/Old.md'\n")
	before := f.files()
	w, err := f.Move(ctx, notes.MoveRequest{Note: "W/Old.md", To: "W/it's.md", UpdateLinks: true, Scope: notes.Scope{Write: []string{"W"}}})
	require.NoError(t, err)
	assert.Equal(t, []string{"Broken.base", "Broken.canvas", "Quote.base"}, w.Left)
	assert.Equal(t, []string{"W/Fine.canvas"}, w.Relinked)
	after := f.files()
	for _, name := range append(w.Left, "Other.canvas") {
		assert.Equal(t, before[name], after[name])
	}
	w, err = f.Move(ctx, notes.MoveRequest{Note: "W/it's.md", To: "W/Old.md", UpdateLinks: true, Scope: notes.Scope{Read: []string{"W"}}})
	require.NoError(t, err)
	assert.Empty(t, w.Left, "names nothing out of scope")
}

// TestCanvas_Unreadable checks that a move reports a canvas whose text is not known.
func TestCanvas_Unreadable(t *testing.T) {
	canvas := `{"nodes":[{"file":"Old.md"}]}`
	f := newFixture(t, "Old.md", "o", "W/Big.canvas", canvas+strings.Repeat(" ", notes.MaxAttachmentBytes), "b.canvas", canvas, "Gone.canvas", canvas)
	f.rename("b.canvas", ".b.canvas.icloud")
	f.reconcile()
	f.remove("Gone.canvas")
	w, err := f.Move(t.Context(), notes.MoveRequest{Note: "Old", To: "W/New.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"W/Big.canvas", "b.canvas"}, w.Left)
	w, err = f.Move(t.Context(), notes.MoveRequest{Note: "New", To: "W/Newer.md", UpdateLinks: true, Scope: notes.Scope{Read: []string{"W"}}})
	require.NoError(t, err)
	assert.Equal(t, []string{"W/Big.canvas"}, w.Left, "names nothing out of scope")
}

// TestMove_CanvasLargerThanNotes: the limit for notes does not apply to canvases.
func TestMove_CanvasLargerThanNotes(t *testing.T) {
	canvas := func(file string) string {
		return `{"nodes":[{"type":"file","file":"` + file + `"}]}` + strings.Repeat(" ", 3<<19)
	}
	f := newFixture(t, "A.md", "a\n", "c.canvas", canvas("A.md"))
	f.opt.MaxNoteBytes = 64 << 10
	w, err := f.Move(t.Context(), notes.MoveRequest{Note: "A.md", To: "B.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"c.canvas"}, w.Relinked)
	assert.Equal(t, canvas("B.md"), f.onDisk("c.canvas"))
}

// TestCanvas_SameOperation checks that recovery of an interrupted move includes the
// canvases that refer to the note.
func TestCanvas_SameOperation(t *testing.T) {
	ctx := context.Background()
	for _, step := range []string{"journalled", "staged", "after swap 0", "before swap 1", "after swap 1", "stored", "finished"} {
		f := newFixture(t, "Old.md", "o", "B.canvas", `{"nodes":[{"file":"Old.md"}]}`)
		f.failpoint = func(at string) error {
			if at == step {
				return errKilled
			}
			return nil
		}
		_, err := f.Move(ctx, notes.MoveRequest{Note: "Old.md", To: "New.md", UpdateLinks: true})
		require.ErrorIs(t, err, errKilled, step)
		f.restart()
		assert.Equal(t, map[string]string{"New.md": "o", "B.canvas": `{"nodes":[{"file":"New.md"}]}`}, f.files(), step)
		f.requireConsistent()
		documents := 0
		require.NoError(t, f.store.History().Reader().QueryRowContext(ctx, `SELECT count(*) FROM documents`).Scan(&documents))
		assert.LessOrEqual(t, documents, 1, "a canvas has no history of its own")
	}
}

// TestCanvas_PathSpellings covers paths with escapes or in another Unicode form.
func TestCanvas_PathSpellings(t *testing.T) {
	f := newFixture(t, "café.md", "c", "A.canvas", `{"nodes":[{"file":"caf\u00e9.md"},{"file":"cafe`+"\u0301"+`.md"}]}`)
	w, err := f.Move(context.Background(), notes.MoveRequest{Note: "café.md", To: "tea.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"A.canvas"}, w.Relinked)
	assert.JSONEq(t, `{"nodes":[{"file":"tea.md"},{"file":"tea.md"}]}`, f.onDisk("A.canvas"))
}

// TestMovesRightAfterAFolderMove checks that a move finds attachments and canvases in a
// folder that has moved before the scan that follows.
func TestMovesRightAfterAFolderMove(t *testing.T) {
	f := newFixture(t, "P/img/i.png", "png", "P/sub/One.md", "![](../img/i.png) ![[i.png]]\n", "Far.md", "![](P/img/i.png)\n",
		"X.md", "x\n", "P/B.canvas", `{"nodes":[{"id":"1","type":"file","file":"X.md"}]}`)
	for _, m := range [][2]string{{"P/", "Q"}, {"Q/sub/One.md", "R/One.md"}, {"X.md", "Y.md"}, {"Far.md", "R/Far.md"}} {
		_, err := f.Move(t.Context(), notes.MoveRequest{Note: m[0], To: m[1], UpdateLinks: true})
		require.NoError(t, err, m)
	}
	assert.Equal(t, "![](../Q/img/i.png) ![[i.png]]\n", f.onDisk("R/One.md"))
	assert.Equal(t, "![](../Q/img/i.png)\n", f.onDisk("R/Far.md"))
	assert.Contains(t, f.onDisk("Q/B.canvas"), `"file":"Y.md"`)
	f.requireConsistent()
}

// A move and a change of a tag find what other programs saved just before, of which the
// watcher has not reported anything yet.
func TestMove_UnreportedSaves(t *testing.T) {
	f := newFixture(t, "A.md", "# A\n")
	f.write("New.md", "#t\n")
	f.write("B.md", "[[New]] [[A]] #t\n")
	_, err := f.Move(t.Context(), notes.MoveRequest{Note: "New.md", To: "Sub/Newer.md", UpdateLinks: true})
	require.NoError(t, err)
	f.write("C.md", "[[A#Part]] #t\n")
	_, err = f.Move(t.Context(), notes.MoveRequest{Note: "A.md", To: "AA.md", UpdateLinks: true})
	require.NoError(t, err)
	f.write("D.md", "#t\n")
	_, err = f.Edit(t.Context(), notes.EditRequest{Note: "D.md", Edits: []notes.Edit{{Op: "append", Content: "more"}}})
	require.NoError(t, err)
	_, err = f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "t", To: "u"})
	require.NoError(t, err)
	for name, want := range map[string]string{"B.md": "[[Newer]] [[AA]] #u\n", "C.md": "[[AA#Part]] #u\n", "D.md": "#u\n\nmore\n", "Sub/Newer.md": "#u\n"} {
		assert.Equal(t, want, f.onDisk(name), name)
	}
}

// If many notes were deleted just before, only a full scan can tell whether the folder is
// suddenly empty. Until then, a move does nothing, and edits still say that a note is missing.
func TestMove_AfterManyDeletions(t *testing.T) {
	f := newFixture(t, "A.md", "# A\n", "K.md", "- [ ] x\n")
	for i := range SuspiciouslyMany {
		f.write(fmt.Sprintf("Old/%d.md", i), "old\n")
	}
	f.reconcile()
	require.NoError(t, os.RemoveAll(filepath.Join(f.dir, "Old")))
	f.write("C.md", "[[A]]\n")
	move := func() error {
		_, err := f.Move(t.Context(), notes.MoveRequest{Note: "A", To: "AA", UpdateLinks: true})
		return err
	}
	err := move()
	require.ErrorIs(t, err, notes.ErrUnavailable)
	assert.ErrorContains(t, err, "still being read")
	_, err = f.Edit(t.Context(), notes.EditRequest{Note: "Missing", Edits: []notes.Edit{{Op: "append", Content: "x"}}})
	require.ErrorIs(t, err, notes.ErrNotFound)
	f.reconcile()
	require.NoError(t, move())
	assert.Equal(t, "[[AA]]\n", f.onDisk("C.md"))
}

// A task of a note saved just before can be toggled.
func TestEdit_UnreportedSave(t *testing.T) {
	f := newFixture(t, "A.md", "# A\n")
	f.write("T.md", "- [ ] x\n")
	_, err := f.Edit(t.Context(), notes.EditRequest{Note: "T", Edits: []notes.Edit{{Op: "toggle_task", Text: "x"}}})
	require.NoError(t, err)
	assert.Equal(t, "- [x] x\n", f.onDisk("T.md"))
}

// Notes that were read soon after they changed, here by notesd, are read again, but do not
// count as changes that must be left to a scan.
func TestMove_AfterChangeOfManyNotes(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a thousand notes")
	}
	f := newFixture(t, "A.md", "# A\n", "B.md", "[[A]]\n")
	for i := range mostUnreported + 1 {
		f.write(fmt.Sprintf("%d.md", i), "#a\n")
	}
	f.reconcile()
	f.clock.Advance(-time.Hour)
	_, err := f.RenameTag(t.Context(), notes.RenameTagRequest{Tag: "a", To: "b"})
	require.NoError(t, err)
	_, err = f.Move(t.Context(), notes.MoveRequest{Note: "A", To: "AA", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, "[[AA]]\n", f.onDisk("B.md"))
}

// A file that could not be read the last time, as while another program locks it, is read
// again before a move.
func TestMove_AfterFailedRead(t *testing.T) {
	f := newFixture(t, "A.md", "# A\n", "N.md", "n\n")
	f.write("N.md", "[[A]]\n")
	f.failpoint = func(step string) error {
		if step == readStep+"N.md" {
			return syscall.EIO
		}
		return nil
	}
	f.reconcile()
	f.failpoint = nil
	_, err := f.Move(t.Context(), notes.MoveRequest{Note: "A", To: "AA", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, "[[AA]]\n", f.onDisk("N.md"))
}

func TestMove_TargetOfSymlink(t *testing.T) {
	f := newFixture(t, "Projects/Plan.md", "text\n", "Projects/Other.md", "text\n")
	f.symlink("Projects/Plan.md", "Pinned.md")
	f.symlink("Other.md", "Projects/Near.md")
	f.reconcile()
	w, err := f.Move(t.Context(), notes.MoveRequest{Note: "Projects/", To: "Work", UpdateLinks: true, DryRun: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"Pinned.md"}, w.Left)
	w, err = f.Move(t.Context(), notes.MoveRequest{Note: "Projects/Plan.md", To: "Done/", Scope: notes.Scope{Read: []string{"Projects", "Done"}, Write: []string{"Projects", "Done"}}})
	require.NoError(t, err)
	assert.Empty(t, w.Left, "a name out of scope")
}

// TestMove_Several moves notes of several folders into one: the links among them, and those of
// others, lead where they led.
func TestMove_Several(t *testing.T) {
	f := newFixture(t, "In/A.md", "[[B]] [b](sub/B.md) ![p](pic.png) [k](../Keep.md) [[Twin]]\n", "In/sub/B.md", "[a](../A.md) [[In/A#H|x]] [[C]]\n",
		"In/pic.png", "png", "Other/C.md", "[[A]] [b](../In/sub/B.md)\n", "Keep.md", "[[In/A]] [b](In/sub/B.md) [[C]]\n",
		"In/Twin.md", "near\n", "Out/Twin.md", "elsewhere\n", "Board.canvas", `{"nodes":[{"file":"In/A.md"},{"file":"Other/C.md"}]}`)
	before := f.files()
	w, err := f.Move(t.Context(), notes.MoveRequest{Note: "In/A.md", More: []string{"B", "Other/C", "In/A"}, To: "Out", UpdateLinks: true})
	require.NoError(t, err)
	after := f.files()
	assert.Equal(t, map[string]string{
		"Out/A.md": "[[B]] [b](B.md) ![p](../In/pic.png) [k](../Keep.md) [[In/Twin]]\n", "Out/B.md": "[a](A.md) [[Out/A#H|x]] [[C]]\n",
		"In/pic.png": "png", "Out/C.md": "[[A]] [b](B.md)\n", "Keep.md": "[[Out/A]] [b](Out/B.md) [[C]]\n",
		"In/Twin.md": "near\n", "Out/Twin.md": "elsewhere\n", "Board.canvas": `{"nodes":[{"file":"Out/A.md"},{"file":"Out/C.md"}]}`,
	}, after)
	assert.Equal(t, []string{"Out/B.md", "Out/C.md"}, w.Moved)
	assert.Equal(t, []string{"In/sub/B.md", "Other/C.md"}, w.From)
	assert.Equal(t, []string{"Keep.md", "Board.canvas"}, w.Relinked)
	f.reconcile()
	f.requireConsistent()
	f.requireUndone(w, before, after)
}

// A conflict in one of several notes, also when others have their new names already, leaves all
// as it was.
func TestMove_SeveralOrNone(t *testing.T) {
	for name, at := range map[string]string{"before the names change": "staged", "when one has changed": "before swap 2"} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "In/A.md", "[[B]] [k](../Keep.md)\n", "In/B.md", "b\n", "In/C.md", "c\n", "Keep.md", "[a](In/A.md)\n")
			saved := false
			f.failpoint = func(step string) error {
				if step == at && !saved {
					saved = true
					f.write("In/C.md", "by another program\n")
				}
				return nil
			}
			r := notes.MoveRequest{Note: "A", More: []string{"B", "C"}, To: "Out/", UpdateLinks: true}
			_, err := f.Move(t.Context(), r)
			want := map[string]string{"In/A.md": "[[B]] [k](../Keep.md)\n", "In/B.md": "b\n", "In/C.md": "by another program\n", "Keep.md": "[a](In/A.md)\n"}
			if at == "staged" { // it is planned again
				require.NoError(t, err)
				want = map[string]string{"Out/A.md": want["In/A.md"], "Out/B.md": "b\n", "Out/C.md": "by another program\n", "Keep.md": "[a](Out/A.md)\n"}
			} else {
				require.ErrorIs(t, err, notes.ErrConflict)
				assert.Equal(t, []string{"In"}, f.dirs())
			}
			assert.Equal(t, want, f.files())
			f.reconcile()
			f.requireConsistent()
		})
	}
}

// A disk that refuses one of the renames leaves all as it was.
func TestMove_SeveralRefusedByTheDisk(t *testing.T) {
	for refused := range 3 {
		f := newFixture(t, "In/A.md", "a\n", "In/B.md", "[k](../Keep.md)\n", "In/C.md", "c\n", "Keep.md", "[a](In/A.md)\n")
		before, renames, swaps := f.files(), 0, false
		f.failpoint = func(step string) error {
			swaps = swaps || step == "before swap 0"
			if swaps && (step == "rename" || step == "publish") {
				if renames++; renames == refused+1 {
					return syscall.EACCES
				}
			}
			return nil
		}
		_, err := f.Move(t.Context(), notes.MoveRequest{Note: "A", More: []string{"B", "C"}, To: "Out/", UpdateLinks: true})
		require.ErrorIs(t, err, notes.ErrForbidden, "rename %d", refused)
		assert.Equal(t, before, f.files(), "rename %d", refused)
		f.reconcile()
		f.requireConsistent()
	}
}

func TestMove_SeveralErrors(t *testing.T) {
	f := newFixture(t, "In/A.md", "a", "In/B.md", "b", "In/D.md", "d", "Sub/a.md", "another", "Out/B.md", "taken", "Private/P.md", "p", "Out/D.md", "taken")
	before := f.files()
	move := func(scope notes.Scope, to string, refs ...string) *notes.Error {
		t.Helper()
		_, err := f.Move(t.Context(), notes.MoveRequest{Note: refs[0], More: refs[1:], To: to, UpdateLinks: true, Scope: scope})
		require.Error(t, err)
		assert.Equal(t, before, f.files())
		return domainError(t, err)
	}
	taken := move(notes.Scope{}, "Out/", "In/A.md", "In/B.md", "Sub/a.md", "In/D.md")
	require.ErrorIs(t, taken, notes.ErrExists)
	for _, p := range []string{"In/A.md", "Sub/a.md", "Out/B.md", "Out/D.md"} {
		assert.Contains(t, taken.Error(), p, "each conflict is named")
	}
	require.ErrorIs(t, move(notes.Scope{}, "Out/", "In/A.md", "Nope"), notes.ErrNotFound)
	require.ErrorIs(t, move(notes.Scope{}, "New.md", "In/A.md", "In/B.md"), notes.ErrInvalid)
	require.ErrorIs(t, move(notes.Scope{}, "New/", "In/A.md", "Sub/"), notes.ErrInvalid)
	require.ErrorIs(t, move(notes.Scope{}, "In", "Sub/a.md", "In/B.md"), notes.ErrInvalid, "one is there")
	hidden := move(notes.Scope{Read: []string{"In"}, Write: []string{"In"}}, "In/New/", "In/A.md", "Private/P.md")
	require.ErrorIs(t, hidden, notes.ErrNotFound)
	assert.Equal(t, domainError(t, hidden).Error(), strings.ReplaceAll(move(notes.Scope{Read: []string{"In"}, Write: []string{"In"}}, "In/New/", "In/A.md", "Private/Q.md").Error(), "Q.md", "P.md"), "a hidden note is as one that does not exist")
	require.ErrorIs(t, move(notes.Scope{Read: []string{"In", "Sub"}, Write: []string{"In"}}, "In/New/", "In/A.md", "Sub/a.md"), notes.ErrForbidden)
}

// A crash while the notes get their old names back leaves all of them moved or none.
func TestMove_SeveralCrashOnTheWayBack(t *testing.T) {
	for step := 1; ; step++ {
		f := newFixture(t, "In/A.md", "[k](../Keep.md)\n", "In/B.md", "b\n", "In/C.md", "c\n", "Keep.md", "[a](In/A.md)\n")
		before, since := f.files(), -1
		f.failpoint = func(name string) error {
			if strings.HasPrefix(name, readStep) || strings.HasPrefix(name, parseStep) {
				return nil
			}
			if since >= 0 {
				if since++; since >= step {
					return errKilled
				}
			} else if name == "before swap 2" {
				f.write("In/C.md", "by another program\n")
				since = 0
			}
			return nil
		}
		_, err := f.Move(t.Context(), notes.MoveRequest{Note: "A", More: []string{"B", "C"}, To: "Out/", UpdateLinks: true})
		if !errors.Is(err, errKilled) {
			require.ErrorIs(t, err, notes.ErrConflict)
			assert.Greater(t, step, 5)
			return
		}
		f.restart()
		if before["In/C.md"] = "by another program\n"; !maps.Equal(before, f.files()) {
			assert.Equal(t, map[string]string{"Out/A.md": "[k](../Keep.md)\n", "Out/B.md": "b\n", "Out/C.md": "by another program\n", "Keep.md": "[a](Out/A.md)\n"}, f.files(), "killed at step %d", step)
		}
		f.requireConsistent()
	}
}

// A program saves a note at its new path while a move of several is recovered.
func TestMoveOfSeveral_SavedDuringRecovery(t *testing.T) {
	for kill := range 4 {
		for at := range 16 {
			f := newFixture(t, "In/A.md", "a\n", "In/B.md", "[k](../Keep.md)\n", "Keep.md", "[a](In/A.md) [b](In/B.md)\n")
			steps, swapping := 0, false
			f.failpoint = func(step string) error {
				if swapping = swapping || step == "before swap 1"; swapping && !strings.HasPrefix(step, parseStep) {
					if steps++; steps > kill+1 {
						return errKilled
					}
				}
				return nil
			}
			_, err := f.Move(t.Context(), notes.MoveRequest{Note: "A", More: []string{"B"}, To: "Out/deep/", UpdateLinks: true})
			require.ErrorIs(t, err, errKilled)
			f.write("In/B.md", "edited\n")
			require.NoError(t, f.store.Close())
			f.open(Options{})
			const text = "edited at the new place\n"
			saved := false
			steps = 0
			f.failpoint = func(string) error {
				if steps++; steps > at && !saved && slices.Contains(slices.Collect(maps.Keys(f.files())), "Out/deep/B.md") {
					saved = true
					f.write("Out/deep/B.md", text)
				}
				return nil
			}
			f.reconcile()
			f.failpoint = nil
			f.reconcile()
			f.requireConsistent()
			kept := slices.Contains(slices.Collect(maps.Values(f.files())), text) || len(f.column(f.store.History(), `SELECT 1 FROM revisions WHERE hash = x'`+notes.Hash([]byte(text))+`'`)) > 0
			assert.True(t, !saved || kept, "killed after %d steps, saved at %d: %q", kill, at, f.files())
		}
	}
}

// The folders that a move of several has left are gone when it has to be undone.
func TestMoveOfSeveral_CannotGoBack(t *testing.T) {
	files := []string{"In1/A.md", "a\n", "In2/B.md", "b\n", "In3/C.md", "c\n"}
	for i := range maxDirs - 3 { // so that the folders have to be opened again
		files = append(files, fmt.Sprintf("d%d/L.md", i), "[a](../In1/A.md)\n")
	}
	f := newFixture(t, files...)
	f.failpoint = func(step string) error {
		if step == "before swap 2" {
			f.write("In3/C.md", "by another program\n")
			_ = os.Remove(filepath.Join(f.dir, "In1"))
			_ = os.Remove(filepath.Join(f.dir, "In2"))
		}
		return nil
	}
	_, err := f.Move(t.Context(), notes.MoveRequest{Note: "A", More: []string{"B", "C"}, To: "Out/", UpdateLinks: true})
	require.Error(t, err)
	f.failpoint = nil
	f.clock.Advance(strangerAge)
	f.reconcile()
	f.requireConsistent()
	assert.Empty(t, f.column(f.store.Notes(), `SELECT target FROM links WHERE state = 0`), "no link is broken: %v", err)
}

// A note that another program saved after the others of a team knew about its move moves as it is.
func TestMoveOfSeveral_SavedAfterCommit(t *testing.T) {
	f := newFixture(t, "In/A.md", "a\n", "In/B.md", "[k](../Keep.md)\n", "Keep.md", "[a](In/A.md)\n")
	change := func(from, to, old, text string) store.FileChange {
		return store.FileChange{OldPath: from, NewPath: to, OldDisk: from, Old: []byte(old), New: []byte(text)}
	}
	f.failpoint = func(step string) error {
		if step == "before swap 1" {
			f.write("In/B.md", "edited here\n")
		}
		return nil
	}
	_, err := f.Replica().Place(t.Context(), "move", notes.Author{Name: "ann"}, []store.FileChange{
		change("In/A.md", "Out/A.md", "a\n", "a\n"), change("In/B.md", "Out/sub/B.md", "[k](../Keep.md)\n", "[k](../../Keep.md)\n"),
	}, "In")
	require.NoError(t, err)
	f.failpoint = nil
	f.reconcile()
	f.requireConsistent()
	assert.Equal(t, "edited here\n", f.files()["Out/sub/B.md"])
	assert.NotContains(t, f.column(f.store.History(), `SELECT author FROM revisions WHERE path = 'Out/sub/B.md'`), "ann")
}

// Another node's rename of a folder comes as moves of its files, and can be undone.
func TestUndoOfPlacedMoves(t *testing.T) {
	f := newFixture(t, "In/A.md", "a\n", "In/B.md", "b\n", "In/p.png", "png", "Keep.md", "[a](In/A.md)\n")
	before := f.files()
	change := func(from, to, old, text string) store.FileChange {
		return store.FileChange{OldPath: from, NewPath: to, OldDisk: from, Old: []byte(old), New: []byte(text)}
	}
	w, err := f.Replica().Place(t.Context(), "move", notes.Author{Name: "ann"}, []store.FileChange{
		change("In/A.md", "Out/A.md", "a\n", "a\n"), change("In/B.md", "Out/B.md", "b\n", "b\n"), change("In/p.png", "Out/p.png", "png", "png"),
		change("Keep.md", "Keep.md", "[a](In/A.md)\n", "[a](Out/A.md)\n"),
	}, "In")
	require.NoError(t, err)
	f.reconcile()
	_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: w.Change})
	require.NoError(t, err)
	f.reconcile()
	f.requireConsistent()
	for _, name := range []string{"In/A.md", "In/B.md", "Keep.md"} {
		assert.Equal(t, before[name], f.files()[name], name)
	}
}

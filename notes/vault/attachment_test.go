package vault

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

func TestAttachment(t *testing.T) {
	f := newFixture(t,
		"Projects/Plan.md", "![[chart.png]] and ![a photo](../img/photo%20one.JPG), [the paper](papers/p.pdf), [[talk.mp3|listen]], [raw](blob)",
		"Cover.md", "---\ncover: \"[[front.webp]]\"\n---\n[over](too-big.bin) [secret](Private/pay.pdf) ![[deep/x.png]] [hid](.obsidian/app.json) ![[note.png]]\n",
		"Private/Own.md", "[own](only-private.png)",
		"img/chart.png", png, "img/photo one.JPG", "\xff\xd8\xff", "Projects/papers/p.pdf", "%PDF-1.7", "talk.mp3", "ID3",
		"Projects/blob", png, "front.webp", "RIFF", "too-big.bin", "", "Private/pay.pdf", "%PDF", "Private/only-private.png", png,
		"a/deep/x.png", png+"a", "unlinked.png", png, ".obsidian/app.json", "{}", "Nested/chart.png.md", "a note")
	require.NoError(t, os.Truncate(filepath.Join(f.dir, "too-big.bin"), notes.MaxAttachmentBytes+1))
	everywhere, public := notes.Scope{}, notes.Scope{Read: []string{"Projects", "img", "Cover.md", "Private/Own.md"}}

	tests := []struct {
		name, ref string
		scope     notes.Scope
		path      string // when it can be read
		mediaType string
		err       error
	}{
		{"a wikilink embed, by its name alone", "img/chart.png", everywhere, "img/chart.png", "image/png", nil},
		{"by URI", "note:///img/chart.png", everywhere, "img/chart.png", "image/png", nil},
		{"a Markdown link, relative and escaped", "note:///img/photo%20one.JPG", everywhere, "img/photo one.JPG", "image/jpeg", nil},
		{"in another case", "IMG/Photo One.jpg", everywhere, "img/photo one.JPG", "image/jpeg", nil},
		{"beside the note", "Projects/papers/p.pdf", everywhere, "Projects/papers/p.pdf", "application/pdf", nil},
		{"a wikilink", "talk.mp3", everywhere, "talk.mp3", "audio/mpeg", nil},
		{"without an extension", "Projects/blob", everywhere, "Projects/blob", "image/png", nil},
		{"from front matter", "front.webp", everywhere, "front.webp", "image/webp", nil},
		{"by the end of a path", "a/deep/x.png", everywhere, "a/deep/x.png", "image/png", nil},
		{"within the scope", "img/chart.png", public, "img/chart.png", "image/png", nil},
		{"out of scope", "talk.mp3", public, "", "", notes.ErrNotFound},
		{"out of scope, linked from within", "Private/pay.pdf", public, "", "", notes.ErrNotFound},
		{"in scope, linked only from outside it", "img/chart.png", notes.Scope{Read: []string{"img"}}, "", "", notes.ErrNotFound},
		{"no note links to it", "unlinked.png", everywhere, "", "", notes.ErrNotFound},
		{"hidden", ".obsidian/app.json", everywhere, "", "", notes.ErrNotFound},
		{"not there", "img/none.png", everywhere, "", "", notes.ErrNotFound},
		{"the folder", "img", everywhere, "", "", notes.ErrNotFound},
		{"out of the vault", "../x.png", everywhere, "", "", notes.ErrInvalid},
		{"a URI out of the vault", "note:///%2E%2E/x.png", everywhere, "", "", notes.ErrInvalid},
		{"absolute", "/etc/passwd", everywhere, "", "", notes.ErrInvalid},
		{"a note", "Cover.md", everywhere, "", "", notes.ErrInvalid},
		{"too large", "too-big.bin", everywhere, "", "", notes.ErrTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := f.Attachment(context.Background(), tt.ref, tt.scope)
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				e := domainError(t, err)
				assert.NotEmpty(t, e.Hint)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.path, a.Path)
			assert.Equal(t, tt.mediaType, a.MediaType)
			assert.Equal(t, f.onDisk(tt.path), string(a.Data))
			assert.EqualValues(t, len(a.Data), a.Size)
			assert.False(t, a.Modified.IsZero())
		})
	}
	_, err := f.Attachment(context.Background(), "too-big.bin", everywhere)
	assert.Contains(t, err.Error(), "16777217")
	assert.Contains(t, err.Error(), "16777216")
	_, err = f.Attachment(context.Background(), "elsewhere/chart.png", everywhere)
	assert.Equal(t, []string{"img/chart.png"}, domainError(t, err).Candidates)
}

func TestAttachmentsOfANote(t *testing.T) {
	f := newFixture(t, "A.md", "![[b.png]] [[B]] ![](pics/a.png) ![[b.png]] [gone](gone.pdf) ![[twin.png]]",
		"B.md", "none", "pics/a.png", png, "pics/b.png", png, "x/twin.png", png, "y/twin.png", png)
	ctx := context.Background()
	list, err := f.Attachments(ctx, "A", notes.Scope{})
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, "pics/b.png", list[0].Path)
	assert.Equal(t, "pics/a.png", list[1].Path)
	assert.EqualValues(t, len(png), list[0].Size)
	assert.Nil(t, list[0].Data)

	list, err = f.Attachments(ctx, "B", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, []notes.Attachment{}, list)
	list, err = f.Attachments(ctx, "A.md", notes.Scope{Read: []string{"A.md"}})
	require.NoError(t, err)
	assert.Empty(t, list)

	report, err := f.Links(ctx, "A", notes.LinkQuery{Direction: "out"})
	require.NoError(t, err)
	var attached, broken []string
	for _, l := range report.Outgoing {
		if l.Attachment {
			attached = append(attached, l.To)
		}
	}
	for _, l := range report.Unresolved {
		broken = append(broken, l.Target)
	}
	assert.Equal(t, []string{"pics/b.png", "pics/a.png", "pics/b.png"}, attached)
	assert.Equal(t, []string{"gone.pdf", "twin.png"}, broken, "the second is ambiguous")
}

// Links to attachments resolve correctly as files are created, moved and removed.
func TestAttachmentsFollowTheDisk(t *testing.T) {
	f := newFixture(t, "A.md", "![[pic.png]]", "B.md", "[doc](doc.pdf)")
	ctx := context.Background()
	broken := func() int {
		page, err := f.List(ctx, notes.ListQuery{Filter: notes.Filter{BrokenLinks: true}})
		require.NoError(t, err)
		return page.Total
	}
	require.Equal(t, 2, broken())

	f.write("pic.png", png) // not reported to the vault
	a, err := f.Attachment(ctx, "pic.png", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, png, string(a.Data))
	assert.Equal(t, 1, broken())

	f.write("pic.png", png+"changed")
	a, err = f.Attachment(ctx, "pic.png", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, png+"changed", string(a.Data))

	f.rename("pic.png", "new place/pic.png")
	_, err = f.Attachment(ctx, "pic.png", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)
	f.reconcile()
	a, err = f.Attachment(ctx, "new place/pic.png", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, png+"changed", string(a.Data))

	f.remove("new place/pic.png")
	f.reconcile()
	assert.Equal(t, 2, broken())
	f.restart()
	_, err = f.Attachment(ctx, "new place/pic.png", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)

	require.NoError(t, os.Rename(f.dir, f.dir+".away"))
	_, err = f.Attachment(ctx, "doc.pdf", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrUnavailable)
}

func TestAttachment_NotRegular(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs symlinks")
	}
	f := newFixture(t, "A.md", "![[out.png]] ![[in.png]] ![[real.png]] ![[locked.png]]", "real.png", png, "locked.png", png)
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(f.dir, "out.png")))
	require.NoError(t, os.Symlink("real.png", filepath.Join(f.dir, "in.png")))
	f.reconcile()
	ctx := context.Background()
	_, err := f.Attachment(ctx, "out.png", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)
	a, err := f.Attachment(ctx, "in.png", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, png, string(a.Data))

	f.remove("real.png")
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(f.dir, "real.png")))
	_, err = f.Attachment(ctx, "real.png", notes.Scope{})
	require.Error(t, err, "it has become a way out since it was seen")
	domainError(t, err)

	f.remove("locked.png")
	require.NoError(t, os.Mkdir(filepath.Join(f.dir, "locked.png"), 0o755))
	_, err = f.Attachment(ctx, "locked.png", notes.Scope{})
	require.Error(t, err)
	domainError(t, err)
}

func TestMediaType(t *testing.T) {
	for name, want := range map[string]string{
		"a.PNG": "image/png", "b.svg": "image/svg+xml", "c.m4a": "audio/mp4", "d.xyz": "text/plain", "e": "text/plain", ".md": "text/plain",
	} {
		assert.Equal(t, want, notes.MediaType(name, []byte("plain words")), name)
	}
	assert.Equal(t, "application/octet-stream", notes.MediaType("d.xyz", nil))
	assert.Equal(t, "image/png", notes.MediaType("d.xyz", []byte(png)))
}

// Reading a file that is continuously written fails rather than blocks.
func TestAttachment_BeingWritten(t *testing.T) {
	f := newFixture(t, "A.md", "![[grows.bin]]", "grows.bin", "x")
	stop, stopped := make(chan struct{}), make(chan struct{})
	defer func() {
		close(stop)
		<-stopped
	}()
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = f.writeFile("grows.bin", string(make([]byte, i%5000)))
			}
		}
	}()
	for range 50 {
		a, err := f.Attachment(t.Context(), "grows.bin", notes.Scope{})
		if err != nil {
			require.ErrorIs(t, err, notes.ErrConflict)
			continue
		}
		require.Len(t, a.Data, int(a.Size))
	}
}

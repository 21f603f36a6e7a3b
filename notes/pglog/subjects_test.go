package pglog

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/pgtest"
	"notesd/notes"
)

func database(t *testing.T, address string) *Database {
	t.Helper()
	d, err := Open(address, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func TestSubjects(t *testing.T) {
	s := pgtest.New(t)
	d, ctx := database(t, s.URL()), t.Context()
	token, err := d.AddSubject(ctx, "ann")
	require.NoError(t, err)
	assert.Regexp(t, `^notesd_[a-z2-7]{52}$`, token)
	other, err := d.AddSubject(ctx, "bob")
	require.NoError(t, err)
	assert.NotEqual(t, token, other)
	_, err = d.AddSubject(ctx, "ann")
	require.ErrorIs(t, err, notes.ErrExists)
	for _, name := range []string{"", "a b", "a\n", "a\u200bnn", "a\u00a0b", "a\xff", strings.Repeat("a", 101)} {
		_, err = d.AddSubject(ctx, name)
		require.ErrorIs(t, err, notes.ErrInvalid, "%q", name)
	}

	require.ErrorIs(t, d.Grant(ctx, "ann", Grant{Vault: "research"}, false), notes.ErrNotFound)
	for _, vault := range []string{"", ".", "..", "a b", "a/b", "50%", "a?", "a#", `a\b`, `"a"`} {
		require.ErrorIs(t, d.Grant(ctx, "ann", Grant{Vault: vault}, true), notes.ErrInvalid, "%q", vault)
	}
	require.NoError(t, d.Grant(ctx, "ann", Grant{Vault: "research"}, true))
	require.NoError(t, d.Grant(ctx, "ann", Grant{Vault: "research", Folder: "Plans//Cafe\u0301/", Writer: true}, false))
	require.ErrorIs(t, d.Grant(ctx, "ann", Grant{Vault: "research", Folder: "../x"}, false), notes.ErrInvalid)
	require.ErrorIs(t, d.Grant(ctx, "cleo", Grant{Vault: "research"}, false), notes.ErrNotFound)

	found, err := d.SubjectsOf(ctx, []Digest{DigestOf(token), DigestOf("guessed")})
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, []Grant{{Vault: "research"}, {Vault: "research", Folder: "Plans/Café", Writer: true}}, found[DigestOf(token)].Grants)

	require.NoError(t, d.Grant(ctx, "ann", Grant{Vault: "research", Writer: true}, false), "in place of the first")
	require.NoError(t, d.Ungrant(ctx, "ann", Grant{Vault: "research", Folder: "Plans/Café"}))
	require.ErrorIs(t, d.Ungrant(ctx, "ann", Grant{Vault: "research", Folder: "Plans/Café"}), notes.ErrNotFound)
	all, err := d.Subjects(ctx)
	require.NoError(t, err)
	require.Len(t, all, 2)
	assert.Equal(t, []Grant{{Vault: "research", Writer: true}}, all[0].Grants)
	assert.Empty(t, all[1].Grants)

	renewed, err := d.RenewToken(ctx, "ann")
	require.NoError(t, err)
	found, err = d.SubjectsOf(ctx, []Digest{DigestOf(token), DigestOf(renewed)})
	require.NoError(t, err)
	assert.Len(t, found, 1)
	assert.Equal(t, "ann", found[DigestOf(renewed)].Name)

	require.NoError(t, d.RemoveSubject(ctx, "ann"))
	require.ErrorIs(t, d.RemoveSubject(ctx, "ann"), notes.ErrNotFound)
	_, err = d.RenewToken(ctx, "ann")
	require.ErrorIs(t, err, notes.ErrNotFound)
	found, err = d.SubjectsOf(ctx, []Digest{DigestOf(renewed)})
	require.NoError(t, err)
	assert.Empty(t, found)
}

// TestTokensAreNotKept searches for the token in the rows of the database.
func TestTokensAreNotKept(t *testing.T) {
	s := pgtest.New(t)
	token, err := database(t, s.URL()).AddSubject(t.Context(), "ann")
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), s.URL())
	require.NoError(t, err)
	defer func() { assert.NoError(t, conn.Close(t.Context())) }()
	var row string
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT s::text || encode(token, 'escape') FROM subjects s`).Scan(&row))
	assert.Contains(t, row, "ann")
	assert.NotContains(t, row, token)
	assert.NotContains(t, row, token[len(tokenPrefix):])
}

// TestOneListeningConnection notifies several vaults of a node over one connection.
func TestOneListeningConnection(t *testing.T) {
	s := pgtest.New(t)
	d := database(t, s.URL())
	woken := map[string]chan struct{}{}
	for _, vault := range []string{"a", "b"} {
		wake := make(chan struct{}, 100)
		woken[vault] = wake
		go d.Log(vault).Listen(t.Context(), func() { wake <- struct{}{} })
		<-wake // it listens
	}
	writer := open(t, s.URL(), "b")
	_, err := commit(writer, create("A.md", "a"))
	require.NoError(t, err)
	<-woken["b"]
	conn, err := pgx.Connect(t.Context(), s.URL())
	require.NoError(t, err)
	defer func() { assert.NoError(t, conn.Close(t.Context())) }()
	var listening int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`).Scan(&listening))
	assert.Equal(t, 1, listening)
	assert.Empty(t, woken["a"], "of another vault")
}

func TestCovers(t *testing.T) {
	l := open(t, pgtest.New(t).URL(), "research")
	_, err := commit(l, create("Plans/Café/A.md", "a"), create("Plans2/B.md", "b"))
	require.NoError(t, err)
	for folder, want := range map[string]bool{"Plans": true, "plans/Cafe\u0301/": true, "Plans/Café/A.md": true, "Plan": false, "Café": false} {
		covers, err := l.Database().Covers(t.Context(), Grant{Vault: "research", Folder: folder})
		require.NoError(t, err)
		assert.Equal(t, want, covers, folder)
	}
}

package pglog

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/pgtest"
	"notesd/notes"
)

func TestSubscriptions(t *testing.T) {
	s := pgtest.New(t)
	d, ctx := database(t, s.URL()), t.Context()
	l, other := d.Log("v"), d.Log("other")
	for _, uri := range []string{"note:///A.md", "note:///B%20c.md", "note:///B c.md", "notes://recent", "note:///A.md"} {
		require.NoError(t, l.Subscribe(ctx, "session", uri))
	}
	require.NoError(t, l.Subscribe(ctx, "session 2", "note:///A.md"))
	subscriptions := func(l *Log, session string) []string {
		t.Helper()
		uris, err := l.Subscriptions(ctx, session)
		require.NoError(t, err)
		return uris
	}
	assert.ElementsMatch(t, []string{"note:///A.md", "note:///B%20c.md", "note:///B c.md", "notes://recent"}, subscriptions(l, "session"))
	assert.Empty(t, subscriptions(other, "session"))

	require.NoError(t, l.Unsubscribe(ctx, "session", "note:///A.md"))
	require.NoError(t, l.Unsubscribe(ctx, "session", "note:///A.md"))
	_, err := l.Forget(ctx, "forget", notes.Author{Name: "t"}, "B c.md", []string{"B c.md"})
	require.NoError(t, err)
	assert.Equal(t, []string{"notes://recent"}, subscriptions(l, "session"))
	assert.Equal(t, []string{"note:///A.md"}, subscriptions(l, "session 2"))

	s.Exec(`UPDATE subscriptions SET used = now() - interval '31 days'; UPDATE vaults SET pruned = now() - interval '1 day'`)
	assert.NotEmpty(t, subscriptions(l, "session"), "in use again")
	require.NoError(t, l.Prune(ctx, notes.HistoryLimits{}))
	assert.NotEmpty(t, subscriptions(l, "session"))
	assert.Empty(t, subscriptions(l, "session 2"))
}

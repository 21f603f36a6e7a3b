package store

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// planOf returns how SQLite carries out a query, one step a line.
func planOf(t *testing.T, db sqlite.Querier, query string, args ...any) string {
	t.Helper()
	var steps []string
	err := sqlite.ForEach(t.Context(), db, `EXPLAIN QUERY PLAN `+query, args, func(rows *sql.Rows) error {
		var id, parent, unused int
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		steps = append(steps, step)
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, steps)
	return strings.Join(steps, "\n")
}

// lastQuery records the last query of a row.
type lastQuery struct {
	*sql.DB
	text string
}

func (q *lastQuery) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	q.text = query
	return q.DB.QueryRowContext(ctx, query, args...)
}

// TestPartialIndices: SQLite uses a partial index only for a query that has its condition.
func TestPartialIndices(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	history := s.history.Reader()
	asked := &lastQuery{DB: history}
	done, err := Answered(t.Context(), asked, "key", nil)
	require.NoError(t, err)
	assert.False(t, done)
	assert.Contains(t, planOf(t, history, asked.text, "key"), "SEARCH operations USING INDEX operations_request (request_key=?)")
	assert.Contains(t, planOf(t, history, deletedNames), "SCAN r USING COVERING INDEX revisions_old_path\nSEARCH d USING INTEGER PRIMARY KEY")
	assert.Regexp(t, "^SCAN notes USING (COVERING )?INDEX notes_permalink$", planOf(t, s.notes.Reader(), permalinked))
	assert.Regexp(t, "^SEARCH notes USING INTEGER PRIMARY KEY", planOf(t, s.notes.Reader(), permalinked+withIDs, "[]"))
	assert.Regexp(t, "^SEARCH notes USING INDEX .*path", planOf(t, s.notes.Reader(), permalinked+withPaths, "[]"))
	assert.NotContains(t, planOf(t, s.notes.Reader(), aliased+withIDs, "[]"), "SCAN a")
	assert.NotContains(t, planOf(t, s.notes.Reader(), aliased+withPaths, "[]"), "SCAN a")
	assert.Contains(t, planOf(t, s.notes.Reader(), aliased+withAliases, "[]"), "SEARCH aliases USING COVERING INDEX aliases_key")
}

// TestTaskNotations_Plan: the newest tasks are read in the order of the key, up to the first
// with a date.
func TestTaskNotations_Plan(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	plan := planOf(t, s.notes.Reader(), notations, noDate)
	assert.NotContains(t, plan, "MATERIALIZE")
	assert.NotContains(t, plan, "TEMP B-TREE")
}

// TestFilterOfLinks_Plan: the other end of a link matters only to a session that may not read it.
func TestFilterOfLinks_Plan(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for _, scope := range [][]string{nil, {"Public"}} {
		for _, f := range []notes.Filter{{BrokenLinks: true, Scope: scope}, {Orphans: true, Scope: scope}} {
			where, args := filterSQL(f)
			plan := planOf(t, s.notes.Reader(), `SELECT n.path FROM notes n WHERE `+where, args...)
			assert.Equal(t, scope != nil, strings.Contains(plan, "SEARCH o USING INTEGER PRIMARY KEY"), plan)
		}
	}
}

// TestConflictCopies_Plan: the overview, which clients read first, need not read every note.
func TestConflictCopies_Plan(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	plan := planOf(t, s.notes.Reader(), conflictNames)
	assert.Contains(t, plan, "SCAN notes USING COVERING INDEX notes_name_key")
	assert.NotRegexp(t, `SCAN notes USING INDEX`, plan)
}

// TestTags_Plan: the notes of each tag are counted in the index, and one row shows how it is spelled.
func TestTags_Plan(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	query, args := selectTags(notes.Scope{})
	assert.Contains(t, planOf(t, s.notes.Reader(), query, args...), "SCAN t USING COVERING INDEX tags_key")
}

// TestTaskConditions_Plan: the tasks of one note are found without reading those of all notes, and
// conditions that no index has are checked in the order of the table.
func TestTaskConditions_Plan(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	planned := func(q notes.TaskQuery, also string) string {
		c, err := taskConditions(q)
		require.NoError(t, err)
		return planOf(t, s.notes.Reader(), `SELECT count(*) FROM tasks t WHERE `+c.where()+also, c.args...)
	}
	for _, status := range []string{"open", "done", "all", "!"} {
		assert.Equal(t, "SEARCH t USING PRIMARY KEY (note=?)", planned(notes.TaskQuery{Status: status, Note: "N"}, " AND t.note = 1"), status)
		for _, q := range []notes.TaskQuery{{Tags: []string{"a"}}, {Scheduled: notes.TaskDates{Before: "2026-02-01"}}} {
			q.Status = status
			assert.Equal(t, "SCAN t", planned(q, ""), status)
		}
	}
	assert.Contains(t, planned(notes.TaskQuery{Due: notes.TaskDates{Before: "2026-02-01"}}, ""), "COVERING INDEX tasks_open (open=? AND due<?)")
}

// TestHadText_Plan: thousands of notes with the same text, such as a template's, do not slow down
// a change of all of them.
func TestHadText_Plan(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	assert.Contains(t, planOf(t, s.history.Reader(), `SELECT `+hadText, 1, []byte("hash")), "SEARCH revisions USING INDEX revisions_document (document=?)")
}

// TestPlaced_Plan: the files are read once, rather than looked up one by one.
func TestPlaced_Plan(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	assert.Equal(t, "SCAN f\nSEARCH g USING PRIMARY KEY (operation=?)", planOf(t, s.history.Reader(), placedPaths, TempName(), StateDone))
}

// TestList_Plan: a page of a list is read in the order of an index, up to its last note, so that
// reading all pages takes linear time.
func TestList_Plan(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for _, sort := range []string{"date", "modified", "title", "path"} {
		c := &conditions{}
		require.NoError(t, orders[sort].after(c, "list", sort, encodeCursor(cursor{Sort: sort, Values: []any{1, 1}})))
		plan := planOf(t, s.notes.Reader(), `SELECT n.path FROM notes n WHERE `+c.terms[0]+` ORDER BY `+orders[sort].terms(), c.args...)
		assert.Regexp(t, `^SEARCH n USING INDEX \w+ [^\n]*$`, plan, sort)
	}
}

// TestTasks_Plan: tasks are sorted without reading their text and their notes.
func TestTasks_Plan(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for name, by := range taskOrders {
		if name == "scheduled" || name == "path" { // no index has their columns
			continue
		}
		for _, where := range []string{"TRUE", "t.open = 1"} {
			if name == "done" {
				where = "t.status = 'done'"
			}
			assert.Regexp(t, "CO-ROUTINE page\n(SCAN|SEARCH) t USING COVERING INDEX", planOf(t, s.notes.Reader(), selectTasks(by, "tasks t", where, 50)), name)
		}
	}
}

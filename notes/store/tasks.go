package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"notesd/internal/markdown/tasks"
	"notesd/internal/sqlite"
	"notesd/notes"
)

// SetStatuses gives the stored tasks the statuses that the settings of the Tasks plugin
// now give to their marks. It reads them only if the settings differ from those of the
// last call. The caller must hold the vault's lock.
func (s *Store) SetStatuses(ctx context.Context) error {
	settings := map[string]*tasks.Settings{}
	for folder, app := range *s.Apps.Load() {
		settings[folder] = app.Tasks
	}
	if reflect.DeepEqual(s.statuses, settings) {
		return nil
	}
	if err := s.setStatuses(ctx); err != nil {
		return err
	}
	s.statuses = settings
	return nil
}

func (s *Store) setStatuses(ctx context.Context) error {
	type marked struct {
		folder, mark string
		status       tasks.Status
	}
	wanted := func(m marked) tasks.Status { return s.tasksOf(m.folder + "/").StatusOf(m.mark) }
	all, err := sqlite.All(ctx, s.notes.Reader(), func(m *marked) []any { return []any{&m.folder, &m.mark, &m.status} },
		`SELECT DISTINCT iif(?, substr(n.path, 1, instr(n.path, '/') - 1), ''), t.mark, t.status FROM tasks t JOIN notes n ON n.id = t.note`, len(s.Several) > 0)
	changed := slices.DeleteFunc(all, func(m marked) bool { return wanted(m) == m.status })
	if err != nil || len(changed) == 0 {
		return err
	}
	return s.notes.Write(ctx, func(tx *sql.Tx) error {
		for _, m := range changed {
			err := execAll(ctx, tx, `UPDATE tasks SET status = ?1, open = ?2 WHERE mark = ?3 AND status = ?4
				AND (?5 = '' OR note IN (SELECT id FROM notes WHERE path > ?5 || '/' AND path < ?5 || '0'))`, wanted(m), wanted(m).IsOpen(), m.mark, m.status, m.folder)
			if err != nil {
				return err
			}
		}
		return execAll(ctx, tx, `UPDATE notes SET open_tasks = (SELECT count(*) FROM tasks WHERE note = notes.id AND open = 1)`)
	})
}

// taskOrders are the sort orders of tasks, by name.
var taskOrders = map[string]order{
	"due":       {[]string{"t.due", "t.rank", "t.note", "t.ordinal"}, false},
	"scheduled": {[]string{"t.scheduled", "t.due", "t.rank", "t.note", "t.ordinal"}, false},
	"priority":  {[]string{"t.rank", "t.due", "t.note", "t.ordinal"}, false},
	"path":      {[]string{"n.path", "t.note", "t.ordinal"}, false},
	"done":      {[]string{"t.done", "t.note", "t.ordinal"}, true},
}

// Tasks returns a page of the tasks that match the query. Those in templates and in
// places excluded in Obsidian are omitted, unless the query names the place.
func (s *Reader) Tasks(ctx context.Context, q notes.TaskQuery) (notes.TaskPage, error) {
	by, err := orderBy("list tasks", cmp.Or(q.Sort, "due"), taskOrders)
	if err != nil {
		return notes.TaskPage{}, err
	}
	if q.Limit <= 0 {
		q.Limit = 50
	}
	q.Limit = min(q.Limit, 1000)
	c, err := taskConditions(q)
	if err != nil {
		return notes.TaskPage{}, err
	}
	if q.Note != "" {
		m, err := s.Lookup(ctx, q.Note, q.Scope)
		if err != nil {
			return notes.TaskPage{}, err
		}
		c.add("t.note = ?", m.ID)
	}
	if q.First > 0 {
		c.add("t.line BETWEEN ? AND ?", q.First, q.Last)
	}
	var page notes.TaskPage
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		where, args, err := tasksIn(ctx, tx, q, s.Exclude.Load(), s.periods())
		if err != nil {
			return err
		}
		selected := &conditions{terms: slices.Clone(c.terms), args: slices.Clone(c.args)}
		if where != "" {
			selected.add("t.note IN (SELECT n.id FROM notes n WHERE "+where+")", args...)
		}
		list := `tasks t`
		if q.Sort == "path" { // SQLite would go through the list of notes for each of them
			list = `notes n CROSS JOIN tasks t ON t.note = n.id`
			c.add(cmp.Or(where, "TRUE"), args...)
		} else {
			c = selected
		}
		matching := ` FROM tasks t WHERE ` + selected.where()
		if q.Text == "" {
			if page.Total, err = sqlite.First[int](ctx, tx, `SELECT count(*)`+matching, selected.args...); err != nil {
				return err
			}
		} else { // read the tasks once, and sort only those that match
			found, err := tasksWith(ctx, tx, q.Text, matching, selected.args)
			if err != nil {
				return err
			}
			page.Total = len(found)
			list = `(SELECT json_extract(value, '$[0]') AS note, json_extract(value, '$[1]') AS ordinal FROM json_each(?)) f
				CROSS JOIN tasks t ON t.note = f.note AND t.ordinal = f.ordinal CROSS JOIN notes n ON n.id = t.note`
			c = &conditions{args: []any{sqlite.List(found)}}
		}
		if err := by.after(c, "list tasks", q.Sort, q.Cursor); err != nil {
			return err
		}
		page.Tasks, page.Next, err = s.taskPage(ctx, tx, q, by, list, c)
		return err
	})
	return page, err
}

// taskPage reads the tasks in a list that meet the conditions.
func (s *Reader) taskPage(ctx context.Context, tx *sql.Tx, q notes.TaskQuery, by order, list string, c *conditions) (tasks []notes.Task, next string, err error) {
	tasks, last := []notes.Task{}, cursor{Sort: q.Sort}
	err = sqlite.ForEach(ctx, tx, selectTasks(by, list, c.where(), q.Limit+1), c.args, func(rows *sql.Rows) error {
		if len(tasks) == q.Limit {
			next = encodeCursor(last)
			return nil
		}
		var p, hash, heading, source string
		var line int
		values := make([]any, len(by.columns))
		into := []any{&p, &hash, &line, &heading, &source}
		for i := range values {
			into = append(into, &values[i])
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		t, _ := notes.NewTask(source)
		t.Path, t.Hash, t.Line, t.Heading = p, strings.ToLower(hash), line, heading
		t.Status = s.tasksOf(p).StatusOf(t.Mark)
		tasks, last.Values = append(tasks, t), values
		return nil
	})
	return tasks, next, err
}

// tasksWith returns the note and ordinal of the selected tasks that contain a text,
// regardless of case and accents. SQLite compares only without the latter.
func tasksWith(ctx context.Context, tx *sql.Tx, text, selected string, args []any) (found [][2]int64, err error) {
	want := notes.Unaccented(notes.Key(text))
	err = sqlite.ForEach(ctx, tx, `SELECT t.note, t.ordinal, t.text_key`+selected, args, func(rows *sql.Rows) error {
		var task [2]int64
		var key string
		err := rows.Scan(&task[0], &task[1], &key)
		if strings.Contains(notes.Unaccented(key), want) {
			found = append(found, task)
		}
		return err
	})
	return found, err
}

// selectTasks returns the query for a page of tasks. The rest of a task, and its note, are read
// only for those of the page, not for all that are sorted.
func selectTasks(by order, from, where string, limit int) string {
	return fmt.Sprintf(`SELECT n.path, hex(n.hash), t.line, t.heading, t.source, %[1]s
		FROM (SELECT t.note, t.ordinal FROM %[2]s WHERE %[3]s ORDER BY %[4]s LIMIT %[5]d) page
		CROSS JOIN tasks t ON t.note = page.note AND t.ordinal = page.ordinal CROSS JOIN notes n ON n.id = t.note ORDER BY %[4]s`,
		strings.Join(by.columns, ", "), from, where, by.terms(), limit)
}

// isMark reports whether s is a task's mark, in a box or as a word.
func isMark(s string) bool {
	box, _, _ := tasks.Marked("[" + s + "]")
	word, _, _ := tasks.Marked(s + " ")
	return box != "" || word != ""
}

// taskConditions returns the conditions of a query on tasks t of any note. A plus keeps SQLite
// from looking up each task of the status by its index where another condition needs its row:
// reading the table in its order is faster.
func taskConditions(q notes.TaskQuery) (*conditions, error) {
	c := &conditions{}
	status := cmp.Or(q.Status, "open")
	switch named := tasks.StatusNamed(status); {
	case isMark(status): // before the names: TODO is a mark, todo a name
		c.add("t.mark = ?", status)
	case named == tasks.Open:
		c.add("t.open = 1")
	case named != "":
		c.add("t.status = ?", string(named))
	case status == string(tasks.Other):
		c.add("t.status = ?", status)
	case status == "all":
		c.add("TRUE")
	default:
		return nil, &notes.Error{Op: "list tasks", Err: notes.ErrInvalid, Detail: "there is no status " + notes.Quote(status), Hint: "Pass open, in_progress, done, cancelled, other, all, or a mark such as / or DOING."}
	}
	if q.Note != "" || q.Text != "" || len(q.Tags) > 0 || q.Scheduled != (notes.TaskDates{}) {
		c.terms[0] = "+" + c.terms[0]
	}
	for _, tag := range q.Tags {
		c.add("instr(t.tag_keys, ?) > 0", " "+tagKey(strings.TrimPrefix(tag, "#"))+" ")
	}
	if q.Priority != "" {
		t := notes.Task{}
		if t.Priority = q.Priority; q.Priority == "none" {
			t.Priority = ""
		}
		if t.Rank() < 0 {
			return nil, &notes.Error{Op: "list tasks", Err: notes.ErrInvalid, Detail: "there is no priority " + notes.Quote(q.Priority), Hint: "Pass highest, high, medium, low, lowest or none."}
		}
		c.add("t.rank = ?", t.Rank())
	}
	for column, dates := range map[string]notes.TaskDates{"t.due": q.Due, "t.scheduled": q.Scheduled, "t.done": q.Done} {
		if dates.From != "" {
			c.add(column+" >= ? AND "+column+" < ?", dates.From, noDate)
		}
		if dates.Before != "" {
			c.add(column+" < ?", dates.Before)
		}
		if dates.None {
			c.add(column+" = ?", noDate)
		}
	}
	return c, nil
}

// tasksIn returns the conditions of a query on notes n, "" if there are none.
func tasksIn(ctx context.Context, tx *sql.Tx, q notes.TaskQuery, rules *notes.Exclusions, periods notes.Periods) (where string, args []any, err error) {
	f := notes.Filter{Folder: q.Folder, Scope: q.Scope.Read}
	if exclude := rules.ForFilter(f); !exclude.IsZero() && q.Note == "" {
		f.Exclude = exclude
	}
	if f.IsZero() {
		return "", nil, nil
	}
	return listWhere(ctx, tx, f, periods)
}

// notations selects the newest task with a done date and the newest with another date, among
// the 10 000 newest tasks: a vault may have many tasks and no dates.
const notations = `WITH newest AS NOT MATERIALIZED (SELECT note, source, done, due, scheduled FROM tasks ORDER BY note DESC LIMIT 10000)
	SELECT source FROM (SELECT source FROM newest WHERE done < ?1 ORDER BY note DESC LIMIT 1)
	UNION ALL SELECT source FROM (SELECT source FROM newest WHERE due < ?1 OR scheduled < ?1 ORDER BY note DESC LIMIT 1)`

// TaskNotations returns the notations that the newest notes use for done dates and for
// other dates of tasks; "" if there are none.
func (s *Reader) TaskNotations(ctx context.Context) (done, dates tasks.Notation, err error) {
	sources, err := sqlite.Column[string](ctx, s.notes.Reader(), notations, noDate)
	for _, source := range sources {
		if t, ok := tasks.Parse(source); ok {
			done = cmp.Or(done, t.DoneNotation())
			if notation := t.DateNotation(); notation != tasks.Kanban { // for boards only
				dates = cmp.Or(dates, notation)
			}
		}
	}
	return done, dates, err
}

-- The tags of the tasks, with what the default list filters and sorts by, so that
-- the list of a tag is a range of the key. Filled by reading the tasks again.

CREATE TABLE task_tags (
  tag_key TEXT NOT NULL,                 -- folded; those above it have rows too
  open    INTEGER NOT NULL,              -- the following as in tasks
  due     TEXT NOT NULL,
  rank    INTEGER NOT NULL,
  note    INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  PRIMARY KEY (tag_key, open, due, rank, note, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_tags_note ON task_tags (note);

CREATE INDEX tasks_status ON tasks (status, done, note, ordinal);

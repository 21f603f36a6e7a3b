-- The tasks of the notes. What is shown of one is read from its source; the
-- other columns are what lists filter and sort by.

CREATE TABLE tasks (
  note      INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
  ordinal   INTEGER NOT NULL,
  line      INTEGER NOT NULL,
  open      INTEGER NOT NULL,            -- 1: still to be done
  status    TEXT NOT NULL,               -- open, in_progress, done, cancelled, other
  mark      TEXT NOT NULL,               -- as written: ' ', 'x', 'TODO'
  due       TEXT NOT NULL,               -- 2026-01-31, or '~', which sorts last
  scheduled TEXT NOT NULL,               -- the same
  done      TEXT NOT NULL,               -- the same
  rank      INTEGER NOT NULL,            -- 0 highest priority, 3 none, 5 lowest
  text_key  TEXT NOT NULL,               -- folded
  tag_keys  TEXT NOT NULL,               -- of the text and of the note's front matter, folded, with those above them, each between blanks
  heading   TEXT NOT NULL,               -- the nearest above
  source    TEXT NOT NULL,               -- from the mark to the end of the paragraph
  PRIMARY KEY (note, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX tasks_open ON tasks (open, due, rank, note, ordinal);

-- What files alone cannot rebuild: the journal, every version worth keeping,
-- and users' vector tables. Written with synchronous=FULL; never discarded.
-- Times are nanoseconds since 1970 (UTC).

CREATE TABLE blobs (
  hash  BLOB PRIMARY KEY,                -- SHA-256 of the plain bytes
  size  INTEGER NOT NULL,                -- of the plain bytes
  codec INTEGER NOT NULL,                -- 0 plain, 1 zstd
  data  BLOB NOT NULL
) STRICT;

CREATE TABLE operations (                -- the journal: written before anything changes on disk
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  request_key    TEXT NOT NULL DEFAULT '', -- repeats of one request carry one key
  kind           TEXT NOT NULL,          -- create, edit, move, delete, restore
  client         TEXT NOT NULL,
  client_version TEXT NOT NULL,
  started        INTEGER NOT NULL,
  state          TEXT NOT NULL,          -- pending, done, failed, conflict
  result         TEXT NOT NULL DEFAULT ''  -- JSON: the answer a repeated request gets, or what went wrong
) STRICT;
CREATE UNIQUE INDEX operations_request ON operations (request_key) WHERE request_key <> '';
CREATE INDEX operations_pending ON operations (state) WHERE state = 'pending';

CREATE TABLE operation_files (
  operation INTEGER NOT NULL REFERENCES operations (id) ON DELETE CASCADE,
  ordinal   INTEGER NOT NULL,
  path      TEXT NOT NULL,               -- as on disk before
  new_path  TEXT NOT NULL,               -- as on disk after; the same, unless moved
  temp      TEXT NOT NULL,               -- the temp file beside new_path, '' for none
  old_hash  BLOB,                        -- NULL: there was no file
  new_hash  BLOB,                        -- NULL: no file after
  state     TEXT NOT NULL,               -- pending, done, conflict
  PRIMARY KEY (operation, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE documents (                 -- a note's identity in history, through moves and deletion
  id   INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL,                    -- the last known path
  live INTEGER NOT NULL                  -- 1 while a note has this path
) STRICT;
CREATE INDEX documents_path ON documents (path);

CREATE TABLE revisions (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  document       INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  time           INTEGER NOT NULL,
  author         TEXT NOT NULL,          -- the client's name, or 'outside'
  author_version TEXT NOT NULL,
  operation      TEXT NOT NULL,          -- create, edit, move, delete, restore, seen
  path           TEXT NOT NULL,          -- the note's path after it
  old_path       TEXT NOT NULL DEFAULT '', -- where it was before a move
  hash           BLOB,                   -- blobs.hash; NULL: deleted
  size           INTEGER NOT NULL,
  added          INTEGER NOT NULL,       -- lines
  removed        INTEGER NOT NULL
) STRICT;
CREATE INDEX revisions_document ON revisions (document, id);
CREATE INDEX revisions_time     ON revisions (time);
CREATE INDEX revisions_hash     ON revisions (hash);

CREATE TABLE vector_tables (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  name        TEXT NOT NULL,             -- NFC
  dimension   INTEGER NOT NULL,
  metric      TEXT NOT NULL,             -- cosine, dot, l2
  rows        INTEGER NOT NULL DEFAULT 0, -- how many vector_rows it has
  created     INTEGER NOT NULL,
  dropped     INTEGER,                   -- NULL while in use; kept seven days after
  request_key TEXT NOT NULL DEFAULT ''   -- of the call that made it; see operations
) STRICT;
CREATE UNIQUE INDEX vector_tables_name ON vector_tables (name) WHERE dropped IS NULL;

-- A row never changes: replacing a vector makes a new row. Its number says when
-- it was added, in nanoseconds, is higher than every number before, and is never
-- used again, even after an older copy of this file has been put back; so what is
-- cached under it stays true.
CREATE TABLE vector_rows (
  row      INTEGER PRIMARY KEY AUTOINCREMENT,
  table_id INTEGER NOT NULL REFERENCES vector_tables (id) ON DELETE CASCADE,
  id       TEXT NOT NULL,
  metadata TEXT NOT NULL                 -- JSON object
) STRICT;
CREATE UNIQUE INDEX vector_rows_id    ON vector_rows (table_id, id);
CREATE INDEX        vector_rows_table ON vector_rows (table_id, row);

CREATE TABLE vector_values (             -- apart, so that looking through metadata does not read vectors
  row    INTEGER PRIMARY KEY REFERENCES vector_rows (row) ON DELETE CASCADE,
  vector BLOB NOT NULL                   -- dimension little-endian float32
) STRICT;

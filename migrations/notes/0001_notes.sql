-- What notesd derives from the vault's files. All of it can be rebuilt from
-- them, so it is written with synchronous=NORMAL and set aside when damaged.
-- Times are nanoseconds since 1970 (UTC). Keys (*_key) are folded for
-- comparison: NFC, case folded.

CREATE TABLE store (
  key   TEXT PRIMARY KEY,  -- 'id': minted at creation, tells followers one store from another; 'vault': the recorded root
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE notes (
  id            INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: indexes name notes by it
  path          TEXT NOT NULL UNIQUE,    -- vault-relative, NFC, '/'
  disk_path     TEXT NOT NULL,           -- as the file system spells it (NFD names differ from path)
  path_key      TEXT NOT NULL,
  name_key      TEXT NOT NULL,           -- the file name without .md: what a wikilink names
  title         TEXT NOT NULL,
  title_key     TEXT NOT NULL,
  hash          BLOB NOT NULL,           -- SHA-256 of the file's bytes
  size          INTEGER NOT NULL,
  mtime         INTEGER NOT NULL,
  ctime         INTEGER NOT NULL,        -- 0 where the system has none
  inode         INTEGER NOT NULL,        -- 0 where the system has none
  hashed_at     INTEGER NOT NULL,        -- when the bytes were read: a file changed within 2 s of it is read again
  date          INTEGER NOT NULL,        -- front matter's date, else mtime
  created       INTEGER NOT NULL,        -- front matter's created, else when first seen
  first_seen    INTEGER NOT NULL,        -- when this version was first seen
  front_matter  TEXT,                    -- JSON object, NULL when there is none
  front_matter_error TEXT NOT NULL DEFAULT '',
  open_tasks    INTEGER NOT NULL,
  seq           INTEGER NOT NULL         -- of the last change
) STRICT;
CREATE INDEX notes_path_key  ON notes (path_key);
CREATE INDEX notes_name_key  ON notes (name_key);
CREATE INDEX notes_title_key ON notes (title_key);
CREATE INDEX notes_mtime     ON notes (mtime, id);
CREATE INDEX notes_seq       ON notes (seq);
CREATE INDEX notes_inode     ON notes (inode);
CREATE INDEX notes_hash      ON notes (hash);

CREATE TABLE contents (
  note    INTEGER PRIMARY KEY REFERENCES notes (id) ON DELETE CASCADE,
  outline BLOB NOT NULL,                 -- aliases, tags, headings and chunks: what is read with every note
  codec   INTEGER NOT NULL,              -- 0 plain, 1 zstd
  data    BLOB NOT NULL                  -- the file, byte for byte
) STRICT;

CREATE TABLE tags (
  note    INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  tag     TEXT NOT NULL,                 -- as first spelled in the note, without '#'
  tag_key TEXT NOT NULL,
  PRIMARY KEY (note, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_key ON tags (tag_key, note);

CREATE TABLE aliases (
  note      INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
  ordinal   INTEGER NOT NULL,
  alias     TEXT NOT NULL,
  alias_key TEXT NOT NULL,
  PRIMARY KEY (note, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_key ON aliases (alias_key, note);

CREATE TABLE links (
  note       INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
  ordinal    INTEGER NOT NULL,
  kind       TEXT NOT NULL,              -- wikilink, embed, markdown, image, frontmatter
  target     TEXT NOT NULL,              -- as written, decoded; '' points into the note itself
  target_key TEXT NOT NULL,              -- its last segment, folded, without .md: what resolution looks up
  anchor     TEXT NOT NULL,
  alias      TEXT NOT NULL,
  line       INTEGER NOT NULL,
  resolved   INTEGER,                    -- the note it leads to; NULL: none, or ambiguous, or an attachment
  attachment INTEGER,                    -- the attachment it leads to, or NULL
  state      INTEGER NOT NULL,           -- 0 unresolved, 1 resolved, 2 ambiguous, 3 a file that is no note
  PRIMARY KEY (note, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_resolved   ON links (resolved) WHERE resolved IS NOT NULL;
CREATE INDEX links_attachment ON links (attachment) WHERE attachment IS NOT NULL;
CREATE INDEX links_target_key ON links (target_key);

CREATE TABLE chunks (                    -- where a chunk lies, its note's outline tells
  note    INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  hash    BLOB NOT NULL,                 -- SHA-256 of the text that is embedded
  PRIMARY KEY (note, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE changes (
  seq      INTEGER PRIMARY KEY AUTOINCREMENT,
  kind     TEXT NOT NULL,                -- create, modify, delete, move
  note     INTEGER NOT NULL,
  path     TEXT NOT NULL,
  old_path TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX changes_path ON changes (old_path) WHERE old_path <> '';

CREATE TABLE skipped (                   -- files of the vault that are not notes, and why
  path   TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  size   INTEGER NOT NULL,
  mtime  INTEGER NOT NULL,
  ctime  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE attachments (               -- files of the vault that notes may link to
  id        INTEGER PRIMARY KEY,
  path      TEXT NOT NULL UNIQUE,        -- vault-relative, NFC, '/'
  disk_path TEXT NOT NULL,
  name_key  TEXT NOT NULL                -- the file name, folded
) STRICT;
CREATE INDEX attachments_name_key ON attachments (name_key);

CREATE TABLE models (
  id        INTEGER PRIMARY KEY,
  name      TEXT NOT NULL UNIQUE,        -- changes if and only if the vectors change
  source    TEXT NOT NULL,               -- where the model is to be found again: a file; '' for the one in the program
  dimension INTEGER NOT NULL,
  state     TEXT NOT NULL                -- building, ready
) STRICT;

CREATE TABLE embeddings (                -- content-addressed: one text is embedded once for each model
  model  INTEGER NOT NULL REFERENCES models (id) ON DELETE CASCADE,
  hash   BLOB NOT NULL,                  -- chunks.hash
  vector BLOB NOT NULL,
  PRIMARY KEY (model, hash)
) STRICT, WITHOUT ROWID;

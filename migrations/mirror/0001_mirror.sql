-- What a folder and the log of its vault last had in common. It can be rebuilt by
-- comparing the two; until then a deletion on one side is not known as one.

CREATE TABLE position (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    node TEXT    NOT NULL, -- random: begins the ids of this folder's batches
    seq  INTEGER NOT NULL, -- of the newest batch of the log that was applied
    mark TEXT    NOT NULL  -- that batch's id: another log, or an older copy of it, has another one
) STRICT;

CREATE TABLE base (
    path  TEXT PRIMARY KEY,           -- relative to the folder, NFC
    hash  TEXT NOT NULL,              -- of the bytes that both had
    seq   INTEGER NOT NULL,           -- of the batch that wrote them
    size  INTEGER NOT NULL DEFAULT 0, -- the file's stat then, zeros when it is not known: an equal one need not be read
    mtime INTEGER NOT NULL DEFAULT 0,
    ctime INTEGER NOT NULL DEFAULT 0,
    inode INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE pending (                -- files that differ from the log's newest version and have to be compared with it
    path TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

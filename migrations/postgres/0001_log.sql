-- The log of vaults that several nodes share. Plain SQL for PostgreSQL 14 and
-- later; a database of its own is meant for it. Paths are relative to the vault,
-- with "/", in Unicode form NFC.

CREATE TABLE vaults (
    id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name    text        NOT NULL UNIQUE,
    epoch   text        NOT NULL,           -- random: identifies the log before its first batch
    seq     bigint      NOT NULL DEFAULT 0, -- of the newest batch; its row lock orders the writes
    created timestamptz NOT NULL DEFAULT now()
);

-- Contents, by SHA-256 of the plain bytes.
CREATE TABLE blobs (
    vault bigint   NOT NULL REFERENCES vaults,
    hash  bytea    NOT NULL,
    codec smallint NOT NULL, -- 0: plain, 1: zstd
    data  bytea    NOT NULL,
    PRIMARY KEY (vault, hash)
);
ALTER TABLE blobs ALTER data SET STORAGE EXTERNAL; -- it is compressed already

-- The files as they are now: notes and attachments.
CREATE TABLE files (
    vault bigint NOT NULL REFERENCES vaults,
    path  text   COLLATE "C" NOT NULL,
    key   text   COLLATE "C" NOT NULL, -- the path with case folded: no two files differ in case only
    hash  bytea  NOT NULL,
    seq   bigint NOT NULL,             -- of the batch that wrote it
    PRIMARY KEY (vault, path),
    UNIQUE (vault, key),
    FOREIGN KEY (vault, hash) REFERENCES blobs
);

-- The committed writes. Each is one transaction.
CREATE TABLE batches (
    vault  bigint      NOT NULL REFERENCES vaults,
    seq    bigint      NOT NULL,
    id     text        NOT NULL, -- chosen by the writer: says whether a write whose answer was lost took place
    kind   text        NOT NULL, -- create, edit, move, delete, restore, …
    author text        NOT NULL,
    client text        NOT NULL, -- the author's version
    at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (vault, seq),
    UNIQUE (vault, id)
);

-- What each batch did to each file; also the history.
CREATE TABLE feed (
    vault    bigint NOT NULL,
    seq      bigint NOT NULL,
    ordinal  int    NOT NULL,
    old_path text   COLLATE "C", -- NULL: the file is new
    path     text   COLLATE "C", -- NULL: the file was deleted
    before   bytea,              -- hash; NULL with old_path
    after    bytea,              -- hash; NULL with path
    PRIMARY KEY (vault, seq, ordinal),
    FOREIGN KEY (vault, seq) REFERENCES batches
);

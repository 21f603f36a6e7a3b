-- Who may use the vaults over HTTP, and which folders of them.

CREATE TABLE subjects (
    id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name    text        NOT NULL UNIQUE, -- the author of what it writes
    token   bytea       NOT NULL UNIQUE, -- SHA-256 of 256 random bits
    created timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE grants (
    subject bigint  NOT NULL REFERENCES subjects ON DELETE CASCADE,
    vault   bigint  NOT NULL REFERENCES vaults,
    folder  text    COLLATE "C" NOT NULL, -- '': the whole vault
    writer  boolean NOT NULL,             -- else a reader
    PRIMARY KEY (subject, vault, folder)
);

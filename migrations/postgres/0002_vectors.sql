-- The vectors of passages, which any node computes for all. A row without data is
-- being computed by the node that made it, since claimed.

CREATE TABLE vectors (
    model   text        NOT NULL, -- the embedder's id
    hash    bytea       NOT NULL, -- SHA-256 of the text
    data    bytea,                -- half-precision floats, little-endian
    claimed timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (model, hash)
);
ALTER TABLE vectors ALTER data SET STORAGE EXTERNAL;

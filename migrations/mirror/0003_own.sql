-- The batches of changes found in the folder, from before their commit until they are
-- applied: their files are in the folder already, or have newer versions there. A batch that
-- is not here is applied like another node's, although this node may have committed it before
-- the folder and this database were restored from a backup.

CREATE TABLE own (
    id TEXT PRIMARY KEY -- of the batch
) STRICT, WITHOUT ROWID;

ALTER TABLE position DROP COLUMN node;
